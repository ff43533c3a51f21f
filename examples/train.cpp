// Trains with Lathe's Trainer in a program of your own: a preset or a YAML file, in this process, without a run folder.
#include "config/config.h"
#include "engine/session/setup.h"

#include <cstdio>

using namespace lathe;
using namespace lathe::engine;

class Print final : public Hook {
    std::string_view hookName() const override { return "print"; }
    void at(const HookContext& context, Wishes&) override {
        if (context.point != Point::EvalEnd) return;
        for (const auto& [name, value] : context.evaluation->metrics) std::printf("update %ld: %s %.4f\n", context.counters->globalStep.value(), name.c_str(), value);
    }
};

int main(int argc, char** argv) {
    const auto loaded = config::loadUsable(argc > 1 ? argv[1] : "digits-mlp");
    if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().text().c_str()), 2;
    const auto setup = Setup::build(*loaded, [](live::Phase, std::int64_t, std::int64_t) { return true; });
    if (!setup) return std::fprintf(stderr, "%s\n", setup.error().text().c_str()), 2;
    Print print;
    TrainerParts parts = (*setup)->parts();
    parts.hooks.push_back(&print);
    const Ending ending = Trainer(parts, (*setup)->settings()).run();
    std::printf("%s\n", ending.why.c_str());
    return ending.state == rundir::State::Completed ? 0 : 1;
}
