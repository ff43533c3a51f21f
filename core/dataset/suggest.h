// "Own data": what a configuration should say about a folder or file that a person points at.
// Thread: safe from any thread.
#pragma once

#include "base/result.h"
#include "config/sections.h"
#include "dataset/dataset.h"

#include <string>
#include <vector>

namespace lathe::dataset {

struct Suggestion {
    config::DataSection data;        ///< format, files, columns, image size; the rest at its defaults
    config::TaskSection task;        ///< name and number of classes
    std::string preset;              ///< whose model, rates and length suit such data
    std::vector<std::string> notes;  ///< what was decided and may be changed, a sentence each

    /// Puts what it says about data and task into a configuration, and leaves the rest of it.
    void putInto(config::RunConfig& config) const;
};

/// Understands: a folder of class folders; a folder with train and val (validation, test …) below it; a CSV file; an IDX
/// file of inputs or labels, its partner found by name; a folder of such files. What lies beside under the usual names
/// becomes the evaluation part. A plain text file (.txt) is learned byte by byte.
/// CSV: the last column is the target where it holds classes: texts, or at most 20 different whole numbers that repeat.
/// Else the last column of few texts that repeat, and where there is none the last column as an amount. A column called
/// weight, or one that numbers the rows, is taken only where no other is left. Columns with texts or gaps and columns that
/// only number the rows are left out.
/// Pictures of different sizes get a square size near their median short side.
/// Reads headers of pictures and, once, the whole of a CSV or IDX file.
Result<Suggestion> suggest(const std::string& path, const Progress& progress = {});

}  // namespace lathe::dataset
