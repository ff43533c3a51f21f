#include "store/intake.h"

#include "base/log.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace lathe::store {
namespace {

constexpr std::size_t kMostColumns = 1024;  // keeps the decoded size of one chunk and tail bounded

}  // namespace

void Intake::knowSeries(std::int64_t id, const std::string& name) {
    m_seriesByName[name] = id;
    m_nextSeries = std::max(m_nextSeries, id + 1);
}

void Intake::knowGroup(RowGroup group) { groups.push_back(std::make_unique<RowGroup>(std::move(group))); }

void Intake::take(RingKey key, std::uint64_t sequence, live::FrameType type, std::span<const std::byte> payload) {
    Ring& ring = rings[key];
    if (sequence <= ring.taken) return;
    ring.taken = sequence;
    pendingBytes += payload.size();
    std::optional<Error> problem;
    switch (type) {
    case live::FrameType::Series:
        if (auto frame = live::decodeSeries(payload); frame.ok()) declare(key, frame->id, frame->name, frame->unit);
        else problem = std::move(frame).error();
        break;
    case live::FrameType::Points:
        if (auto frame = live::decodePoints(payload); frame.ok()) takePoints(key, *frame);
        else problem = std::move(frame).error();
        break;
    case live::FrameType::Event:
        if (auto frame = live::decodeEvent(payload); frame.ok()) events.push_back(std::move(*frame));
        else problem = std::move(frame).error();
        break;
    case live::FrameType::Digest:
        if (auto frame = live::decodeDigest(payload); frame.ok()) digests.push_back(*frame);
        else problem = std::move(frame).error();
        break;
    default:
        if (!live::isRecord(type)) break;  // of a newer program
        if (auto frame = live::decodeRecord(type, payload); frame.ok()) records.push_back(std::move(*frame));
        else problem = std::move(frame).error();
    }
    if (!problem) return;
    // One line for 1, 10, 100, … of them: a sender gone wild must not fill the log.
    ring.damaged += 1;
    for (std::uint64_t power = 1; power <= ring.damaged; power *= 10)
        if (power == ring.damaged)
            log::warning("Frame " + std::to_string(sequence) + " of ring " + std::to_string(key.ring) + " in session " +
                         std::to_string(key.session) + " is left out (" + std::to_string(ring.damaged) + " so far): " + problem->text());
}

Intake::Place& Intake::place(RingKey key, std::uint16_t id) {
    std::vector<Place>& places = rings[key].places;
    if (places.size() <= id) places.resize(std::size_t{id} + 1);
    return places[id];
}

std::int64_t Intake::seriesOf(const std::string& name, const std::string& unit) {
    const auto [it, fresh] = m_seriesByName.try_emplace(name, m_nextSeries);
    if (fresh) newSeries.push_back({m_nextSeries++, name, unit});
    return it->second;
}

void Intake::declare(RingKey key, std::uint16_t id, const std::string& name, const std::string& unit) {
    const std::int64_t series = seriesOf(name, unit);
    Place& where = place(key, id);
    if (where.series == series) return;
    where = {series, nullptr, 0};
    newNames.push_back({key, id, series});
}

void Intake::findHome(std::int32_t session, Ring& ring, Place& where, RowGroup*& fresh) {
    // The same series under another id of this ring: one home for both.
    for (const Place& other : ring.places) {
        if (other.series != where.series || other.group == nullptr) continue;
        where = other;
        return;
    }
    if (fresh == nullptr || fresh->columns.size() >= kMostColumns) {
        groups.push_back(std::make_unique<RowGroup>());
        fresh = groups.back().get();
        fresh->id = m_nextGroup++;
        fresh->session = session;
    }
    fresh->columns.push_back({where.series, {}});
    where.group = fresh;
    where.column = fresh->columns.size() - 1;
}

void Intake::beginRow(RowGroup& group, const live::PointsFrame& frame) {
    group.axis.attempt.push_back(static_cast<std::uint64_t>(frame.attempt));
    group.axis.step.push_back(static_cast<std::uint64_t>(frame.step));
    group.axis.activeNs.push_back(static_cast<std::uint64_t>(frame.activeNs));
    group.axis.wallNs.push_back(static_cast<std::uint64_t>(frame.wallNs));
    for (RowGroup::Column& column : group.columns) column.values.present.push_back(0);
    m_touched.push_back(&group);
}

void Intake::takePoints(RingKey key, const live::PointsFrame& frame) {
    Ring& ring = rings[key];
    RowGroup* fresh = nullptr;
    for (const live::PointsFrame::Item& item : frame.items) {
        // A value is kept even where its name was lost.
        if (item.series >= ring.places.size() || ring.places[item.series].series == 0)
            declare(key, item.series, "unnamed/ring" + std::to_string(key.ring) + "/" + std::to_string(item.series), {});
        if (Place& where = ring.places[item.series]; where.group == nullptr) findHome(key.session, ring, where, fresh);
    }
    m_touched.clear();
    for (const live::PointsFrame::Item& item : frame.items) {
        const Place& where = ring.places[item.series];
        if (std::find(m_touched.begin(), m_touched.end(), where.group) == m_touched.end()) beginRow(*where.group, frame);
        Values& values = where.group->columns[where.column].values;
        const auto bits = std::bit_cast<std::uint64_t>(item.value);
        if (values.present.back() != 0) {
            values.bits.back() = bits;  // the same series twice in one frame: the later one counts
        } else {
            values.present.back() = 1;
            values.bits.push_back(bits);
        }
    }
}

void Intake::seal(std::int32_t session, bool allOthers) {
    for (const auto& group : groups)
        if ((group->session == session) != allOthers) group->sealed = true;
    for (auto& [key, ring] : rings)
        for (Place& where : ring.places)
            if (where.group != nullptr && where.group->sealed) where.group = nullptr;
}

bool Intake::hasNews() const {
    if (!newSeries.empty() || !newNames.empty() || !events.empty() || !records.empty() || !digests.empty()) return true;
    for (const auto& [key, ring] : rings)
        if (ring.taken != ring.recorded) return true;
    return std::any_of(groups.begin(), groups.end(), [](const auto& group) {
        return group->axis.rows() > group->durableRows || (group->sealed && group->axis.rows() > 0);
    });
}

void Intake::committed(const std::vector<std::size_t>& closed) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (closed[i] > 0) groups[i]->forgetFront(closed[i]);
        groups[i]->durableRows = groups[i]->axis.rows();
    }
    std::erase_if(groups, [](const auto& group) { return group->sealed && group->axis.rows() == 0; });
    for (auto& [key, ring] : rings) ring.recorded = ring.taken;
    newSeries.clear();
    newNames.clear();
    events.clear();
    records.clear();
    digests.clear();
    pendingBytes = 0;
}

}  // namespace lathe::store
