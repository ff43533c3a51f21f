#include "launch/session/memory_end.h"

#include "config/config.h"
#include "config/schema.h"
#include "device/devices.h"
#include "device/proc.h"
#include "launch/verbs/going_on.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

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

/// Finds changes that can be enough. What a worker had and what it asked for is known where it could tell: a change that
/// divides both is made as large as it must be, and left out where even the largest is too little. Of the others is known at
/// most that they cannot be enough.
class List {
public:
    List(const RunConfig& config, const rundir::MemoryRecord& record) : m_config(config), m_record(record), m_work(workOf(record.facts.doing)) {
        const MemoryFacts& facts = record.facts;
        const auto had = facts.peak ? facts.peak : facts.total && facts.free ? std::optional(*facts.total - std::min(*facts.total, *facts.free)) : std::nullopt;
        if (!facts.requested || !facts.free || !had) return;
        m_demand = static_cast<double>(*facts.requested) + static_cast<double>(*had);
        m_room = static_cast<double>(*facts.free) + static_cast<double>(*had);
    }

    std::vector<rundir::Remedy> make() {
        if (m_work == Work::Evaluating) evaluationBatch();
        if (m_work == Work::Training) {
            batch();
            halving();
        }
        if (m_work == Work::Training || m_work == Work::Evaluating) precision();
        if (m_work != Work::Building) smallerInput();
        if (m_work != Work::Loading) smallerModel();
        otherDevice();
        std::vector<rundir::Remedy> all = std::move(m_remedies);
        m_saves = Saves::Unknown;
        if (!mayHelp()) return all;
        if (onMainMemory()) threadsAndRanks();
        average();
        if (m_work != Work::Loading) smallerResNet();
        std::move(m_remedies.begin(), m_remedies.end(), std::back_inserter(all));
        return all;
    }

private:
    enum class Saves { Enough, Unknown };

    /// Left out where it changes nothing or leaves what cannot be run.
    void add(const std::string& cost, const std::function<void(RunConfig&)>& change) {
        RunConfig changed = m_config;
        change(changed);
        rundir::Remedy remedy{{}, m_saves == Saves::Unknown && m_demand ? cost + "; how much less is needed then is not known" : cost, true};
        for (const config::Difference& edit : config::diff(m_config, changed)) {
            remedy.edits.push_back({edit.key, edit.left, edit.right});
            const config::Field* field = config::Schema::builtin().find(edit.key);
            if (field == nullptr || isFixed(*field, m_config, changed)) remedy.whenGoingOn = false;
        }
        if (remedy.edits.empty() || config::hasErrors(config::validate(changed))) return;
        m_remedies.push_back(std::move(remedy));
    }

    bool onMainMemory() const { return m_record.facts.device.empty() || m_record.facts.device == "cpu"; }
    /// Whether it can be enough when this part of everything is needed.
    bool isEnough(double share) const { return !m_demand || *m_demand * share <= m_room; }
    /// What leaves the size of a single request as it is.
    bool mayHelp() const { return !m_record.facts.requested || !m_record.facts.total || *m_record.facts.requested <= *m_record.facts.total; }
    /// By which power of two a number must be divided, at least by 2, when each halving leaves this share; 0: none is enough
    /// before it is below `least`.
    std::int64_t divisorOf(std::int64_t number, double share, std::int64_t least = 1) const {
        double left = share;
        for (std::int64_t divisor = 2; number > least; divisor *= 2, left *= share) {
            if (isEnough(left)) return divisor;
            if (number / divisor < 2 * least) break;
        }
        return 0;
    }
    static std::int64_t dividedUp(std::int64_t number, std::int64_t divisor) { return (number + divisor - 1) / divisor; }
    /// "half", "an eighth": "1/8".
    static std::string partText(std::int64_t divisor) { return divisor == 2 ? "half" : "1/" + std::to_string(divisor); }

    void batch() {
        const std::int64_t size = m_config.data.batchSize, divisor = divisorOf(size, 0.5);
        if (divisor == 0) return;
        const std::int64_t fewer = dividedUp(size, divisor);
        std::string cost = size % divisor == 0 && m_config.accumulation.rule != "weight" ? "the same samples in an update, which is the same but for rounding" : "nearly as many samples in an update";
        if (m_config.model.batchNorm || m_config.model.name.starts_with("resnet")) cost += "; BatchNorm is over " + std::to_string(fewer) + " samples at a time instead of " + std::to_string(size);
        add(cost, [&](RunConfig& config) {
            config.data.batchSize = fewer;
            if (config.accumulation.rule == "weight") return;
            config.accumulation.microBatches *= divisor;
            if (config.accumulation.rule == "ramp") config.accumulation.rampFrom *= divisor;
        });
    }

    void halving() {
        if (divisorOf(m_config.data.batchSize, 0.5) > 0)
            add("the same by itself, as often as it is needed and also when the run goes on from its checkpoint", [](RunConfig& config) { config.guard.onOutOfMemory = "halve"; });
    }

    void evaluationBatch() {
        const std::int64_t size = m_config.evaluation.batchSize.value_or(m_config.data.batchSize), divisor = divisorOf(size, 0.5);
        if (divisor > 0) add("evaluations take a little longer", [&](RunConfig& config) { config.evaluation.batchSize = dividedUp(size, divisor); });
    }

    void precision() {
        const std::string& mode = m_config.precision.mode;
        if (!isEnough(0.5)) return;
        if (mode == "fp64") add("half the digits in every number", [](RunConfig& config) { config.precision.mode = "fp32"; });
        if (mode == "fp32") add("what a model keeps for its backward pass takes about half the room, with three digits instead of seven", [](RunConfig& config) { config.precision.mode = "bf16"; });
    }

    void threadsAndRanks() {
        if (m_config.data.loaderThreads > 1 && m_work != Work::Building)
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

    /// A half of the length leaves a quarter where every place looks at every other, as the pixels of half a side are.
    void smallerInput() {
        constexpr double kQuarter = 0.25;
        constexpr std::int64_t kLeastContext = 8, kLeastSide = 16;
        const std::int64_t context = m_config.task.name == "language" ? divisorOf(m_config.data.context, kQuarter, kLeastContext) : 0;
        if (context > 0) add("the model looks back " + partText(context) + " as far", [&](RunConfig& config) { config.data.context = m_config.data.context / context; });
        if (!hasImages(m_config, m_record)) return;
        const std::int64_t side = m_config.data.imageSize.value_or(m_record.shape.size() == 4 ? m_record.shape[2] : 0), divisor = divisorOf(side, kQuarter, kLeastSide);
        if (divisor > 0)
            add(divisor == 2 ? "a quarter of the pixels, so that small things may be lost" : "1/" + std::to_string(divisor * divisor) + " of the pixels, so that small things may be lost",
                [&](RunConfig& config) { config.data.imageSize = side / divisor; });
    }

    /// Between two hidden layers a half of the widths leaves a quarter of the weights.
    void smallerModel() {
        const std::string cost = "a smaller model, which may learn less";
        const std::int64_t layers = m_config.model.name == "gpt" ? divisorOf(m_config.model.layers, 0.5) : 0;
        if (layers > 0) add(cost, [&](RunConfig& config) { config.model.layers = m_config.model.layers / layers; });
        const std::vector<std::int64_t>& hidden = m_config.model.hidden;
        if (m_config.model.name != "mlp" || hidden.empty()) return;
        const std::int64_t divisor = divisorOf(*std::max_element(hidden.begin(), hidden.end()), hidden.size() > 1 ? 0.25 : 0.5);
        if (divisor == 0) return;
        add(cost, [&](RunConfig& config) {
            for (std::int64_t& width : config.model.hidden) width = std::max<std::int64_t>(1, width / divisor);
        });
    }

    void smallerResNet() {
        constexpr std::pair<const char*, const char*> kSmaller[] = {{"resnet152", "resnet101"}, {"resnet101", "resnet50"}, {"resnet50", "resnet34"}, {"resnet34", "resnet18"}};
        for (const auto& [large, small] : kSmaller)
            if (m_config.model.name == large) add("a smaller model, which may learn less", [&](RunConfig& config) { config.model.name = small; });
    }

    /// The GPU with the most free memory of those that are not the one that ran out, and main memory where that is larger.
    void otherDevice() {
        if (onMainMemory()) return;
        const std::uint64_t had = m_demand ? static_cast<std::uint64_t>(*m_demand) : m_record.facts.total.value_or(0);
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
    std::optional<double> m_demand;   ///< bytes: what it had and what it asked for; nothing: not known
    double m_room = 0;                ///< bytes: what it had and what was free
    Saves m_saves = Saves::Enough;    ///< of the changes that are being added
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
    if (remedies.empty()) return Error{ErrorCode::Usage, std::string(kNoRemedy), {}, {}};
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
