#include "session/run_records.h"

#include "session/qt_text.h"
#include "session/shown_record.h"

#include <algorithm>

namespace lathe::session {

namespace {

constexpr std::size_t kPlacesAtOnce = 20000;

/// Runs that have not written anything yet have no database.
bool hasDatabase(const rundir::RunFolder& run) {
    std::error_code ignored;
    return std::filesystem::exists(run.database(), ignored);
}

void add(RecordNames& names, std::int64_t count, std::int64_t firstStep, std::int64_t lastStep) {
    names.count += count;
    names.firstStep = std::min(names.firstStep, firstStep);
    names.lastStep = std::max(names.lastStep, lastStep);
}

}  // namespace

struct RunRecords::News {
    std::vector<store::RecordSummary> names;
    std::vector<store::RecordPlace> places;
    QString problem;
};

RunRecords::RunRecords(const rundir::RunFolder& run, QObject* parent) : QObject(parent), m_run(run.held()) {}

void RunRecords::refresh() {
    if (m_news.running()) return;
    const std::int64_t lastPlace = m_places.empty() ? 0 : m_places.back().id;
    const bool wantsPlaces = m_hasChosen && !isCollected(m_chosen.type);
    m_news.start([run = m_run, after = m_newest, key = m_chosen, wantsPlaces, lastPlace](const NewestJob::Cancelled& cancelled) {
        News news;
        if (!hasDatabase(run)) return news;
        const auto read = [&]() -> Result<void> {
            LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
            LATHE_TRY_ASSIGN(news.names, reader->recordNames(after));
            std::int64_t last = lastPlace;
            while (wantsPlaces && !*cancelled) {
                LATHE_TRY_ASSIGN(const auto more, reader->recordPlaces(key.type, key.name, last, kPlacesAtOnce));
                news.places.insert(news.places.end(), more.begin(), more.end());
                if (more.size() < kPlacesAtOnce) break;
                last = more.back().id;
            }
            return {};
        }();
        if (!read.ok()) news.problem = toQt(read.error().text());
        return news;
    }, [this](News news) { take(std::move(news)); });
}

void RunRecords::take(News news) {
    const bool first = !m_loaded;
    m_loaded = true;
    const bool problemDiffers = m_problem != news.problem;
    m_problem = news.problem;
    bool collectedGrew = false;
    for (const store::RecordSummary& one : news.names) {
        const RecordKey key{one.type, one.name};
        const auto found = m_found.try_emplace(key, RecordNames{key, 0, one.firstStep, one.lastStep}).first;
        add(found->second, one.count, one.firstStep, one.lastStep);
        m_newest = std::max(m_newest, one.newestId);
        collectedGrew = collectedGrew || (m_hasChosen && isCollected(one.type) && one.type == m_chosen.type);
    }
    if (!news.names.empty()) collectNames();
    if (first || problemDiffers || !news.names.empty()) Q_EMIT namesChanged();
    if (!news.places.empty()) {
        m_places.insert(m_places.end(), news.places.begin(), news.places.end());
        Q_EMIT placesChanged();
        if (m_chosen.type == live::FrameType::Histogram) readColumns();
    }
    if (collectedGrew) showCollected();
}

/// One entry a name, and one for all names of a collected kind.
void RunRecords::collectNames() {
    m_names.clear();
    for (const auto& [key, names] : m_found) {
        const bool together = isCollected(key.type);
        if (!together || m_names.empty() || m_names.back().key.type != key.type) {
            m_names.push_back(names);
            if (!together) continue;
            m_names.back().key.name.clear();
            m_names.back().count = 0;
        }
        add(m_names.back(), 1, names.firstStep, names.lastStep);
    }
}

void RunRecords::choose(const RecordKey& key) {
    if (m_hasChosen && key == m_chosen) return;
    m_chosen = key;
    m_hasChosen = true;
    m_places.clear();
    m_columns.clear();
    m_showing.cancel();
    m_columnJob.cancel();
    m_news.cancel();
    Q_EMIT placesChanged();
    refresh();
    if (isCollected(key.type)) showCollected();
}

void RunRecords::show(std::size_t place) {
    if (place >= m_places.size()) return;
    m_showing.start([run = m_run, id = m_places[place].id, key = m_chosen](const NewestJob::Cancelled& cancelled) {
        ShownRecord shown;
        if (*cancelled) return shown;
        const auto reader = store::RunReader::open(run.database());
        const auto row = reader.ok() ? (*reader)->record(id) : Result<std::optional<store::RecordRow>>(reader.error());
        if (row.ok() && row->has_value()) return readShown(run, **row);
        shown.key = key;
        shown.id = id;
        shown.problem = row.ok() ? RunRecords::tr("This record is not in the run's database any more.") : toQt(row.error().text());
        return shown;
    }, [this](ShownRecord shown) {
        m_shown = std::move(shown);
        Q_EMIT shownChanged();
    });
}

void RunRecords::showCollected() {
    m_showing.start([run = m_run, type = m_chosen.type](const NewestJob::Cancelled&) { return readCollected(run, type); }, [this](ShownRecord shown) {
        m_shown = std::move(shown);
        Q_EMIT shownChanged();
    });
}

/// Every 2^n-th place and the last one: as the run goes on, places stay where they are and only thin out.
std::vector<std::size_t> RunRecords::columnPlaces() const {
    std::size_t stride = 1;
    while (m_places.size() / stride >= kMostColumns) stride *= 2;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < m_places.size(); i += stride) places.push_back(i);
    if (!places.empty() && places.back() + 1 != m_places.size()) places.push_back(m_places.size() - 1);
    return places;
}

void RunRecords::readColumns() {
    if (m_columnJob.running()) return;  // what is new meanwhile is read after it
    std::vector<std::int64_t> missing;
    for (const std::size_t place : columnPlaces())
        if (m_columns.count(m_places[place].id) == 0) missing.push_back(m_places[place].id);
    if (missing.empty()) return;
    m_columnJob.start([run = m_run, missing](const NewestJob::Cancelled& cancelled) {
        std::map<std::int64_t, store::HistogramContent> found;
        const auto reader = store::RunReader::open(run.database());
        for (const std::int64_t id : missing) {
            if (*cancelled) break;
            store::HistogramContent& histogram = found[id];
            const auto row = reader.ok() ? (*reader)->record(id) : Result<std::optional<store::RecordRow>>(reader.error());
            if (!row.ok() || !row->has_value()) continue;
            const auto content = store::recordContent(run, (*row)->record);
            if (!content.ok()) continue;
            if (auto parsed = store::parseHistogram(*content); parsed.ok()) histogram = std::move(*parsed);
        }
        return found;
    }, [this](std::map<std::int64_t, store::HistogramContent> found) {
        m_columns.merge(found);
        Q_EMIT columnsChanged();
        readColumns();
    });
}

std::vector<RunRecords::Column> RunRecords::columns() const {
    std::vector<Column> columns;
    for (const std::size_t place : columnPlaces()) {
        const auto found = m_columns.find(m_places[place].id);
        if (found != m_columns.end() && !found->second.counts.empty()) columns.push_back({place, &found->second});
    }
    return columns;
}

}  // namespace lathe::session
