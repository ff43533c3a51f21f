// Histograms and pictures of event files: every form of them, and those that contradict themselves.
#include "event_messages.h"
#include "tensorboard/summary_content.h"

#include <QtTest/QTest>

#include <cmath>

using namespace lathe::tensorboard;
using namespace lathe::test;

using Doubles = std::vector<double>;

static std::string bucketsOf(double smallest, double largest, const Doubles& limits, const Doubles& counts, bool packed = true) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_double(1, smallest);
    writer.add_double(2, largest);
    if (packed) {
        writer.add_packed_double(6, limits.begin(), limits.end());
        writer.add_packed_double(7, counts.begin(), counts.end());
    } else {
        for (const double limit : limits) writer.add_double(6, limit);
        for (const double count : counts) writer.add_double(7, count);
    }
    return eventWith([&](auto& value) { value.add_string(1, "h"); value.add_message(5, message); });
}

static std::string rowsOf(int type, const Doubles& numbers, bool raw) {
    const std::vector<float> floats(numbers.begin(), numbers.end());
    const std::string tensor = tensorOf(type, [&](auto& writer) {
        if (raw && type == 2) writer.add_bytes(4, reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
        else if (raw) writer.add_bytes(4, reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
        else if (type == 2) writer.add_packed_double(6, numbers.begin(), numbers.end());
        else writer.add_packed_float(5, floats.begin(), floats.end());
    }, 2);
    return eventWith([&](auto& value) { value.add_string(1, "h"); value.add_message(8, tensor); value.add_message(9, metadataOf("histograms")); });
}

/// The one value of an event; `event` keeps what it points to.
static const Value& valueOf(const std::string& bytes, Event& event) {
    return parseEvent(std::as_bytes(std::span(bytes)), event) && event.values.size() == 1 ? event.values[0] : event.values.emplace_back();
}

class TestSummaryContent : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void histogramsOfEveryFormAreRead_data() {
        QTest::addColumn<QByteArray>("event");
        QTest::addColumn<QList<double>>("edges");
        QTest::addColumn<QList<double>>("counts");
        const auto row = [](const char* name, const std::string& event, const QList<double>& edges, const QList<double>& counts) {
            QTest::newRow(name) << QByteArray::fromStdString(event) << edges << counts;
        };
        row("buckets", bucketsOf(-1, 2.5, {0, 1, 3}, {4, 0, 5}), {-1, 0, 1, 2.5}, {4, 0, 5});
        row("not packed", bucketsOf(-1, 2.5, {0, 1, 3}, {4, 0, 5}, false), {-1, 0, 1, 2.5}, {4, 0, 5});
        row("empty ends go", bucketsOf(0.5, 0.9, {-1e300, 0, 1, 1e308}, {0, 0, 7, 0}), {0.5, 0.9}, {7});
        row("nothing in it", bucketsOf(1e308, -1e308, {1, 2}, {0, 0}), {0, 0}, {0});
        row("no buckets", bucketsOf(1, 2, {}, {}), {1, 2}, {0});
        for (const bool raw : {false, true}) {
            row(raw ? "raw doubles" : "doubles", rowsOf(2, {0, 1, 3, 1, 2, 4}, raw), {0, 1, 2}, {3, 4});
            row(raw ? "raw floats" : "floats", rowsOf(1, {0, 1, 3, 1, 2, 4}, raw), {0, 1, 2}, {3, 4});
        }
        row("a gap", rowsOf(2, {0, 1, 3, 2, 4, 5}, true), {0, 1, 2, 4}, {3, 0, 5});
        row("no rows", rowsOf(2, {}, true), {0, 0}, {0});
    }
    void histogramsOfEveryFormAreRead() {
        QFETCH(QByteArray, event);
        QFETCH(QList<double>, edges);
        QFETCH(QList<double>, counts);
        Event read;
        const std::string bytes = event.toStdString();
        const auto histogram = histogramOf(valueOf(bytes, read));
        QVERIFY(histogram.has_value());
        QCOMPARE(histogram->edges, Doubles(edges.begin(), edges.end()));
        QCOMPARE(histogram->counts, Doubles(counts.begin(), counts.end()));
    }
    void histogramsThatContradictThemselvesAreNone() {
        for (const std::string& bytes : {bucketsOf(0, 1, {1, 2}, {1}), bucketsOf(0, 3, {2, 1, 3}, {1, 1, 1}), bucketsOf(5, 1, {1}, {1}), bucketsOf(std::nan(""), 1, {1}, {1}),
                                         bucketsOf(0, INFINITY, {1}, {1}), bucketsOf(0, 3, {1, 2, 3}, {1, -1, 1}), bucketsOf(0, 3, {1, 2}, {1, INFINITY}), rowsOf(2, {0, 1}, true), rowsOf(2, {0, 1, 3, 5, 4, 1}, false), rowsOf(3, {0, 1, 3}, false),
                                         eventWith([](auto& value) { value.add_string(1, "h"); value.add_message(5, std::string("\x32\xff")); }),
                                         eventWith([](auto& value) { value.add_string(1, "h"); value.add_message(3, std::string()); })}) {
            Event read;
            QVERIFY(!histogramOf(valueOf(bytes, read)));
        }
    }
    void picturesComeAsTheyAre() {
        const std::string png("\x89PNG\r\n\x1a\n…"), jpeg("\xff\xd8\xff…");
        std::string image;
        protozero::pbf_writer writer(image);
        writer.add_int32(1, 8);
        writer.add_bytes(4, png);
        Event read;
        const std::string one = eventWith([&](auto& value) { value.add_string(1, "i"); value.add_message(4, image); });
        QCOMPARE(picturesOf(valueOf(one, read)), (std::vector<std::string_view>{png}));
        const std::string tensor = tensorOf(7, [&](auto& strings) {
            for (const std::string& text : {std::string("8"), std::string("8"), png, jpeg}) strings.add_bytes(8, text);
        }, 1);
        const std::string several = eventWith([&](auto& value) { value.add_string(1, "i"); value.add_message(8, tensor); value.add_message(9, metadataOf("images")); });
        QCOMPARE(picturesOf(valueOf(several, read)), (std::vector<std::string_view>{png, jpeg}));
        QCOMPARE(mediaTypeOf(png), std::string_view("image/png"));
        QCOMPARE(mediaTypeOf(jpeg), std::string_view("image/jpeg"));
        for (const char* other : {"", "GIF89a", "\x89PNG"}) QVERIFY(mediaTypeOf(other).empty());
        const std::string none = eventWith([](auto& value) { value.add_string(1, "i"); value.add_message(4, std::string()); });
        QVERIFY(picturesOf(valueOf(none, read)).empty());
    }
};

QTEST_GUILESS_MAIN(TestSummaryContent)
#include "tst_summary_content.moc"
