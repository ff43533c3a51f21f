#include "tensorboard/session_line.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace lathe::tensorboard {

using nlohmann::json;

static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
static std::int64_t before(std::int64_t step) { return step == std::numeric_limits<std::int64_t>::min() ? step : step - 1; }

std::size_t SessionLine::fileNamed(const std::string& name) {
    const auto found = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.name == name; });
    if (found != files.end()) return static_cast<std::size_t>(found - files.begin());
    files.push_back({.name = name});
    return files.size() - 1;
}

std::size_t SessionLine::find(std::string_view tag, int writer) const {
    const auto places = m_places.find(writer);
    if (places == m_places.end()) return kNowhere;
    const auto found = places->second.find(tag);
    return found == places->second.end() ? kNowhere : found->second;
}

/// A file that was set apart keeps a name that nobody else writes.
std::size_t SessionLine::placeOf(std::size_t file, std::string_view tag) const {
    const std::size_t plain = find(tag, 1);
    const int writer = files[file].writer;
    return writer == 1 || plain == kNowhere || tags[plain].file == file ? plain : find(tag, writer);
}

std::optional<std::int64_t> SessionLine::keptByMark(std::int64_t step) const { return hasPoints ? std::optional(before(step)) : std::nullopt; }

SessionLine::Turn SessionLine::turnOf(std::size_t file, std::string_view tag, std::int64_t step, std::int64_t wallNs) const {
    const File& own = files[file];
    if (own.writer > 1 || (own.decided && (own.session == 0 || own.session == session))) return {};
    const std::size_t place = find(tag, 1);
    if (place == kNowhere || tags[place].file == file) return {};
    const Tag& known = tags[place];
    if (!own.decided) {
        if (wallNs != 0 && wallNs < known.newestNs) return {.kind = Turn::Kind::SecondWriter, .other = known.file};
        return {.kind = Turn::Kind::NewStart, .keeps = step <= known.lastStep ? before(step) : largestAttempt};
    }
    if (wallNs == 0 || wallNs <= m_begunNs) return {};  // what it had written before the new start, read late
    return {.kind = Turn::Kind::SecondWriter, .other = known.file, .cutNothing = own.session == session - 1 && !m_begunByMark};
}

void SessionLine::begin(std::size_t file, std::int64_t keeps, std::int64_t wallNs, bool byMark) {
    ++session;
    files[file].session = session;
    files[file].decided = true;
    m_begunByMark = byMark;
    m_begunNs = wallNs;
    for (Tag& tag : tags) tag.lastStep = std::min(tag.lastStep, keeps);
}

void SessionLine::setApart(std::size_t file) {
    files[file].writer = ++m_writers;
    files[file].decided = true;
    files[file].session = 0;
}

SessionLine::Placed SessionLine::place(std::size_t file, std::string_view name, std::int64_t step, std::int64_t wallNs) {
    const int where = files[file].session != 0 ? files[file].session : session;
    std::size_t place = placeOf(file, name);
    if (place == kNowhere) {
        place = tags.size();
        const int writer = find(name, 1) == kNowhere ? 1 : files[file].writer;
        m_places[writer].emplace(std::string(name), place);
        tags.push_back({std::string(name), writer, file, 0, step, step, wallNs});
    }
    Tag& tag = tags[place];
    if (where < tag.session) return {place, where, step};  // read late: the series has gone on in a newer session
    if (File& other = files[tag.file]; tag.file != file && !other.decided) {  // taken over: it stays where it was
        other.decided = true;
        other.session = tag.session;
    }
    std::int64_t attempt = step;
    if (tag.session == where && step <= tag.lastAttempt && tag.lastAttempt < std::numeric_limits<std::int64_t>::max()) {
        attempt = tag.lastAttempt + 1;
        if (step <= tag.lastStep) ++repeated;
    }
    tag.file = file;
    tag.session = where;
    tag.lastStep = step;
    tag.lastAttempt = attempt;
    tag.newestNs = std::max(tag.newestNs, wallNs);
    largestAttempt = hasPoints ? std::max(largestAttempt, attempt) : attempt;
    hasPoints = true;
    return {place, where, attempt};
}

std::string SessionLine::toJson() const {
    json out = {{"session", session}, {"has_points", hasPoints}, {"largest_attempt", largestAttempt}, {"repeated", repeated}, {"writers", m_writers},
                {"begun_by_mark", m_begunByMark}, {"begun_ns", m_begunNs}, {"files", json::array()}, {"tags", json::array()}};
    for (const File& file : files)
        out["files"].push_back({file.name, file.offset, file.session, file.decided, file.writer, file.headBytes, file.headHash});
    for (const Tag& tag : tags) out["tags"].push_back({tag.name, tag.writer, tag.file, tag.session, tag.lastStep, tag.lastAttempt, tag.newestNs});
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Of the range of its type. (The library itself converts what does not fit, and fractions, without a word.)
template <typename T>
static T whole(const json& value) {
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>()) : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw std::out_of_range("not a whole number of this range");
    return value.get<T>();
}

std::optional<SessionLine> SessionLine::fromJson(const std::string& text) {
    SessionLine line;
    try {
        const json in = json::parse(text);
        line.session = whole<int>(in.at("session"));
        line.hasPoints = in.at("has_points").get<bool>();
        line.largestAttempt = whole<std::int64_t>(in.at("largest_attempt"));
        line.repeated = whole<std::uint64_t>(in.at("repeated"));
        line.m_writers = whole<int>(in.at("writers"));
        line.m_begunByMark = in.at("begun_by_mark").get<bool>();
        line.m_begunNs = whole<std::int64_t>(in.at("begun_ns"));
        for (const json& file : in.at("files"))
            line.files.push_back({file.at(0).get<std::string>(), whole<std::uint64_t>(file.at(1)), whole<int>(file.at(2)), file.at(3).get<bool>(),
                                  whole<int>(file.at(4)), whole<std::uint64_t>(file.at(5)), whole<std::uint64_t>(file.at(6))});
        for (const json& tag : in.at("tags")) {
            line.tags.push_back({tag.at(0).get<std::string>(), whole<int>(tag.at(1)), whole<std::size_t>(tag.at(2)), whole<int>(tag.at(3)),
                                 whole<std::int64_t>(tag.at(4)), whole<std::int64_t>(tag.at(5)), whole<std::int64_t>(tag.at(6))});
            line.m_places[line.tags.back().writer].emplace(line.tags.back().name, line.tags.size() - 1);
        }
    } catch (const std::exception&) {
        return std::nullopt;
    }
    return line.isSound() ? std::optional(std::move(line)) : std::nullopt;
}

bool SessionLine::isSound() const {
    constexpr int kMost = 1 << 30;  // more can come without an overflow
    const auto isSession = [&](int number) { return number >= 0 && number <= session; };
    const auto isWriter = [&](int number) { return number > 0 && number <= m_writers; };
    return session > 0 && session < kMost && m_writers > 0 && m_writers < kMost
           && std::all_of(files.begin(), files.end(), [&](const File& file) { return isSession(file.session) && isWriter(file.writer); })
           && std::all_of(tags.begin(), tags.end(), [&](const Tag& tag) { return tag.file < files.size() && isSession(tag.session) && isWriter(tag.writer); });
}

}  // namespace lathe::tensorboard
