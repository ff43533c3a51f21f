// needs: lathe_test_support Qt6::Test
// What a crash costs: how soon a killed worker is noticed (its supervisor takes the next step), how soon its end is written
// down, and how much of the time is useful where the worker of a small model is killed again and again and the run goes on by
// itself: the active time of updates on the surviving line over the time since the first update. Prints JSON lines; goals:
// noticed in 50 ms, 0.90 with a kill every 30 s. Arguments: kills (default 4), seconds between them (default 30).
#include "bench_line.h"
#include "trainer_process.h"

#include "base/clock.h"
#include "launch/run/standing.h"
#include "store/run_store.h"

#include <QtCore/QCoreApplication>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include <vector>

using namespace lathe;
using namespace lathe::test;

static double seconds() { return static_cast<double>(Clock::system().monotonicNs()) / 1e9; }

static void tell(const char* what, const char* metric, double value, const char* unit) { bench::line("endings", what, "", metric, value, unit); }

static QStringList words(const QString& restarts) {
    QStringList out{"run", "digits-mlp", "--detach"};
    for (const QString& one : {QStringLiteral("run.epochs=none"), QStringLiteral("run.max_updates=1000000000"), QStringLiteral("evaluation.every=never"),
                               QStringLiteral("checkpoint.every=1 s"), QStringLiteral("parallel.device=cpu"), "run.restarts_per_hour=" + restarts})
        out << "--set" << one;
    return out;
}

static std::int64_t points(const rundir::RunFolder& run) {
    const auto reader = store::RunReader::open(run.database());
    const auto all = reader ? (*reader)->series() : Result<std::vector<store::SeriesSummary>>(reader.error());
    for (std::size_t i = 0; all && i < all->size(); ++i)
        if ((*all)[i].name == "train/loss") return (*all)[i].points;
    return 0;
}

/// From the signal to the exit record, and to the supervisor's own word of it in its log.
static void noticed() {
    std::vector<double> took;
    for (int round = 0; round < 10; ++round) {
        const Workspace work;
        if (work.ask(words("0")).code != 0) qFatal("did not start");
        const auto run = work.latest();
        if (!eventually([&] { return points(run) > 50; })) qFatal("no updates");
        const auto live = *rundir::readLive(run);
        const double killed = seconds();
        ::kill(static_cast<pid_t>(live->workers.at(0).pid), SIGKILL);
        while (true) {
            const auto record = rundir::readSession(run, 1);
            if (record && record->state) break;
            ::usleep(200);
        }
        took.push_back(1000 * (seconds() - killed));
        eventually([&] { return !rundir::RunLock::isHeld(run.lock()); });
    }
    std::sort(took.begin(), took.end());
    tell("SIGKILL to exit record", "median", took[took.size() / 2], "ms");
    tell("SIGKILL to exit record", "worst of 10", took.back(), "ms");
}

static void useful(int kills, double every) {
    const Workspace work;
    if (work.ask(words("3600")).code != 0) qFatal("did not start");
    const auto run = work.latest();
    if (!eventually([&] { return points(run) > 0; })) qFatal("no updates");
    const double began = seconds();
    for (int kill = 1; kill <= kills; ++kill) {
        while (seconds() - began < kill * every) ::usleep(10'000);
        const auto live = rundir::readLive(run);
        if (live && *live) ::kill(static_cast<pid_t>((*live)->workers.at(0).pid), SIGKILL);
    }
    if (!eventually([&] { return rundir::newestSession(run) == kills + 1 && launch::standingOf(run).state == rundir::State::Running; })) qFatal("it did not go on");
    while (seconds() - began < (kills + 1) * every) ::usleep(10'000);
    const double whole = seconds() - began;
    if (work.ask({"stop", "latest"}).code != 0) qFatal("did not stop");
    const auto reader = store::RunReader::open(run.database());
    const auto line = (*reader)->points("train/loss", store::RunReader::Line::Surviving);
    double active = 0;   // what each session on the line took up to its last update that counts
    for (std::size_t i = 0; i < line->size(); ++i)
        if (i + 1 == line->size() || (*line)[i + 1].session != (*line)[i].session) active += static_cast<double>((*line)[i].activeNs) / 1e9;
    tell("a kill every so often", "seconds between kills", every, "s");
    tell("a kill every so often", "useful time", std::min(1.0, active / whole), "ratio");
}

int main(int argc, char** argv) {
    const QCoreApplication app(argc, argv);
    noticed();
    useful(argc > 1 ? std::atoi(argv[1]) : 4, argc > 2 ? std::atof(argv[2]) : 30);
    return 0;
}
