// The queue: what waits for a device, and in which order.
#include "actions.h"

#include "base/number_text.h"
#include "launch/queue/queue_keeper.h"
#include "launch/queue/queue_waits.h"
#include "output.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::trainer {

using launch::Queue;
using launch::QueueEntry;
using launch::QueueState;
using nlohmann::json;

static Error usage(std::string sentence) { return {ErrorCode::Usage, std::move(sentence), {}, {}}; }

static std::string nameOf(const QueueEntry& entry) { return displayName(rundir::RunFolder(entry.folder)); }

/// By id or the beginning of one, name, or place in the queue ("2").
static Result<std::size_t> findEntry(const QueueState& state, const std::string& word) {
    if (const auto place = readInteger(word); place && *place >= 1 && *place <= static_cast<std::int64_t>(state.entries.size())) return static_cast<std::size_t>(*place - 1);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < state.entries.size(); ++i) {
        const QueueEntry& entry = state.entries[i];
        if (word.size() >= 3 && entry.run.starts_with(word)) return i;
        if (nameOf(entry) == word || entry.folder.filename() == word) found.push_back(i);
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) return Error{ErrorCode::NotFound, "\"" + word.substr(0, 200) + "\" is not in the queue; lathe-trainer queue lists what is", {}, {}};
    return usage("\"" + word + "\" names " + std::to_string(found.size()) + " runs in the queue; give its id or its place");
}

static Result<void> holdOrRelease(QueueState& state, const std::string& word, bool held) {
    LATHE_TRY_ASSIGN(const std::size_t at, findEntry(state, word));
    state.entries[at].held = held;
    state.entries[at].why.clear();
    return {};
}

static Result<void> move(QueueState& state, const std::string& word, const std::string& to) {
    LATHE_TRY_ASSIGN(const std::size_t at, findEntry(state, word));
    const auto last = static_cast<std::int64_t>(state.entries.size());
    const auto place = to == "first" ? std::optional<std::int64_t>(1) : to == "last" ? std::optional(last) : readInteger(to);
    if (!place || *place < 1 || *place > last) return usage("A place in the queue is first, last or a number from 1 to " + std::to_string(last));
    const QueueEntry entry = state.entries[at];
    state.entries.erase(state.entries.begin() + static_cast<std::ptrdiff_t>(at));
    state.entries.insert(state.entries.begin() + (*place - 1), entry);
    return {};
}

static Result<void> removeRun(const Queue& queue, const std::string& word) {
    LATHE_TRY_ASSIGN(const QueueState state, queue.read());
    LATHE_TRY_ASSIGN(const std::size_t at, findEntry(state, word));
    const rundir::RunFolder run(state.entries[at].folder);
    std::error_code ignored;
    if (std::filesystem::is_directory(run.root(), ignored)) return launch::dequeue(queue, run);
    return queue.edit([&](QueueState& now) -> Result<void> {  // its folder was removed meanwhile
        std::erase_if(now.entries, [&](const QueueEntry& entry) { return entry.run == state.entries[at].run; });
        return {};
    });
}

static Result<void> act(const Queue& queue, const std::string& action, const std::vector<std::string>& words) {
    const auto needs = [&](std::size_t n, const char* form) { return words.size() == n ? Result<void>() : usage(std::string("Write: lathe-trainer queue ") + form); };
    if (action == "hold" || action == "release") {
        LATHE_TRY(needs(1, action == "hold" ? "hold RUN" : "release RUN"));
        return queue.edit([&](QueueState& state) { return holdOrRelease(state, words[0], action == "hold"); });
    }
    if (action == "move") {
        LATHE_TRY(needs(2, "move RUN first|last|N"));
        return queue.edit([&](QueueState& state) { return move(state, words[0], words[1]); });
    }
    if (action == "remove") {
        LATHE_TRY(needs(1, "remove RUN"));
        return removeRun(queue, words[0]);
    }
    if (action == "after-failure") {
        LATHE_TRY(needs(1, "after-failure hold|go-on"));
        if (words[0] != "hold" && words[0] != "go-on") return usage("After a failure the queue can hold or go-on");
        return queue.edit([&](QueueState& state) -> Result<void> {
            state.holdAfterFailure = words[0] == "hold";
            return {};
        });
    }
    return usage("The queue does not know \"" + action.substr(0, 40) + "\"; it knows hold, release, move, remove and after-failure");
}

static void list(const Options& options, const Queue& queue, const QueueState& state) {
    const std::vector<launch::Wait> waits = launch::waitsOf(state);
    const auto waitText = [&](std::size_t i) {
        const launch::Wait& wait = waits[i];
        return launch::waitText(wait, wait.what == launch::Wait::For::Other ? nameOf(state.entries[wait.other]) : std::string());
    };
    if (options.json) {
        json entries = json::array();
        for (std::size_t i = 0; i < state.entries.size(); ++i) {
            const QueueEntry& entry = state.entries[i];
            entries.push_back({{"place", i + 1}, {"run", entry.run}, {"name", nameOf(entry)}, {"folder", entry.folder.string()},
                               {"session", entry.session}, {"held", entry.held}, {"why", entry.why}, {"waits", waitText(i)}});
        }
        return printJson({{"entries", entries}, {"after_failure", state.holdAfterFailure ? "hold" : "go on"}, {"keeper", queue.keeperIsUp()}, {"keeper_note", launch::stoppedKeeperNote(queue)}});
    }
    if (state.entries.empty()) print("Nothing waits; lathe-trainer run CONFIG --queue puts a run in");
    for (std::size_t i = 0; i < state.entries.size(); ++i)
        print(std::to_string(i + 1) + "  " + state.entries[i].run + "  " + nameOf(state.entries[i]) + "  " + waitText(i));
    if (state.holdAfterFailure) print("When a run fails, those behind it are held.");
    if (const std::string note = launch::stoppedKeeperNote(queue); !note.empty()) print(note);
}

ExitCode queue(const Options& options) {
    const Queue mine = Queue::ofThisUser();
    if (options.target == "keep") return launch::keepQueue(mine);   // what the unit of systemd calls
    if (!options.target.empty()) {
        if (const auto done = act(mine, options.target, options.more); !done) return fail(options, done.error());
    }
    if (const auto kept = launch::startKeeper(mine); !kept) return fail(options, kept.error());
    const auto state = mine.read();
    if (!state) return fail(options, state.error());
    list(options, mine, *state);
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
