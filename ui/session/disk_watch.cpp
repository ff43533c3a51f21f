#include "session/disk_watch.h"

namespace lathe::session {

namespace {

constexpr int kLookMs = 10'000;

}  // namespace

DiskWatch::DiskWatch(std::filesystem::path workspace, QObject* parent) : QObject(parent), m_workspace(std::move(workspace)), m_job(jobPool()) {
    connect(&m_timer, &QTimer::timeout, this, [this] {
        if (!m_job.running()) refresh();
    });
    m_timer.start(kLookMs);
    refresh();
}

void DiskWatch::refresh() {
    m_job.start([path = m_workspace](const NewestJob::Cancelled&) { return launch::diskOutlook(path); }, [this](const launch::DiskOutlook& found) {
        if (found == m_now) return;
        m_now = found;
        Q_EMIT changed();
    });
}

}  // namespace lathe::session
