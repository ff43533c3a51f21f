#include "rundir/memory_record.h"

#include "base/number_text.h"
#include "rundir/json_reader.h"

#include <nlohmann/json.hpp>

namespace lathe::rundir {

using nlohmann::json;

static std::string deviceText(const std::string& device) {
    if (device.empty()) return "The device's memory";
    if (device == "cpu") return "Main memory";
    if (device.starts_with("cuda:")) return "The memory of GPU " + device.substr(5);
    return "The memory of " + device;
}

static std::string amounts(const MemoryFacts& facts) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? ": " : ", ") + part; };
    if (facts.requested) add(memoryText(*facts.requested) + " more were asked for");
    if (facts.free) add(memoryText(*facts.free) + (facts.total ? " of " + memoryText(*facts.total) : std::string()) + " were free");
    if (facts.peak) add("this process had " + memoryText(*facts.peak) + " at its peak");
    return text;
}

std::string sentenceOf(const MemoryRecord& record) {
    std::string text = deviceText(record.facts.device) + " ran out";
    if (!record.facts.doing.empty()) text += " while " + record.facts.doing;
    if (record.killed) text += ", and the system ended the worker";
    text += amounts(record.facts);
    if (record.microStep > 0) {
        text += "; in micro-step " + std::to_string(record.microStep) + " of " + std::to_string(record.microSteps) + " of update attempt " + std::to_string(record.attempt);
        std::string shape;
        for (const std::int64_t size : record.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(size);
        if (!shape.empty()) text += ", " + std::to_string(record.shape.front()) + (record.shape.front() == 1 ? " sample (" : " samples (") + shape + ")";
    } else if (record.attempt > 0) {
        text += "; at update attempt " + std::to_string(record.attempt);
    }
    return text;
}

std::string sentenceOf(const Remedy& remedy) {
    std::string text;
    for (const Remedy::Edit& edit : remedy.edits) text += (text.empty() ? "" : ", ") + edit.key + " " + edit.from + " → " + edit.to;
    return remedy.cost.empty() ? text : text + ": " + remedy.cost;
}

json memoryJson(const MemoryRecord& record) {
    json out = {{"device", record.facts.device}, {"doing", record.facts.doing}, {"rank", record.rank}, {"killed", record.killed}, {"attempt", record.attempt}, {"epoch", record.epoch},
                {"micro_step", record.microStep}, {"micro_steps", record.microSteps}, {"shape", record.shape}, {"samples", record.samples}};
    const auto amount = [&](const char* key, const std::optional<std::uint64_t>& bytes) {
        if (bytes) out[key] = *bytes;
    };
    amount("requested_bytes", record.facts.requested);
    amount("free_bytes", record.facts.free);
    amount("peak_bytes", record.facts.peak);
    amount("total_bytes", record.facts.total);
    out["remedies"] = json::array();
    for (const Remedy& remedy : record.remedies) {
        json edits = json::array();
        for (const Remedy::Edit& edit : remedy.edits) edits.push_back({{"key", edit.key}, {"from", edit.from}, {"to", edit.to}});
        out["remedies"].push_back({{"edits", edits}, {"cost", remedy.cost}, {"when_going_on", remedy.whenGoingOn}});
    }
    return out;
}

static Remedy readRemedy(const json& object, JsonReader& parent) {
    JsonReader reader(object, parent.file(), "remedies[].");
    Remedy remedy;
    remedy.cost = reader.text("cost", "");
    remedy.whenGoingOn = reader.flag("when_going_on", false);
    if (const json* edits = reader.array("edits"))
        for (const json& one : *edits) {
            JsonReader edit(one, parent.file(), "edits[].");
            remedy.edits.push_back({edit.text("key"), edit.text("from", ""), edit.text("to", "")});
            reader.absorb(edit);
        }
    parent.absorb(reader);
    return remedy;
}

MemoryRecord readMemory(JsonReader& reader) {
    MemoryRecord out;
    const auto amount = [&](const char* key) { return reader.has(key) ? std::optional(reader.count(key)) : std::nullopt; };
    out.facts = {reader.text("device", ""), reader.text("doing", ""), amount("requested_bytes"), amount("free_bytes"), amount("peak_bytes"), amount("total_bytes")};
    out.rank = reader.small("rank", 0);
    out.killed = reader.flag("killed", false);
    out.attempt = reader.integer("attempt", 0);
    out.epoch = reader.integer("epoch", 0);
    out.microStep = reader.integer("micro_step", 0);
    out.microSteps = reader.integer("micro_steps", 0);
    if (reader.has("shape")) out.shape = reader.integers("shape");
    if (reader.has("samples")) out.samples = reader.integers("samples");
    if (out.samples.size() > MemoryRecord::kMostSamples) out.samples.resize(MemoryRecord::kMostSamples);
    if (const json* remedies = reader.array("remedies"))
        for (const json& one : *remedies) out.remedies.push_back(readRemedy(one, reader));
    return out;
}

}  // namespace lathe::rundir
