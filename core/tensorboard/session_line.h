// Which session of a run a value belongs to, when several files lie in one folder. The rules:
//   - A START mark (session_log) begins a new session that goes back to its step: of what was written before, only what lies
//     before that step stays on the run's line.
//   - A file that writes a name which another file has written is a new start of the same program: a new session. Where
//     its step is not above the last one of that name, the line goes back to that step; else nothing is left behind.
//   - A file with names of its own is a second writer of the same session.
//   - A file that was followed by a new start keeps its session: what it still writes is kept there, beside the line.
//   - Within a file without a START mark nothing is ever left behind, wherever its steps go.
// A point's attempt is its step, so that going back to a step cuts every series there; where a series repeats a step or
// goes back within a session, its points are numbered on.
// Thread: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lathe::tensorboard {

class SessionLine {
public:
    struct File {
        std::string name;
        std::uint64_t offset = 0;     ///< read so far
        int session = 0;              ///< that it is bound to; 0: whichever is the newest
        bool decided = false;         ///< it began a session, or another file has taken over from it
        std::uint64_t headBytes = 0, headHash = 0;  ///< of its beginning, to notice that another file took its name
        bool operator==(const File&) const = default;
    };
    struct Tag {
        std::string name;
        std::size_t file = 0;         ///< that wrote it last
        int session = 0;              ///< in which
        std::int64_t lastStep = 0, lastAttempt = 0;
        bool operator==(const Tag&) const = default;
    };
    struct Placed {
        std::size_t tag = 0;
        int session = 0;
        std::int64_t attempt = 0;
    };

    std::vector<File> files;
    std::vector<Tag> tags;            ///< in order of their first value; change them through place() only
    int session = 1;                  ///< the newest one
    bool hasPoints = false;
    std::int64_t largestAttempt = 0;
    std::uint64_t repeated = 0;       ///< points that repeat a step of their series in a session, or go back

    std::size_t fileNamed(const std::string& name);  ///< its place; added where it is new
    /// Begins a session for a START mark, where there is anything before it. What the new one keeps of the one before:
    /// attempts up to this number.
    std::optional<std::int64_t> start(std::size_t file, std::int64_t step);
    /// The same for a value that shows a new start. Asked before place().
    std::optional<std::int64_t> startBefore(std::size_t file, std::string_view tag, std::int64_t step);
    Placed place(std::size_t file, std::string_view tag, std::int64_t step);

    /// The whole state as JSON, and back; nothing where the text is not one.
    std::string toJson() const;
    static std::optional<SessionLine> fromJson(const std::string& text);

private:
    Tag* find(std::string_view tag);
    std::int64_t begin(std::size_t file, std::int64_t cut);

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> m_places;
};

}  // namespace lathe::tensorboard
