#include "base/hash.h"
#include "dataset/idx.h"
#include "dataset/picture_dataset.h"
#include "dataset/source.h"
#include "dataset/table_dataset.h"
#include "dataset/wording.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::dataset {
namespace {

constexpr std::int64_t kMaxClasses = 1'000'000;
constexpr std::int64_t kMaxSide = 16'384;

Result<std::int64_t> classNumber(const Source& source, const IdxArray& array, std::size_t record, std::int64_t limit) {
    const double value = array.value(record);
    const std::string at = "Label of record " + std::to_string(record) + " in " + source.labels.string();
    if (!(value >= 0) || value != std::floor(value) || value >= static_cast<double>(kMaxClasses))
        return dataError(at + " is " + std::to_string(value) + ": labels of a classification are whole numbers from 0; "
                                                              "choose task.name regression for other values",
                         source.labelsKey);
    const auto label = static_cast<std::int64_t>(value);
    if (label >= limit)
        return dataError(at + " is " + std::to_string(label) + ", out of range: " +
                             (source.like != nullptr ? "the training data have " : "task.num_classes allows ") +
                             countOf(limit, "class", "classes") + " (0 to " + std::to_string(limit - 1) + ")",
                         source.labelsKey);
    return label;
}

Result<void> takeClasses(const Source& source, const IdxArray& array, Info& info, Answers& answers) {
    const std::int64_t limit = source.like != nullptr ? static_cast<std::int64_t>(source.like->info().classNames.size())
                                                      : source.task.numClasses.value_or(kMaxClasses);
    std::int64_t classes = source.like != nullptr ? limit : source.task.numClasses.value_or(0);
    answers.labels.reserve(array.count());
    for (std::size_t record = 0; record < array.count(); ++record) {
        LATHE_TRY_ASSIGN(const std::int64_t label, classNumber(source, array, record, limit));
        answers.labels.push_back(label);
        classes = std::max(classes, label + 1);
    }
    for (std::int64_t c = 0; c < classes; ++c) info.classNames.push_back(std::to_string(c));
    if (source.like != nullptr) info.classNames = source.like->info().classNames;
    LATHE_TRY(checkClassCount(source, info.classNames));
    info.classCounts = countClasses(answers.labels, info.classNames.size());
    return {};
}

Result<void> takeTargets(const Source& source, const IdxArray& array, Info& info, Answers& answers) {
    info.targetNames = {"value"};
    answers.targetColumns = 1;
    answers.targets.reserve(array.count());
    for (std::size_t record = 0; record < array.count(); ++record) {
        answers.targets.push_back(array.value(record));
        if (!std::isfinite(answers.targets.back()))
            return dataError("Value of record " + std::to_string(record) + " in " + source.labels.string() + " is not finite",
                             source.labelsKey);
    }
    return {};
}

Result<void> takeAnswers(const Source& source, Info& info, Answers& answers) {
    if (source.labels.empty()) {
        const std::filesystem::path beside = labelsBeside(source.path);
        return dataError("An IDX file of inputs needs its file of labels: set " + source.labelsKey +
                             (beside.empty() ? "" : ", for example to " + beside.string()),
                         source.labelsKey);
    }
    LATHE_TRY_ASSIGN(const IdxArray array, readIdx(source.labels, source.labelsKey));
    if (array.dimensions.size() != 1)
        return dataError(source.labels.string() + " has " + std::to_string(array.dimensions.size()) +
                             " dimensions, labels have one: it may be the file of inputs",
                         source.labelsKey);
    if (array.dimensions[0] != info.samples)
        return dataError(source.labels.string() + " holds " + countOf(array.dimensions[0], "label", "labels") + ", " +
                             source.path.string() + " holds " + countOf(info.samples, "record", "records") +
                             ": they do not belong together",
                         source.labelsKey);
    return source.classification() ? takeClasses(source, array, info, answers) : takeTargets(source, array, info, answers);
}

struct PictureShape {
    std::int64_t channels = 1, height = 0, width = 0;
    bool planes = false;  ///< channels before rows
};

Result<PictureShape> pictureShape(const Source& source, const IdxArray& array) {
    const auto& d = array.dimensions;
    const auto isChannels = [](std::int64_t n) { return n == 1 || n == 3; };
    PictureShape shape;
    if (d.size() == 3) shape = {1, d[1], d[2], false};
    else if (isChannels(d[1])) shape = {d[1], d[2], d[3], true};
    else if (isChannels(d[3])) shape = {d[3], d[1], d[2], false};
    else return dataError(source.path.string() + " has four dimensions, but neither the second nor the last is 1 or 3 channels",
                          source.key);
    if (array.type != 0x08)
        return dataError(source.path.string() + " holds pictures that are not unsigned bytes: write them as type 08", source.key);
    if (shape.height > kMaxSide || shape.width > kMaxSide)
        return dataError(source.path.string() + " holds pictures of more than " + std::to_string(kMaxSide) + " pixels a side",
                         source.key);
    return shape;
}

Picture pictureAt(const IdxArray& array, const PictureShape& shape, std::int64_t record) {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const std::size_t pixels = static_cast<std::size_t>(shape.height * shape.width);
    const auto* from = reinterpret_cast<const std::uint8_t*>(array.bytes.data()) + static_cast<std::size_t>(record) * pixels * channels;
    Picture picture{static_cast<int>(shape.width), static_cast<int>(shape.height), static_cast<int>(shape.channels), {}};
    picture.pixels.assign(from, from + pixels * channels);
    if (shape.planes && channels > 1)
        for (std::size_t i = 0; i < pixels; ++i)
            for (std::size_t c = 0; c < channels; ++c) picture.pixels[i * channels + c] = from[c * pixels + i];
    return picture;
}

Result<std::unique_ptr<Dataset>> openPictures(const Source& source, const IdxArray& array, Info info, Answers answers) {
    LATHE_TRY_ASSIGN(const PictureShape shape, pictureShape(source, array));
    PictureDataset::Content content;
    content.rule = pictureRule(source, shape.channels == 3);
    info.images = true;
    info.channels = content.rule.channels;
    info.height = content.rule.side > 0 ? content.rule.side : shape.height;
    info.width = content.rule.side > 0 ? content.rule.side : shape.width;
    if (source.like != nullptr && (info.height != source.like->info().height || info.width != source.like->info().width))
        return dataError(source.path.string() + " holds pictures of another size than the training data: set data.image_size",
                         source.key);
    LATHE_TRY(checkMemory(source.path, static_cast<double>(info.samples) * static_cast<double>(info.inputElements()), source.key));
    content.contentHash = hashHex(array.bytes);
    content.stored.reserve(static_cast<std::size_t>(info.samples * info.inputElements()));
    for (std::int64_t record = 0; record < info.samples; ++record) {
        if (record % 1024 == 0) LATHE_TRY(source.report(record, info.samples));
        const Picture picture = content.rule.apply(pictureAt(array, shape, record));
        content.stored.insert(content.stored.end(), picture.pixels.begin(), picture.pixels.end());
    }
    LATHE_TRY(source.report(info.samples, info.samples));
    content.info = std::move(info);
    content.answers = std::move(answers);
    return std::unique_ptr<Dataset>(std::make_unique<PictureDataset>(std::move(content)));
}

Result<std::unique_ptr<Dataset>> openFeatures(const Source& source, const IdxArray& array, Info info, Answers answers) {
    const std::int64_t features = array.dimensions[1];
    if (source.like != nullptr && features != static_cast<std::int64_t>(source.like->info().featureNames.size()))
        return dataError(source.path.string() + " has " + countOf(features, "feature", "features") + ", the training data have " +
                             std::to_string(source.like->info().featureNames.size()),
                         source.key);
    for (std::int64_t i = 0; i < features; ++i) info.featureNames.push_back(std::to_string(i));
    LATHE_TRY(checkMemory(source.path, 8.0 * static_cast<double>(array.count()), source.key));
    std::vector<double> cells(array.count());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i] = array.value(i);
        if (!std::isfinite(cells[i]))
            return dataError("Record " + std::to_string(i / static_cast<std::size_t>(features)) + " of " + source.path.string() +
                                 " holds a value that is not finite",
                             source.key);
    }
    LATHE_TRY(source.report(info.samples, info.samples));
    return std::unique_ptr<Dataset>(std::make_unique<TableDataset>(std::move(info), std::move(cells), std::move(answers),
                                                                   std::vector<std::int64_t>{}));
}

}  // namespace

Result<std::unique_ptr<Dataset>> openIdx(const Source& source) {
    LATHE_TRY_ASSIGN(const IdxArray array, readIdx(source.path, source.key));
    if (array.dimensions.size() < 2)
        return dataError(source.path.string() + " has one dimension, inputs have 2 (features), 3 or 4 (pictures): it may be "
                                                "the file of labels",
                         source.key);
    Info info;
    info.format = "idx";
    info.samples = array.dimensions[0];
    Answers answers;
    LATHE_TRY(takeAnswers(source, info, answers));
    if (array.dimensions.size() == 2) return openFeatures(source, array, std::move(info), std::move(answers));
    return openPictures(source, array, std::move(info), std::move(answers));
}

}  // namespace lathe::dataset
