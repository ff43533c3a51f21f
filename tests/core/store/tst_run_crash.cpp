// labels: process slow
// A recorder that is killed at any moment, and readers beside a recorder that works: in threads and in other processes.
#include "ring_script.h"
#include "store/run_store.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QElapsedTimer>
#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

using namespace lathe;
using namespace lathe::store;
using tests::RingScript;

namespace {

SessionRow session(std::int32_t number, std::int64_t parentAttempt) {
    SessionRow row;
    row.number = number;
    row.parentSession = number - 1;
    row.parentAttempt = parentAttempt;
    row.verb = "continue";
    return row;
}

double valueAt(std::int64_t attempt) { return static_cast<double>(attempt) * 0.7310585786300049; }

/// The recorder's part of this program: goes on after `from` in a session of its own until somebody ends it, and says
/// after each flush which attempt is durable.
int record(const char* file, std::int32_t number, std::int64_t from, std::int64_t upTo) {
    auto opened = RunWriter::open(file);
    if (!opened.ok()) return 3;
    RunWriter& out = **opened;
    if (!out.beginSession(session(number, from)).ok()) return 4;
    RingScript fast(out, 0, number), slow(out, 1, number);
    std::mt19937 random(static_cast<unsigned>(from));
    std::int64_t attempt = from;
    while (attempt < upTo) {
        for (unsigned rows = 1 + random() % 400; rows > 0 && attempt < upTo; --rows) {
            ++attempt;
            fast.points(attempt, {{"fast", valueAt(attempt)}, {"fast2", -valueAt(attempt)}});
            if (attempt % 50 == 0) slow.points(attempt, {{"slow", valueAt(attempt)}});
            if (attempt % 100 == 0) slow.event("phase", std::to_string(attempt), attempt);
        }
        if (!out.flush().ok()) return 5;
        std::printf("%lld\n", static_cast<long long>(attempt));
        std::fflush(stdout);
    }
    return out.endSession(session(number, from)).ok() ? 0 : 6;
}

/// The first `count` attempts without a gap, every value right.
bool isWhole(const std::vector<Point>& points, std::int64_t step, double sign, std::string& problem) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto attempt = static_cast<std::int64_t>(i + 1) * step;
        if (points[i].attempt == attempt && points[i].value == sign * valueAt(attempt)) continue;
        problem = "point " + std::to_string(i) + " has attempt " + std::to_string(points[i].attempt);
        return false;
    }
    return true;
}

/// Everything that was acknowledged is there, in order, once.
void verifyRun(const std::filesystem::path& file, std::int64_t acknowledged, std::int64_t& found) {
    auto in = RunReader::open(file);
    QVERIFY2(in.ok(), in.ok() ? "" : in.error().text().c_str());
    const auto fast = (*in)->points("fast", RunReader::Line::Surviving);
    QVERIFY2(fast.ok(), fast.ok() ? "" : fast.error().text().c_str());
    std::string problem;
    QVERIFY2(isWhole(*fast, 1, 1, problem), problem.c_str());
    found = static_cast<std::int64_t>(fast->size());
    QVERIFY2(found >= acknowledged, qPrintable(QString("%1 of %2").arg(found).arg(acknowledged)));
    QCOMPARE((*in)->points("fast2", RunReader::Line::Surviving)->size(), fast->size());
    if (found >= 50) {
        const auto slow = (*in)->points("slow", RunReader::Line::Surviving);
        QVERIFY2(isWhole(*slow, 50, 1, problem), problem.c_str());
        QCOMPARE(static_cast<std::int64_t>(slow->size()), found / 50);
    }
    QCOMPARE(static_cast<std::int64_t>((*in)->events(0, 1'000'000)->size()), found / 100);
    const auto verdict = (*in)->verify();
    QVERIFY2(verdict.ok(), verdict.ok() ? "" : verdict.error().text().c_str());
}

}  // namespace

class TestRunCrash : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;

    static std::int64_t lastNumber(QProcess& recorder, std::int64_t before) {
        while (recorder.canReadLine()) before = recorder.readLine().trimmed().toLongLong();
        return before;
    }
    static void start(QProcess& recorder, const std::filesystem::path& file, int number, std::int64_t from, std::int64_t upTo) {
        recorder.start(QCoreApplication::applicationFilePath(),
                       {"--record", QString::fromStdString(file.string()), QString::number(number), QString::number(from), QString::number(upTo)});
    }

    /// One killed before it booked its session leaves no number behind.
    static int nextSession(const std::filesystem::path& file) {
        const auto in = RunReader::open(file);
        if (!in.ok()) return 1;
        const auto sessions = (*in)->sessions();
        return sessions.ok() && !sessions->empty() ? sessions->back().number + 1 : 1;
    }

private Q_SLOTS:
    void whatWasAcknowledgedSurvivesEveryKill() {
        const std::filesystem::path file = m_folder.filePath("killed.sqlite").toStdString();
        const unsigned seed = std::random_device{}();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        std::int64_t found = 0;
        for (int round = 1; round <= 25; ++round) {
            QProcess recorder;
            start(recorder, file, nextSession(file), found, 1'000'000'000);
            std::int64_t acknowledged = found;
            QElapsedTimer timer;
            timer.start();
            const int life = static_cast<int>(random() % 250);
            const bool afterFirst = round % 5 != 0;  // some are killed while they open the file
            while (timer.elapsed() < life || (afterFirst && acknowledged == found)) {
                recorder.waitForReadyRead(5);
                acknowledged = lastNumber(recorder, acknowledged);
                QVERIFY(recorder.state() != QProcess::NotRunning || recorder.exitStatus() == QProcess::CrashExit);
                QVERIFY(timer.elapsed() < 30000);
            }
            recorder.kill();
            QVERIFY(recorder.waitForFinished());
            acknowledged = lastNumber(recorder, acknowledged);
            if (!std::filesystem::exists(file) || (acknowledged == 0 && !RunReader::open(file).ok())) continue;
            if (acknowledged == 0 && !(*RunReader::open(file))->points("fast", RunReader::Line::All).ok()) continue;
            const std::int64_t before = found;
            verifyRun(file, acknowledged, found);
            QVERIFY(found >= before);
            if (QTest::currentTestFailed()) return;
        }
        QVERIFY(found > 0);
        // And the end is in order.
        QProcess recorder;
        start(recorder, file, nextSession(file), found, found + 5000);
        QVERIFY(recorder.waitForFinished());
        QCOMPARE(recorder.exitCode(), 0);
        const std::int64_t last = found + 5000;
        verifyRun(file, last, found);
        QCOMPARE(found, last);
        QVERIFY(!std::filesystem::exists(file.string() + "-wal"));
    }
    void readersInOtherProcessesSeeAGrowingWholeRun() {
        const std::filesystem::path file = m_folder.filePath("watched.sqlite").toStdString();
        constexpr std::int64_t kAttempts = 60'000;
        QProcess recorder;
        start(recorder, file, 1, 0, kAttempts);
        QVERIFY(recorder.waitForReadyRead());
        auto in = std::move(*RunReader::open(file));
        std::size_t seen = 0, looks = 0;
        std::vector<Point> collected;
        while (seen < kAttempts) {
            const auto all = in->points("fast", RunReader::Line::Surviving);
            QVERIFY2(all.ok(), all.ok() ? "" : all.error().text().c_str());
            std::string problem;
            QVERIFY2(isWhole(*all, 1, 1, problem), problem.c_str());
            QVERIFY(all->size() >= seen);
            seen = all->size();
            const auto more = in->points("fast2", RunReader::Line::Surviving, 1, static_cast<std::int64_t>(collected.size()));
            QVERIFY(more.ok());
            collected.insert(collected.end(), more->begin(), more->end());
            QVERIFY2(isWhole(collected, 1, -1, problem), problem.c_str());
            const auto summaries = in->series();
            QVERIFY(summaries.ok());
            QVERIFY(summaries->front().points >= static_cast<std::int64_t>(seen));
            QCOMPARE(summaries->front().points, summaries->front().lastStep);
            const auto buckets = in->overview("fast", RunReader::Line::Surviving, 50);
            QVERIFY(buckets.ok());
            std::int64_t count = 0;
            for (const auto& bucket : *buckets) count += bucket.count;
            QVERIFY(count >= static_cast<std::int64_t>(seen));
            ++looks;
        }
        QVERIFY(recorder.waitForFinished());
        QCOMPARE(recorder.exitCode(), 0);
        QVERIFY(looks > 1);
        QVERIFY(!std::filesystem::exists(file.string() + "-wal"));  // the reader, still there, did not stand in the way
        QCOMPARE(in->points("slow", RunReader::Line::All)->size(), std::size_t{kAttempts / 50});
    }
    void readersInThreadsSeeAGrowingWholeRun() {
        const std::filesystem::path file = m_folder.filePath("threads.sqlite").toStdString();
        constexpr std::int64_t kAttempts = 40'000;
        auto out = std::move(*RunWriter::open(file));
        QVERIFY(out->beginSession(session(1, 0)).ok());
        RingScript ring(*out, 0, 1);
        ring.points(1, {{"fast", valueAt(1)}});
        QVERIFY(out->flush().ok());
        std::atomic<int> failures{0};
        std::atomic<std::int64_t> durable{1};
        std::vector<std::thread> readers;
        for (int i = 0; i < 3; ++i)
            readers.emplace_back([&] {
                auto in = RunReader::open(file);
                std::size_t seen = 0;
                while (in.ok() && seen < kAttempts) {
                    const std::int64_t promised = durable;
                    const auto points = (*in)->points("fast", RunReader::Line::Surviving);
                    std::string problem;
                    if (!points.ok() || !isWhole(*points, 1, 1, problem) || static_cast<std::int64_t>(points->size()) < promised) {
                        std::fprintf(stderr, "%s\n", points.ok() ? problem.c_str() : points.error().text().c_str());
                        ++failures;
                        return;
                    }
                    seen = points->size();
                }
                if (!in.ok()) ++failures;
            });
        for (std::int64_t attempt = 2; attempt <= kAttempts; ++attempt) {
            ring.points(attempt, {{"fast", valueAt(attempt)}});
            if (attempt % 250 != 0) continue;
            if (!out->flush().ok()) continue;  // tried again with the next
            durable = attempt;
        }
        while (!out->endSession(session(1, 0)).ok()) {}
        for (std::thread& reader : readers) reader.join();
        QCOMPARE(failures.load(), 0);
    }
};

int main(int argc, char** argv) {
    if (argc == 6 && std::strcmp(argv[1], "--record") == 0)
        return record(argv[2], std::atoi(argv[3]), std::atoll(argv[4]), std::atoll(argv[5]));
    QCoreApplication application(argc, argv);
    TestRunCrash test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_run_crash.moc"
