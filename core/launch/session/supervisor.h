// The supervisor: owns one session of one run. Makes the shared memory, starts the workers, records their frames,
// answers control requests, keeps summary.json and live.json, applies retention, and writes the exit record.
//
// Contract with a worker (app/worker):
//   lathe-worker train --run FOLDER --session N --rank K --world W --segment-fd 3 --lifeline-fd 4
//   - Started in a session of its own with default signals, standard input /dev/null, standard output and error
//     appended to logs/rank-<K>.log, and no other descriptor open than 0 … 4.
//   - Ranks of one world meet through the file FOLDER/ranks-<N> and listen on the loopback interface alone. Rank 0 tells
//     points and events as below; the others tell their own warnings, errors and end. Heartbeat::collective counts the
//     operations that a rank has entered with the others, movedNs is when it last got on: hang_doctor.h judges by these.
//   - SIGURG: writes the stack of its main thread to its log (engine/session/stack_writer.h).
//   - Reads FOLDER/sessions/N.yaml (effective configuration) and sessions/N.json (verb, and which checkpoint to load:
//     empty: fresh; weights_only: only its weights, counters at 0).
//   - First takes workers.lock shared and holds it for its life; writes ring K and heartbeat slot K only.
//     A beat at least every second, also while loading, evaluating, saving and paused.
//   - Watches the control block (Control): stop and pause are wishes that hold as long as they stand there (a stop also
//     ends a pause and whatever is being loaded or evaluated); saveRequests is a total: one more means save once more.
//     Heartbeat::acknowledged tells the newest Control::number that was read.
//   - SIGTERM, SIGINT and SIGHUP mean SaveAndStop; a second one means leave at once without saving.
//   - The lifeline is the reading end of a pipe that nobody writes to. At its end (the supervisor is gone) the worker
//     finishes the update, saves, spills every frame that is not recorded (Spiller::flushAll), and exits within 60 s.
//   - A checkpoint: pieces written and synced under the dotted name, then Heartbeat::durableCheckpoints + 1; when
//     Segment::recordedSequence(K) has reached the ring's last frame before the save (lastFrame of the manifest) it is
//     published by rename, and a "checkpoint" event follows. The supervisor records at once when it sees the beat.
//     With the supervisor gone it is published after flushAll.
//   - Its last frame is an "ended" event; then it exits with the ExitCode of that state.
//
// A person's own command (config::isCommand) stands in the worker's place behind its keeper (keeper.h); ProgramFrames
// writes ring 0 for it and the supervisor beats for it. It finds in its environment what ProgramFrames tells, and else
// everything that the run was started with. A stop asks it through the producer socket where it has said that it listens,
// and is SIGTERM to its group where it has not, then SIGKILL to all that it started. A pause is SIGSTOP and SIGCONT to
// all of it. How it ended is judged by its exit code and signal: 0 completed; what was asked to stop is stopped, whatever
// its code; else failed, or killed by the signal.
//
// Digests: of the first updates after each checkpoint (kProvenUpdates in engine/train/probe.h).
// Points: train/loss, train/lr, train/grad_norm, train/samples_per_second, eval/<metric> … Events, with the fields of
// their JSON (numbers that may be non-finite, and all metrics, as exact text; `text` of the event is a sentence):
//   environment   {"<name>": "<text>", …}: what must be equal for bit-equal numbers; goes into sessions/N.json
//   plan          {"planned_updates": n or null, "updates_per_epoch": n, "train_samples": n, "eval_samples": n,
//                  "parameters": n, "classes": ["…"], "input": {"images": bool, "channels": n, "height": n, "width": n,
//                  "context": n (text), "features": ["…"], "targets": ["…"], "mean": [x …], "deviation": [x …]}, "precision": "fp32",
//                  "precision_why": "…" (of auto)}: known before the first update;
//                  mean and deviation of what inputs are normalised by, empty: as they are
//   resume_report {"outcome": "continues exactly" | "differs" | "not comparable", "detail": "data order, update 121",
//                  "compared": n}: told at once where it differs or cannot be compared, else once all updates that
//                  sessions/N.json expects were compared, or at the end. With "replay" there the session ends with it.
//   evaluation    {"metrics": {"eval/loss": "0.12", …}, "best": bool, "seconds": x, "samples": n, "counters": {…}}
//   best          {"metric": "eval/accuracy", "value": "0.97", "higher_is_better": bool, "step": n}
//   checkpoint    {"folder": "s001-000000120", "bytes": n, "linked_bytes": n, "seconds": x (until it was durable),
//                  "stall_seconds": x (training stood still), "reason": "interval" | "best" | "asked" | "stop" | "end",
//                  "metrics": {…}, "best": bool, "counters": {…}}: durable and published. Attempt, step and counters are
//                  those of what was saved; training has gone on since. Told twice of one that was saved before its evaluation:
//                  with what that found it replaces itself
//   save_failed   {"error": "sentence"}: nothing was published, training goes on
//   skipped       {"reason": "the loss is nan", "scale": "65536"}
//   paused, resumed, warning, error   {}
//   ended         {"state": "completed" | "stopped" | "failed" | "out of memory" | "diverged" | "interrupted" (the
//                  lifeline closed), "why": "sentence",
//                  "counters": {…}, "checkpoint": "folder of the newest one, or empty",
//                  "lost_contact": true (another rank was gone; absent otherwise),
//                  "roll_back_to": n (stopped in order to go back by itself: to the newest checkpoint that is not after
//                  this step; absent otherwise), "otherwise": "diverged" | "stopped" (what it ends as where it cannot; with it),
//                  "memory": {…} (out of memory: as rundir/FORMAT.md has it, without remedies; absent otherwise)}.
//                  Where it goes back the supervisor then plans the next session and starts its workers.
//   guard         {"trigger": "loss spike" …, "action": "skip" | "pause" | "roll_back" | "stop", "values": {"loss": "9.1", …},
//                  "samples": [ids of the window, at most 1000], "sample_count": n}
//   micro_batch_halved {"from": n, "to": n (samples at a time), "attempt": n, "memory": {…} (where this rank's ran out)}:
//                  memory ran out and the window begins again in smaller parts, for the rest of the run
//   evaluation_halved {"to": n, "memory": {…}}: the same in an evaluation, for the rest of the session
//   micro_batch_limit {"most_samples": n}: a session goes on with such a limit
//   holds         {}: paused by itself, the text says why; the supervisor answers with Control::pause, and a person ends it as any pause
//   After loading a checkpoint that has a best value, "best" is told once for it.
// A program that is not ours has no ring: ProgramFrames writes its frames. Its events: note, warning, error, and, written
// on its behalf, program {"program": "python 3.11, lathe.py 1"} (attempts only count arrivals from here on) and plan.
// Records of an evaluation: table "confusion" (rows: actual classes, columns: predicted ones, cells: Σ weights; of more than
// 64 classes the most frequent confusions), text "samples".
// The supervisor's own events: asked, stop_asked, checkpoint_damaged (re-reading found it, or a run that goes on by itself passed over it), exported (the best weights, at the end), frames_lost {"frames": n},
// hang {"rank", "silent" (no beat; else it beats and does not get on), "mutual" (ranks wait for one another), "seconds", "limit_seconds", "phase", "activity",
// "update", "ranks": [{"rank", "phase", "activity", "update", "operation", "silent_seconds", "still_seconds"}]},
// stacks {"ranks": [{"rank", "stack": ["innermost", …], "note"}]}, hang_over {"rank", "seconds"},
// out_of_memory {the object `memory` of rundir/FORMAT.md, with remedies} (memory ran out, last event of the session),
// restarted {"checkpoint": folder, "step": n, "cause": sentence, "crashes": n} in the session that begins by itself after a crash,
// rolled_back {"checkpoint": folder, "step": n, "learning_rate": "5e-05", "roll_backs": n, "why": sentence} in the session
// that begins there.
// "counters" is the object of rundir/FORMAT.md.
// Thread: superviseSession() uses the calling thread for everything.
#pragma once

#include "base/exit_code.h"
#include "base/result.h"
#include "launch/queue/device_lock.h"
#include "launch/session/restart.h"
#include "launch/workers/stopping.h"
#include "rundir/run_folder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::launch {

/// What a terminal shows of a session that runs: a few times a second, and once more at its end.
struct Glance {
    rundir::State state = rundir::State::Starting;
    std::string phase;                         ///< "loading data 210/300"
    std::int64_t step = 0;
    std::optional<std::int64_t> plannedSteps;
    std::optional<double> loss, learningRate, samplesPerSecond;
    std::optional<double> secondsLeft;         ///< nothing while it is still measured
    std::vector<std::string> said;             ///< warnings, failures and the report of a resume since the last one
    std::optional<Stopping> stopping;
};

/// A script that runs already and starts its own recorder.
struct Recording {
    std::int64_t pid = 0;
    std::string token;                         ///< what its client says in its hello (newProgramToken)
};

struct SupervisorOptions {
    rundir::RunFolder run;
    int session = 0;                           ///< its sessions/<n>.yaml and .json are in place
    int readyFd = -1;                          ///< one byte is written here once the control socket answers (detached start)
    std::function<void(const Glance&)> glance; ///< foreground: called from the loop
    std::string notice;                        ///< told as a warning of the run, or empty
    std::optional<Recording> recording = {};   ///< instead of starting anything
    std::shared_ptr<DeviceLocks> devices = {};  ///< of a run from the queue; else its devices are shared as long as it runs
    std::vector<Crash> crashes = {};           ///< of workers in the sessions before, under this supervisor
    std::optional<Next> byItself = {};         ///< how the run came to go on in this session by itself
};

/// Keeps SIGTERM, SIGINT and SIGHUP waiting from here on, so that one which comes while a run is being made is heard by
/// its supervisor instead of leaving half a run behind. Called before a session is prepared.
void holdStopSignals();
/// For a process that leaves the supervising to another one.
void releaseStopSignals();

/// Runs the session to its end, and those that follow where the run goes back by itself, or on after a crash of a worker; the
/// exit record is written before it returns. SIGTERM, SIGINT and SIGHUP mean save and stop, a second one leave at once. At the
/// end the queue is woken where runs wait and no keeper is up.
/// Requires: the caller holds run.lock() exclusively (handed over as `lock`, released when all records are written).
ExitCode superviseSession(SupervisorOptions options, rundir::RunLock lock);

}  // namespace lathe::launch
