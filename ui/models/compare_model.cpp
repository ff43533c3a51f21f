#include "models/compare_model.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "config/config.h"
#include "session/qt_text.h"
#include "theme/plain_tip.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lathe::models {

using session::RunSession;
using session::toQt;

namespace {

constexpr std::uint64_t kLargestConfig = 1 << 20;
constexpr std::size_t kMostResults = 100;  // of programs that are not ours: rows of the table

/// Whether more is better, where the name of a metric says so.
std::optional<bool> directionOf(const std::string& name, const std::vector<std::shared_ptr<RunSession>>& sessions) {
    for (const auto& session : sessions)
        if (const auto& best = session->summary().best; best && best->metric == name) return best->higherIsBetter;
    if (name.find("loss") != std::string::npos || name.find("error") != std::string::npos) return false;
    if (name.find("accuracy") != std::string::npos) return true;
    return std::nullopt;
}

/// Newest value of the surviving line at or before a step.
std::optional<double> valueAt(const session::RunData& data, const std::string& name, std::int64_t step) {
    std::optional<double> found;
    for (const session::Piece& piece : data.pieces(name)) {
        if (piece.abandoned) continue;
        const std::size_t end = std::min(piece.end, piece.series->size());
        const std::size_t n = std::min(end, piece.series->lowerBound(session::XAxis::Step, double(step) + 0.5));
        if (n > piece.begin) found = double(piece.series->at(n - 1));
    }
    return found;
}

bool differ(const QStringList& cells) {
    return std::any_of(cells.begin(), cells.end(), [&](const QString& cell) { return cell != cells.front(); });
}

/// Which of the values are the best, where a direction is known.
std::vector<bool> bestOf(const std::vector<std::optional<double>>& values, std::optional<bool> higherIsBetter) {
    std::vector<bool> best(values.size());
    std::optional<double> leader;
    for (const auto& value : values)
        if (higherIsBetter && value && std::isfinite(*value) && (!leader || (*higherIsBetter ? *value > *leader : *value < *leader))) leader = value;
    for (std::size_t i = 0; i < values.size(); ++i) best[i] = leader && values[i] == leader;
    return best;
}

/// "Optimizer: Learning rate"; what is no setting of ours by its own name.
QString settingName(const std::string& key) {
    const config::Field* field = config::Schema::builtin().find(key);
    if (field == nullptr) return toQt(key);
    for (const config::Section& section : config::Schema::builtin().sections())
        if (section.name == field->section) return session::schemaText(section.label) + QStringLiteral(": ") + session::schemaText(field->label);
    return session::schemaText(field->label);
}

QString settingText(const std::string& key, const std::string& text) {
    const config::Field* field = config::Schema::builtin().find(key);
    const bool unset = field != nullptr && !field->noneText.empty() && text == config::valueText(std::monostate{});
    return unset ? session::schemaText(field->noneText) : toQt(text);
}

QString resultText(const std::optional<double>& value) {
    if (!value) return QStringLiteral("–");
    return std::isnan(*value) ? QStringLiteral("NaN") : toQt(shortText(*value, 5));
}

}  // namespace

CompareModel::CompareModel(QObject* parent) : QAbstractTableModel(parent) {
    m_soon.setSingleShot(true);
    m_soon.setInterval(1000);  // results of live runs: once a second is soon enough for a table
    connect(&m_soon, &QTimer::timeout, this, [this] { rebuild(); });
}

void CompareModel::setSessions(std::vector<std::shared_ptr<RunSession>> sessions) {
    for (const auto& session : m_sessions) session->disconnect(this);
    m_sessions = std::move(sessions);
    for (const auto& session : m_sessions) {
        connect(session.get(), &RunSession::loaded, this, [this] { rebuild(); });
        connect(session.get(), &RunSession::runEnded, this, [this] { rebuild(); });
        for (const auto signal : {&RunSession::stateChanged, &RunSession::userChanged, &RunSession::pointsReceived})
            connect(session.get(), signal, this, [this] {
                if (!m_soon.isActive()) m_soon.start();
            });
    }
    m_settings = {};
    rebuild();
    std::vector<rundir::RunFolder> runs;
    for (const auto& session : m_sessions) runs.push_back(session->run());
    m_reading.start([runs = std::move(runs)](const session::NewestJob::Cancelled&) { return readSettings(runs); }, [this](Settings found) {
        m_settings = std::move(found);
        rebuild();
        Q_EMIT settingsRead();
    });
}

void CompareModel::setOnlyDifferences(bool on) {
    if (on == m_onlyDifferences) return;
    m_onlyDifferences = on;
    rebuild();
}

bool CompareModel::identical() const {
    return !m_reading.running() && !m_rows.empty() && std::none_of(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.differs; });
}

std::optional<std::int64_t> CompareModel::commonStep() const {
    std::optional<std::int64_t> common;
    for (const auto& session : m_sessions) {
        const auto latest = session->data().latest("train/loss");
        if (!latest) return std::nullopt;
        common = common ? std::min(*common, latest->step) : latest->step;
    }
    return common;
}

QString CompareModel::problem() const { return m_settings.problem; }

void CompareModel::rebuild() {
    std::vector<Row> rows = m_settings.rows;
    for (Row& row : results()) rows.push_back(std::move(row));
    std::vector<int> shown;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].differs || !m_onlyDifferences) shown.push_back(int(i));
    const auto sameKey = [](const Row& a, const Row& b) { return a.key == b.key; };
    const bool sameShape = shown == m_shown && m_columns == int(m_sessions.size()) && std::equal(rows.begin(), rows.end(), m_rows.begin(), m_rows.end(), sameKey);
    if (sameShape) {  // numbers only: nothing jumps
        m_rows = std::move(rows);
        if (!m_shown.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        if (m_columns > 0) Q_EMIT headerDataChanged(Qt::Horizontal, 0, m_columns);
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    m_shown = std::move(shown);
    m_columns = int(m_sessions.size());
    endResetModel();
}

CompareModel::Settings CompareModel::readSettings(const std::vector<rundir::RunFolder>& runs) {
    Settings found;
    std::vector<std::vector<std::pair<std::string, std::string>>> all;
    for (const rundir::RunFolder& run : runs) {
        auto text = readFile(run.sessionYaml(std::max(1, rundir::newestSession(run))), kLargestConfig);
        if (!text.ok()) text = readFile(run.configYaml(), kLargestConfig);
        if (text.ok()) {
            all.push_back(config::comparedSettings(config::parse(*text, run.root()).config));
            continue;
        }
        // What was read from files of another program has no configuration of ours.
        const auto theirs = rundir::readSettings(run);
        if (!theirs.ok() && rundir::readManifest(run).ok()) found.problem = toQt(text.error().text());
        all.emplace_back();
        if (theirs.ok()) all.back().assign(theirs->begin(), theirs->end());
    }
    // In the order of the first run that has a setting: those of a command are its own arguments.
    std::vector<std::string> keys;
    std::vector<std::map<std::string, std::string>> told;
    for (const auto& settings : all) {
        std::map<std::string, std::string>& mine = told.emplace_back();
        for (const auto& [key, text] : settings) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
            mine[key] = text;
        }
    }
    for (const std::string& key : keys) {
        Row row{Kind::Setting, toQt(key), settingName(key), {}, std::vector<bool>(all.size()), false};
        for (const auto& mine : told) row.cells += mine.count(key) ? settingText(key, mine.at(key)) : QStringLiteral("–");
        const auto same = [&](const QString& cell) { return config::sameSetting(session::toStd(cell), session::toStd(row.cells.front())); };
        row.differs = !std::all_of(row.cells.begin(), row.cells.end(), same);
        found.rows.push_back(std::move(row));
    }
    return found;
}

std::vector<CompareModel::Row> CompareModel::results() const {
    std::vector<Row> rows;
    const auto add = [&](const QString& key, const QString& label, std::optional<bool> higherIsBetter, const auto& ask) {
        Row row{Kind::Result, key, label, {}, {}, false};
        std::vector<std::optional<double>> values;
        for (const auto& session : m_sessions) values.push_back(ask(*session));
        for (const auto& value : values) row.cells += resultText(value);
        row.differs = differ(row.cells);
        row.best = bestOf(values, row.differs ? higherIsBetter : std::nullopt);
        rows.push_back(std::move(row));
    };
    std::set<std::string> names;
    for (const auto& session : m_sessions) {
        const std::vector<std::string> recorded = session->data().names();
        // A program that is not ours calls its results as it likes.
        const bool ours = std::find(recorded.begin(), recorded.end(), "train/loss") != recorded.end();
        for (const std::string& name : recorded)
            if (name == "train/loss" || name.starts_with("eval/") || (!ours && !name.starts_with("device/") && names.size() < kMostResults)) names.insert(name);
    }
    const auto common = commonStep();
    for (const std::string& name : names) {
        const auto direction = directionOf(name, m_sessions);
        if (common)
            add(toQt(name) + QStringLiteral("@common"), tr("%1 at step %2").arg(toQt(name), QLocale(QLocale::English).toString(qlonglong(*common))), direction,
                [&](const RunSession& session) { return valueAt(session.data(), name, *common); });
        add(toQt(name) + QStringLiteral("@end"), tr("%1 at the end").arg(toQt(name)), direction, [&](const RunSession& session) -> std::optional<double> {
            const auto latest = session.data().latest(name);
            return latest ? std::optional(latest->value) : std::nullopt;
        });
    }
    if (m_sessions.empty()) return rows;
    Row steps{Kind::Result, QStringLiteral("steps"), tr("Steps"), {}, std::vector<bool>(m_sessions.size()), false};
    for (const auto& session : m_sessions) steps.cells += QLocale(QLocale::English).toString(qlonglong(session->counters().globalStep.value()));
    steps.differs = differ(steps.cells);
    rows.push_back(std::move(steps));
    Row time{Kind::Result, QStringLiteral("active"), tr("Active time"), {}, std::vector<bool>(m_sessions.size()), false};
    for (const auto& session : m_sessions) time.cells += toQt(durationText(session->summary().activeSeconds));
    time.differs = differ(time.cells);
    rows.push_back(std::move(time));
    return rows;
}

int CompareModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_shown.size()); }
int CompareModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_columns + 1; }

QVariant CompareModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[std::size_t(m_shown[std::size_t(index.row())])];
    const int run = index.column() - 1;
    switch (role) {
    case Qt::DisplayRole: return run < 0 ? row.label : row.cells.value(run);
    case Qt::ToolTipRole: return theme::plainTip(run < 0 ? row.key : row.cells.value(run));
    case Qt::TextAlignmentRole: return int((run >= 0 && row.kind == Kind::Result ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case KindRole: return int(row.kind);
    case BestRole: return run >= 0 && std::size_t(run) < row.best.size() && row.best[std::size_t(run)];
    case KeyRole: return row.key;
    default: return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole) || section < 0 || section > m_columns) return {};
    if (section == 0) return role == Qt::ToolTipRole ? QVariant() : tr("What");
    const QString name = m_sessions[std::size_t(section - 1)]->name();
    return role == Qt::ToolTipRole ? theme::plainTip(name) : name;
}

}  // namespace lathe::models
