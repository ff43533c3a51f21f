// labels: fault
// timeout: 900
// RELIABILITY F1, F2, F3, F5, R2: every call to the system that a save makes, killed and failed, and the power lost at any
// moment of it, whichever thread writes. tests/fault/README.md says how.
#include "checkpoint_fixture.h"
#include "engine/checkpoint/checkpoint_reader.h"
#include "fault_sweep.h"
#include "power_sweep.h"

#include <QtTest>

#include <ATen/Parallel.h>

#include <cstdio>

using namespace lathe;
using namespace lathe::engine;
using namespace lathe::engine::test;
using lathe::test::Operation;

namespace {

namespace stdfs = std::filesystem;

constexpr const char* kFirst = "s001-000000003";
constexpr const char* kSecond = "s001-000000005";

int told(const Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 3;
}

/// Two updates after the first checkpoint, and the second one, which shares the file of the frozen part with the first.
int saveTheSecond(const stdfs::path& folder) {
    Bench bench(folder, 5, true);
    if (const auto loaded = loadCheckpoint(folder / kFirst, bench.state); !loaded.ok()) return told(loaded.error());
    bench.train(2);
    const auto saved = bench.save(kFirst);
    return saved.ok() ? 0 : told(saved.error());
}

std::string digestAfterFive() {
    Bench bench("/nowhere", 5, true);
    bench.train(3);
    bench.train(2);
    return bench.state.digest();
}

/// The first checkpoint is there and whole; so is the second, or it is not there; whichever is the newest leads to the same state.
std::string judge(const stdfs::path& folder, lathe::test::Ending ending, const std::string&) {
    static const std::string wanted = digestAfterFive();
    std::string newest;
    const std::vector<std::string> names = listFolder(folder).value();
    for (const std::string& name : names) {
        if (name.starts_with('.')) continue;
        const auto verified = rundir::verifyCheckpoint(folder / name);
        if (!verified.ok()) return verified.error().text();
        if (!verified->ok()) return name + ": " + verified->badFiles.front().text();
        newest = std::max(newest, name);
    }
    if (!stdfs::exists(folder / kFirst)) return "the checkpoint before is gone";
    if (isDone(ending) && newest != kSecond) return "it is told as saved and is not there";
    Bench bench(folder, 5, true);
    if (const auto loaded = loadCheckpoint(folder / newest, bench.state); !loaded.ok()) return loaded.error().text();
    if (newest == kFirst) bench.train(2);
    return bench.state.digest() == wanted ? std::string() : "going on from " + newest + " comes to another state";
}

/// As after an evaluation: the same updates, and what it changed; in the place of the first checkpoint.
int saveTheFirstAgain(const stdfs::path& folder) {
    Bench bench(folder, 5, true);
    if (const auto loaded = loadCheckpoint(folder / kFirst, bench.state); !loaded.ok()) return told(loaded.error());
    bench.best->take({{"loss", 0.25}}, GlobalStep(3));
    const auto saved = bench.save(kFirst);
    return saved.ok() ? 0 : told(saved.error());
}

/// There is one whole checkpoint of that name, the one before or the new one.
std::string judgeReplaced(const stdfs::path& folder, lathe::test::Ending ending, const std::string&) {
    const auto verified = rundir::verifyCheckpoint(folder / kFirst);
    if (!verified.ok()) return verified.error().text();
    if (!verified->ok()) return verified->badFiles.front().text();
    Bench bench(folder, 5, true);
    if (const auto loaded = loadCheckpoint(folder / kFirst, bench.state); !loaded.ok()) return loaded.error().text();
    return isDone(ending) && bench.best->value() != 0.25 ? "it is told as saved and the one before is there" : "";
}

std::string unfinishedIn(const stdfs::path& folder) {
    const std::vector<std::string> names = listFolder(folder).value();
    for (const std::string& name : names)
        if (name.starts_with('.')) return name;
    return {};
}

void makeTheFirst(const stdfs::path& folder) {
    Bench bench(folder, 5, true);
    bench.train(3);
    if (!bench.save().ok()) std::abort();
}

const std::vector<Operation>& operations() {
    static const std::vector<Operation> all = {{"saving", makeTheFirst, saveTheSecond, judge, true, unfinishedIn},
                                               {"saving in the place of another", makeTheFirst, saveTheFirstAgain, judgeReplaced, true, unfinishedIn}};
    return all;
}

void addOperations() {
    QTest::addColumn<std::size_t>("index");
    for (std::size_t i = 0; i < operations().size(); ++i) QTest::newRow(operations()[i].name.c_str()) << i;
}

}  // namespace

class FaultSaveTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        at::set_num_threads(1);  // a pool of threads would not come along into a child
        qInfo("seed %llu", static_cast<unsigned long long>(lathe::test::faultSeed()));
    }
    void everyCallOfASaveKilledAndFailed_data() { addOperations(); }
    void everyCallOfASaveKilledAndFailed() {
        QFETCH(std::size_t, index);
        const auto count = lathe::test::sweep(operations()[index], 120);
        if (!count.works) QSKIP(count.why.c_str());
        qInfo("fault sweep of a save: %zu calls, %zu of %zu points, %zu bad states", count.calls, count.points, count.possible, count.bad.size());
        for (std::size_t i = 0; i < count.bad.size() && i < 20; ++i) qWarning("%s", count.bad[i].c_str());
        QVERIFY(count.calls > 20 && count.bad.empty());
    }
    void powerLostAtAnyMomentOfASave_data() { addOperations(); }
    void powerLostAtAnyMomentOfASave() {
        QFETCH(std::size_t, index);
        const auto count = lathe::test::losePower(operations()[index], qEnvironmentVariableIsSet("LATHE_FULL") ? 10'000 : 300);
        if (!count.works) QSKIP(count.why.c_str());
        qInfo("power loss while saving: %zu changes, %zu states, %zu bad", count.changes, count.states, count.bad.size());
        for (std::size_t i = 0; i < count.bad.size() && i < 20; ++i) qWarning("%s", count.bad[i].c_str());
        QVERIFY(count.changes > 10 && count.bad.empty());
    }
};

QTEST_GUILESS_MAIN(FaultSaveTest)
#include "tst_fault_save.moc"
