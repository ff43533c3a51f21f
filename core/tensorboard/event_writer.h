// Writes one event file that TensorBoard reads: the file's version, an optional mark that a run starts again at a step, and
// scalars. Values become float32, which is all the format's curves hold.
// Thread: one.
#pragma once

#include "base/bytes.h"
#include "base/file_system.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace lathe::tensorboard {

class EventWriter {
public:
    /// A new file; Exists when the name is taken. `restartStep`: what was written before with this step or a later one does
    /// not count any more.
    static Result<EventWriter> create(FileSystem& fs, const std::filesystem::path& file, double wallSeconds, std::optional<std::int64_t> restartStep);

    /// Kept in memory until the next flush, which comes by itself now and then; its failure is told by the next flush().
    void scalar(double wallSeconds, std::int64_t step, std::string_view tag, double value);
    /// What was added reaches the file in whole records. After an error nothing more is written.
    Result<void> flush();

private:
    explicit EventWriter(std::unique_ptr<OutputFile> file) : m_file(std::move(file)) {}
    void add();

    std::unique_ptr<OutputFile> m_file;
    Bytes m_payload, m_pending;
    std::optional<Error> m_problem;
};

}  // namespace lathe::tensorboard
