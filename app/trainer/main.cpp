#include "command_line.h"
#include "launch/command/keeper.h"
#include "output.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    // Not a verb: how a supervisor starts the process that stays with a person's command.
    if (argc > 1 && std::string_view(argv[1]) == "keep") return lathe::launch::runKeeper({argv + 2, argv + argc});
    const lathe::ExitCode code = lathe::trainer::runCommandLine(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        lathe::trainer::tell("Cannot write to standard output");
        return static_cast<int>(lathe::ExitCode::Failed);
    }
    return static_cast<int>(code);
}
