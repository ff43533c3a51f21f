// Everything that can be known before a start: settings, data, disk.
#include "actions.h"

#include "base/file_system.h"
#include "base/number_text.h"
#include "before_start.h"
#include "config/config.h"
#include "config/plugin_list.h"
#include "dataset/dataset.h"
#include "launch/command_facts.h"
#include "launch/worker_answer.h"
#include "output.h"
#include "plan/order.h"
#include "plan/schedule.h"
#include "problems.h"
#include "trial.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace lathe::trainer {

using config::Problem;
using config::Severity;
using nlohmann::json;
namespace stdfs = std::filesystem;

static constexpr std::uint64_t kSmallFileBytes = 16'384;  ///< manifest, counters, headers of a checkpoint

/// What the data add to the problems, and the sentences about them.
struct Found {
    std::vector<Problem> problems;
    std::vector<std::string> sentences;
    std::unique_ptr<dataset::Dataset> train;
};

static void addUnreadable(const dataset::Info& info, const char* key, std::vector<Problem>& problems) {
    if (info.unreadableCount == 0) return;
    std::string sentence = std::to_string(info.unreadableCount) + " could not be read and are left out";
    if (!info.unreadable.empty()) sentence += ", first " + info.unreadable.front().what + ": " + info.unreadable.front().why;
    problems.push_back({key, Severity::Warning, sentence});
}

static void addOpened(const char* key, const char* what, const Result<std::unique_ptr<dataset::Dataset>>& opened, Found& found) {
    if (!opened) {
        found.problems.push_back({opened.error().key.empty() ? key : opened.error().key, Severity::Error, opened.error().text()});
        return;
    }
    found.sentences.push_back(std::string(what) + ": " + (*opened)->info().sentence());
    addUnreadable((*opened)->info(), key, found.problems);
    if (const std::string doubt = (*opened)->info().doubt(); !doubt.empty()) found.problems.push_back({"task.name", Severity::Warning, doubt});
}

static Found lookAtData(const config::RunConfig& config) {
    Found found;
    auto train = dataset::open(config.data, config.task, dataset::Part::Train);
    addOpened("data.train", "training data", train, found);
    if (train && !config.data.eval.empty())
        addOpened("data.eval", "evaluation data", dataset::open(config.data, config.task, dataset::Part::Eval, train->get()), found);
    if (train) found.train = std::move(*train);
    return found;
}

static std::string countText(std::int64_t count, const char* one, const char* many) { return std::to_string(count) + " " + (count == 1 ? one : many); }

static void planLength(const config::RunConfig& config, Found& found) {
    const std::int64_t all = found.train->info().samples;
    const bool split = config.data.eval.empty() && config.data.evalFraction > 0;
    const auto byRule = found.train->info().heldOut;
    const std::int64_t held = byRule ? *byRule : split ? static_cast<std::int64_t>(plan::split(all, config.data.evalFraction, static_cast<std::uint64_t>(config.data.splitSeed)).eval.size()) : 0;
    const plan::OrderShape shape = plan::orderShape(config, all - held);
    const auto perEpoch = shape.updatesPerEpoch();
    if (perEpoch == 0) {
        found.problems.push_back({"data.batch_size", Severity::Error, "No update fits into an epoch of " + std::to_string(all - held) + " samples"});
        return;
    }
    std::string sentence = std::to_string(all - held) + " samples to train on, " + std::to_string(held) + " held out";
    if (perEpoch) sentence += "; " + countText(*perEpoch, "update an epoch", "updates an epoch");
    const auto planned = plan::plannedUpdates(shape, config.run.epochs, config.run.maxUpdates);
    if (planned) sentence += ", " + std::to_string(planned->value()) + " in all";
    if (const std::string doubt = plan::warmupDoubt(config.schedule.warmupUpdates, planned); !doubt.empty())
        found.problems.push_back({"schedule.warmup_updates", Severity::Warning, doubt});
    found.sentences.push_back(sentence);
}

/// Builds the model without memory, in the engine: what does not fit together shows here.
static std::optional<json> describeModel(const config::RunConfig& config, Found& found) {
    const auto answer = launch::describeConfig(config);
    if (answer) return *answer;
    const bool isSetting = answer.error().code == ErrorCode::Config;
    found.problems.push_back({answer.error().key, isSetting ? Severity::Error : Severity::Warning, answer.error().sentence});
    return std::nullopt;
}

/// How many updates windows of a plug-in make, which the engine alone can ask.
static void foretell(const config::RunConfig& config, const json& model, Found& found) {
    if (config::pluginOf(config.accumulation.rule).empty()) return;
    std::string sentence = config.accumulation.rule + ": " + countText(model.value("updates_per_epoch", std::int64_t{0}), "update an epoch", "updates an epoch");
    if (const auto planned = model.find("planned_updates"); planned != model.end() && planned->is_number_integer()) sentence += ", " + std::to_string(planned->get<std::int64_t>()) + " in all";
    found.sentences.push_back(sentence + ", as it is at the start");
}

static void estimateDisk(const stdfs::path& workspace, const config::RunConfig& config, const json& model, Found& found) {
    if (const std::string why = model.value("precision_why", std::string()); !why.empty())
        found.sentences.push_back("precision.mode auto is " + model.value("precision", std::string()) + " here: " + why);
    const json bytes = model.value("bytes", json::object());
    const auto trained = bytes.value("trained", std::uint64_t{0}), training = bytes.value("training", std::uint64_t{0});
    const std::uint64_t each = training - std::min(trained, training) + kSmallFileBytes;  // all but the gradients
    const auto kept = static_cast<std::uint64_t>(config.checkpoint.keepLast + config.checkpoint.keepBest + 1);  // one more while it is written
    found.sentences.push_back(std::to_string(model.value("parameters", std::int64_t{0})) + " parameters, " + memoryText(training)
                              + " for weights, gradients and optimizer; a checkpoint takes about " + diskText(each) + ", at most "
                              + std::to_string(kept) + " are there at a time: " + diskText(each * kept));
    for (const json& group : model.value("groups", json::array()))
        found.sentences.push_back("  " + group.value("name", std::string()) + ": " + group.value("text", std::string()));
    stdfs::path existing = workspace;
    std::error_code ignored;
    while (!stdfs::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
    const auto room = FileSystem::real().freeBytes(existing);
    if (room && *room < each * kept) {
        found.problems.push_back({"checkpoint.keep_last", Severity::Error, "The checkpoints need " + diskText(each * kept) + ", " + existing.string()
                                  + " has " + diskText(*room) + " free; keep fewer or choose another workspace"});
    }
}

/// A person's own command: what it does with data is its own affair.
static void lookAtCommand(const config::RunConfig& config, std::vector<Problem>& problems, Found& found) {
    if (config::hasErrors(problems)) return;
    if (const auto fine = launch::checkCommand(config.command); !fine) problems.push_back({fine.error().key, Severity::Error, fine.error().sentence});
    else found.sentences.push_back("command: " + config.command.line);
}

ExitCode check(const Options& options) {
    auto loaded = loadTarget(options);
    if (!loaded) return fail(options, loaded.error());
    config::applySettings(*loaded, options.settings);
    std::vector<Problem> problems = config::check(*loaded);
    Options here = options;
    for (Problem& notice : chooseWorkspace(here, *loaded)) problems.push_back(std::move(notice));
    // Data that were not chosen, or that a text which cannot be read would have chosen, are no problem of their own.
    const bool chosen = !loaded->config.data.train.empty();
    const bool isCommand = config::isCommand(loaded->config);
    Found found = chosen && !isCommand ? lookAtData(loaded->config) : Found{};
    if (isCommand) lookAtCommand(loaded->config, problems, found);
    for (Problem& problem : quickProblems(loaded->config)) {
        const auto same = [&](const Problem& other) { return other.severity == Severity::Error && other.key == problem.key; };
        if (std::none_of(problems.begin(), problems.end(), same) && std::none_of(found.problems.begin(), found.problems.end(), same)) found.problems.push_back(std::move(problem));
    }
    if (found.train && !config::hasErrors(problems)) {
        planLength(loaded->config, found);
        if (const auto model = describeModel(loaded->config, found)) {
            foretell(loaded->config, *model, found);
            estimateDisk(workspaceOf(here), loaded->config, *model, found);
        }
    }
    problems.insert(problems.end(), found.problems.begin(), found.problems.end());
    if (options.dryRun && !isCommand && !config::hasErrors(problems)) {
        if (!options.json) tellProblems(problems);
        return dryRun(here, loaded->config);
    }
    if (options.json) {
        printJson(problemsJson(problems));
    } else {
        tellProblems(problems);
        for (const std::string& sentence : found.sentences) print(sentence);
        print(config::hasErrors(problems) ? "Cannot be run as it is" : "Ready to run");
    }
    return config::hasErrors(problems) ? ExitCode::Usage : ExitCode::Completed;
}

}  // namespace lathe::trainer
