// Samples that are pictures: all prepared ones in memory, or each decoded when asked for.
#pragma once

#include "dataset/picture.h"
#include "dataset/source.h"
#include "dataset/table_dataset.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::dataset {

/// `colour`: whether some picture has colours, for channels: auto.
PictureRule pictureRule(const Source& source, bool colour);

class PictureDataset final : public Dataset {
public:
    /// The picture of a name as it lies in its file, or made alike by `rule`. Called from any thread.
    using Decode = std::function<Result<Picture>(const std::string& name, const PictureRule* rule)>;

    struct Content {
        Info info;                        ///< with channels, height, width (0: sizes differ, only thumbnails)
        Answers answers;
        PictureRule rule;
        std::vector<std::uint8_t> stored; ///< all samples, prepared by the rule; empty: decoded on demand
        std::vector<std::string> names;   ///< "rose/12.jpg"; empty: records from 0
        std::vector<std::uint64_t> fileBytes;  ///< beside names, for the fingerprint
        std::string contentHash;          ///< of the values as they came, where there are no files
        Decode decode;                    ///< null where all is stored
    };
    explicit PictureDataset(Content content);

    Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<float> out) const override;
    Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<double> out) const override;
    std::int64_t label(std::int64_t sample) const override { return m_content.answers.label(sample); }
    std::span<const double> target(std::int64_t sample) const override { return m_content.answers.target(sample); }
    double weight(std::int64_t sample) const override { return m_content.answers.weight(sample); }
    std::string describe(std::int64_t sample) const override;
    Result<Thumbnail> thumbnail(std::int64_t sample, int side) const override;
    void hashInto(Hasher& hasher) const override;

private:
    template <typename T>
    Result<void> write(std::int64_t sample, const Augmentation* augmentation, std::span<T> out) const;
    std::span<const std::uint8_t> stored(std::int64_t sample) const;

    Content m_content;
    PixelWriter m_writer;
};

}  // namespace lathe::dataset
