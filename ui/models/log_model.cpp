#include "models/log_model.h"

#include "session/qt_text.h"

#include <QFile>

#include <sys/stat.h>

#include <algorithm>

namespace lathe::models {

namespace {

constexpr qint64 kMostBytes = 2 << 20;
constexpr qsizetype kMostLines = 20000;
constexpr qsizetype kLongestLine = 4000;
constexpr int kLookMs = 1000;

/// Terminal colours and other control characters are no text.
QString cleaned(const QByteArray& line) {
    QString text = QString::fromUtf8(line.left(kLongestLine));
    QString out;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == QChar(0x1b) && i + 1 < text.size() && text[i + 1] == QLatin1Char('[')) {
            while (++i < text.size() && !(text[i].isLetter())) {}
            continue;
        }
        if (c == QLatin1Char('\t') || c.unicode() >= 0x20) out += c;
    }
    return line.size() > kLongestLine ? out + QStringLiteral(" …") : out;
}

}  // namespace

LogModel::LogModel(QObject* parent) : QAbstractListModel(parent) {
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &LogModel::refresh);
}

void LogModel::restart() {
    beginResetModel();
    m_lines.clear();
    m_partial.clear();
    endResetModel();
}

void LogModel::setFile(const std::filesystem::path& file) {
    m_job.cancel();
    m_file = file;
    m_place = {};
    m_problem.clear();
    restart();
    refresh();
}

void LogModel::setFollowing(bool on) {
    if (on) m_timer.start();
    else m_timer.stop();
}

void LogModel::refresh() {
    if (m_file.empty() || m_job.running()) return;
    m_job.start([file = m_file, from = m_place](const session::NewestJob::Cancelled&) { return read(file, from); }, [this](const Read& found) { take(found); });
}

LogModel::Read LogModel::read(const std::filesystem::path& path, Place from) {
    Read found;
    found.place = from;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        found.problem = tr("There is no %1 yet").arg(session::toQt(path.filename().native()));
        return found;
    }
    if (!S_ISREG(info.st_mode)) {
        found.problem = tr("%1 is not a regular file").arg(session::toQt(path.native()));
        return found;
    }
    // Rotated or cut: from the start again.
    found.fromTheStart = quint64(info.st_ino) != from.inode || qint64(info.st_size) < from.offset;
    if (found.fromTheStart) found.place = {0, info.st_ino};
    if (qint64(info.st_size) == found.place.offset) return found;
    QFile file(session::toQt(path.native()));
    if (!file.open(QIODevice::ReadOnly)) {
        found.problem = tr("Cannot read %1: %2").arg(file.fileName(), file.errorString());
        return found;
    }
    const bool skips = found.place.offset == 0 && info.st_size > kMostBytes;
    file.seek(skips ? info.st_size - kMostBytes : found.place.offset);
    found.bytes = file.read(kMostBytes);
    found.place.offset = file.pos();
    if (skips) found.bytes.remove(0, found.bytes.indexOf('\n') + 1);  // the first line is cut
    return found;
}

void LogModel::take(const Read& found) {
    m_problem = found.problem;
    m_place = found.place;
    if (found.fromTheStart) restart();
    if (!found.bytes.isEmpty()) append(found.bytes);
    Q_EMIT changed();
}

void LogModel::append(const QByteArray& bytes) {
    QList<QByteArray> parts = (m_partial + bytes).split('\n');
    m_partial = parts.takeLast();
    if (m_partial.size() > kLongestLine) m_partial.truncate(kLongestLine + 1);
    if (parts.isEmpty()) return;
    if (parts.size() > kMostLines) parts = parts.mid(parts.size() - kMostLines);
    if (const qsizetype surplus = m_lines.size() + parts.size() - kMostLines; surplus > 0 && !m_lines.isEmpty()) {
        const qsizetype gone = std::min(surplus, m_lines.size());
        beginRemoveRows({}, 0, int(gone) - 1);
        m_lines.remove(0, gone);
        endRemoveRows();
    }
    beginInsertRows({}, int(m_lines.size()), int(m_lines.size() + parts.size()) - 1);
    for (const QByteArray& part : parts) m_lines += cleaned(part);
    endInsertRows();
}

QString LogModel::lastLines(int count) const {
    return m_lines.mid(std::max<qsizetype>(0, m_lines.size() - count)).join(QLatin1Char('\n'));
}

int LogModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_lines.size()); }

QVariant LogModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || role != Qt::DisplayRole) return {};
    return m_lines[index.row()];
}

}  // namespace lathe::models
