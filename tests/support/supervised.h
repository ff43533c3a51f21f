// Runs of the fake worker under a real supervisor, and what is asked of them again and again.
#pragma once

#include "rundir/run_folder.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <QtTest/QTest>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lathe::test {

inline std::size_t pointsOf(const rundir::RunFolder& run, const std::string& series) {
    const auto reader = store::RunReader::open(run.database());
    if (!reader) return 0;
    const auto points = (*reader)->points(series, store::RunReader::Line::All);
    return points ? points->size() : 0;
}

inline std::vector<std::string> eventKinds(const rundir::RunFolder& run) {
    std::vector<std::string> out;
    const auto reader = store::RunReader::open(run.database());
    const auto events = (*reader)->events();
    for (const auto& row : *events) out.push_back(row.event.kind);
    return out;
}

/// What a session that is over must not leave.
inline void nothingIsLeft(const rundir::RunFolder& run) {
    QVERIFY(!rundir::RunLock::isHeld(run.lock()) && !rundir::RunLock::isHeld(run.workersLock()));
    for (const auto& file : {run.liveJson(), run.socket(), run.reserve(), run.recordReserve()}) QVERIFY2(!std::filesystem::exists(file), file.c_str());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run.root()))
        QVERIFY2(entry.path().string().find(".tmp-") == std::string::npos, entry.path().c_str());
}

inline std::unique_ptr<Workspace> fresh(const std::string& script) {
    auto workspace = std::make_unique<Workspace>();
    workspace->useFakeWorker(LATHE_BIN_DIR);
    workspace->setScript(script);
    return workspace;
}
/// A detached run that has made some steps.
inline rundir::RunFolder running(const Workspace& workspace) {
    const Answer answer = workspace.ask({"run", "digits-mlp", "--detach"});
    if (answer.code != 0) qFatal("did not start: %s", answer.err.c_str());
    const rundir::RunFolder run = workspace.latest();
    if (!eventually([&] { return pointsOf(run, "train/loss") > 10; })) qFatal("no steps");
    return run;
}

}  // namespace lathe::test
