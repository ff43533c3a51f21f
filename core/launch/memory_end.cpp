#include "launch/memory_end.h"

#include "config/config.h"
#include "config/schema.h"
#include "device/devices.h"
#include "device/proc.h"
#include "launch/going_on.h"

#include <algorithm>
#include <functional>

namespace lathe::launch {
namespace {

using config::RunConfig;

/// What was going on, by what the engine says that it was doing.
enum class Work { Loading, Building, Evaluating, Training };

Work workOf(const std::string& doing) {
    const auto says = [&](const char* word) { return doing.find(word) != std::string::npos; };
    if (says("data")) return Work::Loading;
    if (says("building")) return Work::Building;
    if (says("evaluat")) return Work::Evaluating;
    return Work::Training;
}

bool hasImages(const RunConfig& config, const rundir::MemoryRecord& record) { return config.data.imageSize.has_value() || record.shape.size() == 4; }

class List {
public:
    List(const RunConfig& config, const rundir::MemoryRecord& record) : m_config(config), m_record(record), m_work(workOf(record.facts.doing)) {}

    std::vector<rundir::Remedy> make() {
        if (m_work == Work::Evaluating) evaluationBatch();
        if (m_work == Work::Training) {
            batch();
            halving();
        }
        if (m_work == Work::Training || m_work == Work::Evaluating) precision();
        if (onMainMemory()) threadsAndRanks();
        average();
        if (m_work != Work::Building) smallerInput();
        if (m_work != Work::Loading) smallerModel();
        otherDevice();
        return std::move(m_remedies);
    }

private:
    /// Left out where it changes nothing or leaves what cannot be run.
    void add(const std::string& cost, const std::function<void(RunConfig&)>& change) {
        RunConfig changed = m_config;
        change(changed);
        rundir::Remedy remedy{{}, cost, true};
        for (const config::Difference& edit : config::diff(m_config, changed)) {
            remedy.edits.push_back({edit.key, edit.left, edit.right});
            const config::Field* field = config::Schema::builtin().find(edit.key);
            if (field == nullptr || isFixed(*field, m_config, changed)) remedy.whenGoingOn = false;
        }
        if (remedy.edits.empty() || config::hasErrors(config::validate(changed))) return;
        m_remedies.push_back(std::move(remedy));
    }

    bool onMainMemory() const { return m_record.facts.device.empty() || m_record.facts.device == "cpu"; }

    void batch() {
        const std::int64_t size = m_config.data.batchSize;
        if (size < 2) return;
        std::string cost = size % 2 == 0 && m_config.accumulation.rule != "weight" ? "the same samples in an update, which is the same but for rounding" : "nearly as many samples in an update";
        if (m_config.model.batchNorm || m_config.model.name.starts_with("resnet")) cost += "; BatchNorm is over " + std::to_string((size + 1) / 2) + " samples at a time instead of " + std::to_string(size);
        add(cost, [&](RunConfig& config) {
            config.data.batchSize = (size + 1) / 2;
            if (config.accumulation.rule == "weight") return;
            config.accumulation.microBatches *= 2;
            if (config.accumulation.rule == "ramp") config.accumulation.rampFrom *= 2;
        });
    }

    void halving() {
        if (m_config.data.batchSize >= 2)
            add("the same by itself, as often as it is needed and also when the run goes on from its checkpoint", [](RunConfig& config) { config.guard.onOutOfMemory = "halve"; });
    }

    void evaluationBatch() {
        const std::int64_t size = m_config.evaluation.batchSize.value_or(m_config.data.batchSize);
        if (size >= 2) add("evaluations take a little longer", [&](RunConfig& config) { config.evaluation.batchSize = (size + 1) / 2; });
    }

    void precision() {
        const std::string& mode = m_config.precision.mode;
        if (mode == "fp64") add("half the digits in every number", [](RunConfig& config) { config.precision.mode = "fp32"; });
        if (mode == "fp32") add("what a model keeps for its backward pass takes about half the room, with three digits instead of seven", [](RunConfig& config) { config.precision.mode = "bf16"; });
    }

    void threadsAndRanks() {
        if (m_config.data.loaderThreads > 1)
            add("fewer samples are prepared at a time, so that training may wait for them", [&](RunConfig& config) { config.data.loaderThreads = m_config.data.loaderThreads / 2; });
        if (m_config.parallel.ranks > 1)
            add("fewer processes have the model and the data, and an update takes longer", [&](RunConfig& config) { config.parallel.ranks = m_config.parallel.ranks / 2; });
    }

    void average() {
        if (!m_config.optimizer.ema) return;
        add("no running mean of the weights, which takes as much room as they do", [](RunConfig& config) {
            config.optimizer.ema = false;
            config.evaluation.weights = "trained";
        });
    }

    void smallerInput() {
        if (m_config.task.name == "language" && m_config.data.context >= 16)
            add("the model looks back half as far", [&](RunConfig& config) { config.data.context = m_config.data.context / 2; });
        if (!hasImages(m_config, m_record)) return;
        const std::int64_t side = m_config.data.imageSize.value_or(m_record.shape.size() == 4 ? m_record.shape[2] : 0);
        if (side >= 32) add("a quarter of the pixels, so that small things may be lost", [&](RunConfig& config) { config.data.imageSize = side / 2; });
    }

    void smallerModel() {
        const std::string& name = m_config.model.name;
        if (name == "gpt" && m_config.model.layers > 1) add("a smaller model, which may learn less", [&](RunConfig& config) { config.model.layers = m_config.model.layers / 2; });
        constexpr std::pair<const char*, const char*> kSmaller[] = {{"resnet152", "resnet101"}, {"resnet101", "resnet50"}, {"resnet50", "resnet34"}, {"resnet34", "resnet18"}};
        for (const auto& [large, small] : kSmaller)
            if (name == large) add("a smaller model, which may learn less", [&](RunConfig& config) { config.model.name = small; });
        if (name != "mlp" || m_config.model.hidden.empty()) return;
        add("a smaller model, which may learn less", [&](RunConfig& config) {
            for (std::int64_t& width : config.model.hidden) width = std::max<std::int64_t>(1, width / 2);
        });
    }

    /// The GPU with the most free memory of those that are not the one that ran out, and main memory where that is larger.
    void otherDevice() {
        if (onMainMemory()) return;
        const std::uint64_t had = m_record.facts.total.value_or(0);
        const device::Gpus gpus = device::gpus();
        const device::Gpu* best = nullptr;
        for (const device::Gpu& gpu : gpus.list)
            if (gpu.usable() && gpu.uuid != m_config.parallel.device && gpu.memoryFree > had && (best == nullptr || gpu.memoryFree > best->memoryFree)) best = &gpu;
        if (best != nullptr && m_config.parallel.ranks == 1) add("on " + best->name + ", which has more free memory", [&](RunConfig& config) { config.parallel.device = best->uuid; });
        if (device::memory("/").available > had) add("on the processor, which is much slower", [](RunConfig& config) { config.parallel.device = "cpu"; });
    }

    const RunConfig& m_config;
    const rundir::MemoryRecord& m_record;
    const Work m_work;
    std::vector<rundir::Remedy> m_remedies;
};

}  // namespace

std::vector<rundir::Remedy> remediesFor(const RunConfig& config, const rundir::MemoryRecord& record) { return List(config, record).make(); }

rundir::MemoryRecord memoryOfEnd(const std::optional<rundir::MemoryRecord>& told, const live::Heartbeat& beat, int rank, const RunConfig& config) {
    rundir::MemoryRecord record;
    if (told) {
        record = *told;
    } else {
        const device::Memory machine = device::memory("/");
        record.facts = {"cpu", std::string(live::name(beat.phase)), std::nullopt, std::nullopt, std::nullopt, machine.total};
        record.killed = true;
        if (beat.phase >= live::Phase::FirstUpdate) record.attempt = beat.attempt + 1;
    }
    record.rank = rank;
    record.remedies = remediesFor(config, record);
    return record;
}

static std::string listOf(const std::vector<rundir::Remedy>& remedies) {
    std::string text;
    for (std::size_t i = 0; i < remedies.size(); ++i) text += (i == 0 ? "" : "; ") + std::to_string(i + 1) + ": " + rundir::sentenceOf(remedies[i]);
    return text;
}

Result<std::vector<std::string>> remedySettings(const rundir::RunFolder& run, std::int64_t number, bool goesOn) {
    LATHE_TRY_ASSIGN(const rundir::SessionRecord record, rundir::readSession(run, rundir::newestSession(run)));
    if (!record.memory) return Error{ErrorCode::Usage, "There are remedies where memory ran out, and that is not how " + run.name() + " ended", {}, {}};
    const std::vector<rundir::Remedy>& remedies = record.memory->remedies;
    if (remedies.empty()) return Error{ErrorCode::Usage, "Nothing is known that would need less memory; use a smaller model, or a machine with more", {}, {}};
    if (number < 1 || number > static_cast<std::int64_t>(remedies.size()))
        return Error{ErrorCode::Usage, "There is no remedy " + std::to_string(number) + ". There are " + listOf(remedies), {}, {}};
    const rundir::Remedy& chosen = remedies[static_cast<std::size_t>(number - 1)];
    if (goesOn && !chosen.whenGoingOn)
        return Error{ErrorCode::Usage, "Remedy " + std::to_string(number) + " changes what is fixed when a run goes on; use it in a new run: lathe-trainer again " + run.name() +
                     " --remedy " + std::to_string(number), {}, {}};
    std::vector<std::string> settings;
    for (const rundir::Remedy::Edit& edit : chosen.edits) settings.push_back(edit.key + "=" + edit.to);
    return settings;
}

}  // namespace lathe::launch
