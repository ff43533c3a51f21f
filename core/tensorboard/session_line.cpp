#include "tensorboard/session_line.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace lathe::tensorboard {

using nlohmann::json;

static std::int64_t before(std::int64_t step) { return step == std::numeric_limits<std::int64_t>::min() ? step : step - 1; }

std::size_t SessionLine::fileNamed(const std::string& name) {
    const auto found = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.name == name; });
    if (found != files.end()) return static_cast<std::size_t>(found - files.begin());
    files.push_back({name, 0, 0, false, 0, 0});
    return files.size() - 1;
}

SessionLine::Tag* SessionLine::find(std::string_view tag) {
    const auto found = m_places.find(tag);
    return found == m_places.end() ? nullptr : &tags[found->second];
}

std::int64_t SessionLine::begin(std::size_t file, std::int64_t cut) {
    ++session;
    files[file].session = session;
    files[file].decided = true;
    for (Tag& tag : tags) tag.lastStep = std::min(tag.lastStep, cut);
    return cut;
}

std::optional<std::int64_t> SessionLine::start(std::size_t file, std::int64_t step) {
    if (!hasPoints) return std::nullopt;
    return begin(file, before(step));
}

std::optional<std::int64_t> SessionLine::startBefore(std::size_t file, std::string_view tag, std::int64_t step) {
    if (files[file].decided) return std::nullopt;
    const Tag* known = find(tag);
    if (known == nullptr || known->file == file) return std::nullopt;
    return begin(file, step <= known->lastStep ? before(step) : largestAttempt);
}

SessionLine::Placed SessionLine::place(std::size_t file, std::string_view name, std::int64_t step) {
    const int where = files[file].session != 0 ? files[file].session : session;
    Tag* tag = find(name);
    if (tag == nullptr) {
        m_places.emplace(std::string(name), tags.size());
        tags.push_back({std::string(name), file, 0, step, step});
        tag = &tags.back();
    }
    if (File& other = files[tag->file]; tag->file != file && !other.decided) {  // taken over: it stays where it was
        other.decided = true;
        other.session = tag->session;
    }
    std::int64_t attempt = step;
    if (tag->session == where && step <= tag->lastAttempt && tag->lastAttempt < std::numeric_limits<std::int64_t>::max()) {
        attempt = tag->lastAttempt + 1;
        if (step <= tag->lastStep) ++repeated;
    }
    tag->file = file;
    tag->session = where;
    tag->lastStep = step;
    tag->lastAttempt = attempt;
    largestAttempt = hasPoints ? std::max(largestAttempt, attempt) : attempt;
    hasPoints = true;
    return {static_cast<std::size_t>(tag - tags.data()), where, attempt};
}

std::string SessionLine::toJson() const {
    json out = {{"session", session}, {"has_points", hasPoints}, {"largest_attempt", largestAttempt}, {"repeated", repeated},
                {"files", json::array()}, {"tags", json::array()}};
    for (const File& file : files)
        out["files"].push_back({file.name, file.offset, file.session, file.decided, file.headBytes, file.headHash});
    for (const Tag& tag : tags) out["tags"].push_back({tag.name, tag.file, tag.session, tag.lastStep, tag.lastAttempt});
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<SessionLine> SessionLine::fromJson(const std::string& text) {
    SessionLine line;
    try {
        const json in = json::parse(text);
        line.session = in.at("session").get<int>();
        line.hasPoints = in.at("has_points").get<bool>();
        line.largestAttempt = in.at("largest_attempt").get<std::int64_t>();
        line.repeated = in.at("repeated").get<std::uint64_t>();
        for (const json& file : in.at("files"))
            line.files.push_back({file.at(0).get<std::string>(), file.at(1).get<std::uint64_t>(), file.at(2).get<int>(), file.at(3).get<bool>(),
                                  file.at(4).get<std::uint64_t>(), file.at(5).get<std::uint64_t>()});
        for (const json& tag : in.at("tags")) {
            line.m_places.emplace(tag.at(0).get<std::string>(), line.tags.size());
            line.tags.push_back({tag.at(0).get<std::string>(), tag.at(1).get<std::size_t>(), tag.at(2).get<int>(), tag.at(3).get<std::int64_t>(),
                                 tag.at(4).get<std::int64_t>()});
        }
    } catch (const json::exception&) {
        return std::nullopt;
    }
    const bool sound = std::all_of(line.tags.begin(), line.tags.end(), [&](const Tag& tag) { return tag.file < line.files.size(); });
    return sound && line.session > 0 ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace lathe::tensorboard
