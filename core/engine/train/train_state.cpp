#include "engine/train/train_state.h"

#include "base/number_text.h"

#include <algorithm>
#include <iterator>

namespace lathe::engine {
namespace {

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

void hashText(Hasher& hasher, const std::string& text) {
    const std::string withLength = std::to_string(text.size()) + ":" + text;
    hasher.update(std::as_bytes(std::span(withLength)));
}

}  // namespace

Result<void> Stateful::setStateValues(const StateValues& values) {
    return StateValueReader(values).finish(stateName());
}

const std::string* StateValueReader::find(const std::string& name) {
    m_seen.push_back(name);
    const auto found = m_values.find(name);
    if (found != m_values.end()) return &found->second;
    m_problems.push_back(name + " is missing");
    return nullptr;
}

std::int64_t StateValueReader::integer(const std::string& name) {
    const std::string* text = find(name);
    if (!text) return 0;
    const auto value = readInteger(*text);
    if (!value) m_problems.push_back(name + " is not an integer: " + *text);
    return value.value_or(0);
}

double StateValueReader::number(const std::string& name) {
    const std::string* text = find(name);
    if (!text) return 0;
    const auto value = readDouble(*text);
    if (!value) m_problems.push_back(name + " is not a number: " + *text);
    return value.value_or(0);
}

std::string StateValueReader::text(const std::string& name) {
    const std::string* text = find(name);
    return text ? *text : std::string();
}

Result<void> StateValueReader::finish(const std::string& owner) const {
    std::vector<std::string> problems = m_problems;
    for (const auto& [name, value] : m_values)
        if (std::find(m_seen.begin(), m_seen.end(), name) == m_seen.end()) problems.push_back(name + " is unknown");
    if (problems.empty()) return {};
    return Error{ErrorCode::Corrupt, "The saved state of “" + owner + "” does not fit this program: " + joined(problems), {}, {}};
}

void TrainState::add(Stateful& entry) {
    for (const Stateful* known : m_entries) LATHE_ASSERT(known->stateName() != entry.stateName());
    m_entries.push_back(&entry);
}

/// An optional entry is left out while it is fresh: a program that does not know it can load the rest.
std::vector<StatePart> TrainState::parts() const {
    std::vector<StatePart> all;
    for (const Stateful* entry : m_entries) {
        StatePart part{entry->stateName(), entry->scope(), entry->stateValues(), entry->stateTensors()};
        if (!entry->isOptional() || !part.values.empty()) all.push_back(std::move(part));
    }
    return all;
}

std::vector<StateTensor> TrainState::tensors() const {
    std::vector<StateTensor> all;
    for (StatePart& part : parts()) std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(all));
    return all;
}

std::map<std::string, StateValues> TrainState::values() const {
    std::map<std::string, StateValues> all;
    for (StatePart& part : parts()) all[part.name] = std::move(part.values);
    return all;
}

Result<void> TrainState::setValues(const std::map<std::string, StateValues>& values) {
    std::vector<std::string> problems;
    for (const auto& [name, unused] : values)
        if (!name.starts_with(kHookState) && std::none_of(m_entries.begin(), m_entries.end(), [&](const Stateful* e) { return e->stateName() == name; }))
            problems.push_back("“" + name + "” is unknown to this program");
    for (Stateful* entry : m_entries)
        if (!entry->isOptional() && !values.contains(entry->stateName())) problems.push_back("“" + entry->stateName() + "” is missing");
    if (!problems.empty()) return Error{ErrorCode::Corrupt, "The checkpoint's state cannot be used: " + joined(problems), {}, {}};
    for (Stateful* entry : m_entries)
        if (const auto found = values.find(entry->stateName()); found != values.end()) LATHE_TRY(entry->setStateValues(found->second));
    return {};
}

std::string TrainState::digest() const {
    StateDigest digest;
    for (const StatePart& part : parts()) {
        digest.begin(part);
        if (part.scope != Scope::Trajectory) continue;
        for (const StateTensor& item : part.tensors) {
            digest.add(item);
            const at::Tensor plain = plainTensor(item.tensor);
            digest.bytes(bytesOf(plain));
        }
    }
    return digest.hex();
}

void StateDigest::begin(const StatePart& part) {
    m_counts = part.scope == Scope::Trajectory;
    if (!m_counts) return;
    hashText(m_hasher, part.name);
    for (const auto& [name, value] : part.values) {
        hashText(m_hasher, name);
        hashText(m_hasher, value);
    }
}

void StateDigest::add(const StateTensor& item) {
    if (!m_counts) return;
    hashText(m_hasher, item.name);
    hashText(m_hasher, c10::toString(item.tensor.scalar_type()));
    for (const std::int64_t size : item.tensor.sizes()) hashText(m_hasher, std::to_string(size));
}

void StateDigest::bytes(std::span<const std::byte> bytes) {
    if (m_counts) m_hasher.update(bytes);
}

at::Tensor plainTensor(const at::Tensor& tensor) {
    return tensor.detach().to(at::kCPU).contiguous();
}

std::span<const std::byte> bytesOf(const at::Tensor& plain) {
    return {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()};
}

}  // namespace lathe::engine
