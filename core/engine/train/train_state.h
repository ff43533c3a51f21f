// TrainState: the registry of everything that can influence the trajectory. Saving and loading walk over it; what is
// missing, unknown or of another shape is an error, listed as a whole before anything is changed.
// Thread: one thread at a time.
#pragma once

#include "base/hash.h"
#include "base/result.h"

#include <torch/types.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lathe::engine {

/// Trajectory state goes back with a roll-back; run state (what happened to the run) does not.
enum class Scope { Trajectory, Run };

/// Small values as exact text, by name.
using StateValues = std::map<std::string, std::string>;

struct StateTensor {
    std::string name;     ///< unique over all entries: "layers.0.weight", "layers.0.weight/exp_avg"
    std::string role;     ///< parameter | buffer | optimizer | state
    at::Tensor tensor;    ///< the live one: written from here, restored into here
    bool frozen = false;  ///< no update can change it
};

class Stateful {
public:
    virtual ~Stateful() = default;
    virtual std::string stateName() const = 0;
    virtual Scope scope() const { return Scope::Trajectory; }
    /// Whether it begins afresh from a checkpoint that does not know it. Requires, where true: no tensors, and no values
    /// as long as it is fresh.
    virtual bool isOptional() const { return false; }
    virtual StateValues stateValues() const { return {}; }
    /// Checks every value and takes all of them or none. Missing and unknown names are errors.
    virtual Result<void> setStateValues(const StateValues& values);
    virtual std::vector<StateTensor> stateTensors() const { return {}; }
};

/// Reads values by name for setStateValues() and tells what was missing or left over.
class StateValueReader {
public:
    explicit StateValueReader(const StateValues& values) : m_values(values) {}
    std::int64_t integer(const std::string& name);
    double number(const std::string& name);
    std::string text(const std::string& name);
    /// Call after the last read.
    Result<void> finish(const std::string& owner) const;

private:
    const std::string* find(const std::string& name);
    const StateValues& m_values;
    std::vector<std::string> m_seen, m_problems;
};

/// What is saved of one entry, as it stands.
struct StatePart {
    std::string name;
    Scope scope = Scope::Trajectory;
    StateValues values;
    std::vector<StateTensor> tensors;
};

/// What names of hooks' entries begin with.
inline constexpr std::string_view kHookState = "hook.";

class TrainState {
public:
    /// Not owned; must live as long as this. Requires: names are unique.
    void add(Stateful& entry);
    const std::vector<Stateful*>& entries() const { return m_entries; }
    /// What is saved, in the order of the registry.
    std::vector<StatePart> parts() const;
    std::vector<StateTensor> tensors() const;
    /// Values of all entries, by entry name.
    std::map<std::string, StateValues> values() const;
    /// State of hooks ("hook.…") that are no longer there is passed over.
    Result<void> setValues(const std::map<std::string, StateValues>& values);
    /// Hash over names, values, types, shapes and bytes of all trajectory state.
    std::string digest() const;

private:
    std::vector<Stateful*> m_entries;
};

/// The digest of a state from its parts, in the order of the registry: begin(part), then for each of its tensors add(item)
/// and all of its bytes. Parts of scope Run are passed over, with their tensors.
class StateDigest {
public:
    void begin(const StatePart& part);
    void add(const StateTensor& item);
    void bytes(std::span<const std::byte> bytes);
    std::string hex() const { return m_hasher.hex(); }

private:
    Hasher m_hasher;
    bool m_counts = false;   ///< the part that was begun does
};

/// Bytes of a tensor in row-major order on the CPU; copies only when it must. The tensor keeps them alive.
at::Tensor plainTensor(const at::Tensor& tensor);
std::span<const std::byte> bytesOf(const at::Tensor& plain);

}  // namespace lathe::engine
