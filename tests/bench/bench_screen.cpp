// needs: lathe_ui lathe_test_support Qt6::Test
// How long a value takes from a script's call to the painted curve: a real script (lathe.py; lathe.h) under the real
// lathe-trainer, the real window on the run's charts. A value counts as shown when the update of the window is over in which
// it was painted (or changed no pixel). Prints JSON lines; goal: under 100 ms. Run under tests/support/on_screen for an X
// server, or with QT_QPA_PLATFORM=offscreen. LATHE_PYTHON, else python3. Argument: values of each case (default 300).
#include "window_bench.h"

#include "../../resources/c/lathe.h"
#include "base/clock.h"
#include "charts/line_chart.h"
#include "charts/run_charts.h"
#include "pages/charts_tab.h"

#include <QApplication>
#include <QEventLoop>
#include <QProcess>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <random>

using namespace lathe;

namespace {

struct Case {
    const char* name;
    bool c;                       ///< by lathe.h, else by lathe.py
    int before;                   ///< values that the run has already
    double shortest, longest;     ///< seconds between two values
};

constexpr Case kCases[] = {
    {"lathe.py, 20 to 60 ms apart", false, 0, 0.02, 0.06},
    {"lathe.h, 20 to 60 ms apart", true, 0, 0.02, 0.06},
    {"lathe.py, a second apart", false, 0, 0.8, 1.2},
    {"lathe.py, 100 a second", false, 0, 0.01, 0.01},
    {"lathe.py, 100 a second after 200,000", false, 200'000, 0.01, 0.01},
};

/// The same as screen_values.py, with lathe.h.
int playC(char** argv) {
    const std::string path = argv[2];
    const int before = std::atoi(argv[3]), count = std::atoi(argv[4]);
    const double shortest = std::atof(argv[5]), longest = std::atof(argv[6]);
    lathe_run* run = lathe_init("screen");
    for (int step = 0; step < before; ++step) lathe_log(run, step, "loss", 0.5);
    while (!lathe_save_requested(run)) ::usleep(20'000);
    std::mt19937 random(1);
    std::vector<std::pair<int, std::int64_t>> times;
    for (int step = before; step < before + count; ++step) {
        ::usleep(useconds_t(1e6 * std::uniform_real_distribution<double>(shortest, longest)(random)));
        times.emplace_back(step, Clock::system().monotonicNs());
        lathe_log(run, step, "loss", std::uniform_real_distribution<double>(0, 1)(random));
    }
    std::ofstream file(path + ".part");
    for (const auto& [step, ns] : times) file << step << ' ' << ns << '\n';
    file.close();
    std::filesystem::rename(path + ".part", path);
    while (!lathe_should_stop(run)) ::usleep(50'000);
    lathe_finish(run, 0, "");
    lathe_free(run);
    return 0;
}

/// Tells after each event, when all that it has led to is over: of a window's update also that its picture is handed over.
class Application : public QApplication {
public:
    using QApplication::QApplication;
    std::function<void()> settled;

    bool notify(QObject* receiver, QEvent* event) override {
        ++m_depth;
        const bool done = QApplication::notify(receiver, event);
        if (--m_depth == 0 && settled) settled();
        return done;
    }

private:
    int m_depth = 0;
};

void waitFor(const char* what, const std::function<bool()>& fact) {
    if (QTest::qWaitFor(fact, 60'000)) return;
    std::fprintf(stderr, "bench_screen: never came: %s\n", what);
    std::exit(1);
}

double cpuSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

void report(const Case& what, const char* metric, double value, const char* unit) {
    std::printf(R"({"bench":"screen","case":"%s","peer":"","metric":"%s","value":%.4g,"unit":"%s"})" "\n", what.name, metric, value, unit);
    std::fflush(stdout);
}

std::map<std::int64_t, std::int64_t> readTimes(const std::string& path) {
    std::map<std::int64_t, std::int64_t> times;
    std::ifstream file(path);
    for (std::int64_t step = 0, ns = 0; file >> step >> ns;) times[step] = ns;
    return times;
}

void startScript(const tests::WindowBench& bench, const Case& what, const QString& times, int count) {
    const QString binary = QCoreApplication::applicationDirPath();
    QStringList words{"run", "--detach", "--json", "--workspace", bench.folder.path(), "--"};
    if (what.c) words << QCoreApplication::applicationFilePath() << "--play";
    else words << qEnvironmentVariable("LATHE_PYTHON", "python3") << QStringLiteral(LATHE_SOURCE_DIR "/tests/bench/screen_values.py");
    words << times << QString::number(what.before) << QString::number(count) << QString::number(what.shortest) << QString::number(what.longest);
    QProcess trainer;
    trainer.start(binary + "/../bin/lathe-trainer", words);
    if (!trainer.waitForFinished(60'000) || trainer.exitCode() != 0) {
        std::fprintf(stderr, "bench_screen: %s\n", trainer.readAllStandardError().constData());
        std::exit(1);
    }
}

void measure(Application& app, const Case& what, int count) {
    tests::WindowBench bench;
    const QString times = bench.folder.filePath("times.txt");
    startScript(bench, what, times, count);
    const auto runs = rundir::listRuns(bench.workspace());
    auto& window = bench.open();
    window.resize(1440, 900);
    window.openRun(QString::fromStdString(runs.at(0).name()), pages::RunPage::Charts);
    auto& session = *window.runPage().session();
    charts::LineChart& chart = *bench.find<charts::RunCharts>("runCharts")->charts().front();
    const auto before = std::size_t(what.before);
    waitFor("the run", [&] { return session.standing().attached && chart.shownPoints() >= before; });
    QTest::qWait(500);
    std::vector<std::int64_t> shown;  // by value: when it was on the screen
    app.settled = [&] {
        const std::int64_t now = Clock::system().monotonicNs();
        while (shown.size() + before < chart.shownPoints()) shown.push_back(now);
    };
    const double processor = cpuSeconds();
    const std::int64_t began = Clock::system().monotonicNs();
    session.request(session::RunSession::Request::SaveNow);
    waitFor("every value", [&] { return shown.size() >= std::size_t(count); });
    const double share = (cpuSeconds() - processor) / (double(Clock::system().monotonicNs() - began) * 1e-9);
    waitFor("the times", [&] { return QFile::exists(times); });
    app.settled = {};
    std::vector<double> delays;
    for (const auto& [step, ns] : readTimes(times.toStdString())) delays.push_back(double(shown.at(std::size_t(step) - before) - ns) * 1e-6);
    session.request(session::RunSession::Request::Stop);
    waitFor("the end", [&] { return !session.isAlive(); });
    bench.close();
    std::sort(delays.begin(), delays.end());
    report(what, "median", delays[delays.size() / 2], "ms");
    report(what, "p99", delays[delays.size() * 99 / 100], "ms");
    report(what, "longest", delays.back(), "ms");
    report(what, "processor of the window", 100 * share, "% of a core");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 6 && std::string_view(argv[1]) == "--play") return playC(argv);
    Application app(argc, argv);
    const int count = argc > 1 ? std::atoi(argv[1]) : 300;
    for (const Case& what : kCases) measure(app, what, what.shortest > 0.5 ? std::min(count, 40) : count);
    return 0;
}
