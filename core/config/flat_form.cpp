#include "config/flat_form.h"

#include "base/number_text.h"
#include "config/config_paths.h"
#include "config/nearest.h"
#include "config/synonyms.h"
#include "config/node_value.h"

#include <algorithm>
#include <array>

namespace lathe::config {
namespace {

/// Flat keys that are one of ours under another name, with the value the flat form gives them when they are absent.
struct Renamed {
    const char* flat;
    const char* own;
    const char* fallback;  ///< null: ours
};

constexpr std::array kRenamed{
    Renamed{"model_name", "model.name", "resnet50"},
    Renamed{"num_classes", "task.num_classes", "10"},
    Renamed{"epochs", "run.epochs", "100"},
    Renamed{"batch_size", "data.batch_size", "32"},
    Renamed{"learning_rate", "optimizer.learning_rate", "3e-4"},
    Renamed{"weight_decay", "optimizer.weight_decay", "1e-4"},
    Renamed{"warmup_steps", "schedule.warmup_updates", "500"},
    Renamed{"max_grad_norm", "optimizer.max_grad_norm", "1"},
    Renamed{"gradient_accumulation_steps", "accumulation.micro_batches", "1"},
    Renamed{"seed", "run.seed", "42"},
    Renamed{"per_device_train_batch_size", "data.batch_size", nullptr},
    Renamed{"max_sequence_length", "data.context", nullptr},
    Renamed{"log_every_n_steps", "telemetry.log_every", nullptr},
};

constexpr std::array kOthers{"pretrained", "use_ddp", "use_amp", "output_dir", "checkpoint_dir", "fast_dev_run",
                             "strategy", "precision", "accelerator", "devices"};

class FlatReader {
public:
    FlatReader(const YamlNode& root, const std::filesystem::path& base) : m_root(root), m_base(base) {}

    Loaded read() {
        m_loaded.flatForm = true;
        m_values = toValues(RunConfig{});
        readRenamed();
        readPretrained();
        readPrecision();
        readDevices();
        readSeveralDevices();
        readFolders();
        readFastDevRun();
        readOwnKeys();
        m_loaded.config = fromValues(m_values);
        if (m_loaded.trialUpdates) makeTrial(m_loaded.config, *m_loaded.trialUpdates);
        return std::move(m_loaded);
    }

private:
    void tell(Severity severity, std::string key, std::string sentence) { m_loaded.problems.push_back({std::move(key), severity, std::move(sentence)}); }
    void set(const char* key, Value value) { m_values[key] = std::move(value); }

    /// The text of a scalar, or nothing when the key is absent.
    std::optional<std::string> text(const char* flat) const {
        const YamlNode* node = m_root.find(flat);
        if (!node) return std::nullopt;
        return node->text;
    }
    std::string written(const char* flat) const { return std::string(flat) + ": " + text(flat).value_or(""); }

    /// A switch; nothing when absent or, after telling so, when it is neither true nor false.
    std::optional<bool> flag(const char* flat, const char* ownKey) {
        const auto given = text(flat);
        if (!given) return std::nullopt;
        if (*given == "true" || *given == "True" || *given == "TRUE") return true;
        if (*given == "false" || *given == "False" || *given == "FALSE") return false;
        tell(Severity::Error, ownKey, std::string(flat) + " must be true or false, not \"" + given->substr(0, 40) + "\"");
        return std::nullopt;
    }

    void readRenamed() {
        for (const Renamed& entry : kRenamed) {
            const Field& field = *Schema::builtin().find(entry.own);
            const YamlNode* node = m_root.find(entry.flat);
            if (!node) {
                if (!entry.fallback) continue;
                m_values[entry.own] = *readValue(field, entry.fallback);
                tell(Severity::Notice, entry.own, std::string(entry.flat) + " is not given; the flat form then means " + entry.fallback + " (" + entry.own + ")");
                continue;
            }
            readOne(entry, field, *node);
        }
        const auto one = text("batch_size"), other = text("per_device_train_batch_size");
        if (one && other && *one != *other)
            tell(Severity::Error, "data.batch_size", "batch_size and per_device_train_batch_size contradict each other; keep one of them");
    }

    void readOne(const Renamed& entry, const Field& field, const YamlNode& node) {
        // clippers of other trainers are switched off by 0
        const bool noClipping = field.name == "max_grad_norm" && readDouble(node.text) == 0.0;
        auto value = noClipping ? Result<Value>(Value()) : valueOfNode(field, node, m_base);
        if (!value) {
            tell(Severity::Error, entry.own, std::string(entry.flat) + ": " + value.error().sentence);
            return;
        }
        tell(Severity::Notice, entry.own, written(entry.flat) + " is understood as " + entry.own + ": " + valueText(*value));
        m_values[entry.own] = std::move(*value);
    }

    void readPretrained() {
        const auto given = flag("pretrained", "model.weights");
        if (given == false) {
            tell(Severity::Notice, "model.weights", "pretrained: false is understood as model.weights empty: random initial weights");
            return;
        }
        const bool published = valueText(m_values["model.name"]).starts_with("resnet");
        if (!given && (m_root.find("pretrained") || !published)) return;
        tell(Severity::Error, "model.weights",
             std::string(given ? "pretrained: true" : "pretrained is not given, and the flat form then means true: it") +
                 " asks for trained weights, and nothing is downloaded: give a safetensors file as model.weights, or write pretrained: false");
    }

    void readPrecision() {
        const auto precision = text("precision");
        const auto amp = flag("use_amp", "precision.mode");
        if (precision) {
            readPrecisionName(*precision);
            const std::string mode = valueText(m_values["precision.mode"]);
            if (amp == true && (mode == "fp32" || mode == "fp64"))
                tell(Severity::Error, "precision.mode", "use_amp: true and precision: " + precision->substr(0, 40) + " contradict each other; keep one of them");
            else if (amp)
                tell(Severity::Notice, "precision.mode", written("use_amp") + " says nothing beside precision: " + precision->substr(0, 40));
            return;
        }
        set("precision.mode", std::string(amp == false ? "fp32" : "auto"));
        if (amp) tell(Severity::Notice, "precision.mode", written("use_amp") + " is understood as precision.mode: " + (*amp ? "auto" : "fp32"));
        else if (!m_root.find("use_amp")) tell(Severity::Notice, "precision.mode", "use_amp is not given; the flat form then means true: precision.mode auto");
    }

    void readPrecisionName(const std::string& name) {
        constexpr std::array<std::pair<const char*, const char*>, 11> kNames{{{"32-true", "fp32"}, {"32", "fp32"}, {"fp32", "fp32"}, {"64-true", "fp64"},
            {"64", "fp64"}, {"fp64", "fp64"}, {"bf16-mixed", "bf16"}, {"bf16", "bf16"}, {"16-mixed", "fp16"}, {"16", "fp16"}, {"fp16", "fp16"}}};
        for (const auto& [theirs, ours] : kNames) {
            if (name != theirs) continue;
            set("precision.mode", std::string(ours));
            return tell(Severity::Notice, "precision.mode", "precision: " + name + " is understood as precision.mode: " + ours);
        }
        tell(Severity::Error, "precision.mode", "precision: \"" + name.substr(0, 40) + "\" is not known; write 32-true, bf16-mixed or 16-mixed");
    }

    void readDevices() {
        const auto accelerator = text("accelerator");
        if (accelerator) {
            const bool gpu = *accelerator == "gpu" || *accelerator == "cuda";
            if (!gpu && *accelerator != "cpu" && *accelerator != "auto") {
                tell(Severity::Error, "parallel.device", "accelerator: \"" + accelerator->substr(0, 40) + "\" is not known; write auto, cpu or gpu");
                return;
            }
            const std::string device = gpu ? "cuda" : *accelerator;
            set("parallel.device", device);
            tell(Severity::Notice, "parallel.device", "accelerator: " + *accelerator + " is understood as parallel.device: " + device);
        }
    }

    /// How many devices the file asks for; nothing when it leaves that open.
    std::optional<std::int64_t> wantedDevices() {
        if (const YamlNode* node = m_root.find("devices"); node && node->kind == YamlNode::Kind::List && node->items.size() > 1)
            return static_cast<std::int64_t>(node->items.size());
        const auto devices = text("devices");
        if (!devices || *devices == "auto" || *devices == "-1") return std::nullopt;
        const auto count = readInteger(*devices);
        if (count && *count >= 1) return count;
        tell(Severity::Error, "parallel.device", "devices: \"" + devices->substr(0, 40) + "\" is not understood; write devices: 1, and choose a GPU by its UUID in parallel.device");
        return 1;
    }

    void readSeveralDevices() {
        const auto devices = wantedDevices();
        if (devices > 1) severalRanks(*devices);
        else if (devices == 1 && text("devices") == "1")
            tell(Severity::Notice, "parallel.device", "devices: 1 is understood as it stands: one device");
        const auto ddp = flag("use_ddp", "parallel.device");
        if (ddp == true) severalDevices("use_ddp: true", devices);
        if (ddp == false && !(devices > 1)) tell(Severity::Notice, "parallel.device", "use_ddp: false is understood as training on one device");
        const auto strategy = text("strategy");
        if (!strategy || *strategy == "auto" || *strategy == "single_device") return;
        constexpr std::array kKnown{"ddp", "fsdp", "zero1", "zero2", "zero3"};
        if (std::find(kKnown.begin(), kKnown.end(), *strategy) == kKnown.end())
            tell(Severity::Error, "parallel.device", "strategy: \"" + strategy->substr(0, 40) + "\" is not known; leave it out to train on one device");
        else
            severalDevices("strategy: " + *strategy, devices);
    }

    /// There, batch size and accumulation are meant for each device; here the micro-batches of an update are shared out.
    void severalRanks(std::int64_t devices) {
        const auto batches = static_cast<std::int64_t>(readInteger(valueText(m_values["accumulation.micro_batches"])).value_or(1)) * devices;
        set("parallel.ranks", devices);
        set("accumulation.micro_batches", batches);
        tell(Severity::Notice, "parallel.ranks", "devices: " + std::to_string(devices) + " is understood as parallel.ranks: " + std::to_string(devices) +
                                                     ", and accumulation, which is meant for each of them, as accumulation.micro_batches: " + std::to_string(batches) + " for all");
    }

    /// On one device these give what one process gives; only more devices would make another training of it.
    void severalDevices(const std::string& asked, std::optional<std::int64_t> devices) {
        if (devices > 1 && asked != "use_ddp: true" && asked != "strategy: ddp")
            tell(Severity::Error, "parallel.strategy", asked + " divides the model's state among devices, which this version does not do: write strategy: ddp");
        else if (devices > 1) tell(Severity::Notice, "parallel.strategy", asked + " is understood as parallel.strategy: ddp");
        else if (devices == 1) tell(Severity::Notice, "parallel.device", asked + " with one device is training on one device");
        else tell(Severity::Warning, "parallel.device", asked + " means all chosen devices, and none are chosen, so that it trains on one: give devices: 2, or parallel.ranks");
    }

    void readFolders() {
        const std::string folder = text("output_dir").value_or("./outputs");
        m_loaded.workspace = absolutePath(folder.empty() ? "." : folder, m_base);  // told by whoever knows where the run goes
        if (const auto checkpoints = text("checkpoint_dir"))
            tell(Severity::Notice, "", "checkpoint_dir: " + checkpoints->substr(0, 80) + " is ignored: checkpoints lie in the run's own folder");
    }

    void readFastDevRun() {
        const auto given = text("fast_dev_run");
        if (!given || *given == "false" || *given == "False" || *given == "0") return;
        const auto updates = *given == "true" || *given == "True" ? std::optional<std::int64_t>(1) : readInteger(*given);
        if (!updates || *updates < 1) {
            tell(Severity::Error, "run.max_updates", "fast_dev_run must be true, false or a number of updates, not \"" + given->substr(0, 40) + "\"");
            return;
        }
        m_loaded.trialUpdates = updates;
        tell(Severity::Warning, "run.max_updates", "fast_dev_run: " + *given + " is understood as run.max_updates: " + std::to_string(*updates) +
                                                       ", one evaluation of as many batches and one save; then as many updates more after a resume, and the run ends");
    }

    /// Keys of ours may stand in the flat form with their section, so that it can name its data.
    void readOwnKeys() {
        for (const auto& [key, node] : m_root.entries) {
            if (key == "format" || std::find(flatKeys().begin(), flatKeys().end(), key) != flatKeys().end()) continue;
            const Field* field = Schema::builtin().find(key);
            if (!field) {
                const std::string other = synonymOf(key), near = other.empty() ? nearestWord(key, flatKeys()) : other;
                tell(Severity::Error, key, "The flat form has no key \"" + key + "\" (line " + std::to_string(node.line) + ")" +
                                               (near.empty() ? "; settings beyond it are written with their section, for example data.train: folder" : "; did you mean " + near + "?"));
                continue;
            }
            std::erase_if(m_loaded.problems, [&](const Problem& problem) { return problem.key == key; });
            auto value = valueOfNode(*field, node, m_base);
            if (value) m_values[key] = std::move(*value);
            else tell(Severity::Error, key, value.error().sentence);
        }
    }

    const YamlNode& m_root;
    const std::filesystem::path m_base;
    Loaded m_loaded;
    Values m_values;
};

}  // namespace

bool looksFlat(const YamlNode& root) {
    for (const auto& [key, node] : root.entries) {
        for (const Section& section : Schema::builtin().sections())
            if (section.name == key && key != "precision") return false;
        if (node.kind == YamlNode::Kind::Map) return false;
    }
    return std::any_of(root.entries.begin(), root.entries.end(), [](const auto& entry) { return entry.key != "format"; });
}

const std::vector<std::string>& flatKeys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> all;
        for (const Renamed& entry : kRenamed) all.emplace_back(entry.flat);
        for (const char* key : kOthers) all.emplace_back(key);
        return all;
    }();
    return keys;
}

std::string ownKeyFor(std::string_view flatKey) {
    for (const Renamed& entry : kRenamed)
        if (flatKey == entry.flat) return entry.own;
    return {};
}

Loaded readFlatForm(const YamlNode& root, const std::filesystem::path& base) { return FlatReader(root, base).read(); }

}  // namespace lathe::config
