// Which checkpoints the rule keeps, and why.
#include "rundir/keep_rule.h"

#include <QtTest>

#include <algorithm>

using namespace lathe;
using namespace lathe::rundir;

static CheckpointInfo info(int session, std::int64_t step, const char* accuracy = nullptr) {
    CheckpointInfo out;
    out.session = session;
    out.step = GlobalStep(step);
    out.folder = checkpointName(session, out.step);
    if (accuracy != nullptr) out.metrics["eval/accuracy"] = accuracy;
    return out;
}

static KeepRule rule(std::int64_t last, std::int64_t best, bool higherIsBetter = true) { return {last, best, std::nullopt, "eval/accuracy", higherIsBetter}; }

using Wanted = std::multimap<std::string, KeepReason>;
using Steps = std::vector<std::int64_t>;

/// Steps that stay.
static Steps left(const std::vector<CheckpointInfo>& all, const KeepRule& rule, const KeepFacts& facts = {}) {
    Steps out;
    const auto choices = chooseKept(all, rule, facts);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (choices[i].folder != all[i].folder) qFatal("another order");
        if (choices[i].kept()) out.push_back(all[i].step.value());
    }
    return out;
}

static std::string whyOf(const std::vector<CheckpointInfo>& all, const KeepRule& rule, std::size_t i, const KeepFacts& facts = {}) {
    return textOf(chooseKept(all, rule, facts).at(i), rule);
}

class KeepRuleTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// SEMANTICS G2: saves 10 … 40, best 10, keep 2: 10, 30 and 40, and the same after a resume
    void theLastAndTheBestStay() {
        const std::vector<CheckpointInfo> all = {info(1, 10, "0.9"), info(1, 20, "0.5"), info(1, 30, "0.7"), info(1, 40, "0.6")};
        QCOMPARE(left(all, rule(2, 1)), (Steps{10, 30, 40}));
        QCOMPARE(whyOf(all, rule(2, 1), 0), std::string("best"));
        QCOMPARE(whyOf(all, rule(2, 1), 1), std::string("neither among the newest 2 nor the best 1"));
        const std::vector<CheckpointInfo> rest = {all[0], all[2], all[3]};
        QCOMPARE(left(rest, rule(2, 1)), (Steps{10, 30, 40}));  // the same again after a resume: nothing more goes
    }
    /// SEMANTICS G2: 9 comes before 10
    void orderIsByNumberNotByText() { QCOMPARE(left({info(1, 10), info(1, 9), info(1, 8)}, rule(2, 0)), (Steps{10, 9})); }
    /// SEMANTICS G2: torn ones do not count, and the last usable one is never let go
    void tornPinnedAndWantedOnesDoNotCount() {
        std::vector<CheckpointInfo> all = {info(1, 10), info(1, 20), info(1, 30), info(1, 40), info(1, 50)};
        all[4].problem = "Incomplete";
        all[0].pinned = true;
        const KeepFacts wanted{Wanted{{all[1].folder, KeepReason::Parent}, {all[1].folder, KeepReason::InUse}}, {}};
        QCOMPARE(left(all, rule(1, 1), wanted), (Steps{10, 20, 40, 50}));
        QCOMPARE(whyOf(all, rule(1, 1), 1, wanted), std::string("another run was made from it, in use"));
        QCOMPARE(left(all, rule(0, 0)), (Steps{10, 40, 50}));  // the newest usable one stays whatever is asked
    }
    void theBestIgnoreNanAndAreTheEarlierOfEquals() {
        const std::vector<CheckpointInfo> all = {info(1, 1, "nan"), info(1, 2, "0.1"), info(1, 3, "0.5"), info(1, 4, "0.5"), info(1, 5, "0.3"), info(1, 6, "inf"), info(1, 7, "x")};
        QCOMPARE(left(all, rule(1, 1, false)), (Steps{2, 7}));
        QCOMPARE(left(all, rule(1, 2)), (Steps{3, 6, 7}));
    }
    void everySoManyUpdatesOneStays() {
        KeepRule every = rule(1, 0);
        every.every = 100;
        const std::vector<CheckpointInfo> all = {info(1, 0), info(1, 50), info(1, 100), info(1, 150), info(2, 200), info(2, 210)};
        QCOMPARE(left(all, every), (Steps{0, 100, 200, 210}));
        QCOMPARE(whyOf(all, every, 2), std::string("every 100 updates"));
    }
    /// Never fewer than two that were re-read and found whole, be the rule what it may
    void twoVerifiedOnesStay() {
        std::vector<CheckpointInfo> all = {info(1, 10), info(1, 20), info(1, 30), info(1, 40), info(1, 50)};
        for (const std::size_t i : {0u, 1u, 2u}) all[i].verifiedNs = 1;
        QCOMPARE(left(all, rule(1, 0)), (Steps{20, 30, 50}));
        QVERIFY(whyOf(all, rule(1, 0), 1).starts_with("one of the last two"));
        all[4].verifiedNs = 1;
        QCOMPARE(left(all, rule(1, 0)), (Steps{30, 50}));
        all[3].verifiedNs = 1;
        QCOMPARE(left(all, rule(2, 0)), (Steps{40, 50}));
        all[4].verifiedNs = 0;
        all[4].problem = "Damaged: model-00000.safetensors";  // and stays where it is, for people to judge
        QCOMPARE(left(all, rule(1, 0)), (Steps{30, 40, 50}));
    }
    /// After going back the newest of the line that goes on count, not those of what was left
    void theNewestAreThoseOfTheLineThatGoesOn() {
        std::vector<CheckpointInfo> all = {info(1, 10, "0.1"), info(1, 20), info(1, 30, "0.9"), info(1, 40), info(2, 25)};
        KeepFacts facts{{{all[3].folder, KeepReason::LeftBranch}}, {all[2].folder, all[3].folder}};
        QCOMPARE(left(all, rule(2, 0), facts), (Steps{20, 40, 25}));
        QCOMPARE(left(all, rule(3, 0), facts), (Steps{10, 20, 40, 25}));
        QCOMPARE(left(all, rule(2, 1), facts), (Steps{20, 30, 40, 25}));   // the best wherever it is
        QCOMPARE(whyOf(all, rule(2, 1), 2, facts), std::string("best"));
        for (CheckpointInfo& each : all) each.verifiedNs = 1;
        all[4].verifiedNs = 0;
        QCOMPARE(left(all, rule(1, 0), facts), (Steps{10, 20, 40, 25}));   // two whole ones of the line, too
        all[4].problem = all[1].problem = all[0].problem = "Damaged";
        QCOMPARE(left(all, rule(1, 0), facts), (Steps{10, 20, 30, 40, 25}));   // where the line has none left, what was left counts
    }
    void nothingIsNothing() { QVERIFY(chooseKept({}, rule(1, 1), {}).empty()); }
};

QTEST_GUILESS_MAIN(KeepRuleTest)
#include "tst_keep_rule.moc"
