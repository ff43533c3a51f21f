// lathe-worker: one rank of one run, started by the supervisor and not by people; and what the engine can be asked.
#include "commands.h"

#include "engine/session/inspect.h"

#include <cstdio>
#include <map>

int main(int argc, char** argv) {
    using namespace lathe;
    const std::map<std::string, ExitCode (*)(const worker::Arguments&)> verbs{
        {"train", worker::train}, {"describe", worker::describe}, {"explain", worker::explain}, {"curve", worker::curve}, {"eval", worker::eval}, {"selftest", worker::selftest}};
    const auto verb = verbs.find(argc > 1 ? argv[1] : "");
    if (argc == 2 && std::string(argv[1]) == "--version") {
        std::printf("lathe-worker %s, LibTorch %s\n", LATHE_VERSION, engine::torchVersion());
        return 0;
    }
    if (verb == verbs.end()) {
        std::fprintf(stderr, "lathe-worker is started by lathe-trainer. Verbs: train, describe, explain, curve, eval, selftest\n");
        return static_cast<int>(ExitCode::Usage);
    }
    return static_cast<int>(verb->second(worker::Arguments(argv + 2, argv + argc)));
}
