// lathe-worker: one rank of one run, started by the supervisor and not by people.
#include "commands.h"

#include "base/exit_code.h"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    using namespace lathe;
    const std::vector<std::string> arguments(argv + (argc > 1 ? 2 : 1), argv + argc);
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "train") return static_cast<int>(worker::train(arguments));
    std::fprintf(stderr, "lathe-worker is started by lathe-trainer. Verbs: train --run FOLDER --session N --rank K --world W --segment-fd FD --lifeline-fd FD\n");
    return static_cast<int>(ExitCode::Usage);
}
