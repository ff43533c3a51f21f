// Tables of run.sqlite and the way from older versions to this one. Meaning of each column in FORMAT.md.
// Thread: functions without shared state.
#pragma once

#include "base/result.h"
#include "store/sqlite.h"

#include <filesystem>
#include <span>

namespace lathe::store {

constexpr int kRunApplicationId = 0x4c745275;  ///< "LtRu"
constexpr int kRunVersion = 2;

/// SQL that turns a database of version `from` into one of version `from` + 1.
struct Migration {
    int from = 0;
    const char* sql = "";
};

/// Creates the tables in an empty database, migrates an older one; each step is one transaction.
/// Version for a newer database, Corrupt for one that is not ours.
Result<void> prepareRunDatabase(Database& db, const std::filesystem::path& file);
/// The same for any versions, all of `migrations` known in order. What prepareRunDatabase runs.
Result<void> migrate(Database& db, const std::filesystem::path& file, std::span<const Migration> migrations, int target);
/// For readers: ours, and not newer than this program.
Result<void> checkRunDatabase(Database& db, const std::filesystem::path& file, int newest = kRunVersion);

}  // namespace lathe::store
