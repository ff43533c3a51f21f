#include "launch/run/session_end.h"

#include "base/exit_code.h"
#include "base/file_system.h"
#include "base/log.h"
#include "base/number_text.h"
#include "launch/run/run_settings.h"
#include "live/spill.h"
#include "rundir/json_reader.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace lathe::launch {

using rundir::State;

std::string silenceText(double seconds, int rank) {
    constexpr double kUsual = 5;
    return seconds < kUsual ? std::string() : " · no sign of life " + (rank < 0 ? std::string() : "from rank " + std::to_string(rank) + " ") + "for " + durationText(seconds);
}

static std::string withTail(std::string why, const std::string& tail) {
    return tail.empty() ? why : why + "; its log ends with: " + tail;
}

static SessionEnd judgeWithoutAccount(const EndFacts& facts) {
    if (!facts.killedBy.empty()) return {State::Killed, "The worker was ended: " + facts.killedBy};
    if (facts.exit.signal) {
        if (*facts.exit.signal == SIGKILL && facts.systemRanOutOfMemory) {
            return {State::OutOfMemory, "The system ended the worker because memory ran out; use a smaller data.batch_size "
                                        "(accumulation.micro_batches makes up for it) or a smaller model"};
        }
        // SIGKILL comes from outside: what the log ends with has nothing to do with it.
        return {State::Killed, withTail("The worker was ended by signal " + signalText(*facts.exit.signal), *facts.exit.signal == SIGKILL ? std::string() : facts.logTail)};
    }
    if (!facts.exit.code) return {State::Failed, withTail("The worker ended and nobody knows how", facts.logTail)};
    switch (static_cast<ExitCode>(*facts.exit.code)) {
        case ExitCode::Completed: return {State::Failed, withTail("The worker left without saying how it ended", facts.logTail)};
        case ExitCode::OutOfMemory: return {State::OutOfMemory, withTail("Memory ran out", facts.logTail)};
        case ExitCode::Diverged: return {State::Diverged, withTail("The numbers are no longer finite", facts.logTail)};
        default: break;
    }
    return {State::Failed, withTail("The worker failed with exit code " + std::to_string(*facts.exit.code), facts.logTail)};
}

/// What was asked to stop counts as stopped, whatever exit code its own handling of SIGTERM gave it.
static SessionEnd judgeCommand(const EndFacts& facts) {
    const ExitStatus& exit = facts.exit;
    const std::string more = exit.note.empty() ? "" : "; " + exit.note;
    const bool saidFailed = facts.goodbye && facts.goodbye->how == ProgramFrames::Goodbye::How::Failed;
    const std::string said = !saidFailed || facts.goodbye->why.empty() ? "" : ": " + facts.goodbye->why;
    if (!exit.code && !exit.signal) return {State::Killed, "The command ended and nobody knows how" + more};
    if (exit.signal && *exit.signal == SIGKILL) {
        if (!facts.killedBy.empty()) return {State::Killed, "The command was ended: " + facts.killedBy + more};
        if (facts.systemRanOutOfMemory) return {State::OutOfMemory, "The system ended the command because memory ran out" + more};
    }
    if (facts.stopAsked) {
        if (exit.code == 0) return {State::Stopped, "Stopped on request" + more};
        const std::string how = exit.code ? "exit code " + std::to_string(*exit.code) : "signal " + signalText(*exit.signal);
        return {State::Stopped, "Stopped on request, with " + how + more};
    }
    if (exit.signal) return {State::Killed, withTail("The command was ended by signal " + signalText(*exit.signal) + more, facts.logTail)};
    if (*exit.code == 0 && saidFailed) return {State::Failed, "The script said that it failed" + said + more};
    if (*exit.code == 0) return {State::Completed, "The command ended with exit code 0" + more};
    return {State::Failed, withTail("The command failed with exit code " + std::to_string(*exit.code) + said + more, facts.logTail)};
}

/// Not our child: what is known of its end is what it said.
static SessionEnd judgeRecorded(const EndFacts& facts) {
    using How = ProgramFrames::Goodbye::How;
    if (facts.killSent) return {State::Killed, "The script was ended: " + facts.killedBy};
    const std::string why = facts.goodbye ? facts.goodbye->why : std::string();
    if (facts.stopAsked) return {State::Stopped, "Stopped on request" + std::string(facts.killedBy.empty() ? "" : ", by SIGTERM")};
    if (facts.goodbye && facts.goodbye->how == How::Failed) return {State::Failed, "The script failed: " + (why.empty() ? "it did not say why" : why)};
    if (!facts.goodbye) return {State::Interrupted, "The script went away without saying how it ended: it was killed, or it crashed"};
    if (facts.goodbye->how == How::Stopped) return {State::Stopped, why.empty() ? "Stopped on request" : "Stopped by " + why};
    return {State::Completed, "The script ended"};
}

static SessionEnd judgeWorker(const EndFacts& facts) {
    if (!facts.ended) return judgeWithoutAccount(facts);
    SessionEnd end{facts.ended->state, facts.ended->why};
    // What it said stands; that it fell over while leaving is worth a word.
    if (facts.exit.signal) end.why += " (then ended by signal " + signalText(*facts.exit.signal) + ")";
    return end;
}

/// By the supervisor, which was there.
static SessionEnd judgeSeen(const EndFacts& facts) {
    SessionEnd end = facts.isRecorded ? judgeRecorded(facts) : facts.isCommand ? judgeCommand(facts) : judgeWorker(facts);
    const bool before = facts.stopAsked && !facts.isCommand && facts.updates == 0;   // a script may work without telling of steps
    if (end.state == State::Stopped && (facts.discarded || before)) end.state = State::Cancelled;
    return end;
}

/// Nobody was there. What the worker said stands, but for what only follows from the loss of others: "interrupted", which is
/// how it calls that of its supervisor, and a failure because another rank was gone.
static SessionEnd judgeLost(const WrittenFacts& written, const std::optional<Ended>& ended) {
    if (ended && ended->state != State::Interrupted && !ended->lostContact) return {ended->state, ended->why + ". Its supervisor was lost meanwhile"};
    if (!written.wasUp && !written.wasNext) return {State::Interrupted, "It was interrupted before its worker started"};
    if (!written.wasUp) return {State::Interrupted, std::string(written.sameBoot ? "Its supervisor was lost" : "The machine was restarted") + " before this session began"};
    std::string why = written.sameBoot ? "Its supervisor was lost" : "The machine was restarted while it ran";
    if (ended && ended->lostContact && written.sameBoot) why += ", and a rank with it";
    if (ended && !ended->checkpoint.empty()) why += "; the worker saved " + ended->checkpoint + " and left";
    return {State::Interrupted, why};
}

SessionEnd judge(const SessionFacts& facts) {
    const auto& [written, life, end] = facts;
    if (!written.elsewhere.empty()) {
        if (written.summary) return {written.summary->state, written.elsewhere};
        return {State::Lost, written.elsewhere + "; its summary.json cannot be read"};
    }
    if (!written.hasSession) return {State::Lost, "There is no session in this run folder"};
    if (!written.damage.empty()) return {State::Lost, written.damage};
    if (written.record) return *written.record;   // also while a short verb holds the lock
    if (life.supervisor) return written.summary && rundir::isAlive(written.summary->state) ? *written.summary : SessionEnd{State::Starting, {}};
    if (life.workers) return {State::Stopping, "Its supervisor was lost; what it ran finishes and leaves"};
    if (end.seen) return judgeSeen(end);
    if (!written.wasUp && written.summary && written.summary->state == State::Queued) {
        if (life.queued) return {State::Queued, {}};
        return {State::Interrupted, "It is in no queue of this machine any more"};
    }
    return judgeLost(written, end.ended);
}

// ---- a worker's account

std::optional<Ended> endedFrom(const live::EventFrame& event) {
    const auto object = rundir::parseStrict(event.json.empty() ? "{}" : event.json, "The ended event");
    const auto problem = [](const std::string& text) {
        log::warning(text);
        return std::nullopt;
    };
    if (event.kind != "ended") return std::nullopt;
    if (!object) return problem(object.error().text());
    rundir::JsonReader reader(*object, "The ended event");
    Ended ended;
    const auto state = rundir::stateFrom(reader.text("state"));
    if (!state || rundir::isAlive(*state) || *state == State::Queued) return problem("The ended event's state is not an ending");
    ended.state = *state;
    ended.why = reader.text("why", event.text);
    ended.checkpoint = reader.text("checkpoint", "");
    ended.lostContact = reader.flag("lost_contact", false);
    if (reader.has("counters")) ended.counters = rundir::readCounters(reader, "counters");
    if (const nlohmann::json* memory = reader.has("memory") ? reader.object("memory") : nullptr) {
        rundir::JsonReader part(*memory, "The ended event", "memory.");
        ended.memory = rundir::readMemory(part);
        reader.absorb(part);
    }
    if (reader.has("roll_back_to")) {
        const auto otherwise = rundir::stateFrom(reader.text("otherwise", "diverged"));
        if (!otherwise || rundir::isAlive(*otherwise)) return problem("The ended event's \"otherwise\" is not an ending");
        ended.goesBack = GoingBack{reader.integer("roll_back_to"), *otherwise};
    }
    if (const auto fine = reader.check(); !fine) return problem(fine.error().text());
    return ended;
}

static bool saysNothing(const Error& error) { return error.code == ErrorCode::NotFound || error.code == ErrorCode::Corrupt; }

static Result<std::optional<Ended>> accountInSpill(const rundir::RunFolder& run, int session, int rank) {
    LATHE_TRY_ASSIGN(const live::Spilled spilled, live::readSpill(run.spill(), session, rank, 1));
    for (auto frame = spilled.frames.rbegin(); frame != spilled.frames.rend(); ++frame) {
        if (frame->type != live::FrameType::Event) continue;
        const auto event = live::decodeEvent(frame->payload);
        auto ended = event && event->session == session ? endedFrom(*event) : std::nullopt;
        if (ended) return ended;
    }
    return std::optional<Ended>();
}

static Result<std::optional<Ended>> accountInRecord(const rundir::RunFolder& run, int session) {
    LATHE_TRY_ASSIGN(const auto reader, store::RunReader::open(run.database()));
    std::optional<Ended> found;
    for (std::int64_t after = 0;;) {
        LATHE_TRY_ASSIGN(const auto events, reader->events(after));
        if (events.empty()) return found;
        for (const store::EventRow& row : events) {
            if (row.event.session != session || row.event.kind != "ended") continue;
            const auto ended = endedFrom(row.event);
            if (ended && (!ended->lostContact || !found)) found = ended;
        }
        after = events.back().id;
    }
}

Result<std::optional<Ended>> accountLeft(const rundir::RunFolder& run, int session) {
    std::optional<Ended> found;   // at worst that of a rank that only missed the others
    const auto config = configOf(run, session);
    const std::int64_t ranks = config && !config::isCommand(*config) ? config->parallel.ranks : 1;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        LATHE_TRY_ASSIGN(const auto left, accountInSpill(run, session, static_cast<int>(rank)));
        if (left && !left->lostContact) return left;
        if (left && !found) found = left;
    }
    const auto recorded = accountInRecord(run, session);
    if (!recorded && !saysNothing(recorded.error())) return recorded.error();
    if (recorded && *recorded && (!found || !(*recorded)->lostContact)) found = *recorded;
    return found;
}

/// The end of a file as a new one.
static bool copyEnd(const std::filesystem::path& from, const std::filesystem::path& to, std::uintmax_t bytes) {
    const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int target = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool copied = source >= 0 && target >= 0 && ::lseek(source, -static_cast<off_t>(bytes), SEEK_END) >= 0;
    while (copied && bytes > 0) {
        const ssize_t got = ::sendfile(target, source, nullptr, static_cast<std::size_t>(bytes));
        if (got > 0) bytes -= static_cast<std::uintmax_t>(got);
        else copied = got < 0 && errno == EINTR;
    }
    for (const int fd : {source, target})
        if (fd >= 0) ::close(fd);
    return copied;
}

void capLog(const std::filesystem::path& file) {
    constexpr std::uintmax_t kMost = 16u << 20;
    std::error_code problem;
    const auto size = std::filesystem::file_size(file, problem);
    if (problem || size <= kMost) return;
    // Where there is no room for a copy, an old log is worth less than the disk.
    if (!copyEnd(file, file.string() + ".1", kMost) && size <= 4 * kMost) return;
    std::filesystem::resize_file(file, 0, problem);
    const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    const std::string where = "[what came before is in " + file.filename().string() + ".1]\n";
    static_cast<void>(!::write(fd, where.data(), where.size()));
    ::close(fd);
}

static std::string endOf(const std::filesystem::path& file, std::size_t most) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return {};
    struct stat info {};
    std::string text(most, '\0');
    ssize_t got = 0;
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        got = ::pread(fd, text.data(), text.size(), std::max<off_t>(0, info.st_size - static_cast<off_t>(most)));
    ::close(fd);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

/// What went well explains no end.
static bool isNews(std::string_view line) { return !line.starts_with("lathe: info: "); }

std::string logTail(const std::filesystem::path& file, int lines) {
    constexpr std::size_t kMost = 1000, kMostRead = 16'384;
    std::string text = endOf(file, kMostRead);
    if (text.size() < kMostRead) text.insert(0, endOf(file.string() + ".1", kMostRead - text.size()));
    for (char& c : text) c = static_cast<unsigned char>(c) < ' ' && c != '\n' ? ' ' : c;
    std::string tail;
    for (std::size_t end = text.size(); lines > 0 && tail.size() < kMost;) {
        const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::string line = text.substr(begin, end - begin);
        if (line.find_first_not_of(' ') != std::string::npos && isNews(line)) {
            tail.insert(0, tail.empty() ? line : line + "\n");
            --lines;
        }
        if (begin == 0) break;
        end = before;
    }
    return tail.size() > kMost ? tail.substr(tail.size() - kMost) : tail;
}

}  // namespace lathe::launch
