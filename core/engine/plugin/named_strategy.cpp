#include "engine/plugin/named_strategy.h"

#include <c10/util/Exception.h>

#include <cmath>
#include <new>
#include <stdexcept>

namespace lathe::engine {
namespace {

/// What LibTorch, memory and other ranks do wrong has sentences of its own.
template <typename Action>
auto naming(const std::string& name, const Action& action) {
    try {
        return action();
    } catch (const LostContact&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const c10::Error&) {
        throw;
    } catch (const std::exception& e) {
        throw std::runtime_error(name + " failed: " + e.what());
    }
}

class NamedAccumulation final : public plan::Accumulation {
public:
    NamedAccumulation(std::string name, std::shared_ptr<plan::Accumulation> made) : m_name(std::move(name)), m_made(std::move(made)) {}

    bool isFull(const plan::OpenWindow& window) const override {
        const bool full = naming(m_name, [&] { return m_made->isFull(window); });
        if (!full && window.attempt.value() == 0 && window.endsEpoch)
            throw std::runtime_error("The accumulation " + m_name + " closes no window in a whole epoch of " + std::to_string(window.microBatches) +
                                     " micro-batches; change its settings, or have it close a first window that may take so many when the epoch ends");
        return full;
    }
    void settle(const plan::WindowOutcome& outcome) override { naming(m_name, [&] { m_made->settle(outcome); }); }
    plan::AccumulationState state() const override { return naming(m_name, [&] { return m_made->state(); }); }
    void setState(const plan::AccumulationState& state) override { naming(m_name, [&] { m_made->setState(state); }); }

private:
    std::string m_name;
    std::shared_ptr<plan::Accumulation> m_made;
};

class NamedParallel final : public Parallel {
public:
    NamedParallel(std::string name, std::unique_ptr<Parallel> made) : m_name(std::move(name)), m_made(std::move(made)) {}

    const plan::Sharing& sharing() const override { return m_made->sharing(); }
    std::string layout() const override { return m_name + ": " + m_made->layout(); }
    void runWindow(FlatStorage& storage, std::size_t microBatches, const MicroStep& step) override {
        std::exception_ptr ofTheStep;   // the model's own, which is not the strategy's
        const auto guardedStep = [&](std::size_t microBatch) {
            try {
                step(microBatch);
            } catch (...) {
                ofTheStep = std::current_exception();
                throw;
            }
        };
        try {
            naming(m_name, [&] { m_made->runWindow(storage, microBatches, guardedStep); });
        } catch (...) {
            if (ofTheStep) std::rethrow_exception(ofTheStep);
            throw;
        }
    }
    GradientNorm globalNorm(const FlatStorage& storage) override { return naming(m_name, [&] { return m_made->globalNorm(storage); }); }
    void gather(std::vector<double>& values) override { naming(m_name, [&] { m_made->gather(values); }); }
    std::vector<at::Tensor> gather(const at::Tensor& mine) override { return naming(m_name, [&] { return m_made->gather(mine); }); }
    std::uint64_t agree(std::uint64_t mine) override { return naming(m_name, [&] { return m_made->agree(mine); }); }
    void broadcast(const std::vector<at::Tensor>& tensors) override { naming(m_name, [&] { m_made->broadcast(tensors); }); }

private:
    std::string m_name;
    std::unique_ptr<Parallel> m_made;
};

class NamedPrecision final : public Precision {
public:
    NamedPrecision(std::string name, std::unique_ptr<Precision> made) : m_name(std::move(name)), m_made(std::move(made)) {}

    std::string name() const override { return m_name; }
    at::ScalarType parameterType() const override { return naming(m_name, [&] { return m_made->parameterType(); }); }
    std::optional<at::ScalarType> castType() const override { return naming(m_name, [&] { return m_made->castType(); }); }
    double scale() const override {
        const double scale = naming(m_name, [&] { return m_made->scale(); });
        if (!(scale > 0) || std::isinf(scale)) throw std::runtime_error("The number format " + m_name + " scales the loss by " + std::to_string(scale) + "; that must be above 0");
        return scale;
    }
    std::string settle(const UpdateResult& result) override { return naming(m_name, [&] { return m_made->settle(result); }); }
    bool hasState() const override { return m_made->hasState(); }
    StateValues stateValues() const override { return naming(m_name, [&] { return m_made->stateValues(); }); }
    Result<void> setStateValues(const StateValues& values) override { return naming(m_name, [&] { return m_made->setStateValues(values); }); }
    std::vector<StateTensor> stateTensors() const override { return naming(m_name, [&] { return m_made->stateTensors(); }); }

private:
    std::string m_name;
    std::unique_ptr<Precision> m_made;
};

}  // namespace

AccumulationMaker named(const std::string& name, AccumulationMaker make) {
    return [name, make = std::move(make)](const config::AccumulationSection& section) -> Result<std::shared_ptr<plan::Accumulation>> {
        LATHE_TRY_ASSIGN(std::shared_ptr<plan::Accumulation> made, naming(name, [&] { return make(section); }));
        if (!made) return Error{ErrorCode::Config, "The plug-in made no accumulation " + name, "accumulation.rule", {}};
        return std::shared_ptr<plan::Accumulation>(std::make_shared<NamedAccumulation>(name, std::move(made)));
    };
}

ParallelMaker named(const std::string& name, ParallelMaker make) {
    return [name, make = std::move(make)](const config::ParallelSection& section, const RankPlace& place) -> Result<std::unique_ptr<Parallel>> {
        LATHE_TRY_ASSIGN(std::unique_ptr<Parallel> made, naming(name, [&] { return make(section, place); }));
        if (!made) return Error{ErrorCode::Config, "The plug-in made no parallel strategy " + name, "parallel.strategy", {}};
        if (made->rank() != place.rank || made->world() != place.world)
            return Error{ErrorCode::Config, "The parallel strategy " + name + " calls itself rank " + std::to_string(made->rank()) + " of " + std::to_string(made->world()) +
                         ", and is rank " + std::to_string(place.rank) + " of " + std::to_string(place.world), "parallel.strategy", {}};
        return std::unique_ptr<Parallel>(std::make_unique<NamedParallel>(name, std::move(made)));
    };
}

PrecisionMaker named(const std::string& name, PrecisionMaker make) {
    return [name, make = std::move(make)](const config::PrecisionSection& section, at::Device device) -> Result<std::unique_ptr<Precision>> {
        LATHE_TRY_ASSIGN(std::unique_ptr<Precision> made, naming(name, [&] { return make(section, device); }));
        if (!made) return Error{ErrorCode::Config, "The plug-in made no number format " + name, "precision.mode", {}};
        return std::unique_ptr<Precision>(std::make_unique<NamedPrecision>(name, std::move(made)));
    };
}

plan::CurveFactor named(const std::string& name, plan::CurveFactor factor) {
    return [name, factor = std::move(factor)](const config::ScheduleSection& schedule, GlobalStep applied) {
        const double value = naming(name, [&] { return factor(schedule, applied); });
        if (std::isnan(value)) throw std::runtime_error("The schedule " + name + " gives nan for the update after " + std::to_string(applied.value()) + " others");
        return value;
    };
}

}  // namespace lathe::engine
