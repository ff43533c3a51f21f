// One folder of TensorBoard event files and the run that is made from it: what is read, in which order, which session it
// belongs to (tensorboard/session_line.h), and what is said about the rest.
// Thread: one.
#pragma once

#include "config/series_names.h"
#include "launch/import_recorder.h"
#include "tensorboard/event.h"
#include "tensorboard/record_file.h"
#include "tensorboard/session_line.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lathe::launch {

/// What one reading brought.
struct ImportCount {
    std::int64_t points = 0, texts = 0;
    std::map<std::string, std::int64_t> leftOut;   ///< "histograms", "images" …: counted, not kept
    std::vector<std::string> problems;             ///< sentences
    int sessions = 0;                              ///< of the run, now
    std::size_t series = 0;                        ///< of the run, now
};

class ImportedRun {
public:
    /// Where the run of this folder is, or will be: the one that was made from it before, or a new one named `name`.
    /// Busy where another process holds it. Requires: `folder` is absolute.
    static Result<std::unique_ptr<ImportedRun>> open(const std::filesystem::path& workspace, const std::filesystem::path& folder, const std::string& name);

    const std::filesystem::path& folder() const { return m_folder; }
    const rundir::RunFolder& run() const { return m_recorder->run(); }
    bool isNew() const { return m_isNew; }
    const ImportCount& count() const { return m_count; }
    ImportRecorder& recorder() { return *m_recorder; }

    /// Reads what is new, at most about `budget` bytes; true: there is more already. Damage is told and read around.
    Result<bool> read(std::uint64_t budget);
    /// Bytes read since it was opened.
    std::uint64_t bytesRead() const { return m_bytesRead; }
    Result<void> flush();
    /// Up for windows and terminals from here on, once there is anything to show.
    Result<void> goLive();
    /// Writes how it stands and lets the run go. Without anything new the run stays as it was.
    Result<void> end(rundir::State state, const std::string& why);

private:
    ImportedRun(std::filesystem::path folder, rundir::RunLock lock, std::unique_ptr<ImportRecorder> recorder)
        : m_folder(std::move(folder)), m_lock(std::move(lock)), m_recorder(std::move(recorder)) {}
    Result<void> restore();
    Result<std::uint64_t> readFile(const std::string& name, std::uint64_t budget);
    void checkHead(std::size_t& file, const std::filesystem::path& path);
    void noteHead(std::size_t file, const std::filesystem::path& path);
    void report(const std::string& name, const tensorboard::RecordReader::Progress& progress);
    void problem(const std::string& about, const std::string& sentence);
    void take(std::size_t file, tensorboard::Event& event);
    void takeScalar(std::size_t file, const tensorboard::Event& event, std::string_view tag, double number);
    void takeText(const tensorboard::Event& event, const tensorboard::Value& value);
    void takeOther(const tensorboard::Event& event, const tensorboard::Value& value);
    void begin(std::optional<std::int64_t> keeps, const tensorboard::Event& event);
    void wake(const tensorboard::Event& event);
    const std::string& seriesName(std::size_t tag);
    void writeDown();
    std::string stateText() const;

    std::filesystem::path m_folder;
    rundir::RunLock m_lock;
    std::unique_ptr<ImportRecorder> m_recorder;
    tensorboard::SessionLine m_line;
    config::SeriesNames m_names;
    std::vector<std::string> m_seriesNames;          ///< by tag
    std::map<std::string, std::string> m_settings;
    std::set<std::string> m_textTags;
    std::map<std::string, std::string> m_told;       ///< problems by what they are about, each once
    std::map<std::string, std::uint64_t> m_sizes;    ///< of files when they were last read to their end
    tensorboard::Event m_event;                      ///< reused
    ImportCount m_count;
    std::optional<Error> m_failure;                  ///< of the recorder, inside a callback
    std::uint64_t m_bytesRead = 0;
    std::size_t m_namesKept = 0;                     ///< of the series, in the database
    bool m_isNew = false, m_isAwake = false, m_settingsChanged = false;
};

}  // namespace lathe::launch
