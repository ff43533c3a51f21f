#include "dataset/picture_dataset.h"

#include "base/hash.h"
#include "dataset/wording.h"

#include <utility>

namespace lathe::dataset {

PictureRule pictureRule(const Source& source, bool colour) {
    PictureRule rule;
    if (source.data.channels == "gray") rule.channels = 1;
    else if (source.data.channels == "rgb") rule.channels = 3;
    else if (source.like != nullptr) rule.channels = static_cast<int>(source.like->info().channels);
    else rule.channels = colour ? 3 : 1;
    rule.side = static_cast<int>(source.data.imageSize.value_or(0));
    rule.stretch = source.data.resize == "stretch";
    rule.imagenet = source.data.normalize == "imagenet";
    return rule;
}

PictureDataset::PictureDataset(Content content) : m_content(std::move(content)) {
    m_info = std::move(m_content.info);
    if (m_info.height > 0)
        m_writer = PixelWriter(static_cast<int>(m_info.width), static_cast<int>(m_info.height),
                               static_cast<int>(m_info.channels), m_content.rule.imagenet);
    LATHE_ASSERT(m_content.decode || m_content.stored.size() == static_cast<std::size_t>(m_info.samples) * m_writer.elements());
}

std::span<const std::uint8_t> PictureDataset::stored(std::int64_t sample) const {
    const std::size_t bytes = m_writer.elements();
    return std::span(m_content.stored).subspan(static_cast<std::size_t>(sample) * bytes, bytes);
}

template <typename T>
Result<void> PictureDataset::write(std::int64_t sample, const Augmentation* augmentation, std::span<T> out) const {
    LATHE_ASSERT(sample >= 0 && sample < m_info.samples && m_writer.elements() > 0);
    if (!m_content.stored.empty()) {
        m_writer.write(stored(sample), sample, augmentation, out);
        return {};
    }
    auto decoded = m_content.decode(describe(sample), &m_content.rule);
    if (!decoded.ok())
        return std::move(decoded).error().in("reading " + describe(sample) + ", which could be read when the run began");
    const Picture& picture = *decoded;
    if (picture.width != m_info.width || picture.height != m_info.height)
        return dataError(describe(sample) + " has another size than when the run began: leave the data as they are "
                                            "while a run uses them", "data.train");
    m_writer.write(std::span(picture.pixels), sample, augmentation, out);
    return {};
}

Result<void> PictureDataset::input(std::int64_t sample, const Augmentation* augmentation, std::span<float> out) const {
    return write(sample, augmentation, out);
}
Result<void> PictureDataset::input(std::int64_t sample, const Augmentation* augmentation, std::span<double> out) const {
    return write(sample, augmentation, out);
}

std::string PictureDataset::describe(std::int64_t sample) const {
    if (m_content.names.empty()) return "record " + std::to_string(sample);
    return m_content.names.at(static_cast<std::size_t>(sample));
}

Result<Thumbnail> PictureDataset::thumbnail(std::int64_t sample, int side) const {
    LATHE_ASSERT(sample >= 0 && sample < m_info.samples);
    Thumbnail thumbnail = captioned(sample);
    Picture picture;
    if (m_content.decode) {
        LATHE_TRY_ASSIGN(picture, m_content.decode(describe(sample), nullptr));
    } else {
        const auto bytes = stored(sample);
        picture = {static_cast<int>(m_info.width), static_cast<int>(m_info.height), static_cast<int>(m_info.channels),
                   {bytes.begin(), bytes.end()}};
    }
    picture = withChannels(fitted(picture, side), 3);
    thumbnail.width = picture.width;
    thumbnail.height = picture.height;
    thumbnail.rgb = std::move(picture.pixels);
    return thumbnail;
}

void PictureDataset::hashInto(Hasher& hasher) const {
    hasher.update(std::as_bytes(std::span(m_content.contentHash)));
    for (const std::string& name : m_content.names) hasher.update(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
    hasher.update(std::as_bytes(std::span(m_content.fileBytes)));
    m_content.answers.hashInto(hasher);
}

}  // namespace lathe::dataset
