// Which session of a run a value belongs to, when several files lie in one folder. The rules:
//   - A START mark (session_log) begins a new session that goes back to its step: of what was written before, only what lies
//     before that step stays on the run's line.
//   - A file that writes a name which another file has written is a new start of the same program: a new session. Where
//     its step is not above the last one of that name, the line goes back to that step; else nothing is left behind.
//   - But where both write at the same time, it is a second writer: its first value is older than the other's last one, or
//     the file that seemed to have been followed by a new start writes a value that is younger than this start. Its values
//     have series of their own from then on, and what the seeming start left behind counts again.
//   - A file with names of its own is a second writer of the same session, and needs no other series.
//   - A file that was followed by a new start and writes nothing younger keeps its session.
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
        bool decided = false;         ///< it began a session, another file has taken over from it, or both write at once
        int writer = 1;               ///< above 1: names that another file has are series of its own
        std::uint64_t headBytes = 0, headHash = 0;  ///< of its beginning, to notice that another file took its name
        bool operator==(const File&) const = default;
    };
    struct Tag {
        std::string name;
        int writer = 1;               ///< that has this series, where several write the name
        std::size_t file = 0;         ///< that wrote it last
        int session = 0;              ///< in which
        std::int64_t lastStep = 0, lastAttempt = 0;
        std::int64_t newestNs = 0;    ///< largest wall time
        bool operator==(const Tag&) const = default;
    };
    struct Placed {
        std::size_t tag = 0;
        int session = 0;
        std::int64_t attempt = 0;
    };
    /// What a value means for the line.
    struct Turn {
        enum class Kind {
            GoesOn,       ///< nothing
            NewStart,     ///< call begin()
            SecondWriter  ///< call setApart()
        };
        Kind kind = Kind::GoesOn;
        std::int64_t keeps = 0;       ///< NewStart: attempts of the session before up to this number stay on the line
        std::size_t other = 0;        ///< SecondWriter: the file that writes the same name
        bool cutNothing = false;      ///< SecondWriter: the newest session seemed to be a new start and was none
    };

    std::vector<File> files;
    std::vector<Tag> tags;            ///< in order of their first value; change them through place() only
    int session = 1;                  ///< the newest one
    bool hasPoints = false;
    std::int64_t largestAttempt = 0;
    std::uint64_t repeated = 0;       ///< points that repeat a step of their series in a session, or go back

    std::size_t fileNamed(const std::string& name);  ///< its place; added where it is new
    /// For a START mark: what the session that it begins keeps of the one before (attempts up to this number); nothing
    /// where there is nothing before it.
    std::optional<std::int64_t> keptByMark(std::int64_t step) const;
    /// Of a scalar value. Asked, and acted on, before place().
    Turn turnOf(std::size_t file, std::string_view tag, std::int64_t step, std::int64_t wallNs) const;
    /// A new session with the file's value of this time; `keeps` from one of the two above.
    void begin(std::size_t file, std::int64_t keeps, std::int64_t wallNs, bool byMark);
    void setApart(std::size_t file);

    /// Whether the series of a file's value is there already.
    bool knows(std::size_t file, std::string_view tag) const { return placeOf(file, tag) < tags.size(); }
    Placed place(std::size_t file, std::string_view tag, std::int64_t step, std::int64_t wallNs);

    /// The whole state as JSON, and back; nothing where the text is not one.
    std::string toJson() const;
    static std::optional<SessionLine> fromJson(const std::string& text);

private:
    std::size_t placeOf(std::size_t file, std::string_view tag) const;
    bool isSound() const;   ///< whatever was read as one: numbers within what the others say
    std::size_t find(std::string_view tag, int writer) const;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    using Places = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;
    std::map<int, Places> m_places;   ///< of tags, by writer
    int m_writers = 1;
    bool m_begunByMark = false;       ///< the newest session
    std::int64_t m_begunNs = 0;       ///< wall time of its first value
};

}  // namespace lathe::tensorboard
