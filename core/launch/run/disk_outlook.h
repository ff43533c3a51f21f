// How long the disk of a workspace lasts: what is free against what the runs that are up write.
// A run's rate is what lies in its folder over the time it has been active, checkpoints apart: of those the rule of its
// configuration keeps so many, and only the ones that are missing yet are to come; those of checkpoint.keep_every never end,
// so they are part of the rate.
// Thread: functions without shared state; they read folders and may take a while.
#pragma once

#include "rundir/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

struct DiskRoom {
    bool isThere = true;       ///< the folder exists
    bool isWritable = true;    ///< neither mounted read-only, turned so by an error, nor closed to this user
    std::uint64_t freeBytes = 0;
    bool hasInodes = true;     ///< a file can be made
};

struct RunWrites {
    double bytesPerHour = 0;         ///< 0 before it has been active for a minute
    std::uint64_t toCome = 0;        ///< checkpoints that the rule keeps and that are not there yet
    std::uint64_t nextSave = 0;      ///< what the next save needs, as the one before; 0: not known, or it saves nothing
};

struct DiskOutlook {
    enum class Kind { Fine, Filling, Full, NoInodes, ReadOnly, Gone };
    Kind kind = Kind::Fine;
    std::uint64_t freeBytes = 0;
    double bytesPerHour = 0;              ///< all runs that are up here
    std::optional<double> hoursLeft;      ///< nothing where nothing is written
    std::uint64_t nextSave = 0;           ///< the largest that does not fit; 0: none
    bool operator==(const DiskOutlook&) const = default;
};

/// No session begins with less: it could not even write down how it ended. Told as full below this, and where the next save of
/// a run that is up does not fit.
inline constexpr std::uint64_t kLeastForSession = 4'000'000;
/// Told as filling when it is full within this time.
inline constexpr double kWarnHours = 24;

/// What the disk says, and whether a file without a name can be made on it: a disk that turned read-only after an error says
/// otherwise that it can be written.
DiskRoom roomOf(const std::filesystem::path& workspace);
RunWrites writesOf(const rundir::RunFolder& run);
/// RunWrites::nextSave alone, without a walk through the run's folder.
std::uint64_t nextSaveOf(const rundir::RunFolder& run);
DiskOutlook outlookFrom(const DiskRoom& room, const std::vector<RunWrites>& runs);
/// All of it for the runs of a workspace that are up on this machine.
DiskOutlook diskOutlook(const std::filesystem::path& workspace);
/// A sentence for people, empty where all is fine.
std::string outlookText(const DiskOutlook& outlook, const std::filesystem::path& workspace);

}  // namespace lathe::launch
