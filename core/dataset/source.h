// What every reader gets told, and the rules about classes that are the same for all of them.
#pragma once

#include "dataset/dataset.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lathe::dataset {

/// One part of the data to be opened, with the keys that its errors name.
struct Source {
    const config::DataSection& data;
    const config::TaskSection& task;
    const Dataset* like = nullptr;  ///< training part, when this is the evaluation part
    const Progress& progress;
    std::filesystem::path path;
    std::string key = "data.train";
    std::filesystem::path labels;
    std::string labelsKey = "data.train_labels";
    bool onDemand = false;          ///< image folders: look at headers only, decode when asked
    bool anySize = false;           ///< image folders: pictures may differ in size

    bool classification() const { return task.name == "classification"; }
    /// Stopped when the caller of open() wants to end.
    Result<void> report(std::int64_t done, std::int64_t total) const;
};

/// Text labels to class indices. Names of training data are found, those of evaluation data are bound to training.
struct Classes {
    std::vector<std::string> names;
    std::vector<std::int64_t> labels;  ///< one a sample
};
/// `texts` are distinct, `indices` (one a sample) point into them, `where(sample)` names a sample for an error.
Result<Classes> classesOf(const Source& source, std::vector<std::string> texts, std::vector<std::int64_t> indices,
                          const std::function<std::string(std::int64_t)>& where);

/// At least two classes, and not more than task.num_classes.
Result<void> checkClassCount(const Source& source, const std::vector<std::string>& names);
std::vector<std::int64_t> countClasses(const std::vector<std::int64_t>& labels, std::size_t classes);

/// Refuses what could never fit into this machine's memory, before anything is allocated.
Result<void> checkMemory(const std::filesystem::path& path, double bytes, const std::string& key);

Result<std::unique_ptr<Dataset>> openIdx(const Source& source);
Result<std::unique_ptr<Dataset>> openCsv(const Source& source);
/// The line of column names alone.
Result<void> glanceAtCsv(const Source& source);
Result<std::unique_ptr<Dataset>> openText(const Source& source);
/// That there is a file, and enough of it; what is packed is not unpacked.
Result<void> glanceAtText(const Source& source);
Result<std::unique_ptr<Dataset>> openImageFolder(const Source& source);

}  // namespace lathe::dataset
