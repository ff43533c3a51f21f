// Failures that the outside world can cause, as values. Programmer errors use LATHE_ASSERT instead.
// Thread: plain values, no shared state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// Closed list: code decides what a program does next, the sentence is for a person.
enum class ErrorCode {
    Usage,        ///< wrong command line or request
    Config,       ///< a configuration value cannot be used; `key` names it
    NotFound,     ///< a file, run, checkpoint or name does not exist
    Exists,       ///< something is in the place where a new thing should go
    Permission,   ///< the system refused access
    NoSpace,      ///< disk, quota or inodes exhausted
    Io,           ///< reading or writing failed for another reason
    Corrupt,      ///< content contradicts its checksum or format
    Version,      ///< written by a newer program than this one
    Busy,         ///< another process holds the lock
    Timeout,      ///< an answer did not come in time
    Data,         ///< training data cannot be used
    OutOfMemory,  ///< host or device memory exhausted
    Diverged,     ///< numbers are no longer finite
    Unsupported,  ///< valid, but this build or machine cannot do it
    Stopped,      ///< asked to stop
    LostContact,  ///< another rank of the run is gone
    Internal      ///< a fault of this program
};

std::string_view name(ErrorCode code);

/// Of exhausted memory, as far as it is known; bytes.
struct MemoryFacts {
    std::string device;                ///< "cpu" for main memory, "cuda:0"; empty: not known
    std::string doing;                 ///< as a part of a sentence: "computing an update"
    std::optional<std::uint64_t> requested;  ///< what was asked for in vain
    std::optional<std::uint64_t> free;       ///< at that moment
    std::optional<std::uint64_t> peak;       ///< most that this process held so far
    std::optional<std::uint64_t> total;      ///< of the device, or what this process may use of it
};

/// What happened, to what, and what to do. The sentence stands alone on a screen: it starts with a
/// capital letter, names the file or key, and ends without a full stop when a context follows.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string sentence;
    std::string key;                   ///< configuration key (`optimizer.learning_rate`), or empty
    std::vector<std::string> context;  ///< innermost first: "while reading …", "in run …"
    std::shared_ptr<const MemoryFacts> memory = {};  ///< of OutOfMemory, where anything is known

    /// Adds where it happened and returns itself, for `return std::move(e).in("…")`.
    Error&& in(std::string where) &&;
    /// Sentence and context in one line; paths shown as places.
    std::string text() const;
};

/// What the names of descriptors of this process begin with.
constexpr const char* kDescriptors = "/proc/self/fd/";
/// A path through a descriptor of this process as the place where that lies now; others as they are.
std::string shownPath(std::string_view path);

/// A text with every such path in it shown.
std::string shownPaths(std::string text);

/// Error from errno, code chosen by its value: `fileError("write", "/a/b", ENOSPC)`.
Error fileError(std::string_view action, std::string_view path, int errnoValue);

[[noreturn]] void assertionFailed(const char* expression, const char* file, int line);

}  // namespace lathe

/// Stays on in release builds: a broken invariant must stop before it writes anything.
#define LATHE_ASSERT(expression) \
    (static_cast<bool>(expression) ? void(0) : ::lathe::assertionFailed(#expression, __FILE__, __LINE__))
