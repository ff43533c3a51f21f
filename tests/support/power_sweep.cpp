#include "power_sweep.h"

#include "power_loss.h"
#include "whole_form.h"

#include <cerrno>
#include <unistd.h>

namespace lathe::test {

namespace stdfs = std::filesystem;

static void empty(const stdfs::path& folder) {
    stdfs::remove_all(folder);
    stdfs::create_directories(folder);
}

PowerCount losePower(const Operation& operation, std::size_t states) {
    PowerCount count;
    const stdfs::path scratch = sweepFolder() / ("power-sweep-" + std::to_string(::getpid()));
    const stdfs::path here = scratch / "here", after = scratch / "after";
    empty(here);
    operation.prepare(here);
    DiskModel disk(here);
    std::vector<SystemCall> made;
    const Traced straight = trace(here, [&] { return operation.work(here); },
                                  [&](const SystemCall& call) { return operation.refused && operation.refused(call) ? Verdict{Verdict::What::Fail, EPERM} : Verdict{}; },
                                  [&](const SystemCall& call) {
                                      if (call.name == "say" || call.changesDisk()) made.push_back(call);
                                  }, true);
    count.works = straight.works;
    count.why = straight.why;
    if (straight.works && straight.exitCode != 0) count.bad.push_back(operation.name + " undisturbed: " + straight.output);
    count.changes = made.size();
    std::string said;
    std::size_t number = 0;
    for (std::size_t moment = 0; count.works && moment <= made.size(); ++moment) {
        const bool isOver = moment == made.size();
        const std::size_t share = states * (moment + 1) / (made.size() + 1) - states * moment / (made.size() + 1);
        for (std::size_t i = 0; i < std::max<std::size_t>(share, 1); ++i) {
            if (!isInPart(++number)) continue;
            std::mt19937_64 random(faultSeed() + moment * 1'000'003 + i);
            empty(after);
            disk.lose(random, i == 0, after);
            ++count.states;
            const std::string problem = operation.judge(after, isOver ? Ending::Done : Ending::Killed, said);
            if (!problem.empty())
                count.bad.push_back(operation.name + ", power lost after change " + std::to_string(moment) + (moment > 0 ? " (" + made[moment - 1].name + " "
                                    + stdfs::path(made[moment - 1].path).lexically_relative(here).string() + ")" : "") + ", way " + std::to_string(i) + ": " + problem);
        }
        if (isOver) break;
        if (made[moment].name == "say") said.append(reinterpret_cast<const char*>(made[moment].data.data()), made[moment].data.size());
        else disk.take(made[moment]);
    }
    std::error_code ignored;
    stdfs::remove_all(scratch, ignored);
    return count;
}

}  // namespace lathe::test
