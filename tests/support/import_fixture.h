// A workspace with a folder of event files that is imported, by the library or by lathe-trainer.
#pragma once

#include "event_files.h"
#include "launch/import/import.h"
#include "store/run_store.h"
#include "trainer_process.h"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::test {

namespace stdfs = std::filesystem;
using Line = store::RunReader::Line;

inline std::unique_ptr<store::RunReader> readerOf(const rundir::RunFolder& run) {
    auto reader = store::RunReader::open(run.database());
    return reader ? std::move(*reader) : nullptr;
}

inline std::string said(const Result<launch::ImportReport>& report) {
    if (!report) return report.error().text();
    std::string text;
    for (const std::string& sentence : report->problems) text += sentence + "\n";
    for (const auto& folder : report->runs)
        for (const std::string& sentence : folder.count.problems) text += sentence + "\n";
    return text;
}

struct ImportFixture {
    std::unique_ptr<Workspace> m_workspace = std::make_unique<Workspace>();

    void renew() {
        m_workspace = std::make_unique<Workspace>();
        m_workspace->useFakeWorker(LATHE_BIN_DIR);
    }
    stdfs::path logs() const { return m_workspace->scratch() / "logs"; }
    stdfs::path file(const std::string& name = "events.out.tfevents.0000000001.h.1.0") const { return logs() / name; }
    Result<launch::ImportReport> import() const {
        launch::ImportOptions options;
        options.workspace = m_workspace->folder();
        options.folder = logs();
        return launch::importFolder(options);
    }
    std::vector<store::Point> points(const std::string& name, Line line = Line::Surviving) const {
        auto found = readerOf(m_workspace->latest())->points(name, line);
        return found ? std::move(*found) : std::vector<store::Point>();
    }
    std::vector<std::int64_t> steps(const std::string& name, Line line = Line::Surviving) const {
        std::vector<std::int64_t> out;
        for (const store::Point& point : points(name, line)) out.push_back(point.step);
        return out;
    }
    static QStringList words(std::initializer_list<std::string> list) {
        QStringList out;
        for (const std::string& word : list) out << QString::fromStdString(word);
        return out;
    }
    std::unique_ptr<QProcess> follow(const std::string& idle = "1000") const { return m_workspace->start(words({"import", logs().string(), "--follow", "--idle", idle})); }
    bool isUp() const {
        const auto runs = rundir::listRuns(m_workspace->folder());
        return !runs.empty() && rundir::readLive(runs[0]).ok() && rundir::readLive(runs[0])->has_value();
    }
    std::size_t recorded(const std::string& name) const {
        if (rundir::listRuns(m_workspace->folder()).empty()) return 0;
        const auto reader = readerOf(m_workspace->latest());
        const auto found = reader ? reader->points(name, Line::All) : Result<std::vector<store::Point>>(std::vector<store::Point>());
        return found ? found->size() : 0;
    }
};

}  // namespace lathe::test
