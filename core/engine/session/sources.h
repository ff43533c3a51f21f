// Loaders as the loop wants them: whole windows for training, one pass for evaluation.
#pragma once

#include "engine/data/loader.h"
#include "engine/train/trainer.h"

namespace lathe::engine {

class LoaderWindows final : public WindowSource {
public:
    explicit LoaderWindows(Loader& loader) : m_loader(loader) {}
    Result<void> load(const plan::Window& window, const plan::Sharing::Share& share, std::vector<Batch>& out) override;

private:
    Loader& m_loader;
    std::int64_t m_limit = 0;   ///< of the window before
};

class LoaderEvaluation final : public EvaluationSource {
public:
    explicit LoaderEvaluation(Loader& loader) : m_loader(loader) {}
    std::int64_t samples() const override { return m_loader.shape().samples; }
    std::int64_t batches() const override { return m_loader.shape().batchesPerEpoch(); }
    void rewind() override { m_loader.seek(Epoch(0), PlanEntry(0)); }
    bool atEnd() const override { return m_loader.atEnd(); }
    Result<Batch> next() override { return m_loader.next(); }

private:
    Loader& m_loader;
};

}  // namespace lathe::engine
