// Training data as plain numbers, without LibTorch: folders of class folders (JPEG, PNG), CSV, IDX, plain text. The window, `check`
// and the engine read data through this one door, so that what the form says is what training sees.
//
// Values: pixels are v / 255 (normalize: unit) in channel, row, column order; CSV cells are doubles. Labels are class
// indices; class names of a folder are its class folders sorted by bytes; of a CSV target the distinct texts, sorted
// numerically when all are integers, else by bytes; of IDX the digits 0 … max. Of a text the samples are rows of bytes
// (text_rows.h).
// Thread: immutable after opening; any number of threads may read samples.
#pragma once

#include "base/result.h"
#include "config/sections.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe {
class Hasher;
}

namespace lathe::dataset {

class TextRows;

struct Unreadable {
    std::string what;  ///< file, or "line 17"
    std::string why;
};

struct Doubt {
    std::string key, sentence;
};

struct Info {
    std::string format;                     ///< image_folder | csv | idx | text
    bool images = false;
    std::int64_t samples = 0;               ///< usable ones
    std::int64_t channels = 0, height = 0, width = 0;   ///< images, after resizing; 0 when they differ and no size was given
    std::vector<std::string> featureNames;  ///< CSV
    std::vector<std::string> targetNames;   ///< CSV
    std::vector<std::string> classNames;    ///< classification
    std::vector<std::int64_t> classCounts;  ///< beside classNames
    std::vector<Unreadable> unreadable;     ///< left out; the first 100
    std::int64_t unreadableCount = 0;
    bool weighted = false;
    std::optional<std::int64_t> heldOut;    ///< text: the last so many samples are held out; none: those are drawn by chance
    std::int64_t bytes = 0, documents = 0, context = 0, heldOutBytes = 0;   ///< text
    bool holdsZeroBytes = false;            ///< text

    std::int64_t inputElements() const;     ///< of one sample
    /// "300 images · 5 classes · 1 unreadable", "1,797 rows · 64 features · 10 classes".
    std::string sentence() const;
    /// What speaks against the data or the chosen task, a sentence each: a target of many different numbers taken for
    /// classes, a first line that looks like data and not like names, a text with zero bytes.
    std::vector<Doubt> doubts() const;
};

/// Random variation of one sample: a function of (seed, epoch, sample id, copy), never of order or thread.
struct Augmentation {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
    std::uint32_t copy = 0;
    bool flip = false;
    std::int64_t shift = 0;
};

/// Samples read so far of how many (0: not known yet). Called from the opening thread alone; false ends the opening with
/// ErrorCode::Stopped.
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// A sample for people: a small picture, or a row of numbers as text.
struct Thumbnail {
    std::string where;               ///< as describe()
    std::string answer;              ///< class name, or the target values
    std::string text;                ///< rows: "age 31, height 1.7, …"; empty for pictures
    int width = 0, height = 0;       ///< pictures; 0 for rows
    std::vector<std::uint8_t> rgb;   ///< rows from the top, 3 bytes a pixel
};

class Dataset {
public:
    virtual ~Dataset() = default;
    const Info& info() const { return m_info; }

    /// Input of a sample; out.size() == info().inputElements(). `augmentation` null: as it is. It varies pictures only.
    /// Fails only where a picture that is decoded on demand has changed or gone since opening.
    virtual Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<float> out) const = 0;
    virtual Result<void> input(std::int64_t sample, const Augmentation* augmentation, std::span<double> out) const = 0;
    virtual std::int64_t label(std::int64_t sample) const = 0;                  ///< classification; -1 otherwise
    virtual std::span<const double> target(std::int64_t sample) const = 0;      ///< regression; one a target column
    virtual double weight(std::int64_t sample) const = 0;                       ///< 1 where none is given; text: bytes to be foretold
    virtual const TextRows* text() const { return nullptr; }                    ///< of a text, else null
    virtual std::string describe(std::int64_t sample) const = 0;                ///< "rose/12.jpg", "line 18"
    /// At most side x side pixels; works at any time, also after scan().
    virtual Result<Thumbnail> thumbnail(std::int64_t sample, int side) const = 0;
    /// Adds all that fingerprint() covers beside info().
    virtual void hashInto(Hasher& hasher) const = 0;

protected:
    Thumbnail captioned(std::int64_t sample) const;  ///< `where` and `answer` filled
    Info m_info;
};

enum class Part { Train, Eval };

/// Opens data.train (Part::Train) or data.eval (Part::Eval; Usage error when it is empty). Class names, columns, channels
/// and size of the training part bind the evaluation part (`like`): a class that training does not know is an error
/// naming it. data.standardize is not applied here but by whoever knows which samples train.
/// Pictures: each is decoded once, in several threads, so that a damaged one is left out now and not met in mid-run. They
/// stay in memory when all take at most 1 GiB (as bytes, resized); otherwise each is decoded again when it is read.
/// Errors are Data, NotFound, Corrupt or OutOfMemory with the configuration key set ("data.train", "data.target" …).
Result<std::unique_ptr<Dataset>> open(const config::DataSection& data, const config::TaskSection& task, Part part,
                                      const Dataset* like = nullptr, const Progress& progress = {});

/// To know beforehand what open() would say: the same rules and errors, but of pictures only the headers are read (and what
/// looks cut short is decoded); input() decodes on demand.
Result<std::unique_ptr<Dataset>> survey(const config::DataSection& data, const config::TaskSection& task, Part part,
                                        const Dataset* like = nullptr, const Progress& progress = {});

/// For the form: as survey(), but pictures of different sizes are allowed. Good for info() and thumbnail(); input() needs one
/// size.
Result<std::unique_ptr<Dataset>> scan(const config::DataSection& data, const config::TaskSection& task, Part part,
                                      const Progress& progress = {});

/// What can be told in a moment, without reading the data: that they are there and of a known kind, of CSV that the
/// columns of the configuration are among its own, of a text that it is long enough. Errors as of open().
Result<void> glance(const config::DataSection& data, const config::TaskSection& task);

/// Samples to show: spread evenly over the classes (classification) or the file.
std::vector<std::int64_t> examples(const Dataset& dataset, std::int64_t count);

/// Hash over the names, sizes and labels of the samples, of CSV and IDX files also over the values: tells whether two runs
/// saw the same data, wherever they lie. What a configuration makes of pictures (size, channels) does not count.
std::string fingerprint(const Dataset& dataset);

/// What lies at a path: "image_folder", "csv", "idx", "text". Error with a sentence when it is none of them.
Result<std::string> guessFormat(const std::string& path);

}  // namespace lathe::dataset
