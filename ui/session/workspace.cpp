#include "session/workspace.h"

#include "base/file_system.h"
#include "session/background.h"
#include "session/qt_text.h"
#include "session/run_facts.h"
#include "session/run_session.h"
#include "session/told.h"
#include "store/history.h"

#include <QFileSystemWatcher>
#include <QTimer>

#include <algorithm>
#include <map>

namespace lathe::session {

namespace {

constexpr int kLookMs = 1000;
constexpr std::uint64_t kLargestSummary = 4u << 20;
constexpr int kWholeLookEvery = 10;  // looks: every run folder by stat, for changes that no watcher tells of

struct Look {
    bool whole = true;               ///< else only entries of runs that are up
    bool isThere = true;             ///< else the workspace is not there now, and nothing was learned about its runs
    std::vector<RunEntry> entries;
    std::map<std::string, std::int64_t> stamps;
};

/// From the texts of summary.json and user.json; a summary that is missing is that of a run made a moment ago.
RunEntry entryOf(const rundir::RunFolder& run, const std::string& summaryJson, bool hasUser) {
    RunEntry entry;
    entry.folder = run.name();
    if (summaryJson.empty()) {
        if (const auto manifest = rundir::readManifest(run); manifest.ok()) {
            entry.summary.id = manifest->id;
            entry.summary.name = manifest->name;
            entry.summary.preset = manifest->preset;
            entry.summary.createdNs = manifest->createdNs;
        } else {
            entry.problem = toQt(manifest.error().text());
        }
    } else if (auto summary = rundir::parseSummary(summaryJson); summary.ok()) {
        entry.summary = std::move(*summary);
    } else {
        entry.problem = toQt(summary.error().text());
    }
    entry.state = entry.summary.state;
    entry.why = told(toQt(entry.summary.why));
    if (!hasUser) return entry;
    if (auto user = rundir::readUser(run); user.ok()) entry.user = std::move(*user);
    return entry;
}

/// By itself it becomes another state.
bool changesAlone(rundir::State state) { return rundir::isAlive(state) || state == rundir::State::Queued; }

void judge(const rundir::RunFolder& run, RunEntry& entry) {
    if (!changesAlone(entry.summary.state)) return;
    const Seen standing = seen(run);
    entry.state = standing.state;
    entry.snag = standing.snag;
    entry.why = told(toQt(standing.why));
}

/// An empty one that was just made is there; one that was renamed or unmounted is not, and says nothing about its runs.
bool isThere(const std::filesystem::path& workspace) {
    std::error_code ignored;
    return std::filesystem::is_directory(workspace, ignored);
}

/// Straight from their folders: cheap for the few runs that are up or wait, however many others there are.
Look lookAtSome(const std::filesystem::path& workspace, const std::vector<std::string>& folders) {
    Look found;
    found.whole = false;
    for (const std::string& folder : folders) {
        const rundir::RunFolder run(workspace / "runs" / folder);
        const auto text = readFile(run.summaryJson(), kLargestSummary);
        found.entries.push_back(entryOf(run, text.ok() ? *text : std::string(), true));
        judge(run, found.entries.back());
    }
    return found;
}

/// Over the index; entries whose files did not change are taken over from the last look.
Look lookAtAll(const std::filesystem::path& workspace, store::History& index, const std::vector<RunEntry>& known,
               const std::map<std::string, std::int64_t>& knownStamps) {
    const auto rows = index.rows();
    if (!rows.ok()) return {true, true, known, knownStamps};  // best effort: what was seen last stays on the screen
    std::map<std::string, const RunEntry*> old;
    for (const RunEntry& entry : known) old[entry.folder] = &entry;
    Look found;
    for (const store::HistoryRow& row : *rows) {
        const rundir::RunFolder run(workspace / "runs" / row.folder);
        const auto stamp = knownStamps.find(row.folder);
        const auto entry = old.find(row.folder);
        const bool same = stamp != knownStamps.end() && stamp->second == row.stampNs && entry != old.end();
        found.entries.push_back(same ? *entry->second : entryOf(run, row.summaryJson, !row.userJson.empty()));
        found.stamps[row.folder] = row.stampNs;
        judge(run, found.entries.back());
    }
    return found;
}

}  // namespace

QString RunEntry::name() const {
    if (user.name && !user.name->empty()) return toQt(*user.name);
    return toQt(summary.name.empty() ? folder : summary.name);
}

bool RunEntry::operator==(const RunEntry& other) const {
    return folder == other.folder && summary.updatedNs == other.summary.updatedNs && state == other.state && snag == other.snag && why == other.why &&
           problem == other.problem && summary.counters == other.summary.counters && summary.name == other.summary.name && sameUser(user, other.user);
}

struct Workspace::Impl {
    Impl(Workspace* workspace, std::filesystem::path path) : q(workspace), folder(std::move(path)) {}

    void look(bool whole);
    void take(Look found);
    void watch();

    Workspace* q;
    std::filesystem::path folder;
    SerialPool pool;  // the index is bound to one thread
    std::shared_ptr<std::unique_ptr<store::History>> history = std::make_shared<std::unique_ptr<store::History>>();
    std::vector<RunEntry> runs;
    std::map<std::string, std::int64_t> stamps;
    std::map<std::string, std::weak_ptr<RunSession>> sessions;
    QFileSystemWatcher watcher;
    QTimer timer;
    int looks = 0;
    bool isThere = true;
    bool loaded = false, looking = false, again = false;
};

Workspace::Workspace(std::filesystem::path folder, QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>(this, std::move(folder))) {
    Impl& d = *m_impl;
    connect(&d.watcher, &QFileSystemWatcher::directoryChanged, this, [&d] { d.look(true); });
    connect(&d.timer, &QTimer::timeout, this, [&d] { d.look(++d.looks % kWholeLookEvery == 0 || !d.isThere); });
    d.timer.start(kLookMs);
    d.watch();
    d.look(true);
}

Workspace::~Workspace() {
    m_impl->timer.stop();
    m_impl->pool.waitForDone();
}

const std::filesystem::path& Workspace::folder() const { return m_impl->folder; }
bool Workspace::isLoaded() const { return m_impl->loaded; }
const std::vector<RunEntry>& Workspace::runs() const { return m_impl->runs; }
void Workspace::refresh() { m_impl->look(true); }
rundir::RunFolder Workspace::runFolder(const std::string& folder) const { return rundir::RunFolder(m_impl->folder / "runs" / folder); }

const RunEntry* Workspace::find(const std::string& folder) const {
    const auto it = std::find_if(m_impl->runs.begin(), m_impl->runs.end(), [&](const RunEntry& entry) { return entry.folder == folder; });
    return it == m_impl->runs.end() ? nullptr : &*it;
}

std::shared_ptr<RunSession> Workspace::session(const std::string& folder) {
    std::weak_ptr<RunSession>& known = m_impl->sessions[folder];
    auto session = known.lock();
    // Deleted later: its last holder may be a slot of its own.
    if (!session) known = session = std::shared_ptr<RunSession>(new RunSession(runFolder(folder)), [](RunSession* gone) { gone->deleteLater(); });
    return session;
}

void Workspace::editUser(const std::string& folder, std::function<void(rundir::UserRecord&)> change) {
    runInBackground(jobPool(), this, [run = runFolder(folder), change = std::move(change)] { return rundir::editUser(FileSystem::real(), run, change); },
                    [this](const Result<void>& edited) {
                        if (!edited.ok()) Q_EMIT editFailed(toQt(edited.error().text()));
                        m_impl->look(true);
                    });
}

void Workspace::Impl::watch() {
    const QString runsFolder = toQt((folder / "runs").native());
    std::error_code ignored;
    if (!watcher.directories().contains(runsFolder) && std::filesystem::is_directory(folder / "runs", ignored)) watcher.addPath(runsFolder);
}

void Workspace::Impl::look(bool whole) {
    if (looking) {
        again = again || whole;
        return;
    }
    std::vector<std::string> up;
    for (const RunEntry& entry : runs)
        if (changesAlone(entry.state) || changesAlone(entry.summary.state)) up.push_back(entry.folder);
    if (!whole && up.empty()) return;
    looking = true;
    const auto taken = [this](Look found) { take(std::move(found)); };
    if (!whole) {
        runInBackground(pool, q, [path = folder, up] {
            Look found = lookAtSome(path, up);
            found.isThere = session::isThere(path);   // asked last: it may have gone meanwhile
            return found;
        }, taken);
        return;
    }
    runInBackground(pool, q, [history = history, path = folder, known = runs, knownStamps = stamps, receiver = QPointer<Workspace>(q)] {
        if (!session::isThere(path)) {
            history->reset();   // another one may come in its place
            return Look{true, false, {}, {}};
        }
        if (!*history) *history = store::History::open(path);
        static_cast<void>((*history)->refresh([receiver](std::size_t done, std::size_t total) {
            QMetaObject::invokeMethod(QCoreApplication::instance(), [receiver, done, total] {
                if (receiver) Q_EMIT receiver->indexProgress(int(done), int(total));
            }, Qt::QueuedConnection);
        }));
        Look found = lookAtAll(path, **history, known, knownStamps);
        found.isThere = session::isThere(path);
        return found;
    }, taken);
}

void Workspace::Impl::take(Look found) {
    looking = false;
    watch();
    const bool first = !loaded, moved = std::exchange(isThere, found.isThere) != found.isThere;
    bool differs = first;
    if (moved) Q_EMIT q->folderCameOrWent();
    if (!isThere) {   // what was seen last stays on the screen
        found.whole = false;
        found.entries.clear();
    }
    if (found.whole) {
        differs |= found.entries != runs;
        runs = std::move(found.entries);
        stamps = std::move(found.stamps);
    }
    for (RunEntry& entry : found.whole ? std::vector<RunEntry>() : std::move(found.entries)) {
        const auto known = std::find_if(runs.begin(), runs.end(), [&](const RunEntry& each) { return each.folder == entry.folder; });
        if (known == runs.end() || *known == entry) continue;
        *known = std::move(entry);
        differs = true;
    }
    loaded = true;
    std::erase_if(sessions, [](const auto& each) { return each.second.expired(); });
    if (differs) Q_EMIT q->runsChanged();
    if (std::exchange(again, false)) look(true);
}

}  // namespace lathe::session
