#include "command_line.h"
#include "output.h"

#include <cstdio>

int main(int argc, char** argv) {
    const lathe::ExitCode code = lathe::trainer::runCommandLine(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        lathe::trainer::tell("Cannot write to standard output");
        return static_cast<int>(lathe::ExitCode::Failed);
    }
    return static_cast<int>(code);
}
