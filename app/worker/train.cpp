#include "commands.h"

#include "base/number_text.h"
#include "engine/session/session.h"

#include <cstdio>
#include <map>

namespace lathe::worker {

ExitCode train(const Arguments& arguments) {
    std::map<std::string, std::string> given;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) given[arguments[i]] = arguments[i + 1];
    engine::SessionArguments session;
    const std::map<std::string, int*> numbers{{"--session", &session.session}, {"--rank", &session.rank}, {"--world", &session.world},
                                              {"--segment-fd", &session.segmentFd}, {"--lifeline-fd", &session.lifelineFd}};
    for (const auto& [name, target] : numbers) {
        const auto value = readInteger(given[name]);
        if (!value || *value < 0 || *value > 1'000'000) {
            std::fprintf(stderr, "lathe-worker train: %s needs a number\n", name.c_str());
            return ExitCode::Usage;
        }
        *target = static_cast<int>(*value);
    }
    session.run = given["--run"];
    if (session.run.empty() || session.world < 1 || session.rank >= session.world) {
        std::fprintf(stderr, "lathe-worker train: needs --run FOLDER, and a rank from 0 to world - 1\n");
        return ExitCode::Usage;
    }
    return engine::runSession(session);
}

}  // namespace lathe::worker
