// labels: gui
// What a run recorded beside its curves, in the real window: by mouse and keyboard, while it grows, and where it is damaged.
#include "fixture_run.h"
#include "window_bench.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "charts/histogram_view.h"
#include "models/record_table_model.h"
#include "pages/picture_view.h"
#include "pages/records_tab.h"
#include "theme/parts.h"

#include <QAccessible>
#include <QBuffer>
#include <QClipboard>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <filesystem>
#include <fstream>
#include <span>

using namespace lathe;
using live::FrameType;
using models::RecordNamesModel;
using models::RecordTableModel;
using tests::FixtureRun;
using tests::LiveSession;
using tests::WindowBench;

namespace {

std::string pngOf(const QImage& image) {
    QBuffer buffer;
    if (!buffer.open(QIODevice::WriteOnly) || !image.save(&buffer, "PNG")) qFatal("no PNG");
    return buffer.data().toStdString();
}

/// Two by two: red, green, blue, white.
QImage fourPixels() {
    QImage image(2, 2, QImage::Format_RGB32);
    image.setPixel(0, 0, qRgb(255, 0, 0));
    image.setPixel(1, 0, qRgb(0, 255, 0));
    image.setPixel(0, 1, qRgb(0, 0, 255));
    image.setPixel(1, 1, qRgb(255, 255, 255));
    return image;
}

std::string histogramOf(const std::vector<double>& edges, const std::vector<double>& counts) {
    Bytes bytes;
    put(bytes, std::uint32_t(counts.size()));
    for (const double edge : edges) put(bytes, edge);
    for (const double count : counts) put(bytes, count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

live::RecordFrame recordOf(FrameType type, std::int64_t step, const std::string& name, const std::string& content) { return {type, 0, 0, step, 0, name, {}, content, {}}; }

int pixelsOf(const QImage& image, const QColor& color) {
    int found = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) found += image.pixelColor(x, y).rgb() == color.rgb();
    return found;
}

constexpr auto kConfusion = R"({"columns":["true","cat","dog","cow"],"rows":[["cat",8,2,0],["dog",1,9,0],["cow",0,0,0]]})";

}  // namespace

class TestRecords : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;
    std::unique_ptr<FixtureRun> m_run;

    void begin() {
        m_run = std::make_unique<FixtureRun>(m_bench->workspace(), "own-script");
        m_run->beginSession(1);
    }
    void finish() {
        m_run->flush();
        m_run->endSession();
        m_run->summary();
        m_run->closeWriter();
    }
    void openRecords() { m_bench->open().openRun(QString::fromStdString(m_run->key()), pages::RunPage::Records); }
    /// One of each kind and ten steps of a text.
    void openOneOfEach() {
        begin();
        for (int step = 1; step <= 10; ++step) {
            m_run->record(recordOf(FrameType::Text, step, "sample", "text of step " + std::to_string(step)));
            m_run->record(recordOf(FrameType::Histogram, step, "weights", histogramOf({-1, 0, 1, 2}, {1, 4.0 * step, 2})));
        }
        m_run->record(recordOf(FrameType::Table, 10, "confusion", kConfusion));
        m_run->record(recordOf(FrameType::Image, 10, "picture", pngOf(fourPixels())));
        for (const char* value : {"0.5", "0.75"}) m_run->record(recordOf(FrameType::Summary, 10, "best", value));
        m_run->record(recordOf(FrameType::Summary, 10, "words", R"("<b>two</b>")"));
        m_run->record(recordOf(FrameType::OwnCheckpoint, 10, "/out/model.pt", R"({"path":"/out/model.pt","bytes":2500000,"metrics":{"eval/loss":"0.25"}})"));
        finish();
        openRecords();
        QTRY_COMPARE(names()->model()->rowCount(), 6);
    }

    QTableView* names() const { return m_bench->find<QTableView>("recordNames"); }
    QTableView* table() const { return m_bench->find<QTableView>("recordTable"); }
    QSlider* slider() const { return m_bench->find<QSlider>("recordSlider"); }
    QString text() const { return m_bench->find<QPlainTextEdit>("recordText")->toPlainText(); }
    QString problem() const { return m_bench->find<QLabel>("recordProblem")->text(); }
    QString where() const { return m_bench->find<theme::ElidedLabel>("recordWhere")->fullText(); }
    QStringList listed() const {
        QStringList rows;
        for (int row = 0; row < names()->model()->rowCount(); ++row) {
            QStringList cells;
            for (int column = 0; column < RecordNamesModel::ColumnCount; ++column) cells << names()->model()->index(row, column).data().toString();
            rows << cells.join(QLatin1Char(' '));
        }
        return rows;
    }
    void choose(const char* name) {
        for (int row = 0; row < names()->model()->rowCount(); ++row)
            if (names()->model()->index(row, 0).data().toString() == QLatin1String(name))
                return QTest::mouseClick(names()->viewport(), Qt::LeftButton, {}, names()->visualRect(names()->model()->index(row, 0)).center());
        QFAIL(name);
    }

private Q_SLOTS:
    void init() { m_bench = std::make_unique<WindowBench>(); }
    void cleanup() {
        m_bench.reset();
        m_run.reset();
    }

    void everyNameIsListedWithItsKind() {
        openOneOfEach();
        QCOMPARE(listed(), (QStringList{"confusion Table 1 10", "weights Histogram 10 10", "sample Text 10 10", "picture Picture 1 10", "Summary values Values 2 10", "Checkpoint files Files 1 10"}));
        QCOMPARE(names()->currentIndex().row(), 0);
        QTRY_COMPARE(table()->model()->rowCount(), 3);
    }
    void theStepsOfATextAreReachedByKeys() {
        openOneOfEach();
        choose("sample");
        QTRY_COMPARE(text(), QStringLiteral("text of step 10"));
        QVERIFY2(where().startsWith(QStringLiteral("step 10")) && where().endsWith(QStringLiteral("10 of 10")), qPrintable(where()));
        slider()->setFocus();
        QTest::keyClick(slider(), Qt::Key_Left);
        QTRY_COMPARE(text(), QStringLiteral("text of step 9"));
        QTest::keyClick(slider(), Qt::Key_Home);
        QTRY_COMPARE(text(), QStringLiteral("text of step 1"));
        QVERIFY(!m_bench->find<QToolButton>("newestRecord")->isChecked());
        QTest::keyClick(m_bench->find<QToolButton>("newestRecord"), Qt::Key_Space);
        QTRY_COMPARE(text(), QStringLiteral("text of step 10"));
        m_bench->click<QPushButton>("copyRecord");
        QTRY_COMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("text of step 10"));
    }
    void namesAreFiltered() {
        openOneOfEach();
        QTest::keyClicks(m_bench->find<QLineEdit>("recordFilter"), "WEIGH");
        QTRY_COMPARE(listed(), (QStringList{"weights Histogram 10 10"}));
        QTest::keyClicks(m_bench->find<QLineEdit>("recordFilter"), "s!");
        QCOMPARE(names()->model()->rowCount(), 0);
        m_bench->find<QLineEdit>("recordFilter")->clear();
        QCOMPARE(names()->model()->rowCount(), 6);
        // What was open all the while is the marked one again.
        QCOMPARE(names()->currentIndex().row(), 0);
    }
    void aMatrixOfCountsIsShadedByItsRows() {
        openOneOfEach();
        choose("confusion");
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        const auto cell = [this](int row, int column) { return table()->model()->index(row, column); };
        QVERIFY(!cell(0, 0).data(RecordTableModel::ShareRole).isValid());
        QCOMPARE(cell(0, 1).data(RecordTableModel::ShareRole).toDouble(), 0.8);
        QCOMPARE(cell(0, 2).data(RecordTableModel::ShareRole).toDouble(), 0.2);
        QCOMPARE(cell(2, 3).data(RecordTableModel::ShareRole).toDouble(), 0.0);  // a class that never came
        QVERIFY(cell(0, 1).data(RecordTableModel::DiagonalRole).toBool() && !cell(0, 2).data(RecordTableModel::DiagonalRole).toBool());
        const QImage seen = table()->viewport()->grab().toImage();
        const auto ground = [&](int row, int column) { return seen.pixelColor((table()->visualRect(cell(row, column)).topLeft() + QPoint(2, 3)) * seen.devicePixelRatio()); };
        QVERIFY(ground(0, 1) != ground(2, 3) && ground(0, 2) != ground(2, 3) && ground(0, 1) != ground(0, 2));
        m_bench->click<QPushButton>("copyRecord");
        QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("true\tcat\tdog\tcow\ncat\t8\t2\t0\n")));
    }
    void aHistogramHasItsBinsAndTheOthersBesideIt() {
        openOneOfEach();
        choose("weights");
        auto* strip = m_bench->find<charts::HistogramStrip>("recordStrip");
        auto* bars = m_bench->find<charts::HistogramView>("recordHistogram");
        QTRY_COMPARE(strip->columns(), 10);
        QTRY_VERIFY(bars->isVisible());
        const QColor blue = charts::Palette::light().curve(0);
        const QImage seen = bars->grab().toImage();
        // Counts 1, 40, 2 of bins of one width: the areas are as the counts.
        const int wide = seen.width(), all = pixelsOf(seen, blue), first = pixelsOf(seen.copy(0, 0, 64 + (wide - 86) / 3, seen.height()), blue);
        QVERIFY2(std::abs(double(first) / all - 1.0 / 43) < 0.01, qPrintable(QStringLiteral("%1 of %2").arg(first).arg(all)));
        QCOMPARE(bars->binAt(QPointF(bars->width() / 2.0, 40)), 1);
        QCOMPARE(bars->binAt(QPointF(2, 40)), -1);
        QCOMPARE(QAccessible::queryAccessibleInterface(bars)->text(QAccessible::Description), QStringLiteral("3 bins, 43 values from -1 to 2"));
        QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(70, strip->height() / 2));
        QTRY_VERIFY(where().startsWith(QStringLiteral("step 1 ")));
        QTRY_COMPARE(QAccessible::queryAccessibleInterface(bars)->text(QAccessible::Description), QStringLiteral("3 bins, 7 values from -1 to 2"));
    }
    void aSmallPictureIsShownInCrispPixels() {
        openOneOfEach();
        choose("picture");
        auto* view = m_bench->find<pages::PictureView>("recordPicture");
        QTRY_COMPARE(view->picture().size(), QSize(2, 2));
        QTRY_VERIFY(view->isVisible());
        const QImage seen = view->grab().toImage();
        const QRectF target = view->target();
        const int area = int(target.width() * target.height() * seen.devicePixelRatio() * seen.devicePixelRatio());
        // Not one pixel of a colour that is not in the picture.
        for (const QColor& color : {QColor(255, 0, 0), QColor(0, 255, 0), QColor(0, 0, 255)}) QCOMPARE(pixelsOf(seen, color), area / 4);
    }
    void valuesOfTheRunAreOneTableOfTheNewest() {
        openOneOfEach();
        choose("Summary values");
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QCOMPARE(table()->model()->index(0, 1).data().toString(), QStringLiteral("0.75"));
        QCOMPARE(table()->model()->index(1, 1).data().toString(), QStringLiteral("<b>two</b>"));
        QVERIFY(!slider()->isVisible());
        choose("Checkpoint files");
        QTRY_COMPARE(table()->model()->index(0, 0).data().toString(), QStringLiteral("/out/model.pt"));
        QStringList cells;
        for (int column = 1; column < 4; ++column) cells << table()->model()->index(0, column).data().toString();
        QCOMPARE(cells, (QStringList{"10", "2.5 MB", "eval/loss 0.25"}));
    }

    void whatIsDamagedIsSaidInASentence() {
        begin();
        const std::string picture = pngOf(fourPixels().scaled(64, 64));
        int serial = 0;
        // Contents differ, so that each lies in a file of its own.
        const auto blob = [&](const char* name, std::string content, FrameType type = FrameType::Image) {
            content += std::string(std::size_t(++serial), ' ');
            m_run->record(recordOf(type, 1, name, content));
            return m_run->folder().blobs() / hashHex(std::as_bytes(std::span(content)));
        };
        std::filesystem::remove(blob("missing", picture));
        std::fstream(blob("flipped", picture), std::ios::in | std::ios::out | std::ios::binary).seekp(50).put('x');
        const auto link = blob("link", picture), folder = blob("folder", picture);
        std::filesystem::remove(link);
        std::filesystem::create_symlink("/etc/hostname", link);
        std::filesystem::remove(folder);
        std::filesystem::create_directory(folder);
        blob("words", "<svg onload='x'/>");
        blob("cut", picture.substr(0, 40));
        std::string huge = picture;  // a header that asks for 10^10 pixels
        huge.replace(16, 17, std::string("\0\1\x86\xa0\0\1\x86\xa0\x8\x2\0\0\0\x27\x30\x9c\x9f", 17));
        blob("huge", huge);
        blob("table", "{\"columns\": 3}", FrameType::Table);
        m_run->record(recordOf(FrameType::Histogram, 1, "histogram", std::string("\xff\xff\xff\xff", 4)));
        m_run->record(recordOf(FrameType::Histogram, 1, "order", histogramOf({0, 2, 1}, {1, 1})));
        live::RecordFrame outside = recordOf(FrameType::Text, 1, "outside", {});
        outside.blob = "../run.json";
        m_run->record(outside);
        finish();
        openRecords();
        QTRY_COMPARE(names()->model()->rowCount(), 11);
        const std::pair<const char*, const char*> expected[] = {
            {"missing", "blobs/"}, {"flipped", "its bytes are not the ones that were recorded"}, {"link", "leads through a link"}, {"folder", "not a regular file"},
            {"words", "neither a PNG nor a JPEG"}, {"cut", "cannot be decoded"}, {"huge", "too many to be shown here"}, {"table", "The table"},
            {"histogram", "its number of bins differ"}, {"order", "its edges do not grow"}, {"outside", "not a plain relative path"}};
        for (const auto& [name, said] : expected) {
            choose(name);
            QTRY_VERIFY2(problem().contains(QLatin1String(said)), qPrintable(QLatin1String(name) + QLatin1String(": ") + problem()));
            QVERIFY(!m_bench->find<QPushButton>("copyRecord")->isEnabled());
        }
    }
    void aRunWithoutRecordsSaysHowToMakeSome() {
        begin();
        m_run->points(1, {{"train/loss", 1}});
        finish();
        openRecords();
        QTRY_VERIFY(m_bench->find<theme::EmptyState>("noRecords")->isVisible());
    }
    void textIsPlainAndALongOneIsCutWithANote() {
        begin();
        m_run->record(recordOf(FrameType::Text, 1, "markup", "<a href='file:///etc/passwd'>x</a>\x1b[31m\r\nred"));
        m_run->record(recordOf(FrameType::Text, 1, "long", std::string(3'000'000, 'a')));
        finish();
        openRecords();
        QTRY_COMPARE(names()->model()->rowCount(), 2);
        choose("markup");
        QTRY_COMPARE(text(), QStringLiteral("<a href='file:///etc/passwd'>x</a>[31m\nred"));
        choose("long");
        QTRY_VERIFY(text().startsWith(QLatin1String("aaa")));
        m_bench->click<QPushButton>("copyRecord");
        QCOMPARE(QGuiApplication::clipboard()->text(), QString(256 << 10, QLatin1Char('a')));
        QVERIFY2(m_bench->find<QLabel>("recordNote")->text().contains(QStringLiteral("3.0 MB")), qPrintable(m_bench->find<QLabel>("recordNote")->text()));
    }

    void aRunningRunIsFollowed() {
        begin();
        m_run->record(recordOf(FrameType::Text, 1, "sample", "first"));
        m_run->flush();
        m_run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Running; });
        LiveSession live(m_run->folder(), 1);
        live.beat(live::Phase::Training);
        openRecords();
        QTRY_COMPARE(text(), QStringLiteral("first"));
        m_run->record(recordOf(FrameType::Text, 2, "sample", "second"));
        m_run->record(recordOf(FrameType::Table, 2, "another", kConfusion));
        m_run->flush();
        QTRY_COMPARE(text(), QStringLiteral("second"));
        QTRY_COMPARE(listed(), (QStringList{"another Table 1 2", "sample Text 2 2"}));
        QCOMPARE(names()->currentIndex().row(), 1);
        // Who looks at an older one is left there.
        QTest::keyClick(slider(), Qt::Key_Home);
        QTRY_COMPARE(text(), QStringLiteral("first"));
        m_run->record(recordOf(FrameType::Text, 3, "sample", "third"));
        m_run->flush();
        QTRY_COMPARE(slider()->maximum(), 2);
        QCOMPARE(slider()->value(), 0);
        QCOMPARE(text(), QStringLiteral("first"));
        m_run->closeWriter();
    }
    /// All files but one are gone: whoever reads more than is looked at would find out.
    void tenThousandRecordsAreListedWithoutReadingThem() {
        begin();
        live::RecordFrame record = recordOf(FrameType::Text, 0, "story", {});
        record.blob = std::string(32, '0');
        for (record.step = 1; record.step < 10'000; ++record.step) m_run->record(record);
        m_run->record(recordOf(FrameType::Text, 10'000, "story", std::string(100'000, 'b')));
        for (int step = 1; step <= 10'000; ++step) m_run->record(recordOf(FrameType::Histogram, step, "weights", histogramOf({0, 1}, {1})));
        finish();
        openRecords();
        QTRY_COMPARE(names()->model()->rowCount(), 2);
        choose("story");
        QTRY_VERIFY(text().size() > 100'000);
        QCOMPARE(slider()->maximum(), 9999);
        choose("weights");
        auto* strip = m_bench->find<charts::HistogramStrip>("recordStrip");
        QTRY_VERIFY(strip->columns() > 100);
        QVERIFY2(strip->columns() <= int(session::RunRecords::kMostColumns) + 1, qPrintable(QString::number(strip->columns())));
    }
    void aChangeOfThemeReachesWhatIsPainted() {
        openOneOfEach();
        choose("weights");
        auto* bars = m_bench->find<charts::HistogramView>("recordHistogram");
        QTRY_VERIFY(bars->isVisible());
        QTRY_VERIFY(pixelsOf(bars->grab().toImage(), charts::Palette::light().curve(0)) > 1000);
        theme::apply(theme::Mode::Dark);
        QTRY_VERIFY(pixelsOf(bars->grab().toImage(), charts::Palette::darkOne().curve(0)) > 1000);
        theme::apply(theme::Mode::Light);
    }
    void nothingIsReadWhileAnotherPageIsOpen() {
        begin();
        m_run->record(recordOf(FrameType::Text, 1, "sample", "first"));
        finish();
        m_bench->open().openRun(QString::fromStdString(m_run->key()), pages::RunPage::Charts);
        QTRY_VERIFY(m_bench->window->runPage().session()->isLoaded());
        QCOMPARE(names()->model()->rowCount(), 0);
        m_bench->window->runPage().openTab(pages::RunPage::Records);
        QTRY_COMPARE(text(), QStringLiteral("first"));
    }
};

QTEST_MAIN(TestRecords)
#include "tst_records.moc"
