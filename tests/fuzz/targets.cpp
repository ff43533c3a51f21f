#include "parts.h"

#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace lathe::fuzz {

void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "a promise was broken: %s\n", what);
    std::abort();
}

MemoryFolder::MemoryFolder() {
    std::string name = "/dev/shm/fuzz-XXXXXX";   // not the name of what the programs could leave: a drill looks for it
    if (::mkdtemp(name.data()) == nullptr) {
        name = "/tmp/lathe-fuzz-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) std::abort();
    }
    m_folder = name;
}

MemoryFolder::~MemoryFolder() {
    std::error_code ignored;
    stdfs::remove_all(m_folder, ignored);
}

stdfs::path MemoryFolder::put(const stdfs::path& name, Input input) const {
    const stdfs::path file = m_folder / name;
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ::write(fd, input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
    ::close(fd);
    return file;
}

const MemoryFolder& memory() {
    static const MemoryFolder folder;
    static const bool once = (log::toFile(folder.path() / "log"), true);  // damaged inputs are told there by the thousand
    return static_cast<void>(once), folder;
}

const std::vector<Target>& targets() {
    static const std::vector<Target> all = [] {
        std::vector<Target> list;
        for (const auto& part : {configTargets(), runTargets(), liveTargets(), storeTargets(), dataTargets()}) list.insert(list.end(), part.begin(), part.end());
        return list;
    }();
    return all;
}

const Target* targetNamed(const std::string& name) {
    for (const Target& target : targets())
        if (target.name == name) return &target;
    return nullptr;
}

}  // namespace lathe::fuzz
