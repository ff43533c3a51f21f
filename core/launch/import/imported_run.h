// One folder of TensorBoard event files and the run that is made from it: what is read, in which order, which session it
// belongs to (tensorboard/session_line.h), and what is said about the rest.
// Thread: one.
#pragma once

#include "config/series_names.h"
#include "launch/import/import_recorder.h"
#include "launch/import/import_sources.h"
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
    std::int64_t points = 0, texts = 0, histograms = 0, images = 0;
    std::map<std::string, std::int64_t> leftOut;   ///< "sounds", "graphs" …: counted, not kept
    std::vector<std::string> problems;             ///< sentences
    int sessions = 0;                              ///< of the run, now
    std::size_t series = 0;                        ///< of the run, now
};

class ImportedRun {
public:
    /// Where the run of this folder is, or will be: the one that was made from it before, or a new one named `name`.
    /// Busy where another process holds it. Requires: `folder` is absolute.
    static Result<std::unique_ptr<ImportedRun>> open(ImportSources& sources, const std::filesystem::path& folder, const std::string& name);

    const std::filesystem::path& folder() const { return m_folder; }
    const rundir::RunFolder& run() const { return m_recorder->run(); }
    bool isNew() const { return m_isNew; }
    const ImportCount& count() const { return m_count; }
    ImportRecorder& recorder() { return *m_recorder; }

    /// Reads what is new, at most about `budget` bytes; true: there is more already. Damage is told and read around. An
    /// error: the folder cannot be read, or what was read cannot be recorded (failure()).
    Result<bool> read(std::uint64_t budget);
    /// Bytes read since it was opened.
    std::uint64_t bytesRead() const { return m_bytesRead; }
    /// Busy: another program holds the database; nothing is lost, and the next one tries again.
    Result<void> flush();
    /// Up for windows and terminals from here on, once there is anything to show.
    Result<void> goLive();
    /// Why nothing more can be recorded: only giveUp() may follow.
    const std::optional<Error>& failure() const { return m_failure; }
    /// What of the files could not be read, ever, as the end of a sentence; empty where nothing is missing.
    std::string missing() const;
    /// Of a file that will never give more, since it is damaged on the way: the sentence; else empty.
    const std::string& cutOff() const { return m_cutOff; }
    /// Writes how it stands and lets the run go. Without anything new the run stays as it was.
    Result<void> end(rundir::State state, const std::string& why);
    /// After a failure: the run ends as failed, and goes on from what was kept when it is imported again. False where nothing
    /// was kept: a run that was made for it is gone again.
    bool giveUp(const std::string& why);

private:
    static constexpr std::size_t kMostTags = 65'536;   ///< of curves

    ImportedRun(std::filesystem::path folder, rundir::RunLock lock, std::unique_ptr<ImportRecorder> recorder)
        : m_folder(std::move(folder)), m_lock(std::move(lock)), m_recorder(std::move(recorder)) {}
    Result<void> restore();
    Result<std::uint64_t> readFile(const std::string& name, std::uint64_t budget);
    void checkHead(std::size_t& file, const std::filesystem::path& path);
    void noteHead(std::size_t file, const std::filesystem::path& path);
    void report(const std::string& name, const tensorboard::RecordReader::Progress& progress);
    void tellLeft(const std::string& name);
    void tell(const std::string& about, const std::string& sentence);
    void problem(const std::string& about, const std::string& sentence);
    void take(std::size_t file, tensorboard::Event& event);
    void settle(std::size_t file, const tensorboard::Event& event, std::string_view tag);
    Result<void> setApart(std::size_t file, const tensorboard::SessionLine::Turn& turn, std::string_view tag, std::int64_t step);
    void takeScalar(std::size_t file, const tensorboard::Event& event, std::string_view tag, double number);
    void takeOther(const tensorboard::Event& event, const tensorboard::Value& value);
    void takeHistogram(const tensorboard::Event& event, const tensorboard::Value& value);
    void takePictures(const tensorboard::Event& event, const tensorboard::Value& value);
    bool keep(const tensorboard::Event& event, live::FrameType type, const std::string& name, const std::string& form, std::string content);
    tensorboard::Value::Kind kindOf(const tensorboard::Value& value);
    Result<void> begin(std::size_t file, std::int64_t keeps, bool byMark, const tensorboard::Event& event);
    void wake(const tensorboard::Event& event);
    void book(Result<void> done);
    bool hasRoom(std::size_t file, std::string_view tag) const;
    const std::string& seriesName(std::size_t tag);
    void writeDown();
    Result<void> keepSettings();
    std::string stateText();

    std::filesystem::path m_folder;
    rundir::RunLock m_lock;
    std::unique_ptr<ImportRecorder> m_recorder;
    tensorboard::SessionLine m_line;
    config::SeriesNames m_names;
    std::vector<std::string> m_seriesNames;          ///< by tag
    std::map<std::string, std::string> m_settings;
    std::map<std::string, std::string> m_plugins;    ///< of tags that are no curves: only a tag's first value need name it
    std::map<std::string, std::string> m_missing;    ///< what could not be read, by what it is about; kept with the state
    std::map<std::string, std::string> m_unfinished; ///< files that end inside a record, with the sentence
    std::map<std::string, std::uint64_t> m_left;     ///< records of a file that were left out in this reading, by what is wrong
    std::set<std::string> m_told;                    ///< in this reading, by what it is about
    std::vector<std::string> m_untold;               ///< sentences for the run's log, while it is not awake
    std::string m_cutOff;
    std::uint64_t m_recordAt = 0;                    ///< where the record begins that is being taken
    std::map<std::string, std::uint64_t> m_sizes;    ///< of files when they were last read to their end
    tensorboard::Event m_event;                      ///< reused
    ImportCount m_count;
    std::optional<Error> m_failure;                  ///< of the recorder: final
    std::uint64_t m_bytesRead = 0;
    std::size_t m_namesKept = 0;                     ///< of the series, in the database
    bool m_isNew = false, m_isAwake = false, m_settingsChanged = false;
};

}  // namespace lathe::launch
