#include "session/shown_record.h"

#include "base/number_text.h"
#include "session/qt_text.h"

#include <QBuffer>
#include <QDateTime>
#include <QImageReader>
#include <QLocale>

namespace lathe::session {

namespace {

constexpr qsizetype kMostText = 256 << 10;   // characters: one line of that length is still laid out at once
constexpr qint64 kMostPixels = 30'000'000;

/// A text that wraps and scrolls: control characters, which only terminals understand, are left out.
QString cleaned(const QString& text) {
    QString out;
    out.reserve(text.size());
    for (const QChar c : text)
        if (c == QLatin1Char('\n') || c == QLatin1Char('\t') || c.unicode() >= 0x20) out += c;
    return out;
}

void takeText(const std::string& content, ShownRecord& shown) {
    // A character has at most four bytes.
    const QString whole = QString::fromUtf8(content.data(), std::min<qsizetype>(qsizetype(content.size()), 4 * kMostText));
    shown.text = cleaned(whole.left(kMostText));
    if (whole.size() > kMostText || content.size() > 4 * std::size_t(kMostText))
        shown.note = RunRecords::tr("The beginning of a text of %1; lathe-trainer records prints all of it.").arg(toQt(diskText(content.size())));
}

QString timeText(std::int64_t wallNs) {
    return wallNs > 0 ? QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")) : QString();
}

store::RecordCell numberCell(std::int64_t number) { return {toStd(QLocale(QLocale::English).toString(qint64(number))), true}; }

std::vector<store::RecordCell> checkpointRow(const store::OwnCheckpoint& checkpoint, const live::RecordFrame& record) {
    std::string metrics;
    for (const auto& [name, text] : checkpoint.metrics) metrics += (metrics.empty() ? "" : ", ") + name + " " + text;
    return {{checkpoint.path}, numberCell(record.step), {checkpoint.bytes > 0 ? diskText(std::uint64_t(checkpoint.bytes)) : std::string(), true}, {metrics}, {toStd(timeText(record.wallNs))}};
}

}  // namespace

QImage decodePicture(const std::string& bytes, QString& problem) {
    const bool png = bytes.starts_with("\x89PNG"), jpeg = bytes.starts_with("\xff\xd8");
    if (!png && !jpeg) {
        problem = RunRecords::tr("This is neither a PNG nor a JPEG picture.");
        return {};
    }
    QByteArray data = QByteArray::fromRawData(bytes.data(), qsizetype(bytes.size()));
    QBuffer buffer(&data);
    buffer.open(QIODevice::ReadOnly);
    QImageReader reader(&buffer, png ? "png" : "jpeg");
    reader.setAutoTransform(true);
    const QSize size = reader.size();
    if (qint64(size.width()) * size.height() > kMostPixels) {
        problem = RunRecords::tr("This picture has %1 × %2 pixels, too many to be shown here.").arg(size.width()).arg(size.height());
        return {};
    }
    QImage image = size.isEmpty() ? QImage() : reader.read();
    if (image.isNull()) problem = RunRecords::tr("This picture is damaged: it cannot be decoded.");
    return image;
}

ShownRecord readShown(const rundir::RunFolder& run, const store::RecordRow& row) {
    ShownRecord shown;
    shown.key = {row.record.type, row.record.name};
    shown.id = row.id;
    const auto content = store::recordContent(run, row.record);
    if (!content.ok()) {
        shown.problem = toQt(content.error().text());
        return shown;
    }
    const auto keep = [&shown](auto parsed, auto& place) {
        if (parsed.ok()) place = std::move(*parsed);
        else shown.problem = toQt(parsed.error().text());
    };
    switch (row.record.type) {
    case live::FrameType::Table: keep(store::parseTable(*content), shown.table); break;
    case live::FrameType::Histogram: keep(store::parseHistogram(*content), shown.histogram); break;
    case live::FrameType::Image: shown.image = decodePicture(*content, shown.problem); break;
    default: takeText(*content, shown); break;
    }
    return shown;
}

ShownRecord readCollected(const rundir::RunFolder& run, live::FrameType type) {
    ShownRecord shown;
    shown.key = {type, {}};
    const bool summary = type == live::FrameType::Summary;
    const QStringList titles = summary ? QStringList{RunRecords::tr("Name"), RunRecords::tr("Value"), RunRecords::tr("Step"), RunRecords::tr("Time")}
                                       : QStringList{RunRecords::tr("File"), RunRecords::tr("Step"), RunRecords::tr("Size"), RunRecords::tr("Metrics"), RunRecords::tr("Time")};
    for (const QString& title : titles) shown.table.columns.push_back(toStd(title));
    const auto reader = store::RunReader::open(run.database());
    const auto rows = reader.ok() ? (*reader)->newestRecords(type) : Result<std::vector<store::RecordRow>>(reader.error());
    if (!rows.ok()) {
        shown.problem = toQt(rows.error().text());
        return shown;
    }
    for (const store::RecordRow& row : *rows) {
        const live::RecordFrame& record = row.record;
        const auto content = store::recordContent(run, record);
        const auto problem = [&](const Error& error) { shown.table.rows.push_back({{record.name}, {error.text()}}); };
        if (!content.ok()) {
            problem(content.error());
        } else if (summary) {
            const auto cell = store::parseSummaryValue(*content);
            if (cell.ok()) shown.table.rows.push_back({{record.name}, *cell, numberCell(record.step), {toStd(timeText(record.wallNs))}});
            else problem(cell.error());
        } else {
            const auto checkpoint = store::parseOwnCheckpoint(*content);
            if (checkpoint.ok()) shown.table.rows.push_back(checkpointRow(*checkpoint, record));
            else problem(checkpoint.error());
        }
        shown.table.rows.back().resize(shown.table.columns.size());
    }
    return shown;
}

}  // namespace lathe::session
