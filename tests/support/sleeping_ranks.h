// A group of workers that only sleep, with the shared memory that their beats would come through.
#pragma once

#include "base/file_system.h"
#include "launch/workers/worker_group.h"
#include "live/segment.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace lathe::test {

struct SleepingRanks {
    explicit SleepingRanks(int world, const std::string& script = "exec sleep 1000") : segment(live::Segment::create({world + 1, 1u << 12}, "test").value()) {
        const std::filesystem::path root = folder.path().toStdString(), program = root / "sleeper";
        std::filesystem::create_directories(root / "logs");
        if (!replaceFile(FileSystem::real(), program, "#!/bin/sh\n" + script + "\n").ok()) qFatal("no program");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        group.emplace(launch::WorkerGroup::start({program, run, 1, world, segment->fd(), segment->fd(), "test"}).value());
    }
    bool turn(std::int64_t second, bool isAtSave = false) { return group->turn(second * 1'000'000'000, isAtSave); }
    pid_t pid(std::size_t rank) const { return static_cast<pid_t>(group->workers()[rank].identity().pid); }
    /// A worker's end, as it is collected.
    bool ends(int rank, std::int64_t second) {
        return QTest::qWaitFor([&] {
            turn(second);
            return group->end(rank).has_value();
        }, 10'000);
    }

    QTemporaryDir folder;
    const rundir::RunFolder run{folder.path().toStdString()};
    std::unique_ptr<live::Segment> segment;
    std::optional<launch::WorkerGroup> group;
};

}  // namespace lathe::test
