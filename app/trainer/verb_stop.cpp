// stop, pause, unpause and save: requests to the supervisor of a live run.
#include "actions.h"

#include "base/number_text.h"
#include "launch/queue/queue.h"
#include "launch/run/session_end.h"
#include "launch/run/settle.h"
#include "launch/run/standing.h"
#include "launch/workers/stopping.h"
#include "live/control_socket.h"
#include "output.h"
#include "run_facts.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

namespace lathe::trainer {

using live::ControlClient;
using nlohmann::json;

static Error notRunning(const rundir::RunFolder& run) {
    const auto standing = launch::standingOf(run);
    const std::string why = standing.why.empty() ? "" : " (" + standing.why + ")";
    return {ErrorCode::NotFound, displayName(run) + " does not run here: it is " + std::string(rundir::name(standing.state)) + why, {}, {}};
}

/// What nobody named is not taken out of the queue.
static Error onlyWaits(const rundir::RunFolder& run) {
    return {ErrorCode::NotFound, "No run is up; " + displayName(run) + " waits in the queue (lathe-trainer stop " + run.name() + " takes it out)", {}, {}};
}

/// Whoever waits is told so every few seconds.
class Waiting {
public:
    explicit Waiting(const Options& options) : m_isSilent(options.json) {}
    /// `text` is made only when it is told.
    template <typename Text>
    void tellNow(const Text& text, std::chrono::seconds every = std::chrono::seconds(5)) {
        if (m_isSilent || std::chrono::steady_clock::now() - m_told < every) return;
        tell(text());
        m_told = std::chrono::steady_clock::now();
    }

private:
    bool m_isSilent;
    std::chrono::steady_clock::time_point m_told = std::chrono::steady_clock::now();
};

/// Its process lives; why it says nothing.
static std::string deafText(const rundir::RunFolder& run) {
    const std::string note = launch::supervisorNote(run);
    return "The supervisor of " + displayName(run) + " does not answer" + (note.empty() ? "" : ": " + note);
}

/// The socket of a run that is up was removed: a signal still reaches it.
static Error unreachable(const rundir::RunFolder& run, Error error) {
    const auto live = rundir::readLive(run);
    std::error_code ignored;
    if (!live || !*live || std::filesystem::exists(run.socket(), ignored)) return std::move(error).in("while asking " + run.name());
    return {ErrorCode::NotFound, displayName(run) + " is up, but its control.sock was removed, so nothing can be asked of it; kill -TERM " + std::to_string((*live)->supervisor.pid) + " saves and stops it", {}, {}};
}

static Result<std::unique_ptr<ControlClient>> reach(const Options& options, const rundir::RunFolder& run) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    Waiting waiting(options);
    while (true) {
        auto client = ControlClient::connect(run.socket());
        const std::string note = client && !options.json ? launch::supervisorNote(run) : std::string();
        if (!note.empty()) tell(deafText(run));   // it will be heard, one day
        if (client) return client;
        if (!rundir::RunLock::isHeld(run.lock())) return notRunning(run);
        const std::string ended = endedNote(run);
        if (std::chrono::steady_clock::now() > patience) return ended.empty() ? unreachable(run, std::move(client).error()) : notRunning(run);
        waiting.tellNow([&] { return ended.empty() ? "Waits for the supervisor of " + displayName(run) + ", which cannot be reached yet" : ended; }, std::chrono::seconds(2));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));   // it is just being started, perhaps anew
    }
}

static ExitCode answer(const Options& options, const rundir::RunFolder& run, const std::string& text, json facts = json::object()) {
    facts["folder"] = run.place().string();
    facts["text"] = text;
    facts["state"] = rundir::name(launch::standingOf(run).state);
    if (options.json) printJson(facts);
    else print(displayName(run) + ": " + text);
    return ExitCode::Completed;
}

static Result<std::string> ask(const rundir::RunFolder& run, ControlClient& client, live::Verb verb) {
    const auto reply = client.ask(verb);
    if (!reply && reply.error().code == ErrorCode::Timeout)
        return Error{ErrorCode::Timeout, deafText(run) + ". What was asked has been sent and is heeded when it goes on", {}, {}};
    if (!reply) return reply.error();
    if (!reply->ok) return Error{ErrorCode::Usage, reply->text, {}, {}};
    return reply->text;
}

static ExitCode request(const Options& options, live::Verb verb) {
    const auto run = runThatIsUp(options);
    if (!run) return fail(options, run.error());
    const auto client = reach(options, *run);
    if (!client) return fail(options, client.error());
    const auto text = ask(*run, **client, verb);
    return text ? answer(options, *run, *text) : fail(options, text.error());
}

ExitCode unpause(const Options& options) { return request(options, live::Verb::Unpause); }

/// "It would lose 120 updates (4 min 05 s of work) since checkpoint s001-000000400".
static std::string lossText(const json& unsaved) {
    const auto updates = unsaved.value("updates", std::int64_t{0});
    if (updates == 0) return "Nothing is lost: everything is saved";
    const std::string checkpoint = unsaved.value("checkpoint", "");
    return "Lost are " + std::to_string(updates) + (updates == 1 ? " update (" : " updates (") + durationText(unsaved.value("seconds", 0.0)) + " of work) since "
           + (checkpoint.empty() ? "the start: there is no checkpoint" : "checkpoint " + checkpoint);
}

/// An empty object once the supervisor is gone.
static json statusOf(ControlClient& client) {
    const auto reply = client.ask(live::Verb::Status);
    json status = reply ? json::parse(reply->json, nullptr, false) : json();
    return status.is_object() ? status : json::object();
}

/// "loading data 210/300 · no sign of life for 12 s".
static std::string workText(const json& status) {
    const std::int64_t done = status.value("done", std::int64_t{0}), total = status.value("total", std::int64_t{0});
    return status.value("phase", "") + (total > 0 ? " " + std::to_string(done) + "/" + std::to_string(total) : std::string())
           + launch::silenceText(status.value("silent_seconds", 0.0), status.value("silent_rank", -1));
}

/// The session has ended, and somebody has taken the run up again since.
static std::optional<rundir::SessionRecord> endBefore(const rundir::RunFolder& run, int session) {
    if (rundir::newestSession(run) <= session) return std::nullopt;
    auto record = rundir::readSession(run, session);
    return record && record->state ? std::optional(std::move(*record)) : std::nullopt;
}

/// Tells each stage until the last process is gone. What was asked for is done only where the run ended in order: whoever shuts
/// the machine down after a stop must learn that nothing was saved.
static ExitCode followToTheEnd(const Options& options, const rundir::RunFolder& run, ControlClient& client, const json& facts) {
    std::optional<launch::StopStage> stage;
    const int session = rundir::newestSession(run);
    Waiting waiting(options);
    while (rundir::RunLock::isHeld(run.lock()) && !endBefore(run, session)) {
        const json status = statusOf(client);
        if (const auto now = launch::stoppingOf(status)) {
            const bool isNew = stage && now->stage != *stage;
            waiting.tellNow([&] { return launch::sentenceOf(*now) + launch::silenceText(status.value("silent_seconds", 0.0), status.value("silent_rank", -1)); },
                            std::chrono::seconds(isNew ? 0 : 5));
            stage = now->stage;
        } else if (status.empty() && client.connected()) {
            waiting.tellNow([&] { return deafText(run); });
        } else if (const std::string ended = status.empty() ? endedNote(run) : std::string(); !ended.empty()) {
            waiting.tellNow([&] { return ended; }, std::chrono::seconds(2));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    auto standing = launch::standingOf(run);
    if (const auto ended = endBefore(run, session)) standing = {*ended->state, (ended->why.empty() ? "" : ended->why + ". ") + std::string("The run has been taken up again since")};
    answer(options, run, std::string(rundir::name(standing.state)) + (standing.why.empty() ? "" : ": " + standing.why), facts);
    return rundir::isTrouble(standing.state) ? rundir::exitCodeOf(standing.state) : ExitCode::Completed;
}

/// --release: saves, and returns once the workers are gone, or once it is clear that they stay.
static ExitCode release(const Options& options) {
    const auto run = runThatIsUp(options);
    if (!run) return fail(options, run.error());
    const auto client = reach(options, *run);
    if (!client) return fail(options, client.error());
    const json before = statusOf(**client);
    const auto text = ask(*run, **client, live::Verb::Release);
    if (!text) return fail(options, text.error());
    if (!options.json) tell(*text);
    Waiting waiting(options);
    while (rundir::RunLock::isHeld(run->lock())) {
        const json status = statusOf(**client);
        waiting.tellNow([&] { return status.empty() ? deafText(*run) : "Waits until it has saved: " + workText(status); });
        if (status.contains("stopping")) break;
        if (status.value("failed_saves", 0) > before.value("failed_saves", 0))
            return fail(options, Error{ErrorCode::Io, "It could not be saved, so it stays paused and keeps its memory: " + status.value("save_problem", ""), {}, {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return followToTheEnd(options, *run, **client, json::object());
}

ExitCode pause(const Options& options) { return options.release ? release(options) : request(options, live::Verb::Pause); }

/// Its supervisor is gone: what it left is ended by the same ladder, and what became of it is booked.
static ExitCode stopLeftovers(const Options& options, const rundir::RunFolder& run) {
    if (options.dryRun) return answer(options, run, "Its supervisor was lost; what it ran saves by itself before it leaves");
    if (!options.json && rundir::RunLock::isHeld(run.workersLock())) tell("The supervisor of " + displayName(run) + " was lost; its worker saves and leaves by itself, and is ended where it does not");
    launch::EndOfLeftovers how{options.discard, {}};
    if (!options.json) how.tell = [](const std::string& text) { tell(text); };
    const auto taken = launch::takeRun(run, how);
    if (!taken) return fail(options, taken.error());
    const auto standing = launch::standingOf(run);
    answer(options, run, std::string(rundir::name(standing.state)) + (standing.why.empty() ? "" : ": " + standing.why));
    return rundir::isTrouble(standing.state) ? rundir::exitCodeOf(standing.state) : ExitCode::Completed;
}

/// Returns once the last process is gone. What a discard loses is told before it is done; --dry-run only tells.
ExitCode stop(const Options& options) {
    const auto run = runThatIsUp(options);
    if (!run) return fail(options, run.error());
    if (launch::standingOf(*run).state == rundir::State::Queued) {
        if (options.target == "latest") return fail(options, onlyWaits(*run));
        const auto left = launch::dequeue(launch::Queue::ofThisUser(), *run);
        if (left) return answer(options, *run, "Taken out of the queue");
        if (left.error().code != ErrorCode::NotFound && left.error().code != ErrorCode::Busy) return fail(options, left.error());
    }
    if (launch::isUnsettled(*run)) return stopLeftovers(options, *run);
    const auto client = reach(options, *run);
    if (!client) return fail(options, client.error());
    json facts = json::object();
    if (options.discard) {
        facts["lost"] = statusOf(**client).value("unsaved", json::object());
        if (!facts["lost"].empty() && !options.json && !options.dryRun) tell(lossText(facts["lost"]));
        if (options.dryRun) return answer(options, *run, facts["lost"].empty() ? "What this script has not saved itself is lost" : lossText(facts["lost"]), facts);
    }
    const auto text = ask(*run, **client, options.discard ? live::Verb::Discard : live::Verb::StopAndSave);
    if (!text) return fail(options, text.error());
    if (!options.json) tell(*text);
    return followToTheEnd(options, *run, **client, facts);
}

/// Returns once the checkpoint is there.
ExitCode save(const Options& options) {
    const auto run = runThatIsUp(options);
    if (!run) return fail(options, run.error());
    const auto client = reach(options, *run);
    if (!client) return fail(options, client.error());
    const json before = statusOf(**client);
    const auto text = ask(*run, **client, live::Verb::SaveNow);
    if (!text) return fail(options, text.error());
    const auto summary = rundir::readSummary(*run);
    const bool isCommand = summary && summary->task == rundir::kCommandTask;
    const auto asked = std::chrono::steady_clock::now();
    Waiting waiting(options);
    while (true) {
        const json status = statusOf(**client);
        if (status.empty() && !(*client)->connected()) return fail(options, Error{ErrorCode::NotFound, notRunning(*run).sentence + "; it has told of no checkpoint since it was asked", {}, {}});
        waiting.tellNow([&] { return status.empty() ? deafText(*run) : isCommand ? "The script has been asked, and has not looked yet or is saving" : "Waits for the checkpoint: " + workText(status); });
        if (status.empty()) continue;
        if (isCommand && std::chrono::steady_clock::now() - asked > std::chrono::minutes(1))
            return fail(options, Error{ErrorCode::Timeout, "The script has been asked and has not told of a checkpoint within a minute; it may still save", {}, {}});
        if (status.value("saves", 0) > before.value("saves", 0)) {
            if (isCommand) return answer(options, *run, "The script has saved; lathe-trainer show " + run->name() + " tells where");
            const std::string folder = status.value("last_checkpoint", "");
            return answer(options, *run, "Saved " + folder, {{"checkpoint", folder}});
        }
        if (status.value("failed_saves", 0) > before.value("failed_saves", 0))
            return fail(options, Error{ErrorCode::Io, status.value("save_problem", ""), {}, {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace lathe::trainer
