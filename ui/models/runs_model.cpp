#include "models/runs_model.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "session/run_words.h"
#include "theme/plain_tip.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QPointF>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace lathe::models {

using session::RunEntry;
using session::toQt;

namespace {

/// The metric that a row is judged by: the best of its task, else the newest training loss.
struct Metric {
    QString name;
    double value = 0;
    bool higherIsBetter = false;
    bool isBest = true;   ///< else the newest value
};

std::optional<Metric> metricOf(const RunEntry& entry) {
    if (const auto& best = entry.summary.best) return Metric{toQt(best->metric), best->value, best->higherIsBetter};
    const auto loss = entry.summary.last.find("train/loss");
    if (loss == entry.summary.last.end()) return std::nullopt;
    return Metric{QStringLiteral("train/loss"), loss->second, false, false};
}

/// Without the folder part of a series name: "eval/accuracy" is told as "accuracy".
QString shortName(const QString& metric) { return metric.startsWith(QStringLiteral("eval/")) ? metric.mid(5) : metric; }

QString metricText(const Metric& metric) {
    const QString arrow = !metric.isBest ? QCoreApplication::translate("lathe::models::RunsModel", ", last: ") : metric.higherIsBetter ? QStringLiteral(" ↑ ") : QStringLiteral(" ↓ ");
    return shortName(metric.name) + arrow + (std::isnan(metric.value) ? QStringLiteral("NaN") : toQt(shortText(metric.value)));
}

double fractionOf(const RunEntry& entry) {
    const auto& planned = entry.summary.plannedUpdates;
    if (entry.state == rundir::State::Queued) return -1;
    if (!planned || *planned <= 0) return -1;
    return std::clamp(double(entry.summary.counters.globalStep.value()) / double(*planned), 0.0, 1.0);
}

std::int64_t startedOf(const RunEntry& entry) { return entry.summary.startedNs ? entry.summary.startedNs : entry.summary.createdNs; }

QString progressText(const RunEntry& entry) {
    const QLocale english(QLocale::English);
    const QString step = english.toString(qlonglong(entry.summary.counters.globalStep.value()));
    if (entry.state == rundir::State::Queued) return {};
    return entry.summary.plannedUpdates ? step + QStringLiteral(" / ") + english.toString(qlonglong(*entry.summary.plannedUpdates)) : step;
}

QString tagsText(const RunEntry& entry) {
    QStringList tags;
    for (const std::string& tag : entry.user.tags) tags += toQt(tag);
    return tags.join(QStringLiteral(", "));
}

QString searchText(const RunEntry& entry) {
    QStringList words{entry.name(), toQt(rundir::name(entry.state)), toQt(entry.summary.task), toQt(entry.summary.model),
                      toQt(entry.summary.preset), toQt(entry.summary.id), QStringLiteral("is:") + toQt(rundir::name(entry.state))};
    for (const std::string& tag : entry.user.tags) words += QLatin1Char('#') + toQt(tag);
    return words.join(QLatin1Char(' ')).toLower();
}

double sortNumber(const RunEntry& entry, int column) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    switch (column) {
    case RunsModel::State: return double(entry.state);
    case RunsModel::Progress: return fractionOf(entry) < 0 ? kNone : fractionOf(entry);
    case RunsModel::Metric:
    case RunsModel::Sparkline: {
        const auto metric = metricOf(entry);
        return metric ? metric->value : kNone;
    }
    case RunsModel::Duration: return entry.summary.activeSeconds;
    default: return double(startedOf(entry));
    }
}

int alignment(int column) { return int((column == RunsModel::Progress || column == RunsModel::Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter); }

QString sortText(const RunEntry& entry, int column) { return column == RunsModel::Tags ? tagsText(entry) : entry.name().toLower(); }

}  // namespace

RunsModel::RunsModel(session::Workspace* workspace, QObject* parent) : QAbstractTableModel(parent), m_workspace(workspace) {
    connect(workspace, &session::Workspace::runsChanged, this, [this] { setRuns(m_workspace->runs()); });
    setRuns(workspace->runs());
}

void RunsModel::setRuns(std::vector<RunEntry> now) {
    const bool sameRows = now.size() == m_runs.size() &&
                          std::equal(now.begin(), now.end(), m_runs.begin(), [](const RunEntry& a, const RunEntry& b) { return a.folder == b.folder; });
    m_runs = std::move(now);
    m_search.resize(m_runs.size());
    std::transform(m_runs.begin(), m_runs.end(), m_search.begin(), searchText);
    const QStringList before = m_checked;
    m_checked.removeIf([this](const QString& folder) {
        return std::none_of(m_runs.begin(), m_runs.end(), [&](const RunEntry& entry) { return toQt(entry.folder) == folder; });
    });
    orderAll();
    if (sameRows && shownNow() == m_shown) {  // numbers of live runs: no reset, so that nothing jumps under the mouse
        if (!m_shown.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    } else {
        rebuild();
    }
    if (m_checked != before) Q_EMIT checkedChanged();
}

std::vector<int> RunsModel::shownNow() const {
    std::vector<int> rows;
    std::copy_if(m_order.begin(), m_order.end(), std::back_inserter(rows), [this](int run) { return passes(std::size_t(run)); });
    return rows;
}

void RunsModel::rebuild() {
    beginResetModel();
    m_shown = shownNow();
    endResetModel();
}

bool RunsModel::passes(std::size_t run) const {
    if (m_runs[run].user.archived && !m_showArchived) return false;
    const QString& text = m_search[run];
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) {
        if (!word.startsWith(QLatin1Char('#')) && !word.startsWith(QStringLiteral("is:"))) return text.contains(word);
        // Whole words: "#a" is not "#ab". "is:out of memory" is asked for by its first word.
        const QString spaced = QLatin1Char(' ') + text + QLatin1Char(' ');
        return spaced.contains(QLatin1Char(' ') + word + QLatin1Char(' '));
    });
}

void RunsModel::setFilter(const QString& text) {
    if (text == m_filter) return;
    m_filter = text;
    const QStringList words = text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (words == m_words) return;
    m_words = words;
    rebuild();
}

void RunsModel::setShowArchived(bool on) {
    if (on == m_showArchived) return;
    m_showArchived = on;
    rebuild();
}

void RunsModel::orderAll() {
    m_order.resize(m_runs.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::vector<int>& rows = m_order;
    const bool ascending = m_sortOrder == Qt::AscendingOrder;
    if (m_sortColumn == Name || m_sortColumn == Tags) {
        std::vector<QString> keys(m_runs.size());
        for (const int row : rows) keys[std::size_t(row)] = sortText(m_runs[std::size_t(row)], m_sortColumn);
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
            const QString &x = keys[std::size_t(a)], &y = keys[std::size_t(b)];
            return ascending ? x < y : y < x;
        });
        return;
    }
    struct Key {
        QString group;
        double value = 0;
    };
    std::vector<Key> keys(m_runs.size());
    for (const int row : rows) {
        const RunEntry& entry = m_runs[std::size_t(row)];
        Key& key = keys[std::size_t(row)];
        key.value = sortNumber(entry, m_sortColumn);
        // Values of different metrics have no order: rows of one metric stand together.
        if (m_sortColumn == Metric || m_sortColumn == Sparkline)
            if (const auto metric = metricOf(entry)) key.group = metric->name;
    }
    std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
        const Key &x = keys[std::size_t(a)], &y = keys[std::size_t(b)];
        if (std::isnan(x.value) || std::isnan(y.value)) return !std::isnan(x.value) && std::isnan(y.value);  // last, in either order
        if (x.group != y.group) return x.group < y.group;
        return ascending ? x.value < y.value : y.value < x.value;
    });
}

void RunsModel::sort(int column, Qt::SortOrder order) {
    m_sortColumn = column < 0 ? Started : column;
    m_sortOrder = order;
    orderAll();
    rebuild();
}

int RunsModel::rowOf(const QString& folder) const {
    for (std::size_t row = 0; row < m_shown.size(); ++row)
        if (toQt(entry(int(row)).folder) == folder) return int(row);
    return -1;
}

void RunsModel::setPlaces(std::map<std::string, int> places) {
    if (places == m_places) return;
    m_places = std::move(places);
    if (!m_shown.empty()) Q_EMIT dataChanged(index(0, State), index(rowCount() - 1, State));
}

QStringList RunsModel::checkedRuns() const { return m_checked; }

void RunsModel::setChecked(const QString& folder, bool on) {
    if (on == m_checked.contains(folder)) return;
    if (on) m_checked += folder;
    else m_checked.removeAll(folder);
    if (const int row = rowOf(folder); row >= 0) Q_EMIT dataChanged(index(row, Name), index(row, Name), {Qt::CheckStateRole});
    Q_EMIT checkedChanged();
}

void RunsModel::clearChecked() {
    if (m_checked.isEmpty()) return;
    m_checked.clear();
    if (!m_shown.empty()) Q_EMIT dataChanged(index(0, Name), index(rowCount() - 1, Name), {Qt::CheckStateRole});
    Q_EMIT checkedChanged();
}

int RunsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_shown.size()); }
int RunsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == Name) flags |= Qt::ItemIsUserCheckable;
    return flags;
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || index.column() != Name || role != Qt::CheckStateRole) return false;
    setChecked(toQt(entry(index.row()).folder), value.toInt() == Qt::Checked);
    return true;
}

QString RunsModel::display(const RunEntry& entry, int column) const {
    switch (column) {
    case Name: return entry.name();
    case State: return toQt(rundir::name(entry.state));
    case Progress: return progressText(entry);
    case Metric: {
        const auto metric = metricOf(entry);
        return metric ? metricText(*metric) : QString();
    }
    case Duration: return entry.summary.activeSeconds > 0 ? toQt(durationText(entry.summary.activeSeconds)) : QString();
    case Started: return startedOf(entry) ? QDateTime::fromMSecsSinceEpoch(startedOf(entry) / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm")) : QString();
    case Tags: return tagsText(entry);
    default: return {};
    }
}

QString RunsModel::toolTip(const RunEntry& entry, int column) const {
    if (!entry.problem.isEmpty()) return entry.problem;
    switch (column) {
    case Name: return entry.user.note.value_or("").empty() ? entry.name() : entry.name() + QLatin1Char('\n') + toQt(*entry.user.note);
    case State: return entry.why;
    case Started: return session::timeText(startedOf(entry));
    case Tags: return tagsText(entry);
    default: return {};
    }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const RunEntry& run = entry(index.row());
    switch (role) {
    case Qt::DisplayRole: return display(run, index.column());
    case Qt::ToolTipRole: return theme::plainTip(toolTip(run, index.column()));
    case Qt::AccessibleTextRole: return index.column() == State ? QVariant(session::stateWord(run.state, run.snag)) : QVariant();
    case Qt::AccessibleDescriptionRole: return index.column() == State ? QVariant(run.why) : QVariant();
    case Qt::TextAlignmentRole: return alignment(index.column());
    case Qt::CheckStateRole: return index.column() == Name ? QVariant(m_checked.contains(toQt(run.folder)) ? Qt::Checked : Qt::Unchecked) : QVariant();
    case FolderRole: return toQt(run.folder);
    case StateRole: return int(run.state);
    case SnagRole: return int(run.snag);
    case FractionRole: return fractionOf(run);
    case SparklineRole: {
        QVector<QPointF> points;
        for (const auto& [step, loss] : run.summary.sparkline) points.append({double(step), loss});
        return QVariant::fromValue(points);
    }
    case MetricHigherIsBetterRole: return run.summary.best && run.summary.best->higherIsBetter;
    case WhyRole: return run.problem.isEmpty() ? run.why : run.problem;
    case AliveRole: return rundir::isAlive(run.state);
    case StarRole: return run.user.star;
    case ArchivedRole: return run.user.archived;
    case PlaceRole: {
        const auto place = m_places.find(run.folder);
        return place == m_places.end() ? 0 : place->second;
    }
    default: return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case Name: return tr("Run");
    case State: return tr("State");
    case Progress: return tr("Step");
    case Metric: return tr("Best");
    case Sparkline: return tr("Training loss");
    case Duration: return tr("Active");
    case Started: return tr("Started");
    default: return tr("Tags");
    }
}

}  // namespace lathe::models
