#include "store/history.h"

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "rundir/run_folder.h"
#include "store/sqlite.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace lathe::store {
namespace {

namespace stdfs = std::filesystem;

constexpr int kApplicationId = 0x4c744869;  // "LtHi"
constexpr int kBusyMs = 100;                // the index is best effort: nobody waits for it
constexpr std::int64_t kSettledNs = 2'000'000'000;
constexpr std::uint64_t kLongestFile = 1u << 20;
constexpr std::size_t kRowsPerTransaction = 500;
constexpr std::size_t kProgressEvery = 200;
constexpr const char* kCreate =
    "PRAGMA page_size=8192; PRAGMA journal_mode=DELETE; BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS runs(folder TEXT PRIMARY KEY, stamp_ns INTEGER NOT NULL, summary TEXT NOT NULL, user TEXT NOT NULL) STRICT;"
    "PRAGMA application_id=1282689129; PRAGMA user_version=1; COMMIT";
static_assert(kApplicationId == 1282689129);

std::int64_t changedNs(const stdfs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return -1;
    return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::string contentOf(const stdfs::path& file) {
    auto content = readFile(file, kLongestFile);
    return content.ok() ? std::move(*content) : std::string();
}

bool isPlainName(const std::string& folder) {
    return !folder.empty() && folder != "." && folder != ".." && folder.find('/') == std::string::npos;
}

}  // namespace

/// All rows are held in memory once somebody asks for them; the file only saves reading every summary again at the next
/// start. So whatever happens to the file, nobody sees a failure and nobody waits.
struct History::Impl {
    stdfs::path workspace;
    std::optional<Database> db;
    bool loaded = false;            ///< the file's rows are in memory; who only updates one run does without
    std::map<std::string, HistoryRow> rowsByFolder;
    std::set<std::string> unsaved;  ///< folders whose row in the file is not the one in memory

    stdfs::path file() const { return workspace / "history-v1.sqlite"; }
    void connect();
    Result<void> prepare();
    Result<void> readAll();
    void load();
    void setAside();
    void dropConnection(const Error& why);
    bool readRow(const std::string& folder);
    void save();
    Result<void> saveSome(std::vector<std::string>& done);
};

void History::Impl::connect() {
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto opened = [this]() -> Result<void> {
            LATHE_TRY_ASSIGN(auto fresh, Database::open(file(), Database::Access::ReadWrite, kBusyMs));
            db.emplace(std::move(fresh));
            return prepare();
        }();
        if (opened.ok()) return;
        dropConnection(opened.error());
        if (opened.error().code != ErrorCode::Corrupt) return;
        setAside();
    }
}

Result<void> History::Impl::prepare() {
    LATHE_TRY_ASSIGN(const auto application, db->integer("PRAGMA application_id"));
    LATHE_TRY_ASSIGN(const auto version, db->integer("PRAGMA user_version"));
    LATHE_TRY_ASSIGN(const auto tables, db->integer("SELECT count(*) FROM sqlite_schema"));
    if (tables.value_or(0) == 0) return db->run(kCreate);
    if (application.value_or(0) != kApplicationId || version.value_or(0) != 1)
        return Error{ErrorCode::Corrupt, file().string() + " is not a history index of this version", {}, {}};
    return {};
}

Result<void> History::Impl::readAll() {
    LATHE_TRY_ASSIGN(auto query, db->prepare("SELECT folder, stamp_ns, summary, user FROM runs"));
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, query.step());
        if (!row) return {};
        HistoryRow entry{query.text(0), query.text(2), query.text(3), query.integer(1)};
        // What is in memory already is newer.
        if (isPlainName(entry.folder) && !unsaved.contains(entry.folder)) rowsByFolder.try_emplace(entry.folder, std::move(entry));
    }
}

void History::Impl::load() {
    if (loaded) return;
    loaded = true;
    if (!db) return;
    const auto read = readAll();
    if (read.ok()) return;
    dropConnection(read.error());
    if (read.error().code != ErrorCode::Corrupt) return;
    setAside();
    connect();
}

void History::Impl::setAside() {
    std::error_code ignored;
    stdfs::path name = file();
    for (int i = 1; stdfs::exists(name, ignored); ++i) name = file().string() + ".damaged-" + std::to_string(i);
    if (name != file()) stdfs::rename(file(), name, ignored);
    stdfs::remove(file().string() + "-journal", ignored);
    rowsByFolder.clear();
    unsaved.clear();
}

void History::Impl::dropConnection(const Error& why) {
    log::info("The history index is not used for now: " + why.text());
    db.reset();
}

/// Reads one run folder where its files changed; false: it is no run (any more).
bool History::Impl::readRow(const std::string& folder) {
    const rundir::RunFolder run(workspace / "runs" / folder);
    const std::int64_t summary = changedNs(run.summaryJson());
    if (summary < 0) {
        if (rowsByFolder.erase(folder) > 0) unsaved.insert(folder);
        return false;
    }
    const std::int64_t stamp = std::max(summary, changedNs(run.userJson()));
    HistoryRow& row = rowsByFolder[folder];
    if (row.stampNs == stamp && !row.folder.empty()) return true;
    // A file changed just now may change again within the same tick of its time stamp: it is read once more next time.
    const bool settled = Clock::system().wallNs() - stamp > kSettledNs;
    row = {folder, contentOf(run.summaryJson()), contentOf(run.userJson()), settled ? stamp : stamp - 1};
    unsaved.insert(folder);
    return true;
}

Result<void> History::Impl::saveSome(std::vector<std::string>& done) {
    LATHE_TRY_ASSIGN(auto transaction, Transaction::begin(*db, true));
    LATHE_TRY_ASSIGN(auto put, db->prepare("INSERT OR REPLACE INTO runs(folder, stamp_ns, summary, user) VALUES(?,?,?,?)"));
    LATHE_TRY_ASSIGN(auto remove, db->prepare("DELETE FROM runs WHERE folder=?"));
    for (const std::string& folder : unsaved) {
        if (done.size() == kRowsPerTransaction) break;
        const auto row = rowsByFolder.find(folder);
        if (row == rowsByFolder.end()) LATHE_TRY(remove.bind(folder).run());
        else LATHE_TRY(put.bind(folder, row->second.stampNs, row->second.summaryJson, row->second.userJson).run());
        done.push_back(folder);
    }
    return transaction.commit();
}

void History::Impl::save() {
    while (db && !unsaved.empty()) {
        std::vector<std::string> done;
        if (auto saved = saveSome(done); !saved.ok()) {
            if (saved.error().code == ErrorCode::Busy) return;  // the next call tries again
            dropConnection(saved.error());
            if (saved.error().code != ErrorCode::Corrupt) return;
            auto rows = std::move(rowsByFolder);
            setAside();
            connect();
            rowsByFolder = std::move(rows);
            for (const auto& [folder, row] : rowsByFolder) unsaved.insert(folder);
            continue;
        }
        for (const std::string& folder : done) unsaved.erase(folder);
    }
}

History::History(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
History::~History() = default;

std::unique_ptr<History> History::open(const std::filesystem::path& workspace) {
    auto impl = std::make_unique<Impl>();
    impl->workspace = workspace;
    impl->connect();
    return std::make_unique<History>(std::move(impl));
}

Result<void> History::refresh(const std::function<void(std::size_t, std::size_t)>& progress) {
    if (!m_impl->db) {  // it could not be used before; perhaps it can now
        m_impl->connect();
        for (const auto& [folder, row] : m_impl->rowsByFolder) m_impl->unsaved.insert(folder);
    }
    m_impl->load();
    const stdfs::path runs = m_impl->workspace / "runs";
    auto folders = listFolder(runs);
    if (!folders.ok() && folders.error().code != ErrorCode::NotFound) return std::move(folders).error();
    const std::vector<std::string> names = folders.ok() ? std::move(*folders) : std::vector<std::string>();
    std::set<std::string> present;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (m_impl->readRow(names[i])) present.insert(names[i]);
        if (progress && (i + 1) % kProgressEvery == 0) progress(i + 1, names.size());
    }
    std::erase_if(m_impl->rowsByFolder, [&](const auto& entry) {
        const bool gone = !present.contains(entry.first);
        if (gone) m_impl->unsaved.insert(entry.first);
        return gone;
    });
    m_impl->save();
    if (progress) progress(names.size(), names.size());
    return {};
}

Result<void> History::rebuild() {
    m_impl->load();
    for (const auto& [folder, row] : m_impl->rowsByFolder) m_impl->unsaved.insert(folder);
    m_impl->rowsByFolder.clear();
    return refresh();
}

Result<std::vector<HistoryRow>> History::rows() const {
    m_impl->load();
    std::vector<HistoryRow> all;
    all.reserve(m_impl->rowsByFolder.size());
    for (auto it = m_impl->rowsByFolder.rbegin(); it != m_impl->rowsByFolder.rend(); ++it) all.push_back(it->second);
    return all;
}

Result<void> History::update(const std::string& folder) {
    if (!isPlainName(folder)) return Error{ErrorCode::Usage, "\"" + folder + "\" is not the name of a run folder", {}, {}};
    if (const auto row = m_impl->rowsByFolder.find(folder); row != m_impl->rowsByFolder.end()) row->second.stampNs = 0;
    m_impl->readRow(folder);
    m_impl->save();
    return {};
}

Result<void> History::forget(const std::string& folder) {
    m_impl->rowsByFolder.erase(folder);
    m_impl->unsaved.insert(folder);
    m_impl->save();
    return {};
}

}  // namespace lathe::store
