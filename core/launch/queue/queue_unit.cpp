// The queue after a restart of the machine.
#include "launch/queue/queue_keeper.h"

#include "base/file_system.h"
#include "launch/process/system_tool.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace lathe::launch {

namespace stdfs = std::filesystem;

static constexpr const char* kUnit = "lathe-queue.service";

static stdfs::path unitFile() {
    const char* chosen = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (chosen != nullptr && *chosen == '/') return stdfs::path(chosen) / "systemd/user" / kUnit;
    return home != nullptr && *home == '/' ? stdfs::path(home) / ".config/systemd/user" / kUnit : stdfs::path();
}

static bool succeeds(std::vector<std::string> words) { return outputOf(words).has_value(); }

bool hasUserSystemd() { return succeeds({"systemctl", "--user", "show-environment"}); }

/// systemd takes a backslash and a quote in a quoted word, and doubles what is special to it.
static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '%' || c == '$') out += c;
        out += c;
    }
    return out + "\"";
}

std::string comeBackAfterRestart(const std::string& trainer) {
    const std::string instead = "after a restart of this machine lathe-trainer queue goes on with it";
    const stdfs::path file = unitFile();
    if (file.empty() || !hasUserSystemd()) return "This user has no systemd here: " + instead;
    const std::string text = "[Unit]\nDescription=Queue of Lathe\n\n[Service]\nExecStart=" + quoted(trainer) + " queue keep\nKillMode=process\nOOMPolicy=continue\n\n[Install]\nWantedBy=default.target\n";
    if (const auto known = readFile(file, 1u << 16); known && *known == text) return {};
    if (const auto made = makeFolders(FileSystem::real(), file.parent_path()); !made) return made.error().text() + "; " + instead;
    if (const auto written = replaceFile(FileSystem::real(), file, text); !written) return written.error().text() + "; " + instead;
    if (!succeeds({"systemctl", "--user", "daemon-reload"}) || !succeeds({"systemctl", "--user", "enable", kUnit}))
        return "systemctl --user could not enable " + file.string() + "; " + instead;
    return {};
}

}  // namespace lathe::launch
