#include "look_ahead.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "config/plugin_list.h"
#include "dataset/dataset.h"
#include "device/devices.h"
#include "launch/command/command_facts.h"
#include "launch/workers/worker_answer.h"
#include "plan/length_doubts.h"
#include "plan/order.h"
#include "rundir/safetensors_header.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace lathe::trainer {

using config::Problem;
using config::Severity;
using nlohmann::json;
namespace stdfs = std::filesystem;

static constexpr std::uint64_t kSmallFileBytes = 16'384;  ///< manifest, counters, headers of a checkpoint

namespace {

/// The outlook while it is made.
struct Looking {
    Outlook found;
    std::unique_ptr<dataset::Dataset> train;
    std::chrono::seconds reading{0};   ///< what it took to read the data

    void add(const std::string& key, Severity severity, const std::string& sentence) { found.problems.push_back({key, severity, sentence}); }
    void refuse(const char* key, const Error& error) { add(error.key.empty() ? key : error.key, Severity::Error, error.text()); }
    bool isRefused() const { return config::hasErrors(found.problems); }
    bool isRefused(const std::string& key) const {
        return std::any_of(found.problems.begin(), found.problems.end(), [&](const Problem& problem) { return problem.severity == Severity::Error && problem.key == key; });
    }
};

void addUnreadable(const dataset::Info& info, const char* key, Looking& looking) {
    if (info.unreadableCount == 0) return;
    std::string sentence = std::to_string(info.unreadableCount) + " could not be read and are left out";
    if (!info.unreadable.empty()) sentence += ", first " + info.unreadable.front().what + ": " + info.unreadable.front().why;
    looking.add(key, Severity::Warning, sentence);
}

void addOpened(const char* key, const char* what, const Result<std::unique_ptr<dataset::Dataset>>& opened, Looking& looking) {
    if (!opened) return looking.refuse(key, opened.error());
    looking.found.sentences.push_back(std::string(what) + ": " + (*opened)->info().sentence());
    addUnreadable((*opened)->info(), key, looking);
    for (const dataset::Doubt& doubt : (*opened)->info().doubts()) looking.add(doubt.key == "data.train" ? key : doubt.key, Severity::Warning, doubt.sentence);
}

void readData(const config::RunConfig& config, Looking& looking) {
    const auto begun = std::chrono::steady_clock::now();
    auto train = dataset::open(config.data, config.task, dataset::Part::Train);
    addOpened("data.train", "training data", train, looking);
    if (train && !config.data.eval.empty())
        addOpened("data.eval", "evaluation data", dataset::open(config.data, config.task, dataset::Part::Eval, train->get()), looking);
    if (train) looking.train = std::move(*train);
    looking.reading = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
}

/// What is told in a moment: data that are there, with their columns, a file of weights, a device that can train.
void glance(const config::RunConfig& config, Looking& looking) {
    const auto add = [&](const char* key, const auto& result) {
        if (!result && !looking.isRefused(result.error().key.empty() ? key : result.error().key)) looking.refuse(key, result.error());
    };
    add("data.train", dataset::glance(config.data, config.task));
    if (!config.model.weights.empty()) add("model.weights", rundir::readSafetensorsHeader(config.model.weights));
    if (config.parallel.device != "cpu") add("parallel.device", device::deviceOfRank(config.parallel.device, 0, static_cast<int>(config.parallel.ranks), device::gpus()));
}

std::string countText(std::int64_t count, const char* one, const char* many) { return std::to_string(count) + " " + (count == 1 ? one : many); }

/// Needs the data: how long the run is.
void tellLength(const config::RunConfig& config, Looking& looking) {
    const std::int64_t all = looking.train->info().samples;
    const bool split = config.data.eval.empty() && config.data.evalFraction > 0;
    const auto byRule = looking.train->info().heldOut;
    const std::int64_t held = byRule ? *byRule : split ? static_cast<std::int64_t>(plan::split(all, config.data.evalFraction, static_cast<std::uint64_t>(config.data.splitSeed)).eval.size()) : 0;
    const plan::OrderShape shape = plan::orderShape(config, all - held);
    const auto perEpoch = shape.updatesPerEpoch();
    if (perEpoch == 0) return;   // which the worker refuses
    std::string sentence = std::to_string(all - held) + " samples to train on, " + std::to_string(held) + " held out";
    if (perEpoch) sentence += "; " + countText(*perEpoch, "update an epoch", "updates an epoch");
    if (const auto planned = plan::plannedUpdates(shape, config.run.epochs, config.run.maxUpdates)) {
        sentence += ", " + std::to_string(planned->value()) + " in all";
        looking.found.plannedUpdates = planned;
    }
    looking.found.sentences.push_back(sentence);
}

/// By the code that would make the session, without memory and without training: what does not fit together shows here. It
/// reads the data too, and may take longer where they took long here.
json askWorker(const config::RunConfig& config, Looking& looking) {
    const auto answer = launch::describeSession(config, {}, launch::refusalPatience() + 2 * looking.reading);
    if (answer) {
        if (const auto planned = answer->find("planned_updates"); planned != answer->end() && planned->is_number_integer()) looking.found.plannedUpdates = GlobalStep(planned->get<std::int64_t>());
        return *answer;
    }
    const ErrorCode code = answer.error().code;
    looking.found.isUnanswered = code == ErrorCode::Timeout;
    looking.add(answer.error().key, code == ErrorCode::Config || code == ErrorCode::Unsupported ? Severity::Error : Severity::Warning, answer.error().sentence);
    return nullptr;
}

/// How many updates windows of a plug-in make, which the engine alone can ask.
void foretell(const config::RunConfig& config, const json& session, Looking& looking) {
    if (config::pluginOf(config.accumulation.rule).empty()) return;
    std::string sentence = config.accumulation.rule + ": " + countText(session.value("updates_per_epoch", std::int64_t{0}), "update an epoch", "updates an epoch");
    if (looking.found.plannedUpdates) sentence += ", " + std::to_string(looking.found.plannedUpdates->value()) + " in all";
    looking.found.sentences.push_back(sentence + ", as it is at the start");
}

/// What its device has in all, in bytes; nothing where the device is not known, which is told elsewhere.
std::optional<std::uint64_t> memoryFor(const config::RunConfig& config) {
    const device::Gpus gpus = config.parallel.device == "cpu" ? device::Gpus{} : device::gpus();
    const auto chosen = device::deviceOfRank(config.parallel.device, 0, static_cast<int>(config.parallel.ranks), gpus);
    if (!chosen) return std::nullopt;
    if (*chosen == "cpu") return device::cpu().memoryTotal / static_cast<std::uint64_t>(config.parallel.ranks);
    const auto gpu = std::find_if(gpus.list.begin(), gpus.list.end(), [&](const device::Gpu& one) { return one.uuid == *chosen; });
    return gpu == gpus.list.end() ? std::nullopt : std::optional(gpu->memoryTotal);
}

/// What can never fit is refused; what may fit or not is found out by trying.
void refuseTooLarge(const config::RunConfig& config, const json& session, Looking& looking) {
    const auto needed = session.value("bytes", json::object()).value("training", std::uint64_t{0});
    const auto there = memoryFor(config);
    if (!there || *there == 0 || needed <= *there) return;
    looking.add("model.name", Severity::Error, "Weights, gradients and optimizer need " + memoryText(needed) + ", and there are " + memoryText(*there) + (config.parallel.ranks > 1 ? " for each rank" : "")
                + " in all: make the model smaller, or choose another device");
}

void estimateDisk(const stdfs::path& workspace, const config::RunConfig& config, const json& session, Looking& looking) {
    if (const std::string why = session.value("precision_why", std::string()); !why.empty())
        looking.found.sentences.push_back("precision.mode auto is " + session.value("precision", std::string()) + " here: " + why);
    const json bytes = session.value("bytes", json::object());
    const auto trained = bytes.value("trained", std::uint64_t{0}), training = bytes.value("training", std::uint64_t{0});
    const std::uint64_t each = training - std::min(trained, training) + kSmallFileBytes;  // all but the gradients
    const auto kept = static_cast<std::uint64_t>(config.checkpoint.keepLast + config.checkpoint.keepBest + 1);  // one more while it is written
    looking.found.sentences.push_back(std::to_string(session.value("parameters", std::int64_t{0})) + " parameters, " + memoryText(training)
                                      + " for weights, gradients and optimizer; a checkpoint takes about " + diskText(each) + ", at most "
                                      + std::to_string(kept) + " are there at a time: " + diskText(each * kept));
    for (const json& group : session.value("groups", json::array()))
        looking.found.sentences.push_back("  " + group.value("name", std::string()) + ": " + group.value("text", std::string()));
    stdfs::path existing = workspace;
    std::error_code ignored;
    while (!stdfs::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
    const auto room = FileSystem::real().freeBytes(existing);
    if (room && *room < each * kept)
        looking.add("checkpoint.keep_last", Severity::Warning, "The checkpoints will need " + diskText(each * kept) + ", " + existing.string() + " has " + diskText(*room)
                    + " free: saves will fail once it is full; keep fewer or choose another workspace");
}

/// A person's own command: what it does with data is its own affair.
void lookAtCommand(const config::RunConfig& config, Looking& looking) {
    if (looking.isRefused()) return;
    if (const auto fine = launch::checkCommand(config.command); !fine) looking.refuse("command.line", fine.error());
    else looking.found.sentences.push_back("command: " + config.command.line);
}

}  // namespace

Outlook lookAhead(const config::Loaded& loaded, const stdfs::path& workspace, Depth depth) {
    Looking looking;
    looking.found.problems = config::check(loaded);
    const config::RunConfig& config = loaded.config;
    if (config::isCommand(config)) {
        lookAtCommand(config, looking);
        return looking.found;
    }
    // Data that were not chosen, or that a text which cannot be read would have chosen, are no problem of their own.
    if (config.data.train.empty()) return looking.found;
    const bool isUsable = !looking.isRefused();
    if (depth == Depth::Everything) readData(config, looking);
    glance(config, looking);
    if (looking.train && isUsable) tellLength(config, looking);
    if (looking.isRefused()) return looking.found;
    const json session = askWorker(config, looking);
    for (const plan::LengthDoubt& doubt : plan::lengthDoubts(config, looking.found.plannedUpdates)) looking.found.doubts.push_back({doubt.key, Severity::Warning, doubt.sentence});
    if (!session.is_object()) return looking.found;
    foretell(config, session, looking);
    refuseTooLarge(config, session, looking);
    estimateDisk(workspace, config, session, looking);
    return looking.found;
}

}  // namespace lathe::trainer
