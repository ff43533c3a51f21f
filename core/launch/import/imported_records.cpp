// What a folder of event files holds beside its curves: texts, histograms and pictures, as records of the run.
#include "launch/import/imported_run.h"

#include "base/bytes.h"
#include "config/utf8.h"
#include "tensorboard/summary_content.h"

#include <utility>

namespace lathe::launch {

using tensorboard::Event;
using tensorboard::Value;

static constexpr std::size_t kLongestText = live::kMostInlineBytes;

/// What a value is; a tensor may leave that to an earlier value of its tag.
Value::Kind ImportedRun::kindOf(const Value& value) {
    const std::string tag = config::cleanSeriesName(value.tag);
    if (!value.plugin.empty() && m_plugins.size() < kMostTags) m_plugins.emplace(tag, config::cleanSeriesName(value.plugin));
    if (!value.plugin.empty() || (value.kind != Value::Kind::Strings && value.kind != Value::Kind::Tensor)) return value.kind;
    const auto known = m_plugins.find(tag);
    if (known == m_plugins.end()) return value.kind;
    const std::string& plugin = known->second;
    if (value.kind == Value::Kind::Strings && plugin == "text") return Value::Kind::Text;
    return plugin == "histograms" ? Value::Kind::Histogram : plugin == "images" ? Value::Kind::Image : value.kind;
}

void ImportedRun::takeOther(const Event& event, const Value& value) {
    using Kind = Value::Kind;
    switch (kindOf(value)) {
        case Kind::Text:
            if (keep(event, live::FrameType::Text, config::cleanSeriesName(value.tag), {}, config::repairedUtf8(value.text.substr(0, kLongestText)))) ++m_count.texts;
            return;
        case Kind::Histogram: return takeHistogram(event, value);
        case Kind::Image: return takePictures(event, value);
        case Kind::Audio: ++m_count.leftOut["sounds"]; return;
        case Kind::Strings:
        case Kind::Tensor: ++m_count.leftOut["tensors"]; return;
        case Kind::Settings:
        case Kind::Scalar: return;
    }
}

bool ImportedRun::keep(const Event& event, live::FrameType type, const std::string& name, const std::string& form, std::string content) {
    wake(event);
    if (m_failure) return false;
    book(m_recorder->record({.type = type, .step = event.step, .wallNs = tensorboard::wallNsOf(event.wallSeconds), .name = name, .form = form, .content = std::move(content), .blob = {}}));
    return !m_failure;
}

void ImportedRun::takeHistogram(const Event& event, const Value& value) {
    const auto histogram = tensorboard::histogramOf(value);
    if (!histogram) {
        ++m_count.leftOut["histograms that contradict themselves"];
        return;
    }
    Bytes content;
    put(content, static_cast<std::uint32_t>(histogram->counts.size()));
    for (const double edge : histogram->edges) put(content, edge);
    for (const double count : histogram->counts) put(content, count);
    const std::string_view bytes(reinterpret_cast<const char*>(content.data()), content.size());
    if (keep(event, live::FrameType::Histogram, config::cleanSeriesName(value.tag), {}, std::string(bytes))) ++m_count.histograms;
}

/// One record a picture; where there are several, the later ones have their number behind the name.
void ImportedRun::takePictures(const Event& event, const Value& value) {
    const auto pictures = tensorboard::picturesOf(value);
    if (pictures.empty()) ++m_count.leftOut["images without a picture"];
    for (std::size_t i = 0; i < pictures.size() && !m_failure; ++i) {
        const std::string_view form = tensorboard::mediaTypeOf(pictures[i]);
        if (form.empty()) {
            ++m_count.leftOut["images that are neither PNG nor JPEG"];
            continue;
        }
        const std::string name = i == 0 ? std::string(value.tag) : std::string(value.tag) + "/" + std::to_string(i);
        if (keep(event, live::FrameType::Image, config::cleanSeriesName(name), std::string(form), std::string(pictures[i]))) ++m_count.images;
    }
}

}  // namespace lathe::launch
