// What plug-ins there are, and how one is made.
#include "actions.h"

#include "base/file_system.h"
#include "base/program_paths.h"
#include "output.h"

#include <nlohmann/json.hpp>

namespace lathe::trainer {

const char* pluginHelp() {
    return "To build one: the header is engine/plugin/plugin.h, an example examples/go_back.cpp; with an installed Lathe\n"
           "(cmake --install build/release --prefix ~/.local) this CMakeLists.txt is enough:\n"
           "\n"
           "    cmake_minimum_required(VERSION 3.25)\n"
           "    project(mine LANGUAGES C CXX)\n"
           "    find_package(Lathe REQUIRED)\n"
           "    lathe_add_plugin(mine mine.cpp)        # and TORCH behind it where it computes with LibTorch\n"
           "\n"
           "    cmake -S . -B build -DCMAKE_PREFIX_PATH=$HOME/.local && cmake --build build\n"
           "    install -D -m 600 build/mine.so ~/.local/share/lathe/plugins/mine.so\n"
           "    lathe-trainer run digits-mlp --set plugins.mine.every=100\n"
           "\n"
           "It is built again with each new Lathe. check says what is wrong with one that a configuration uses.";
}

ExitCode plugins(const Options& options) {
    const std::filesystem::path folder = pluginFolder();
    nlohmann::json names = nlohmann::json::array();
    const auto files = listFolder(folder);
    for (std::size_t i = 0; files && i < files->size(); ++i)
        if (const std::string& file = (*files)[i]; file.ends_with(".so")) names.push_back(file.substr(0, file.size() - 3));
    if (options.json) {
        printJson({{"folder", folder.string()}, {"plugins", names}});
        return ExitCode::Completed;
    }
    for (const auto& name : names) print(name.get<std::string>());
    tell((names.empty() ? "There are no plug-ins in " : "They lie in ") + folder.string() + " (LATHE_PLUGINS names another folder); lathe-trainer plugins --help tells how one is made");
    return ExitCode::Completed;
}

}  // namespace lathe::trainer
