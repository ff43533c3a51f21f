#include "base/error.h"

#include "base/exit_code.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace lathe {

std::string_view name(ErrorCode code) {
    switch (code) {
    case ErrorCode::Usage: return "usage";
    case ErrorCode::Config: return "config";
    case ErrorCode::NotFound: return "not_found";
    case ErrorCode::Exists: return "exists";
    case ErrorCode::Permission: return "permission";
    case ErrorCode::NoSpace: return "no_space";
    case ErrorCode::Io: return "io";
    case ErrorCode::Corrupt: return "corrupt";
    case ErrorCode::Version: return "version";
    case ErrorCode::Busy: return "busy";
    case ErrorCode::Timeout: return "timeout";
    case ErrorCode::Data: return "data";
    case ErrorCode::OutOfMemory: return "out_of_memory";
    case ErrorCode::Diverged: return "diverged";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Stopped: return "stopped";
    case ErrorCode::LostContact: return "lost contact";
    case ErrorCode::Internal: return "internal";
    }
    return "internal";
}

ExitCode exitCodeOf(ErrorCode code) {
    switch (code) {
    case ErrorCode::Usage:
    case ErrorCode::Config: return ExitCode::Usage;
    case ErrorCode::Busy: return ExitCode::Busy;
    case ErrorCode::OutOfMemory: return ExitCode::OutOfMemory;
    case ErrorCode::Diverged: return ExitCode::Diverged;
    case ErrorCode::Stopped: return ExitCode::Stopped;
    default: return ExitCode::Failed;
    }
}

Error&& Error::in(std::string where) && {
    context.push_back(std::move(where));
    return std::move(*this);
}

std::string shownPath(std::string_view path) {
    const std::string_view begin = kDescriptors;
    if (!path.starts_with(begin)) return std::string(path);
    const std::size_t end = std::min(path.find_first_not_of("0123456789", begin.size()), path.size());
    std::array<char, 4096> target{};
    const ssize_t length = ::readlink(std::string(path.substr(0, end)).c_str(), target.data(), target.size());
    if (length <= 0 || target[0] != '/') return std::string(path);
    return std::string(target.data(), static_cast<std::size_t>(length)).append(path.substr(end));
}

std::string shownPaths(std::string text) {
    for (std::size_t at = text.find(kDescriptors); at != std::string::npos; at = text.find(kDescriptors, at + 1))
        text.replace(at, std::string::npos, shownPath(std::string_view(text).substr(at)));
    return text;
}

std::string Error::text() const {
    std::string all = sentence;
    for (const std::string& where : context) all += " (" + where + ")";
    return shownPaths(std::move(all));
}

static ErrorCode codeOf(int errnoValue) {
    switch (errnoValue) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::NotFound;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::Exists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::Permission;
    case ENOSPC:
    case EDQUOT: return ErrorCode::NoSpace;
    case ENOMEM: return ErrorCode::OutOfMemory;
    case EAGAIN:
    case EBUSY: return ErrorCode::Busy;
    case ETIMEDOUT: return ErrorCode::Timeout;
    default: return ErrorCode::Io;
    }
}

Error fileError(std::string_view action, std::string_view path, int errnoValue) {
    Error error;
    error.code = codeOf(errnoValue);
    error.sentence = "Cannot " + std::string(action) + " " + std::string(path) + ": " +
                     std::generic_category().message(errnoValue);
    return error;
}

void assertionFailed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "lathe: internal fault: %s does not hold (%s:%d)\n", expression, file, line);
    std::abort();
}

}  // namespace lathe
