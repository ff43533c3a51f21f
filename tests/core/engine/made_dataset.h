// A dataset made of formulas: sample i holds i, i + 0.5, -i …; augmentation adds a function of (seed, epoch, sample).
#pragma once

#include "dataset/dataset.h"

#include <atomic>
#include <string>

namespace lathe::engine {

class MadeDataset final : public dataset::Dataset {
public:
    enum class Kind { Classes, Targets, Pictures };

    MadeDataset(std::int64_t samples, std::int64_t features, Kind kind = Kind::Classes, bool weighted = false) : m_features(features) {
        m_info.format = "csv";
        m_info.samples = samples;
        m_info.weighted = weighted;
        for (std::int64_t i = 0; i < features; ++i)
            m_info.featureNames.push_back("f" + std::to_string(i));
        if (kind == Kind::Pictures) {
            m_info.images = true;
            m_info.channels = m_info.height = 1;
            m_info.width = features;
        }
        if (kind != Kind::Targets) {
            m_info.classNames = {"a", "b", "c"};
        } else {
            m_info.targetNames = {"y0", "y1"};
            for (std::int64_t i = 0; i < samples; ++i)
                m_targets.insert(m_targets.end(), {static_cast<double>(i), 2.0 * static_cast<double>(i)});
        }
    }

    static double valueOf(std::int64_t sample, std::int64_t feature, const dataset::Augmentation* augmentation) {
        double value = static_cast<double>(sample) + 0.5 * static_cast<double>(feature);
        if (augmentation)
            value += 1000.0 * static_cast<double>(augmentation->seed * 7 + static_cast<std::uint64_t>(augmentation->epoch * 3 + sample));
        return value;
    }

    Result<void> input(std::int64_t sample, const dataset::Augmentation* a, std::span<float> out) const override { return fill(sample, a, out); }
    Result<void> input(std::int64_t sample, const dataset::Augmentation* a, std::span<double> out) const override { return fill(sample, a, out); }
    std::int64_t label(std::int64_t sample) const override { return m_info.classNames.empty() ? -1 : sample % 3; }
    std::span<const double> target(std::int64_t sample) const override {
        return m_targets.empty() ? std::span<const double>() : std::span(m_targets).subspan(static_cast<std::size_t>(2 * sample), 2);
    }
    double weight(std::int64_t sample) const override { return m_info.weighted ? 0.25 * static_cast<double>(sample) : 1; }
    std::string describe(std::int64_t sample) const override { return "line " + std::to_string(sample + 2); }

    Result<dataset::Thumbnail> thumbnail(std::int64_t sample, int) const override { return captioned(sample); }
    void hashInto(Hasher&) const override {}

    std::int64_t broken = -1;                   ///< this sample cannot be read
    mutable std::atomic<std::int64_t> reads = 0;

private:
    template <typename Number>
    Result<void> fill(std::int64_t sample, const dataset::Augmentation* augmentation, std::span<Number> out) const {
        ++reads;
        if (sample == broken)
            return Error{ErrorCode::Data, "The cell is damaged", "data.train", {}};
        LATHE_ASSERT(static_cast<std::int64_t>(out.size()) == m_features);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<Number>(valueOf(sample, static_cast<std::int64_t>(i), augmentation));
        return {};
    }

    std::int64_t m_features;
    std::vector<double> m_targets;
};

}  // namespace lathe::engine
