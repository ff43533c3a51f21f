#include "launch/command/command_facts.h"

#include "launch/command/git_state.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace lathe::launch {

namespace stdfs = std::filesystem;

/// Names, and beginnings of names that end with *: of those, none that may be a secret's.
static constexpr std::array kKept = {
    "CONDA_DEFAULT_ENV", "CONDA_PREFIX", "CUBLAS_WORKSPACE_CONFIG", "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES",
    "HF_DATASETS_OFFLINE", "HF_HOME", "HF_HUB_OFFLINE", "HIP_VISIBLE_DEVICES", "JAX_ENABLE_X64", "JAX_PLATFORMS", "KMP_*", "LANG", "LC_ALL",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "MKL_*", "NCCL_*", "NUMEXPR_NUM_THREADS", "NVIDIA_TF32_OVERRIDE",
    "OMP_*", "OPENBLAS_NUM_THREADS", "PATH", "PYTHONHASHSEED", "PYTHONPATH", "PYTORCH_*", "RANK", "ROCR_VISIBLE_DEVICES", "TF_*", "TOKENIZERS_PARALLELISM",
    "TORCH_*", "TRANSFORMERS_OFFLINE", "TZ", "VIRTUAL_ENV", "WORLD_SIZE", "XLA_*"};

static bool isKept(std::string_view name) {
    static constexpr std::array kSecret = {"TOKEN", "SECRET", "PASS", "KEY", "AUTH", "CRED"};
    std::string upper(name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const bool tells = std::any_of(kSecret.begin(), kSecret.end(), [&](const char* secret) { return upper.find(secret) != std::string::npos; });
    return std::any_of(kKept.begin(), kKept.end(), [&](std::string_view kept) {
        return kept.ends_with('*') ? !tells && name.starts_with(kept.substr(0, kept.size() - 1)) : name == kept;
    });
}

static Error problem(std::string sentence, const char* key = "command.line") { return {ErrorCode::Config, std::move(sentence), key, {}}; }

static std::string variable(const config::CommandWords& command, const std::string& name) {
    for (auto own = command.variables.rbegin(); own != command.variables.rend(); ++own)
        if (own->starts_with(name + "=")) return own->substr(name.size() + 1);
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : value;
}

static bool isProgram(const stdfs::path& file) {
    std::error_code ignored;
    return stdfs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

static Result<stdfs::path> byPath(const std::string& word, const stdfs::path& folder) {
    const stdfs::path file = (folder / word).lexically_normal();
    std::error_code ignored;
    if (isProgram(file)) return file;
    if (!stdfs::exists(file, ignored)) return problem("There is no program " + file.string() + "; check the command and its working folder");
    if (stdfs::is_directory(file, ignored)) return problem(file.string() + " is a folder, not a program");
    return problem(file.string() + " is not executable; allow it (chmod +x), or name what runs it, as in python " + word);
}

Result<stdfs::path> findProgram(const config::CommandWords& command, const stdfs::path& folder) {
    const std::string& word = command.words.front();
    if (word.find('/') != std::string::npos) return byPath(word, folder);
    std::string path = variable(command, "PATH");
    if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const stdfs::path file = (folder / path.substr(begin, end - begin) / word).lexically_normal();
        if (isProgram(file)) return file;
        begin = end + 1;
    }
    std::error_code ignored;
    const bool isHere = stdfs::is_regular_file(folder / word, ignored);
    return problem("There is no program \"" + word.substr(0, 200) + "\" in PATH" + (isHere ? "; " + folder.string() + " has one of that name: write ./" + word : "; check the spelling, or write its whole path"));
}

Result<void> checkCommand(const config::CommandSection& command) {
    LATHE_TRY_ASSIGN(const config::CommandWords words, config::splitCommand(command.line));
    std::error_code ignored;
    const stdfs::path folder = command.folder.empty() ? stdfs::current_path(ignored) : stdfs::path(command.folder);
    if (!stdfs::is_directory(folder, ignored)) {
        const bool isThere = stdfs::exists(folder, ignored);
        return problem("The working folder " + folder.string() + (isThere ? " is not a folder" : " does not exist"), "command.folder");
    }
    if (::access(folder.c_str(), X_OK) != 0) return problem("The working folder " + folder.string() + " may not be entered", "command.folder");
    LATHE_TRY(findProgram(words, folder));
    return {};
}

std::map<std::string, std::string> keptEnvironment() {
    std::map<std::string, std::string> kept;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos && isKept(text.substr(0, equals))) kept[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    return kept;
}

void takeEnvironment(const std::map<std::string, std::string>& kept) {
    for (const auto& [name, value] : keptEnvironment())
        if (!kept.contains(name)) ::unsetenv(name.c_str());
    for (const auto& [name, value] : kept)
        if (isKept(name)) ::setenv(name.c_str(), value.c_str(), 1);
}

std::map<std::string, std::string> surroundingsOf(const config::CommandWords& command, const stdfs::path& folder, const stdfs::path& program) {
    std::map<std::string, std::string> facts = keptEnvironment();
    for (const std::string& own : command.variables) facts.erase(own.substr(0, own.find('=')));   // stands in the command
    facts["program"] = program.string();
    if (const auto git = gitStateOf(folder)) {
        facts["git.commit"] = git->commit;
        facts["git.branch"] = git->branch;
        facts["git.dirty"] = git->dirty;
    }
    return facts;
}

}  // namespace lathe::launch
