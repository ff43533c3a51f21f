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
    m_offset = 0;
    endResetModel();
}

void LogModel::setFile(const std::filesystem::path& file) {
    m_file = file;
    m_inode = 0;
    restart();
    refresh();
}

void LogModel::setFollowing(bool on) {
    if (on) m_timer.start();
    else m_timer.stop();
}

void LogModel::refresh() {
    if (m_file.empty()) return;
    struct stat info {};
    if (::stat(m_file.c_str(), &info) != 0) {
        m_problem = tr("There is no %1 yet").arg(session::toQt(m_file.filename().native()));
        return;
    }
    if (!S_ISREG(info.st_mode)) {
        m_problem = tr("%1 is not a regular file").arg(session::toQt(m_file.native()));
        return;
    }
    // Rotated or cut: from the start again.
    if (quint64(info.st_ino) != m_inode || qint64(info.st_size) < m_offset) restart();
    m_inode = info.st_ino;
    if (qint64(info.st_size) == m_offset) return;
    QFile file(session::toQt(m_file.native()));
    if (!file.open(QIODevice::ReadOnly)) {
        m_problem = tr("Cannot read %1: %2").arg(file.fileName(), file.errorString());
        return;
    }
    m_problem.clear();
    const bool skips = m_offset == 0 && info.st_size > kMostBytes;
    file.seek(skips ? info.st_size - kMostBytes : m_offset);
    QByteArray bytes = file.read(kMostBytes);
    m_offset = file.pos();
    if (skips) bytes.remove(0, bytes.indexOf('\n') + 1);  // the first line is cut
    append(bytes);
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
