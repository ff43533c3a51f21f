// history-v1.sqlite of a workspace: an index over its runs, rebuilt at will from summary.json and user.json.
// Losing it loses nothing. Best effort: a locked or corrupt index never stops a run or a window.
// Thread: one object a thread; several processes may use one file.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lathe::store {

/// One row of the Runs table, from summary.json (text of that file) and user.json.
struct HistoryRow {
    std::string folder;        ///< name of the run folder, unique in the workspace
    std::string summaryJson;   ///< content of summary.json
    std::string userJson;      ///< content of user.json, may be empty
    std::int64_t stampNs = 0;  ///< newest modification time of the two, to find changes by stat
};

class History {
public:
    /// Never fails for good: a file that cannot be used is set aside (renamed) and rebuilt; without write access the
    /// index lives in memory.
    static std::unique_ptr<History> open(const std::filesystem::path& workspace);
    ~History();
    /// Brings the index up to date by stat of each run folder; calls `progress` (done, total) from time to time.
    Result<void> refresh(const std::function<void(std::size_t, std::size_t)>& progress = {});
    Result<void> rebuild();
    Result<std::vector<HistoryRow>> rows() const;  ///< newest first by folder name
    Result<void> update(const std::string& folder);
    Result<void> forget(const std::string& folder);

    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lathe::store
