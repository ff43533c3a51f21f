// What a session writes of its machine's use: when, beside which attempt, and that each series is declared before its first point.
#include "launch/session/device_telemetry.h"

#include "live/frame.h"

#include <QtTest/QTest>

#include <memory>
#include <string>
#include <vector>

using namespace lathe;
using launch::DeviceTelemetry;

static constexpr std::int64_t kSecond = 1'000'000'000;

class TestDeviceTelemetry : public QObject {
    Q_OBJECT

    std::unique_ptr<live::Segment> m_segment;
    std::vector<device::Sample> m_samples;

    DeviceTelemetry every(Interval interval) {
        return DeviceTelemetry({*m_segment, 1, 7}, interval, [this] { return m_samples; });
    }
    /// Of the supervisor's ring: "series 0 cpu %", "points 3: 0=50".
    std::vector<std::string> written() const {
        std::vector<std::string> out;
        for (const live::Frame& frame : m_segment->reader(1).read().frames) {
            if (const auto series = live::decodeSeries(frame.payload); frame.type == live::FrameType::Series)
                out.push_back("series " + std::to_string(series->id) + " " + series->name + " " + series->unit);
            else if (const auto points = live::decodePoints(frame.payload); frame.type == live::FrameType::Points) {
                std::string line = "points " + std::to_string(points->attempt) + ":";
                for (const auto& item : points->items) line += " " + std::to_string(item.series) + "=" + std::to_string(static_cast<int>(item.value));
                out.push_back(line);
            }
        }
        return out;
    }
    using Lines = std::vector<std::string>;

private Q_SLOTS:
    void init() {
        auto segment = live::Segment::create({}, "test");
        QVERIFY(segment.ok());
        m_segment = std::move(*segment);
        m_samples = {{"cpu", "%", 50}};
    }

    void seriesAreDeclaredOnceAndBeforeTheirFirstPoint() {
        DeviceTelemetry telemetry = every({Interval::Unit::Seconds, 1});
        telemetry.look({3, 2, 40}, 100 * kSecond, 5);
        m_samples.push_back({"memory", "GiB", 8});
        telemetry.look({4, 3, 50}, 101 * kSecond, 6);
        QCOMPARE(written(), (Lines{"series 0 cpu %", "points 3: 0=50", "series 1 memory GiB", "points 4: 0=50 1=8"}));
        const auto frames = m_segment->reader(1).read().frames;
        const auto points = live::decodePoints(frames[1].payload);
        QVERIFY(points->session == 7 && points->step == 2 && points->activeNs == 40 && points->wallNs == 5);
        QVERIFY(m_segment->reader(0).read().frames.empty());   // a worker's
    }
    void nothingIsMeasuredBeforeItIsTimeAgain() {
        DeviceTelemetry telemetry = every({Interval::Unit::Seconds, 10});
        telemetry.look({1, 1, 1}, 100 * kSecond, 1);
        telemetry.look({2, 2, 2}, 110 * kSecond - 1, 1);
        QCOMPARE(written().size(), std::size_t(2));
        telemetry.look({2, 2, 2}, 110 * kSecond, 1);
        QCOMPARE(written().back(), std::string("points 2: 0=50"));
    }
    void anAttemptHasOneValue() {
        DeviceTelemetry telemetry = every({Interval::Unit::Seconds, 1});
        telemetry.look({}, 100 * kSecond, 1);   // before the first update
        QVERIFY(written().empty());
        telemetry.look({1, 1, 1}, 101 * kSecond, 1);
        telemetry.look({1, 1, 1}, 200 * kSecond, 1);
        QCOMPARE(written().size(), std::size_t(2));
    }
    void otherUnitsAndWhatCannotBeMeasuredWriteNothing() {
        for (const auto unit : {Interval::Unit::Never, Interval::Unit::Updates, Interval::Unit::Epochs}) every({unit, 1}).look({1, 1, 1}, 100 * kSecond, 1);
        m_samples.clear();
        every({Interval::Unit::Seconds, 1}).look({1, 1, 1}, 100 * kSecond, 1);
        QVERIFY(written().empty());
    }
};

QTEST_GUILESS_MAIN(TestDeviceTelemetry)
#include "tst_device_telemetry.moc"
