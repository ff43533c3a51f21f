#include "fault_sweep.h"

#include "whole_form.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace lathe::test {
namespace {

namespace stdfs = std::filesystem;

/// What is done to the calls, and to which.
struct Fault {
    const char* name;
    Verdict verdict;
    bool fromThenOn;
    bool (*hits)(const SystemCall&);
};

template <std::size_t N>
bool isOneOf(const SystemCall& call, const std::array<const char*, N>& names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return call.name == name; });
}
bool isOpen(const SystemCall& call) { return isOneOf(call, std::array{"open", "openat", "openat2"}); }
bool isAny(const SystemCall&) { return true; }
bool doesWork(const SystemCall& call) { return !call.startsProcess() && !isOneOf(call, std::array{"lseek", "mmap", "fcntl", "flock", "access", "faccessat", "faccessat2"}); }
bool isInterruptible(const SystemCall& call) {
    return isOpen(call) || call.isWrite() || call.isSync() || isOneOf(call, std::array{"read", "pread64", "fallocate", "ftruncate", "flock"});
}
bool isCuttable(const SystemCall& call) { return (call.isWrite() || isOneOf(call, std::array{"read", "pread64"})) && call.bytes > 1; }
bool changes(const SystemCall& call) { return call.changesDisk() && !call.isSync(); }

const std::vector<Fault>& faults() {
    using What = Verdict::What;
    static const std::vector<Fault> all = {
        {"SIGKILL", {What::Kill, 0}, false, isAny}, {"EIO", {What::Fail, EIO}, false, doesWork}, {"EIO from then on", {What::Fail, EIO}, true, doesWork},
        {"ENOSPC", {What::Fail, ENOSPC}, false, [](const SystemCall& call) { return call.changesDisk(); }},
        {"ENOSPC from then on", {What::Fail, ENOSPC}, true, [](const SystemCall& call) { return call.changesDisk() && !isOneOf(call, std::array{"unlink", "unlinkat", "rmdir"}); }},
        {"EDQUOT from then on", {What::Fail, EDQUOT}, true, [](const SystemCall& call) { return call.changesDisk() && !isOneOf(call, std::array{"unlink", "unlinkat", "rmdir"}); }},
        {"EROFS from then on", {What::Fail, EROFS}, true, changes}, {"EMFILE", {What::Fail, EMFILE}, false, isOpen},
        {"EMFILE from then on", {What::Fail, EMFILE}, true, isOpen}, {"EINTR", {What::Fail, EINTR}, false, isInterruptible}, {"cut short", {What::Short, 0}, false, isCuttable},
        {"EAGAIN", {What::Fail, EAGAIN}, false, [](const SystemCall& call) { return call.startsProcess(); }}};
    return all;
}

struct Point {
    std::size_t call;
    const Fault* fault;
};

void empty(const stdfs::path& folder) {
    stdfs::remove_all(folder);
    stdfs::create_directories(folder);
}

bool isDatabase(const std::string& path) { return path.find(".sqlite") != std::string::npos; }  // SQLite writes again what was not synced

/// Looks at what happens to files whose sync failed.
class SyncRule {
public:
    void failed(const SystemCall& call) {
        if (call.isSync() && !isDatabase(call.path) && stdfs::is_regular_file(call.path)) m_unsafe.insert(call.path);
    }
    void made(const SystemCall& call) {
        if (call.result < 0) return;
        const bool isNew = (isOpen(call) && (call.flags & (O_TRUNC | O_EXCL)) != 0) || call.name == "unlink" || call.name == "unlinkat";
        if (isNew) m_unsafe.erase(call.path);
        else if ((call.isSync() || call.name.starts_with("rename")) && m_unsafe.contains(call.path))
            m_broken = call.path + " was used (" + call.name + ") after its sync had failed";
    }
    bool isOfInterest() const { return !m_unsafe.empty(); }
    const std::string& broken() const { return m_broken; }

private:
    std::set<std::string> m_unsafe;
    std::string m_broken;
};

class Sweeper {
public:
    Sweeper(const Operation& operation) : m_operation(operation), m_scratch(sweepFolder() / ("fault-sweep-" + std::to_string(::getpid()))) {}
    ~Sweeper() {
        std::error_code ignored;
        stdfs::remove_all(m_scratch, ignored);
    }

    SweepCount run(std::size_t sample) {
        empty(before());
        empty(here());
        m_operation.prepare(here());  // there, so that what it writes down about its place is true
        copy(here(), before());
        std::vector<SystemCall> calls;
        const Traced straight = trace(here(), work(), [&](const SystemCall& call) {
            calls.push_back(call);
            return usual(call);
        });
        m_count.works = straight.works;
        m_count.why = straight.why;
        if (!straight.works) return m_count;
        m_count.calls = calls.size();
        if (straight.exitCode != 0) m_count.bad.push_back(m_operation.name + " undisturbed: " + straight.output);
        else note(judged(Ending::Undisturbed, straight.output), "undisturbed", straight.output);
        for (const Point& point : chosen(calls, sample)) strike(point, calls);
        return m_count;
    }

private:
    stdfs::path before() const { return m_scratch / "before"; }
    stdfs::path here() const { return m_scratch / "here"; }
    std::function<int()> work() const {
        return [this] { return m_operation.work(here()); };
    }
    Verdict usual(const SystemCall& call) const { return m_operation.refused && m_operation.refused(call) ? Verdict{Verdict::What::Fail, EPERM} : Verdict{}; }
    static void copy(const stdfs::path& from, const stdfs::path& to) {
        empty(to);
        stdfs::copy(from, to, stdfs::copy_options::recursive | stdfs::copy_options::copy_symlinks);
    }

    std::vector<Point> chosen(const std::vector<SystemCall>& calls, std::size_t sample) {
        std::vector<Point> all;
        const char* only = std::getenv("LATHE_FAULT");
        for (std::size_t i = 0; i < calls.size(); ++i)
            for (const Fault& fault : faults())
                if (fault.hits(calls[i]) && (!only || std::string_view(only) == fault.name)) all.push_back({i, &fault});
        m_count.possible = all.size();
        if (isWhole()) {
            std::size_t index = 0;
            std::erase_if(all, [&](const Point&) { return !isInPart(index++); });
        }
        if (isWhole() || all.size() <= sample) return all;
        std::mt19937_64 random(faultSeed());
        std::shuffle(all.begin(), all.end(), random);
        all.resize(sample);
        return all;
    }

    void strike(const Point& point, const std::vector<SystemCall>& calls) {
        copy(before(), here());
        std::size_t number = 0;
        SyncRule rule;
        const Traced traced = trace(here(), work(), [&](const SystemCall& call) {
            const std::size_t at = number++;
            const bool hit = at == point.call || (point.fault->fromThenOn && at > point.call);
            Verdict verdict = hit && point.fault->hits(call) ? point.fault->verdict : usual(call);
            if (verdict.what == Verdict::What::Fail) rule.failed(call);
            verdict.isFollowed = rule.isOfInterest();
            return verdict;
        }, [&](const SystemCall& call) { rule.made(call); });
        ++m_count.points;
        const std::string which = std::string(point.fault->name) + " at call " + std::to_string(point.call) + " (" + calls[point.call].name + " "
                                  + stdfs::path(calls[point.call].path).lexically_relative(here()).string() + ")";
        if (traced.hung) return note("it or something that it started did not end", which, traced.output);
        const bool isKill = point.fault->verdict.what == Verdict::What::Kill;
        if (traced.signal != 0 && !(isKill && traced.signal == SIGKILL)) return note("it crashed with signal " + std::to_string(traced.signal), which, traced.output);
        const Ending ending = traced.signal != 0 ? Ending::Killed : traced.exitCode == 0 ? Ending::Done : Ending::Failed;
        if (ending == Ending::Failed && traced.output.empty()) return note("it failed without a word", which, {});
        const bool harmless = point.fault->verdict.what == Verdict::What::Short;
        if (harmless && ending != Ending::Done) return note("it failed although nothing had: calls may do less than they are asked to", which, traced.output);
        if (!rule.broken().empty()) return note(rule.broken(), which, traced.output);
        if (const std::string problem = judged(ending, traced.output); !problem.empty()) return note(problem, which, traced.output);
        if (m_operation.retries) again(which);
    }

    std::string judged(Ending ending, const std::string& output) const {
        std::string problem = m_operation.judge(here(), ending, output);
        if (problem.empty() && ending == Ending::Undisturbed)
            if (const std::string left = m_operation.left(here()); !left.empty()) problem = left + " was left";
        return problem;
    }

    /// Once nothing disturbs it any more it is done.
    void again(const std::string& which) {
        const Traced traced = m_operation.refused ? trace(here(), work(), [&](const SystemCall& call) { return usual(call); }) : runAlone(work());
        if (traced.hung) return note("tried again, it did not end", which, traced.output);
        if (traced.exitCode != 0) return note("tried again, it fails", which, traced.output);
        note(judged(Ending::Undisturbed, traced.output), which + ", tried again", traced.output);
    }

    void note(const std::string& problem, const std::string& which, const std::string& output) {
        if (!problem.empty()) m_count.bad.push_back(m_operation.name + ", " + which + ": " + problem + (output.empty() ? "" : " [" + output + "]"));
    }

    const Operation& m_operation;
    stdfs::path m_scratch;
    SweepCount m_count;
};

}  // namespace

stdfs::path sweepFolder() {
    static const stdfs::path kMemory = "/dev/shm";
    std::error_code problem;
    const auto room = stdfs::space(kMemory, problem);
    const bool hasRoom = !problem && room.available > (1u << 30) && ::access(kMemory.c_str(), W_OK) == 0;
    return hasRoom ? kMemory : stdfs::temp_directory_path();
}

std::uint64_t faultSeed() {
    static const std::uint64_t seed = [] {
        const char* given = std::getenv("LATHE_SEED");
        return given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return seed;
}

SweepCount sweep(const Operation& operation, std::size_t sample) { return Sweeper(operation).run(sample); }

}  // namespace lathe::test
