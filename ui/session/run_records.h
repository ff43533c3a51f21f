// What a run recorded beside its curves: names first, then where the records of one name stand, then what a single one
// says. Nothing is read before it is asked for, and what was read once is not read again.
// Thread: GUI thread; nothing here blocks it.
#pragma once

#include <QImage>  // before the core's headers: moc 6.4 fails on <compare> otherwise
#include <QObject>
#include <QString>

#include "rundir/run_folder.h"
#include "session/background.h"
#include "store/record_content.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lathe::session {

/// The records of one name, or, without a name, all summary values or all checkpoint files together.
struct RecordKey {
    live::FrameType type = live::FrameType::Text;
    std::string name;
    auto operator<=>(const RecordKey&) const = default;
};

/// Whether the newest record of each name is all there is to see: they are shown together.
constexpr bool isCollected(live::FrameType type) { return type == live::FrameType::Summary || type == live::FrameType::OwnCheckpoint; }

struct RecordNames {
    RecordKey key;
    std::int64_t count = 0, firstStep = 0, lastStep = 0;
};

/// What one record says (or all of a kind together), ready to be painted.
struct ShownRecord {
    RecordKey key;
    std::int64_t id = 0;       ///< 0: collected
    QString problem;           ///< a sentence: why there is nothing to see
    QString note;              ///< a sentence about what is to be seen, or empty
    QString text;
    store::TableContent table;
    store::HistogramContent histogram;
    QImage image;
};

class RunRecords : public QObject {
    Q_OBJECT
public:
    explicit RunRecords(const rundir::RunFolder& run, QObject* parent = nullptr);

    /// Reads what is new; cheap where nothing is.
    void refresh();
    bool isLoaded() const { return m_loaded; }
    const std::vector<RecordNames>& names() const { return m_names; }   ///< by kind and name
    QString problem() const { return m_problem; }                       ///< why nothing could be read, or empty

    void choose(const RecordKey& key);
    bool hasChosen() const { return m_hasChosen; }
    const RecordKey& chosen() const { return m_chosen; }
    const std::vector<store::RecordPlace>& places() const { return m_places; }  ///< oldest first; none of collected ones

    /// Asks for what the record at this place says; the newest wish counts.
    void show(std::size_t place);
    const ShownRecord& shown() const { return m_shown; }

    /// Histograms evenly spread over all places, the newest always among them; those that cannot be read are left out.
    struct Column {
        std::size_t place = 0;
        const store::HistogramContent* histogram = nullptr;
    };
    static constexpr std::size_t kMostColumns = 240;
    std::vector<Column> columns() const;

Q_SIGNALS:
    void namesChanged();
    void placesChanged();
    void shownChanged();
    void columnsChanged();

private:
    struct News;
    void take(News news);
    void collectNames();
    void showCollected();
    void readColumns();
    std::vector<std::size_t> columnPlaces() const;

    rundir::RunFolder m_run;
    NewestJob m_news{jobPool()}, m_showing{jobPool()}, m_columnJob{jobPool()};
    bool m_loaded = false;
    QString m_problem;
    std::int64_t m_newest = 0;     ///< id of the newest record that is counted in m_names
    std::map<RecordKey, RecordNames> m_found;
    std::vector<RecordNames> m_names;
    RecordKey m_chosen;
    bool m_hasChosen = false;
    std::vector<store::RecordPlace> m_places;
    ShownRecord m_shown;
    std::map<std::int64_t, store::HistogramContent> m_columns;  ///< by record; without counts: cannot be read
};

}  // namespace lathe::session
