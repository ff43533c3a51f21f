// A shell script in place of lathe-worker, for as long as it lives: what askWorker() starts in this process.
#pragma once

#include <QTemporaryDir>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lathe::test {

class StandInWorker {
public:
    explicit StandInWorker(const std::string& script) {
        std::ofstream(program()) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
        const char* before = std::getenv("LATHE_PROGRAMS");
        m_before = before ? before : "";
        ::setenv("LATHE_PROGRAMS", m_folder.path().toStdString().c_str(), 1);
    }
    ~StandInWorker() {
        if (m_before.empty()) ::unsetenv("LATHE_PROGRAMS");
        else ::setenv("LATHE_PROGRAMS", m_before.c_str(), 1);
    }
    StandInWorker(const StandInWorker&) = delete;
    StandInWorker& operator=(const StandInWorker&) = delete;
    std::filesystem::path program() const { return std::filesystem::path(m_folder.path().toStdString()) / "lathe-worker"; }

private:
    QTemporaryDir m_folder;
    std::string m_before;
};

}  // namespace lathe::test
