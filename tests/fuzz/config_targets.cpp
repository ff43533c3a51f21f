#include "parts.h"

#include "base/file_system.h"
#include "config/command_text.h"
#include "config/config.h"

namespace lathe::fuzz {
namespace {

bool readConfig(Input input) {
    const config::Loaded loaded = config::parse(textOf(input), "/nowhere");
    static_cast<void>(config::check(loaded));
    if (config::hasErrors(loaded.problems)) return false;
    const std::string yaml = config::toYaml(loaded.config);
    promise(config::toYaml(config::parse(yaml, "/nowhere").config) == yaml, "a configuration that was written reads back equal");
    return true;
}
std::vector<std::string> configSeeds() {
    std::vector<std::string> all = {"model_name: resnet50\nnum_classes: 10\nbatch_size: 32\nlearning_rate: 3e-4\nuse_ddp: true\n", "optimizer: {learning_rate: .inf}\n",
                                    "data: &a [1, 2]\nx: *a\n", "run:\n  epochs: 1\nrun:\n  epochs: 2\n"};
    for (const config::Preset& preset : config::presets()) {
        const auto text = readFile(preset.file, 1u << 20);
        if (text.ok()) all.push_back(*text);
    }
    return all;
}

bool readCommand(Input input) {
    const auto words = config::splitCommand(textOf(input));
    if (!words.ok()) return false;
    const auto again = config::splitCommand(config::joinCommand(words->words));
    promise(again.ok() && again->words == words->words, "a command that was joined splits into the same words");
    return true;
}
std::vector<std::string> commandSeeds() { return {"python train.py --lr 3e-4", "A=1 B='x y' ./go \"a\\\"b\" c\\ d --x=1"}; }

}  // namespace

std::vector<Target> configTargets() {
    return {{"config", readConfig, configSeeds}, {"command", readCommand, commandSeeds}};
}

}  // namespace lathe::fuzz
