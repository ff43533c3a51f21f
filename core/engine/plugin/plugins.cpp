#define LATHE_PLUGIN_TORCH
#include "engine/plugin/plugins.h"

#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "config/nearest.h"
#include "config/plugin_list.h"
#include "engine/plugin/named_strategy.h"
#include "engine/train/guard.h"
#include "plan/explain.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <span>
#include <stdexcept>

namespace lathe::engine {
namespace {

namespace stdfs = std::filesystem;
constexpr std::uint64_t kLargestFile = 1u << 30;

Error problem(const std::string& name, std::string sentence, ErrorCode code = ErrorCode::Config) {
    return {code, "The plug-in " + name + " " + std::move(sentence), "plugins." + name, {}};
}

/// What is wrong with who owns or may write it, or nothing.
std::string distrust(const stdfs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return path.string() + " cannot be looked at: " + std::strerror(errno);
    if (info.st_uid != ::geteuid() && info.st_uid != 0) return path.string() + " belongs to another user (" + std::to_string(info.st_uid) + ")";
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return path.string() + " may be written by others; chmod go-w takes that away";
    return {};
}

/// A run, which may come from anyone, brings no code; empty where the file lies in none.
stdfs::path runAround(const stdfs::path& file) {
    std::error_code ignored;
    for (stdfs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
        if (stdfs::exists(rundir::RunFolder(folder).runJson(), ignored)) return folder;
    return {};
}

std::string listOf(const stdfs::path& folder) {
    std::string names;
    if (const auto files = listFolder(folder)) {
        for (const std::string& file : *files)
            if (file.ends_with(".so")) names += (names.empty() ? "" : ", ") + file.substr(0, file.size() - 3);
    }
    return names.empty() ? "it holds none (lathe-trainer plugins --help tells how one is made)" : "it holds " + names;
}

template <std::size_t N>
std::string textOf(const std::array<char, N>& text) {
    return {text.data(), strnlen(text.data(), N)};
}

std::optional<PluginStamp> stampIn(const std::string& bytes) {
    const std::string marker = std::string(kMarkerBegin) + std::string(kMarkerEnd);
    const std::size_t at = bytes.find(marker);
    if (at == std::string::npos || bytes.size() - at < sizeof(PluginStamp)) return std::nullopt;
    PluginStamp stamp;
    std::memcpy(&stamp, bytes.data() + at, sizeof stamp);
    return stamp;
}

/// Why it cannot be used here, or nothing.
std::string mismatch(const PluginStamp& stamp, const std::string& name) {
    const PluginStamp ours = pluginStamp({}, {});
    const std::string again = "; build it again with the headers of this one";
    if (textOf(stamp.lathe) != textOf(ours.lathe)) return "was built for Lathe " + textOf(stamp.lathe) + ", and this is Lathe " + textOf(ours.lathe) + again;
    if (stamp.api != ours.api || stamp.layout != ours.layout || (stamp.torchLayout != 0 && stamp.torchLayout != ours.torchLayout))
        return "was built for another build of Lathe " + textOf(ours.lathe) + again;
    if (stamp.torchLayout != 0 && textOf(stamp.torch) != textOf(ours.torch))
        return "was built for LibTorch " + textOf(stamp.torch) + ", and this is LibTorch " + textOf(ours.torch) + "; build it again with that";
    if (textOf(stamp.name) != name) return "calls itself " + textOf(stamp.name) + "; its file must be " + textOf(stamp.name) + ".so";
    return {};
}

class Registry final : public PluginRegistry {
public:
    Registry(const config::PluginChoice& choice) : m_choice(choice) {}

    std::string text(std::string_view key, std::string_view fallback) override {
        const std::string* value = find(key);
        return value ? *value : std::string(fallback);
    }
    double number(std::string_view key, double fallback, double minimum, double maximum) override {
        const std::string* text = find(key);
        if (!text) return fallback;
        const auto value = readDouble(*text);
        if (!value || !(*value >= minimum && *value <= maximum)) refuse(key, *text, "a number from " + shortText(minimum) + " to " + shortText(maximum));
        return *value;
    }
    std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t minimum, std::int64_t maximum) override {
        const std::string* text = find(key);
        if (!text) return fallback;
        const auto value = readInteger(*text);
        if (!value || *value < minimum || *value > maximum) refuse(key, *text, "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
        return *value;
    }
    bool flag(std::string_view key, bool fallback) override {
        const std::string* text = find(key);
        if (text && *text != "true" && *text != "false") refuse(key, *text, "true or false");
        return text ? *text == "true" : fallback;
    }

    void addHook(std::function<std::unique_ptr<Hook>()> make) override { m_hooks.push_back(std::move(make)); }
    void addSchedule(const std::string& name, plan::CurveFactor factor) override {
        const std::string whole = m_choice.name + "/" + name;
        add(plan::curveKinds(), name, plan::CurveKind{false, named(whole, std::move(factor)), saying(whole)});
    }
    void addMetric(const std::string& name, bool higherIsBetter, std::function<std::unique_ptr<MetricPool>()> make) override {
        add(extraMetrics(), name, ExtraMetric{higherIsBetter, std::move(make)});
    }
    void addModel(const std::string& name, ModelMaker make) override { add(modelKinds(), name, std::move(make)); }
    void addTask(const std::string& name, TaskMaker make) override { add(taskKinds(), name, std::move(make)); }
    void addAccumulation(const std::string& name, const std::string& words, AccumulationMaker make) override {
        add(plan::accumulationKinds(), name, plan::AccumulationKind{saying(words), named(m_choice.name + "/" + name, std::move(make))});
    }
    void addParallel(const std::string& name, const std::string& words, ParallelMaker make) override {
        add(parallelKinds(), name, named(m_choice.name + "/" + name, std::move(make)));
        add(plan::parallelWords(), name, saying(words));
    }
    void addPrecision(const std::string& name, const std::string& words, PrecisionMaker make) override {
        add(precisionKinds(), name, named(m_choice.name + "/" + name, std::move(make)));
        add(plan::precisionWords(), name, saying(words));
    }

    /// A setting nobody asked for, or nothing.
    std::string unread() const {
        for (const auto& [key, value] : m_choice.settings)
            if (!m_asked.contains(key)) return key;
        return {};
    }
    std::vector<std::string> asked() const { return {m_asked.begin(), m_asked.end()}; }
    std::vector<std::unique_ptr<Hook>> makeHooks() const {
        std::vector<std::unique_ptr<Hook>> hooks;
        for (const auto& make : m_hooks) {
            hooks.push_back(make());
            if (!hooks.back()) throw std::runtime_error("a hook was not made");
        }
        return hooks;
    }

private:
    static plan::Explanation saying(const std::string& words) {
        return [words](const config::RunConfig&) { return words; };
    }
    const std::string* find(std::string_view key) {
        m_asked.emplace(key);
        const auto found = m_choice.settings.find(std::string(key));
        return found == m_choice.settings.end() ? nullptr : &found->second;
    }
    [[noreturn]] void refuse(std::string_view key, const std::string& value, const std::string& rule) const {
        throw std::runtime_error("plugins." + m_choice.name + "." + std::string(key) + " must be " + rule + ", not \"" + value.substr(0, 60) + "\"");
    }
    template <typename Maker>
    void add(Kinds<Maker>& kinds, const std::string& name, Maker maker) {
        const std::string whole = m_choice.name + "/" + name;
        if (config::pluginOf(whole).empty()) throw std::runtime_error("\"" + name + "\" is no name: a–z, 0–9, _ and - make one");
        if (!kinds.add(whole, std::move(maker))) throw std::runtime_error("it adds two things under the name " + whole);
    }

    const config::PluginChoice& m_choice;
    std::set<std::string> m_asked;
    std::vector<std::function<std::unique_ptr<Hook>()>> m_hooks;
};

/// What an earlier use in this process left.
void forget(const std::string& name) {
    const std::string start = name + "/";
    plan::curveKinds().forget(start);
    extraMetrics().forget(start);
    modelKinds().forget(start);
    taskKinds().forget(start);
    plan::accumulationKinds().forget(start);
    parallelKinds().forget(start);
    plan::parallelWords().forget(start);
    precisionKinds().forget(start);
    plan::precisionWords().forget(start);
}

Result<LoadedPlugin> load(const config::PluginChoice& choice, const stdfs::path& folder) {
    const std::string& name = choice.name;
    std::error_code missing;
    const stdfs::path file = stdfs::canonical(folder / (name + ".so"), missing);
    if (missing) return problem(name, "is not in " + folder.string() + "; " + listOf(folder));
    for (const stdfs::path& path : {stdfs::canonical(folder), file.parent_path(), file})
        if (const std::string doubt = distrust(path); !doubt.empty()) return problem(name, "is not loaded: " + doubt);
    if (const stdfs::path run = runAround(file); !run.empty()) return problem(name, "is not loaded: " + file.string() + " lies in a run folder; copy it into your own folder if you trust it");
    LATHE_TRY_ASSIGN(const std::string bytes, readFile(file, kLargestFile));
    const auto stamp = stampIn(bytes);
    if (!stamp) return problem(name, "is no plug-in of Lathe: " + file.string() + " holds no stamp (LATHE_PLUGIN makes one)", ErrorCode::Unsupported);
    if (const std::string why = mismatch(*stamp, name); !why.empty()) return problem(name, why, ErrorCode::Unsupported);
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return problem(name, std::string("cannot be loaded: ") + ::dlerror(), ErrorCode::Unsupported);
    const auto enter = reinterpret_cast<void (*)(PluginRegistry&)>(::dlsym(library, "lathe_plugin_register"));
    if (!enter) return problem(name, "has no LATHE_PLUGIN", ErrorCode::Unsupported);
    forget(name);
    Registry registry(choice);
    LoadedPlugin loaded{name, textOf(stamp->version), hashHex(std::as_bytes(std::span(bytes))), {}};
    try {
        enter(registry);
        loaded.hooks = registry.makeHooks();
    } catch (...) {
        return problem(name, "failed while it was loaded: " + currentException("loading it").sentence);
    }
    if (const std::string unread = registry.unread(); !unread.empty()) {
        const std::string near = config::nearestWord(unread, registry.asked());
        return problem(name, "has no setting \"" + unread + "\"" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    return loaded;
}

}  // namespace

Result<std::vector<LoadedPlugin>> loadPlugins(const config::PluginsSection& section, const stdfs::path& folder) {
    LATHE_TRY_ASSIGN(const auto choices, config::pluginsOf(section));
    std::vector<LoadedPlugin> all;
    for (const config::PluginChoice& choice : choices) {
        LATHE_TRY_ASSIGN(LoadedPlugin plugin, load(choice, folder));
        all.push_back(std::move(plugin));
    }
    return all;
}

}  // namespace lathe::engine
