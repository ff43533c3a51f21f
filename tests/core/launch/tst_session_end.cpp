// labels: fast
// The table of endings: every combination of what is written, what lives and how the processes ended, against rules that
// are read from top to bottom.
#include "base/exit_code.h"
#include "base/file_system.h"
#include "launch/run/session_end.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

using namespace lathe;
using launch::Ended;
using launch::ExitStatus;
using launch::SessionEnd;
using launch::SessionFacts;
using rundir::State;

static const std::vector<State> kEndings = {State::Completed, State::Stopped, State::Cancelled, State::Failed, State::Killed,
                                            State::OutOfMemory, State::Diverged, State::Interrupted, State::Lost};

/// The first rule that fits decides.
struct Rule {
    const char* words;
    std::function<bool(const SessionFacts&)> fits;
    std::function<State(const SessionFacts&)> state;
};

static std::function<State(const SessionFacts&)> always(State state) {
    return [state](const SessionFacts&) { return state; };
}

static Ended saying(State state) {
    Ended ended;
    ended.state = state;
    ended.why = "the worker said so";
    return ended;
}

static ExitStatus code(ExitCode value) { return {static_cast<int>(value), {}, {}}; }
static ExitStatus signalled(int number) { return {{}, number, {}}; }

class TestSessionEnd : public QObject {
    Q_OBJECT

    int m_count = 0;

    void check(const std::vector<Rule>& rules, const SessionFacts& facts) {
        ++m_count;
        const SessionEnd end = launch::judge(facts);
        const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& each) { return each.fits(facts); });
        QVERIFY(rule != rules.end());
        const State wanted = rule->state(facts);
        if (end.state != wanted)
            QFAIL((std::string(rule->words) + ": " + std::string(rundir::name(end.state)) + " instead of " + std::string(rundir::name(wanted)) + " (" + end.why + ")").c_str());
        if (!rundir::isAlive(end.state) && end.state != State::Queued) QVERIFY2(!end.why.empty(), rule->words);
        // Nothing but a record or the worker's own word makes it completed.
        const bool said = (facts.written.record && facts.written.record->state == State::Completed) || (facts.end.ended && facts.end.ended->state == State::Completed) ||
                          (!facts.written.elsewhere.empty() && facts.written.summary && facts.written.summary->state == State::Completed) ||
                          (facts.end.seen && (facts.end.isRecorded ? facts.end.goodbye.has_value() : facts.end.isCommand && facts.end.exit.code == 0));
        if (end.state == State::Completed) QVERIFY2(said, rule->words);
    }

private Q_SLOTS:
    /// Whoever looks, with the window open, closed or opened later.
    void whatIsWrittenAndWhatLivesDecides() {
        const std::vector<Rule> rules = {
            {"another machine's", [](auto& f) { return !f.written.elsewhere.empty(); }, [](auto& f) { return f.written.summary ? f.written.summary->state : State::Lost; }},
            {"no session", [](auto& f) { return !f.written.hasSession; }, always(State::Lost)},
            {"damaged record", [](auto& f) { return !f.written.damage.empty(); }, always(State::Lost)},
            {"exit record", [](auto& f) { return f.written.record.has_value(); }, [](auto& f) { return f.written.record->state; }},
            {"supervisor lives", [](auto& f) { return f.life.supervisor; },
             [](auto& f) { return f.written.summary && rundir::isAlive(f.written.summary->state) ? f.written.summary->state : State::Starting; }},
            {"workers live", [](auto& f) { return f.life.workers; }, always(State::Stopping)},
            {"in the queue", [](auto& f) { return !f.written.wasUp && f.written.summary && f.written.summary->state == State::Queued && f.life.queued; }, always(State::Queued)},
            {"fell out of the queue", [](auto& f) { return !f.written.wasUp && f.written.summary && f.written.summary->state == State::Queued; }, always(State::Interrupted)},
            {"the worker only missed another rank", [](auto& f) { return f.end.ended && f.end.ended->lostContact; }, always(State::Interrupted)},
            {"the worker's word", [](auto& f) { return f.end.ended.has_value(); }, [](auto& f) { return f.end.ended->state; }},
            {"nobody knows", [](auto&) { return true; }, always(State::Interrupted)},
        };
        std::vector<std::optional<State>> records = {std::nullopt}, accounts = {std::nullopt};
        records.insert(records.end(), kEndings.begin(), kEndings.end());
        accounts.insert(accounts.end(), kEndings.begin(), kEndings.end());
        const std::array<std::optional<State>, 5> summaries = {std::nullopt, State::Queued, State::Running, State::Paused, State::Completed};
        for (const auto& record : records) for (const auto& account : accounts) for (const auto& summary : summaries)
            for (unsigned bits = 0; bits < 512; ++bits) {
                SessionFacts facts;
                facts.end.seen = false;
                if (record) facts.written.record = SessionEnd{*record, "as written"};
                if (account) facts.end.ended = saying(*account);
                if (account && (bits & 256) != 0) facts.end.ended->lostContact = true;
                if (summary) facts.written.summary = SessionEnd{*summary, ""};
                if (summary && (bits & 1) != 0) facts.written.summary->why = "by the summary";
                if ((bits & 1) != 0) facts.written.elsewhere = "On gpu1, seen 12 s ago";
                facts.written.hasSession = (bits & 2) == 0;
                if ((bits & 4) != 0) facts.written.damage = "1.json is damaged";
                facts.life.supervisor = (bits & 8) != 0;
                facts.life.workers = (bits & 16) != 0;
                facts.life.queued = (bits & 32) != 0;
                facts.written.wasUp = (bits & 64) == 0;
                facts.written.sameBoot = (bits & 128) == 0;
                check(rules, facts);
                if (QTest::currentTestFailed()) return;
            }
        QCOMPARE(m_count, 10 * 10 * 5 * 512);
    }

    /// By the supervisor that was there to the end.
    void howAWorkerEndedDecides() {
        using End = const launch::EndFacts&;
        const auto rule = [](const char* words, std::function<bool(End)> fits, State state) {
            return Rule{words, [fits](const SessionFacts& f) { return fits(f.end); }, always(state)};
        };
        const std::vector<Rule> rules = {
            rule("stopped without saving", [](End e) { return e.ended && e.ended->state == State::Stopped && e.discarded; }, State::Cancelled),
            rule("stopped before any update", [](End e) { return e.ended && e.ended->state == State::Stopped && e.stopAsked && e.updates == 0; }, State::Cancelled),
            {"its own word", [](const SessionFacts& f) { return f.end.ended.has_value(); }, [](const SessionFacts& f) { return f.end.ended->state; }},
            rule("ended by the ladder", [](End e) { return !e.killedBy.empty(); }, State::Killed),
            rule("killed for want of memory", [](End e) { return e.exit.signal == SIGKILL && e.systemRanOutOfMemory; }, State::OutOfMemory),
            rule("signal", [](End e) { return e.exit.signal.has_value(); }, State::Killed),
            rule("code 7", [](End e) { return e.exit.code == static_cast<int>(ExitCode::OutOfMemory); }, State::OutOfMemory),
            rule("code 6", [](End e) { return e.exit.code == static_cast<int>(ExitCode::Diverged); }, State::Diverged),
            rule("else, and also code 0", [](End) { return true; }, State::Failed),
        };
        std::vector<std::optional<State>> accounts = {std::nullopt};
        accounts.insert(accounts.end(), kEndings.begin(), kEndings.end());
        const std::vector<ExitStatus> exits = {{}, code(ExitCode::Completed), code(ExitCode::Usage), code(ExitCode::Failed), code(ExitCode::Stopped), code(ExitCode::Diverged),
                                               code(ExitCode::OutOfMemory), signalled(SIGKILL), signalled(SIGSEGV), signalled(SIGABRT), signalled(SIGTERM), signalled(63)};
        m_count = 0;
        for (const auto& account : accounts) for (const ExitStatus& exit : exits)
            for (unsigned bits = 0; bits < 32; ++bits) {
                SessionFacts facts;
                launch::EndFacts& end = facts.end;
                if (account) end.ended = saying(*account);
                end.exit = exit;
                if ((bits & 1) != 0) end.killedBy = "it did not stop within 60 s";
                end.systemRanOutOfMemory = (bits & 2) != 0;
                end.stopAsked = (bits & 4) != 0;
                end.discarded = (bits & 8) != 0;
                end.updates = (bits & 16) != 0 ? 5 : 0;
                check(rules, facts);
                if (QTest::currentTestFailed()) return;
            }
        QCOMPARE(m_count, 10 * 12 * 32);
    }

    void howAPersonsCommandEndedDecides() {
        using End = const launch::EndFacts&;
        const auto rule = [](const char* words, std::function<bool(End)> fits, State state) {
            return Rule{words, [fits](const SessionFacts& f) { return fits(f.end); }, always(state)};
        };
        const auto saidFailed = [](End e) { return e.goodbye && e.goodbye->how == launch::ProgramFrames::Goodbye::How::Failed; };
        const std::vector<Rule> rules = {
            rule("nobody knows", [](End e) { return !e.exit.code && !e.exit.signal; }, State::Killed),
            rule("SIGKILL by the ladder", [](End e) { return e.exit.signal == SIGKILL && !e.killedBy.empty(); }, State::Killed),
            rule("SIGKILL for want of memory", [](End e) { return e.exit.signal == SIGKILL && e.systemRanOutOfMemory; }, State::OutOfMemory),
            rule("asked to go without saving", [](End e) { return e.stopAsked && e.discarded; }, State::Cancelled),
            rule("asked to stop", [](End e) { return e.stopAsked; }, State::Stopped),
            rule("signal", [](End e) { return e.exit.signal.has_value(); }, State::Killed),
            rule("code 0, but it said that it failed", [&](End e) { return e.exit.code == 0 && saidFailed(e); }, State::Failed),
            rule("code 0", [](End e) { return e.exit.code == 0; }, State::Completed),
            rule("other codes", [](End) { return true; }, State::Failed),
        };
        const std::vector<ExitStatus> exits = {{}, code(ExitCode::Completed), code(ExitCode::Failed), code(ExitCode::OutOfMemory), signalled(SIGKILL), signalled(SIGTERM)};
        for (const ExitStatus& exit : exits)
            for (unsigned bits = 0; bits < 32; ++bits) {
                SessionFacts facts;
                launch::EndFacts& end = facts.end;
                end.isCommand = true;
                end.exit = exit;
                if ((bits & 1) != 0) end.killedBy = "it did not leave";
                end.systemRanOutOfMemory = (bits & 2) != 0;
                end.stopAsked = (bits & 4) != 0;
                end.discarded = (bits & 8) != 0;
                if ((bits & 16) != 0) end.goodbye = launch::ProgramFrames::Goodbye{launch::ProgramFrames::Goodbye::How::Failed, "no data"};
                check(rules, facts);
                if (QTest::currentTestFailed()) return;
            }
    }

    void theReasonsTellWhatHappened() {
        SessionFacts facts;
        facts.end.seen = false;
        facts.written.sameBoot = false;
        QCOMPARE(launch::judge(facts).why, std::string("The machine was restarted while it ran"));
        facts.written.sameBoot = true;
        facts.end.ended = saying(State::Interrupted);
        facts.end.ended->checkpoint = "s001-000000120";
        QCOMPARE(launch::judge(facts).why, std::string("Its supervisor was lost; the worker saved s001-000000120 and left"));
        facts.end.ended = saying(State::Diverged);
        QCOMPARE(launch::judge(facts).why, std::string("the worker said so. Its supervisor was lost meanwhile"));
        facts.end.ended = saying(State::Failed);
        facts.end.ended->lostContact = true;
        QCOMPARE(launch::judge(facts).why, std::string("Its supervisor was lost, and a rank with it"));
        QCOMPARE(launch::judge(facts).state, State::Interrupted);
        facts.end.ended.reset();
        facts.written.wasUp = false;
        QCOMPARE(launch::judge(facts).why, std::string("It was interrupted before its worker started"));
        facts.written.wasNext = true;
        QCOMPARE(launch::judge(facts).why, std::string("Its supervisor was lost before this session began"));
        facts.written.sameBoot = false;
        QCOMPARE(launch::judge(facts).why, std::string("The machine was restarted before this session began"));
    }

    void aDamagedAccountIsNone() {
        live::EventFrame event;
        event.kind = "ended";
        event.json = R"({"state": "completed", "why": "done", "checkpoint": "s001-000000010"})";
        QVERIFY(launch::endedFrom(event).has_value());
        for (const char* json : {"", "{}", "[]", R"({"state": "running"})", R"({"state": "queued"})", R"({"state": "bliss"})", R"({"state": "completed", "checkpoint": 3})", "{\"state\": \"comp"}) {
            event.json = json;
            QVERIFY2(!launch::endedFrom(event), json);
        }
        event.json = R"({"state": "completed"})";
        event.kind = "note";
        QVERIFY(!launch::endedFrom(event));
    }
    void whatTheLogNotesWhileAllIsWellExplainsNoEnd() {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("rank-0.log").toStdString();
        QVERIFY(replaceFile(FileSystem::real(), file, "first\nlathe: info: parameters 5\n\nlathe: error: it broke\nlathe: info: saved\n").ok());
        QCOMPARE(launch::logTail(file, 3), std::string("first\nlathe: error: it broke"));
        QCOMPARE(launch::logTail(file, 1), std::string("lathe: error: it broke"));
        QVERIFY(replaceFile(FileSystem::real(), file, "lathe: info: saved\n").ok());
        QCOMPARE(launch::logTail(file, 3), std::string());
        QVERIFY(replaceFile(FileSystem::real(), file, std::string(3000, 'x') + "\nlast").ok());
        QCOMPARE(launch::logTail(file, 2), std::string(995, 'x') + "\nlast");
        std::string much = "lathe: error: it broke\n";
        for (int i = 0; i < 200; ++i) much += "lathe: info: parameters 5, and more of them\n";
        QVERIFY(replaceFile(FileSystem::real(), file, much).ok());
        QCOMPARE(launch::logTail(file, 3), std::string("lathe: error: it broke"));
    }
};

QTEST_GUILESS_MAIN(TestSessionEnd)
#include "tst_session_end.moc"
