// needs: lathe_ui
// Charts of a million points: from opening a run to its picture, and one repaint; and what watching a run of 100 updates a
// second costs. Prints JSON lines. Run with QT_QPA_PLATFORM=offscreen where there is no display.
#include "base/file_system.h"
#include "charts/curve_builder.h"
#include "charts/line_chart.h"
#include "charts/run_charts.h"
#include "session/recorded.h"
#include "store/run_store.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QGridLayout>
#include <QTemporaryDir>
#include <QTimer>

#include <cmath>
#include <cstdio>
#include <ctime>

using namespace lathe;

namespace {

constexpr int kPoints = 1'000'000;

void print(const char* what, const char* metric, double value, const char* unit) {
    std::printf("{\"bench\":\"charts\",\"case\":\"%s\",\"peer\":\"\",\"metric\":\"%s\",\"value\":%.4g,\"unit\":\"%s\"}\n", what, metric, value, unit);
    std::fflush(stdout);
}

double cpuSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double lossAt(int i) { return 1 + 8 * std::exp(-i / 50000.0) + 0.2 * std::sin(i * 12.9898) * std::cos(i * 0.37); }

/// A run folder whose run.sqlite holds one series of a million points.
rundir::RunFolder makeRun(const std::filesystem::path& root) {
    rundir::RunFolder run(root / "run");
    std::filesystem::create_directories(run.root());
    auto writer = store::RunWriter::open(run.database());
    if (!writer.ok()) qFatal("%s", writer.error().text().c_str());
    store::SessionRow session;
    session.number = 1;
    session.verb = "start";
    static_cast<void>((*writer)->beginSession(session));
    std::vector<std::byte> bytes;
    std::uint64_t sequence = 0;
    live::encode(live::SeriesFrame{1, "train/loss", ""}, bytes);
    (*writer)->take(0, 1, ++sequence, live::FrameType::Series, bytes);
    for (int i = 1; i <= kPoints; ++i) {
        live::encode(live::PointsFrame{1, i, i, std::int64_t(i) * 10'000'000, std::int64_t(i), {{1, lossAt(i)}}}, bytes);
        (*writer)->take(0, 1, ++sequence, live::FrameType::Points, bytes);
        if (i % 50000 == 0) static_cast<void>((*writer)->flush());
    }
    static_cast<void>((*writer)->flush());
    static_cast<void>((*writer)->endSession(session));
    return run;
}

/// Events until nothing is left to paint.
void settle() {
    for (int i = 0; i < 5; ++i) QCoreApplication::processEvents();
}

void openAndRepaint(const rundir::RunFolder& run) {
    charts::ChartLink link;
    charts::LineChart chart(QStringLiteral("Loss"), &link);
    chart.resize(1200, 400);
    chart.show();
    settle();
    QElapsedTimer clock;
    clock.start();
    const double processor = cpuSeconds();
    auto history = session::readHistory(run);
    if (!history.ok()) qFatal("%s", history.error().text().c_str());
    const double read = double(clock.nsecsElapsed()) * 1e-6, readProcessor = (cpuSeconds() - processor) * 1e3;
    charts::CurveBuilder builder;
    builder.setSmoothing(0.98);
    std::vector<charts::Curve> curves;
    builder.add(history->data, "train/loss", {QStringLiteral("train"), 0, false, true}, charts::Palette::light(), true, curves);
    chart.setCurves(curves);
    link.setDataRange(0, kPoints);
    chart.canvas()->grab();
    print("open 1,000,000 points", "history read, pyramids built", read, "ms");
    print("open 1,000,000 points", "history read, pyramids built, processor time", readProcessor, "ms");
    print("open 1,000,000 points", "to the first picture", double(clock.nsecsElapsed()) * 1e-6, "ms");

    constexpr int kFrames = 60;
    clock.restart();
    double before = cpuSeconds();
    for (int i = 0; i < kFrames; ++i) {
        const double width = kPoints * (1 - 0.012 * i);
        link.setRange((kPoints - width) / 2, (kPoints + width) / 2);
        chart.canvas()->grab();
    }
    print("zoom step, 1,000,000 points, 1200x400", "time a frame", double(clock.nsecsElapsed()) * 1e-6 / kFrames, "ms");
    print("zoom step, 1,000,000 points, 1200x400", "processor time a frame", (cpuSeconds() - before) * 1e3 / kFrames, "ms");
    link.reset();
    chart.canvas()->grab();
    clock.restart();
    for (int i = 0; i < kFrames; ++i) {
        history->data.append("train/loss", {1, kPoints + 1 + i, kPoints + 1 + i, 0, 0, 1.0});
        link.setDataRange(0, kPoints);
        chart.canvas()->grab();
    }
    print("repaint after a new point, 1,000,000 points", "time a frame", double(clock.nsecsElapsed()) * 1e-6 / kFrames, "ms");
}

/// Four linked charts in a window while 100 updates a second arrive on top of `already`.
void watch(int already, bool hidden, bool ignoreOutliers = false) {
    session::RunData data;
    store::SessionRow row;
    row.number = 1;
    data.setSessions({row});
    const char* names[] = {"train/loss", "train/lr", "train/grad_norm", "train/samples_per_second"};
    const auto feed = [&](int i) {
        for (const char* name : names) data.append(name, {1, i, i, std::int64_t(i) * 10'000'000, 0, lossAt(i)});
    };
    for (int i = 1; i <= already; ++i) feed(i);
    QWidget window;
    window.resize(1240, 700);
    auto* grid = new QGridLayout(&window);
    charts::ChartLink link;
    charts::CurveBuilder builder;
    builder.setSmoothing(0.9);
    std::vector<charts::LineChart*> all;
    for (int k = 0; k < 4; ++k) {
        all.push_back(new charts::LineChart(QString::fromLatin1(names[k]), &link));
        grid->addWidget(all.back(), k / 2, k % 2);
        std::vector<charts::Curve> curves;
        builder.add(data, names[k], {QString::fromLatin1(names[k]), 0, false, k != 1}, charts::Palette::light(), true, curves);
        all.back()->setCurves(curves);
        all.back()->setIgnoreOutliers(ignoreOutliers && k != 1);
    }
    if (!hidden) window.show();
    settle();
    int now = already;
    QTimer arrivals, repaint;
    QObject::connect(&arrivals, &QTimer::timeout, &window, [&] { for (int i = 0; i < 3; ++i) feed(++now); });
    QObject::connect(&repaint, &QTimer::timeout, &window, [&] { link.setDataRange(0, now); });
    arrivals.start(30);
    repaint.start(charts::RunCharts::kRepaintMs);
    QEventLoop loop;
    const double before = cpuSeconds();
    constexpr int kSeconds = 5;
    QTimer::singleShot(kSeconds * 1000, &loop, &QEventLoop::quit);
    loop.exec();
    char name[100];
    std::snprintf(name, sizeof name, "watching 100 updates/s, %d points before%s%s", already, hidden ? ", hidden" : "", ignoreOutliers ? ", outliers ignored" : "");
    print(name, "share of a core", 100 * (cpuSeconds() - before) / kSeconds, "%");
}

}  // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QTemporaryDir folder;
    const rundir::RunFolder run = makeRun(folder.path().toStdString());
    openAndRepaint(run);
    watch(50, false);
    watch(1000, false);
    watch(1000, false, true);
    watch(200'000, false);
    watch(200'000, true);
    return 0;
}
