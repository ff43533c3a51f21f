#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
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
    case ErrorCode::Internal: return "internal";
    }
    return "internal";
}

Error&& Error::in(std::string where) && {
    context.push_back(std::move(where));
    return std::move(*this);
}

std::string Error::text() const {
    std::string all = sentence;
    for (const std::string& where : context) all += " (" + where + ")";
    return all;
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
