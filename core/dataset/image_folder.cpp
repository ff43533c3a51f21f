#include "base/file_system.h"
#include "dataset/image_file.h"
#include "dataset/parallel_for.h"
#include "dataset/picture_dataset.h"
#include "dataset/source.h"
#include "dataset/wording.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace lathe::dataset {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kListedUnreadable = 100;
constexpr double kKeepInMemoryBytes = 1024.0 * 1024 * 1024;

struct ImageFile {
    std::string name;  ///< "rose/12.jpg"
    std::int64_t classIndex = 0;
    std::uint64_t bytes = 0;
    ImageHeader header;
    std::string why;   ///< not empty: left out
};

struct Listing {
    std::vector<std::string> classes;  ///< folders that hold files, sorted
    std::vector<ImageFile> files;
    std::vector<Unreadable> strays;    ///< what is no picture in a class folder
};

/// Hidden files, and what other systems leave in every folder they show.
bool ignored(const std::string& name) {
    return name.starts_with('.') || name == "Thumbs.db" || name == "desktop.ini" || name == "__MACOSX";
}

bool hasImageSuffix(const std::string& name) {
    std::string suffix = stdfs::path(name).extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return suffix == ".jpg" || suffix == ".jpeg" || suffix == ".png";
}

Result<void> listClass(const stdfs::path& root, const std::string& folder, Listing& listing) {
    LATHE_TRY_ASSIGN(const auto names, listFolder(root / folder));
    const std::size_t before = listing.files.size();
    for (const std::string& name : names) {
        if (ignored(name)) continue;
        const std::string relative = folder + "/" + name;
        std::error_code problem;
        if (stdfs::is_directory(root / relative, problem)) {
            listing.strays.push_back({relative, "is a folder within a class folder: pictures must lie directly in the class folder"});
            continue;
        }
        ImageFile file{relative, static_cast<std::int64_t>(listing.classes.size()), 0, {}, {}};
        file.bytes = stdfs::file_size(root / relative, problem);
        listing.files.push_back(std::move(file));
    }
    if (listing.files.size() > before) listing.classes.push_back(folder);
    return {};
}

Result<Listing> listImages(const stdfs::path& root) {
    LATHE_TRY_ASSIGN(const auto names, listFolder(root));
    Listing listing;
    for (const std::string& name : names) {
        if (ignored(name)) continue;
        std::error_code problem;
        if (stdfs::is_directory(root / name, problem)) LATHE_TRY(listClass(root, name, listing));
        else if (hasImageSuffix(name)) listing.strays.push_back({name, "lies beside the class folders and so has no class"});
    }
    return listing;
}

/// Why a folder does not serve, and what to do. `classes` are those with a usable picture.
Error noClasses(const Source& source, const Listing& listing, const std::vector<std::string>& classes, const Info& info) {
    const std::string root = source.path.string();
    std::error_code problem;
    for (const char* part : {"train", "training"})
        if (stdfs::is_directory(source.path / part, problem))
            return dataError(root + " holds no class folders itself: choose " + (source.path / part).string(), source.key);
    if (classes.size() == 1)
        return dataError(root + " has usable pictures of only one class (" + inQuotes(classes[0]) + "): classification needs at "
                                "least two class folders", source.key);
    const std::string first = info.unreadable.empty() ? "" : ": " + info.unreadable[0].what + " " + info.unreadable[0].why;
    if (listing.classes.empty() && !first.empty())
        return dataError(root + " has no class folders: put the pictures of each class into a folder of their own, named after "
                                "the class", source.key);
    return dataError(root + " has no class folders with usable JPEG or PNG pictures" + first, source.key);
}

/// The error's sentence without the path that the list names anyway.
std::string whyOf(const Error& error, const stdfs::path& path) {
    const std::string prefix = path.string() + " ";
    return error.sentence.starts_with(prefix) ? error.sentence.substr(prefix.size()) : error.sentence;
}

Result<void> readHeaders(const Source& source, std::vector<ImageFile>& files) {
    return parallelFor(source, static_cast<std::int64_t>(files.size()), [&](std::int64_t i) {
        ImageFile& file = files[static_cast<std::size_t>(i)];
        const stdfs::path path = source.path / file.name;
        const auto header = readImageHeader(path);
        if (header.ok()) file.header = *header;
        else file.why = whyOf(header.error(), path);
        if (!header.ok() || header->whole || !source.onDemand) return;
        if (const auto decoded = decodeImage(path); !decoded.ok()) file.why = whyOf(decoded.error(), path);
    });
}

void leaveOutUnreadable(Listing& listing, Info& info) {
    std::vector<Unreadable> all = listing.strays;
    for (const ImageFile& file : listing.files)
        if (!file.why.empty()) all.push_back({file.name, file.why});
    std::erase_if(listing.files, [](const ImageFile& file) { return !file.why.empty(); });
    std::sort(all.begin(), all.end(), [](const Unreadable& a, const Unreadable& b) { return a.what < b.what; });
    info.unreadableCount = static_cast<std::int64_t>(all.size());
    all.resize(std::min(all.size(), kListedUnreadable));
    info.unreadable = std::move(all);
}

/// Class names and labels; a folder without a usable picture makes no class.
Result<void> nameClasses(const Source& source, const Listing& listing, Info& info, Answers& answers) {
    std::vector<std::int64_t> place(listing.classes.size(), -1);
    std::vector<std::string> names;
    for (const ImageFile& file : listing.files) {  // sorted by class
        auto& at = place[static_cast<std::size_t>(file.classIndex)];
        if (at < 0) {
            at = static_cast<std::int64_t>(names.size());
            names.push_back(listing.classes[static_cast<std::size_t>(file.classIndex)]);
        }
        answers.labels.push_back(at);
    }
    if (names.empty() || (names.size() < 2 && source.like == nullptr)) return noClasses(source, listing, names, info);
    if (source.like != nullptr) {
        LATHE_TRY_ASSIGN(Classes classes, classesOf(source, std::move(names), std::move(answers.labels), [&](std::int64_t sample) {
                             return listing.files[static_cast<std::size_t>(sample)].name;
                         }));
        names = std::move(classes.names);
        answers.labels = std::move(classes.labels);
    }
    LATHE_TRY(checkClassCount(source, names));
    info.classCounts = countClasses(answers.labels, names.size());
    info.classNames = std::move(names);
    return {};
}

/// One size for all: data.image_size, or what all pictures have. Requires: a usable file.
Result<void> chooseSize(const Source& source, const std::vector<ImageFile>& files, const PictureRule& rule, Info& info) {
    info.channels = rule.channels;
    info.width = info.height = rule.side;
    if (rule.side > 0) return {};
    const ImageFile& first = *std::find_if(files.begin(), files.end(), [](const ImageFile& file) { return file.why.empty(); });
    const auto sizeText = [](const ImageFile& file) {
        return file.name + " has " + std::to_string(file.header.width) + " x " + std::to_string(file.header.height);
    };
    const auto other = std::find_if(files.begin(), files.end(), [&](const ImageFile& file) {
        return file.why.empty() && (file.header.width != first.header.width || file.header.height != first.header.height);
    });
    if (other != files.end()) {
        if (source.anySize) return {};
        return dataError("Pictures differ in size (" + sizeText(first) + ", " + sizeText(*other) + " pixels): set data.image_size",
                         "data.image_size");
    }
    info.width = first.header.width;
    info.height = first.header.height;
    if (source.like == nullptr || (source.like->info().width == info.width && source.like->info().height == info.height)) return {};
    return dataError("Pictures of " + source.path.string() + " have another size than those of the training data: set "
                     "data.image_size", "data.image_size");
}

/// Decodes every picture once. Those that fit into memory together stay there; `stored` is empty otherwise.
Result<void> decodeAll(const Source& source, const PictureRule& rule, const Info& info, std::vector<ImageFile>& files,
                       std::vector<std::uint8_t>& stored) {
    const auto bytes = static_cast<std::size_t>(info.inputElements());
    const bool keep = static_cast<double>(bytes) * static_cast<double>(files.size()) <= kKeepInMemoryBytes;
    if (keep) stored.resize(bytes * files.size());
    LATHE_TRY(parallelFor(source, static_cast<std::int64_t>(files.size()), [&](std::int64_t i) {
        ImageFile& file = files[static_cast<std::size_t>(i)];
        if (!file.why.empty()) return;
        const stdfs::path path = source.path / file.name;
        const auto picture = decodeImage(path, &rule);
        if (!picture.ok()) file.why = whyOf(picture.error(), path);
        else if (picture->pixels.size() != bytes) file.why = "changed its size while it was read";
        else if (keep)
            std::copy(picture->pixels.begin(), picture->pixels.end(), stored.begin() + i * static_cast<std::ptrdiff_t>(bytes));
    }));
    if (!keep) return {};
    auto end = stored.begin();
    for (std::size_t i = 0; i < files.size(); ++i)
        if (files[i].why.empty()) end = std::copy_n(stored.begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes, end);
    stored.erase(end, stored.end());
    return {};
}

/// Looks at every file, decides what all pictures become, and (unless on demand) decodes them.
Result<void> readPictures(const Source& source, Listing& listing, PictureDataset::Content& content) {
    LATHE_TRY(readHeaders(source, listing.files));
    const auto usable = [](const ImageFile& file) { return file.why.empty(); };
    if (std::any_of(listing.files.begin(), listing.files.end(), usable)) {
        const bool colour = std::any_of(listing.files.begin(), listing.files.end(),
                                        [&](const ImageFile& file) { return usable(file) && file.header.colour; });
        content.rule = pictureRule(source, colour);
        LATHE_TRY(chooseSize(source, listing.files, content.rule, content.info));
        if (!source.onDemand) LATHE_TRY(decodeAll(source, content.rule, content.info, listing.files, content.stored));
    }
    leaveOutUnreadable(listing, content.info);
    return {};
}

}  // namespace

Result<std::unique_ptr<Dataset>> openImageFolder(const Source& source) {
    if (!source.classification())
        return dataError("A folder of class folders gives classes: set task.name to classification, or data.train to a CSV file",
                         "task.name");
    std::error_code problem;
    if (!stdfs::is_directory(source.path, problem))
        return dataError(source.path.string() + " is not a folder: image_folder needs a folder of class folders", source.key);
    LATHE_TRY_ASSIGN(Listing listing, listImages(source.path));
    PictureDataset::Content content;
    Info& info = content.info;
    info.format = "image_folder";
    info.images = true;
    LATHE_TRY(readPictures(source, listing, content));
    LATHE_TRY(nameClasses(source, listing, info, content.answers));
    info.samples = static_cast<std::int64_t>(listing.files.size());
    for (ImageFile& file : listing.files) {
        content.fileBytes.push_back(file.bytes);
        content.names.push_back(std::move(file.name));
    }
    content.decode = [root = source.path](const std::string& name, const PictureRule* rule) { return decodeImage(root / name, rule); };
    return std::unique_ptr<Dataset>(std::make_unique<PictureDataset>(std::move(content)));
}

}  // namespace lathe::dataset
