// Records as files that other programs open: texts, tables and histograms as CSV, pictures as they are, values as JSON.
#pragma once

#include "base/result.h"
#include "live/frame.h"

#include <filesystem>
#include <set>
#include <string>

namespace lathe::trainer {

class RecordFiles {
public:
    /// A folder that is new or empty; made where it is not there.
    static Result<RecordFiles> into(const std::filesystem::path& folder);
    /// `content` as store::recordContent gives it; the file's name comes from the record's name and step and stays in the folder.
    Result<std::filesystem::path> write(const live::RecordFrame& record, const std::string& content);

private:
    explicit RecordFiles(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    std::string freeName(const live::RecordFrame& record, const std::string& extension);

    std::filesystem::path m_folder;
    std::set<std::string> m_taken;
};

}  // namespace lathe::trainer
