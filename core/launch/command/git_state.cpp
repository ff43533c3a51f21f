// Formats: gitrepository-layout(5), gitformat-index(5).
#include "launch/command/git_state.h"

#include "base/file_system.h"
#include "base/number_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <sys/stat.h>

namespace lathe::launch {

namespace stdfs = std::filesystem;

namespace {

constexpr std::uint64_t kMostSmall = 64u << 10, kMostPacked = 64u << 20, kMostIndex = 256u << 20;
constexpr std::uint32_t kMostEntries = 200'000;   // a stat() each

struct Repository {
    stdfs::path work, git, common;   ///< work tree, its own git folder, and the one that linked work trees share
};

std::string firstLine(const stdfs::path& file) {
    auto text = readFile(file, kMostSmall);
    if (!text) return {};
    std::string line = text->substr(0, text->find('\n'));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    return line;
}

std::optional<Repository> repositoryOf(const stdfs::path& folder) {
    std::error_code ignored;
    for (stdfs::path at = stdfs::weakly_canonical(folder, ignored); !at.empty(); at = at.parent_path()) {
        const stdfs::path mark = at / ".git";
        stdfs::path git;
        if (stdfs::is_directory(mark, ignored)) git = mark;
        else if (const std::string line = firstLine(mark); line.starts_with("gitdir: ")) git = (at / line.substr(8)).lexically_normal();
        if (!git.empty() && stdfs::exists(git / "HEAD", ignored)) {
            const std::string common = firstLine(git / "commondir");
            return Repository{at, git, common.empty() ? git : (git / common).lexically_normal()};
        }
        if (at == at.parent_path()) break;
    }
    return std::nullopt;
}

bool isCommit(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Names come from files of the repository: nothing that leads out of it.
bool isRefName(std::string_view name) {
    return name.starts_with("refs/") && name.size() < 1024 && name.find("..") == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

std::string packedCommit(const Repository& repository, const std::string& ref) {
    const auto packed = readFile(repository.common / "packed-refs", kMostPacked);
    if (!packed) return {};
    for (std::size_t begin = 0; begin < packed->size();) {
        const std::size_t end = std::min(packed->find('\n', begin), packed->size());
        const std::string_view line = std::string_view(*packed).substr(begin, end - begin);
        const std::size_t blank = line.find(' ');
        if (blank != std::string_view::npos && line.substr(blank + 1) == ref && isCommit(line.substr(0, blank))) return std::string(line.substr(0, blank));
        begin = end + 1;
    }
    return {};
}

std::string commitOf(const Repository& repository, const std::string& ref) {
    for (const stdfs::path& folder : {repository.git, repository.common}) {
        std::string line = firstLine(folder / ref);
        if (isCommit(line)) return line;
    }
    return packedCommit(repository, ref);
}

/// The index, read front to back; every length is checked.
class Index {
public:
    Index(std::string_view bytes, std::size_t hashBytes) : m_bytes(bytes), m_hashBytes(hashBytes) {}

    std::uint32_t number(std::size_t at) const {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | (at + i < m_bytes.size() ? static_cast<unsigned char>(m_bytes[at + i]) : 0u);
        return value;
    }
    bool readHead() {
        m_version = number(4);
        m_count = number(8);
        m_at = 12;
        return m_bytes.starts_with("DIRC") && m_version >= 2 && m_version <= 4 && m_bytes.size() > 12 + m_hashBytes;
    }
    std::uint32_t count() const { return m_count; }

    struct Entry {
        std::uint32_t changedSeconds = 0, changedNs = 0, mode = 0, size = 0;
        bool looked = true;     ///< false: git was told not to look at this file
        bool added = false;     ///< only announced
        std::string path;
    };
    bool next(Entry& entry) {
        const std::size_t begin = m_at, fixed = 40 + m_hashBytes + 2;
        if (begin + fixed > m_bytes.size()) return false;
        entry.changedSeconds = number(begin + 8);
        entry.changedNs = number(begin + 12);
        entry.mode = number(begin + 24);
        entry.size = number(begin + 36);
        const std::uint32_t flags = number(begin + 40 + m_hashBytes) >> 16;
        const bool extended = (flags & 0x4000) != 0;
        const std::uint32_t more = extended ? number(begin + fixed) >> 16 : 0;
        entry.looked = (flags & 0x8000) == 0 && (more & 0x4000) == 0;   // assume-unchanged, skip-worktree
        entry.added = (more & 0x2000) != 0;
        m_at = begin + fixed + (extended ? 2 : 0);
        if (m_version == 4 && !cutPath(entry.path)) return false;
        if (m_version != 4) entry.path.clear();
        const std::size_t end = m_bytes.find('\0', m_at);
        if (end == std::string_view::npos) return false;
        entry.path += m_bytes.substr(m_at, end - m_at);
        m_at = end + 1;
        if (m_version != 4) m_at = begin + (end - begin + 8) / 8 * 8;
        return !entry.path.empty() && m_at <= m_bytes.size();
    }
    /// Whether the extension that caches trees says that the index is a commit's tree no more; no where there is none.
    bool isStaged() const {
        std::size_t at = m_at;
        while (at + 8 + m_hashBytes <= m_bytes.size()) {
            const std::string_view name = m_bytes.substr(at, 4);
            const std::size_t size = number(at + 4);
            if (name == "TREE") return size > 2 && m_bytes.substr(at + 8, 3) == std::string_view("\0-1", 3);
            at += 8 + size;
        }
        return false;
    }

private:
    /// Version 4 leaves out what a path shares with the one before: a number of bytes to drop comes first.
    bool cutPath(std::string& path) {
        std::size_t drop = 0;
        for (int i = 0; i < 5 && m_at < m_bytes.size(); ++i) {
            const auto byte = static_cast<unsigned char>(m_bytes[m_at++]);
            drop = (i == 0 ? 0 : (drop + 1) << 7) | (byte & 0x7f);
            if ((byte & 0x80) != 0) continue;
            if (drop > path.size()) return false;
            path.resize(path.size() - drop);
            return true;
        }
        return false;
    }

    std::string_view m_bytes;
    std::size_t m_hashBytes, m_at = 0;
    std::uint32_t m_version = 0, m_count = 0;
};

bool isChanged(const stdfs::path& work, const Index::Entry& entry) {
    constexpr std::uint32_t kKind = 0170000, kGitlink = 0160000, kLink = 0120000;
    if (entry.added) return true;
    if (!entry.looked || (entry.mode & kKind) == kGitlink) return false;   // a submodule has a state of its own
    struct stat info {};
    if (::lstat((work / entry.path).c_str(), &info) != 0) return true;
    const bool isLink = S_ISLNK(info.st_mode);
    if (isLink != ((entry.mode & kKind) == kLink) || (!isLink && !S_ISREG(info.st_mode))) return true;
    if (!isLink && ((info.st_mode & 0100) != 0) != ((entry.mode & 0100) != 0)) return true;
    if (static_cast<std::uint32_t>(info.st_size) != entry.size || static_cast<std::uint32_t>(info.st_mtim.tv_sec) != entry.changedSeconds) return true;
    return entry.changedNs != 0 && static_cast<std::uint32_t>(info.st_mtim.tv_nsec) != entry.changedNs;
}

std::string dirtyText(const Repository& repository, std::size_t hashBytes) {
    std::error_code ignored;
    if (!stdfs::exists(repository.git / "index", ignored)) return "no";
    const auto bytes = readFile(repository.git / "index", kMostIndex);
    if (!bytes) return "unknown: " + bytes.error().sentence;
    Index index(*bytes, hashBytes);
    if (!index.readHead()) return "unknown: the index is of a form that is not known";
    if (index.count() > kMostEntries) return "unknown: more than " + std::to_string(kMostEntries) + " files";
    std::size_t changed = 0;
    Index::Entry entry;
    for (std::uint32_t i = 0; i < index.count(); ++i) {
        if (!index.next(entry)) return "unknown: the index is damaged";
        if (isChanged(repository.work, entry)) ++changed;
    }
    if (changed > 0) return "yes, " + std::to_string(changed) + (changed == 1 ? " file" : " files");
    return index.isStaged() ? "yes, staged" : "no";
}

}  // namespace

std::optional<GitState> gitStateOf(const stdfs::path& folder) {
    const auto repository = repositoryOf(folder);
    if (!repository) return std::nullopt;
    GitState state;
    const std::string head = firstLine(repository->git / "HEAD");
    if (head.starts_with("ref: ") && isRefName(head.substr(5))) {
        const std::string ref = head.substr(5);
        state.commit = commitOf(*repository, ref);
        state.branch = ref.starts_with("refs/heads/") ? ref.substr(11) : ref;
    } else if (isCommit(head)) {
        state.commit = head;
    }
    state.dirty = dirtyText(*repository, state.commit.size() == 64 ? 32 : 20);
    return state;
}

}  // namespace lathe::launch
