// What a plug-in says of itself in its file, so that one that was built for another Lathe is known before it runs.
#pragma once

#include "config/sections.h"
#include "engine/train/hooks.h"
#include "plan/accumulation.h"

#ifdef LATHE_PLUGIN_TORCH
#include "engine/parallel/group_parallel.h"
#include "engine/task/task.h"
#include "engine/train/precision.h"
#include <torch/headeronly/version.h>
#endif

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace lathe::engine {

/// Raised whenever the meaning of something changes that the layouts below do not show.
inline constexpr std::uint32_t kPluginApi = 2;

/// Plain bytes, found in the file by its marker. Texts end with a zero.
struct PluginStamp {
    std::array<char, 24> marker{};
    std::uint32_t api = kPluginApi;
    std::uint32_t layout = 0;        ///< of the types that hooks see
    std::uint32_t torchLayout = 0;   ///< of those that are made of LibTorch's; 0: it uses none
    std::uint32_t reserved = 0;
    std::array<char, 24> lathe{}, torch{};
    std::array<char, 48> name{}, version{};
};
static_assert(std::is_trivially_copyable_v<PluginStamp>);

/// In two parts, so that the whole marker stands in a file only where a stamp is.
inline constexpr std::string_view kMarkerBegin = "LATHE-", kMarkerEnd = "PLUGIN-STAMP-1";

constexpr std::uint32_t layoutOf(std::initializer_list<std::size_t> sizes) {
    std::uint32_t hash = 2166136261u;   // FNV-1a over the sizes
    for (const std::size_t size : sizes) hash = (hash ^ static_cast<std::uint32_t>(size)) * 16777619u;
    return hash;
}

inline constexpr std::uint32_t kHookLayout = layoutOf({sizeof(Counters), sizeof(UpdateResult), sizeof(GuardFinding), sizeof(EvaluationOutcome), sizeof(SaveOutcome),
                                                       sizeof(RollBack), sizeof(Ending), sizeof(HookContext), sizeof(Wishes), sizeof(config::RunConfig), sizeof(plan::OpenWindow), sizeof(plan::WindowOutcome),
                                                       static_cast<std::size_t>(Point::TrainEnd)});

template <std::size_t N>
constexpr std::array<char, N> fixedText(std::string_view text) {
    std::array<char, N> out{};
    for (std::size_t i = 0; i < text.size() && i + 1 < N; ++i) out[i] = text[i];
    return out;
}

constexpr PluginStamp pluginStamp(std::string_view name, std::string_view version) {
    PluginStamp stamp;
    for (std::size_t i = 0; i < kMarkerBegin.size(); ++i) stamp.marker[i] = kMarkerBegin[i];
    for (std::size_t i = 0; i < kMarkerEnd.size(); ++i) stamp.marker[kMarkerBegin.size() + i] = kMarkerEnd[i];
    stamp.layout = kHookLayout;
    stamp.lathe = fixedText<24>(LATHE_VERSION);
    stamp.name = fixedText<48>(name);
    stamp.version = fixedText<48>(version);
#ifdef LATHE_PLUGIN_TORCH
    stamp.torchLayout = layoutOf({sizeof(Block), sizeof(Model), sizeof(Context), sizeof(ModelShape), sizeof(Batch), sizeof(LossTerm), sizeof(Task),
                                  sizeof(MetricPool), sizeof(Precision), sizeof(GradientNorm), sizeof(RankPlace), sizeof(FlatStorage), sizeof(GroupParallel)});
    stamp.torch = fixedText<24>(TORCH_VERSION);
#endif
    return stamp;
}

}  // namespace lathe::engine
