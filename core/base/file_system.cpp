#include "base/file_system.h"

#include "base/descriptor.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace lathe {
namespace {

namespace stdfs = std::filesystem;

class PosixFile final : public OutputFile {
public:
    PosixFile(int fd, stdfs::path path) : m_fd(fd), m_path(std::move(path)) {}
    ~PosixFile() override {
        if (m_fd >= 0) ::close(m_fd);
    }

    Result<void> write(std::span<const std::byte> bytes) override {
        while (!bytes.empty()) {
            const ssize_t done = ::write(m_fd, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30));
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) return fileError("write", m_path.native(), errno);
            bytes = bytes.subspan(static_cast<std::size_t>(done));
            m_written += done;
        }
        startWriteback();
        return {};
    }

    Result<void> reserve(std::uint64_t bytes) override {
        if (bytes == 0) return {};
        int problem = 0;
        do {
            problem = ::fallocate(m_fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
        } while (problem == EINTR);
        // Some file systems cannot reserve; the write itself then finds out.
        if (problem == 0 || problem == EOPNOTSUPP || problem == ENOSYS) return {};
        return fileError("reserve " + std::to_string(bytes) + " bytes for", m_path.native(), problem);
    }

    Result<void> sync() override {
        if (::fsync(m_fd) != 0) return fileError("sync", m_path.native(), errno);
        return {};
    }

    Result<void> close() override {
        const int fd = std::exchange(m_fd, -1);
        if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) return fileError("close", m_path.native(), errno);
        return {};
    }

private:
    /// The disk gets to work on a long file while the rest of it is still being made; sync() then has little left. A hint:
    /// what goes wrong with it is told by sync().
    void startWriteback() {
        constexpr off_t kAtLeast = off_t{8} << 20;
        if (m_written - m_started < kAtLeast) return;
        static_cast<void>(::sync_file_range(m_fd, m_started, m_written - m_started, SYNC_FILE_RANGE_WRITE));
        m_started = m_written;
    }

    int m_fd;
    stdfs::path m_path;
    off_t m_written = 0, m_started = 0;
};

class PosixFileSystem final : public FileSystem {
public:
    Result<std::unique_ptr<OutputFile>> create(const stdfs::path& path) override {
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) return fileError("create", path.native(), errno);
        return std::unique_ptr<OutputFile>(std::make_unique<PosixFile>(fd, path));
    }
    Result<void> makeFolder(const stdfs::path& path) override {
        if (::mkdir(path.c_str(), 0700) != 0) return fileError("create folder", path.native(), errno);
        return {};
    }
    Result<void> rename(const stdfs::path& from, const stdfs::path& to) override {
        if (::rename(from.c_str(), to.c_str()) != 0)
            return fileError("rename " + from.string() + " to", to.native(), errno);
        return {};
    }
    Result<void> exchange(const stdfs::path& one, const stdfs::path& other) override {
        if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return {};
        if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
            return Error{ErrorCode::Unsupported, "The disk of " + other.string() + " cannot exchange two names", {}, {}};
        return fileError("exchange " + one.string() + " and", other.native(), errno);
    }
    Result<void> link(const stdfs::path& existing, const stdfs::path& name) override {
        if (::link(existing.c_str(), name.c_str()) != 0) return fileError("link", name.native(), errno);
        return {};
    }
    Result<void> remove(const stdfs::path& file) override {
        if (::remove(file.c_str()) != 0) return fileError("remove", file.native(), errno);
        return {};
    }
    Result<void> syncFolder(const stdfs::path& folder) override {
        const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!fd) return fileError("open folder", folder.native(), errno);
        if (::fsync(fd.get()) != 0) return fileError("sync folder", folder.native(), errno);
        return {};
    }
    Result<std::uint64_t> freeBytes(const stdfs::path& folder) override {
        struct statvfs info {};
        if (::statvfs(folder.c_str(), &info) != 0) return fileError("ask for free space in", folder.native(), errno);
        return std::uint64_t{info.f_bavail} * info.f_frsize;
    }
};

}  // namespace

FileSystem& FileSystem::real() {
    static PosixFileSystem fs;
    return fs;
}

Result<std::string> readFile(const stdfs::path& path, std::uint64_t maxBytes) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return fileError("read", path.native(), errno);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return fileError("read", path.native(), errno);
    if (!S_ISREG(info.st_mode)) return Error{ErrorCode::Io, "Cannot read " + path.string() + ": not a regular file", {}, {}};
    std::string content;
    const auto tooLong = [&] {
        return Error{ErrorCode::Corrupt,
                     "Cannot read " + path.string() + ": longer than " + std::to_string(maxBytes) + " bytes", {}, {}};
    };
    if (static_cast<std::uint64_t>(info.st_size) > maxBytes) return tooLong();
    content.resize(static_cast<std::size_t>(info.st_size));
    std::size_t have = 0;
    while (true) {
        if (have == content.size()) content.resize(have + 4096);  // grows only where the file grew meanwhile
        const ssize_t got = ::read(fd.get(), content.data() + have, content.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fileError("read", path.native(), errno);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
        if (have > maxBytes) return tooLong();
    }
    content.resize(have);
    return content;
}

Result<void> readAt(int fd, std::uint64_t offset, std::span<std::byte> to, const std::string& name) {
    while (!to.empty()) {
        const ssize_t got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fileError("read", name, errno);
        if (got == 0) return Error{ErrorCode::Corrupt, name + " was cut short: it ends after " + std::to_string(offset) + " bytes", {}, {}};
        offset += static_cast<std::uint64_t>(got);
        to = to.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

/// Told by the name that was asked for: that of the temporary file is another one each time, and would make another problem of
/// the same one.
static Error withoutTemporary(Error error, const std::string& temporary, const std::string& path) {
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = error.sentence.find(from, at)) != std::string::npos; at += to.size()) error.sentence.replace(at, from.size(), to);
    };
    replace("rename " + temporary + " to " + path, "replace " + path);
    replace(temporary, path);
    return error;
}

Result<void> replaceFile(FileSystem& fs, const stdfs::path& path, std::string_view content) {
    static std::atomic<unsigned> serial{0};
    const stdfs::path temporary =
        path.string() + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial.fetch_add(1));
    auto written = [&]() -> Result<void> {
        LATHE_TRY_ASSIGN(auto file, fs.create(temporary));
        LATHE_TRY(file->write(std::as_bytes(std::span(content))));
        LATHE_TRY(file->sync());
        LATHE_TRY(file->close());
        LATHE_TRY(fs.rename(temporary, path));
        return fs.syncFolder(path.has_parent_path() ? path.parent_path() : stdfs::path("."));
    }();
    if (written.ok()) return {};
    static_cast<void>(fs.remove(temporary));
    return withoutTemporary(std::move(written).error(), temporary.string(), path.string());
}

Result<void> makeFolders(FileSystem& fs, const stdfs::path& path) {
    stdfs::path soFar;
    for (const stdfs::path& part : path) {
        soFar /= part;
        std::error_code ignored;
        if (stdfs::is_directory(soFar, ignored)) continue;
        const auto made = fs.makeFolder(soFar);
        if (!made.ok() && made.error().code != ErrorCode::Exists) return made;
        if (!made.ok()) continue;
        const auto kept = fs.syncFolder(soFar.has_parent_path() ? soFar.parent_path() : stdfs::path("."));
        if (!kept.ok() && kept.error().code != ErrorCode::Permission) return kept;  // a folder that may be written and not read cannot be synced
    }
    std::error_code ignored;
    if (!stdfs::is_directory(path, ignored)) return fileError("create folder", path.native(), ENOTDIR);
    return {};
}

Result<void> removeTree(FileSystem& fs, const stdfs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return {};
        return fileError("remove", path.native(), errno);
    }
    if (S_ISDIR(info.st_mode)) {
        LATHE_TRY_ASSIGN(const auto names, listFolder(path));
        for (const std::string& name : names) LATHE_TRY(removeTree(fs, path / name));
    }
    return fs.remove(path);
}

Result<std::vector<std::string>> listFolder(const stdfs::path& folder) {
    std::error_code problem;
    std::vector<std::string> names;
    for (stdfs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
        names.push_back(it->path().filename().string());
    if (problem) return fileError("list", folder.native(), problem.value());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace lathe
