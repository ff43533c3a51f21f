// Opening paths that come from files.
#include "rundir/run_folder.h"

#include "base/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lathe::rundir {
namespace {

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a FIFO must not make us wait

bool isPlainRelative(const std::string& path) {
    if (path.empty() || path.front() == '/' || path.back() == '/' || path.find('\0') != std::string::npos) return false;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (part.empty() || part == "." || part == ".." || part.find('\\') != std::string::npos) return false;
        begin = end + 1;
    }
    return true;
}

/// Part by part, no link followed: what openat2 does on kernels that have it.
int openByWalking(int root, const std::string& relative) {
    Descriptor folder(::fcntl(root, F_DUPFD_CLOEXEC, 3));
    if (folder.get() < 0) return -1;
    std::size_t begin = 0;
    for (std::size_t slash = relative.find('/'); slash != std::string::npos; slash = relative.find('/', begin)) {
        const std::string part = relative.substr(begin, slash - begin);
        const int next = ::openat(folder.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) return -1;
        folder.reset(next);
        begin = slash + 1;
    }
    return ::openat(folder.get(), relative.c_str() + begin, kFileFlags);
}

int openResolved(int root, const std::string& relative) {
    open_how how{};
    how.flags = kFileFlags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const long fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return static_cast<int>(fd);
    return openByWalking(root, relative);
}

}  // namespace

Result<int> openBelow(const std::filesystem::path& root, const std::string& relative) {
    const auto refused = [&](const char* why) {
        return Error{ErrorCode::Corrupt, "Will not open \"" + relative.substr(0, 200) + "\" below " + root.string() + ": " + why, {}, {}};
    };
    if (!isPlainRelative(relative)) return refused("not a plain relative path");
    const Descriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return fileError("open folder", root.native(), errno);
    Descriptor file(openResolved(folder.get(), relative));
    if (file.get() < 0 && (errno == ELOOP || errno == EXDEV)) return refused("it leads through a link");
    if (file.get() < 0) return fileError("open", (root / relative).native(), errno);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fileError("open", (root / relative).native(), errno);
    if (!S_ISREG(info.st_mode)) return refused("not a regular file");
    return file.release();
}

}  // namespace lathe::rundir
