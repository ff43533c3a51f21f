#include "pages/data_scan.h"

#include "plan/order.h"
#include "session/qt_text.h"

namespace lathe::pages {
namespace {

constexpr int kSamples = 9, kThumbnailSide = 96;

ScanResult failure(ScanResult result, Error error) {
    if (error.key.empty()) error.key = "data.train";
    result.error = std::move(error);
    return result;
}

ScanResult scanData(const config::DataSection& data, const config::TaskSection& task, const dataset::Progress& progress) {
    ScanResult result;
    result.data = data;
    result.task = task;
    if (data.format == "auto") {
        auto format = dataset::guessFormat(data.train);
        if (!format.ok()) return failure(std::move(result), std::move(format).error());
        result.data.format = *format;
    }
    auto found = dataset::scan(result.data, task, dataset::Part::Train, progress);
    if (!found.ok()) return failure(std::move(result), std::move(found).error());
    const dataset::Dataset& samples = **found;
    result.info = samples.info();
    for (const std::int64_t sample : dataset::examples(samples, kSamples))
        if (auto picture = samples.thumbnail(sample, kThumbnailSide); picture.ok()) result.samples.push_back(std::move(*picture));
    result.trainSamples = result.info.samples;
    if (data.eval.empty() && result.info.heldOut) result.trainSamples -= *result.info.heldOut;
    else if (data.eval.empty()) result.trainSamples = std::int64_t(plan::split(result.info.samples, data.evalFraction, std::uint64_t(data.splitSeed)).train.size());
    return result;
}

ScanResult scanOwnData(const std::string& path, const dataset::Progress& progress) {
    auto suggestion = dataset::suggest(path, progress);
    if (!suggestion.ok()) {
        ScanResult result;
        result.data.train = path;
        return failure(std::move(result), std::move(suggestion).error());
    }
    ScanResult result = scanData(suggestion->data, suggestion->task, progress);
    for (const std::string& note : suggestion->notes) result.notes << session::toQt(note);
    result.own = std::move(*suggestion);
    return result;
}

}  // namespace

DataScan::DataScan(QObject* parent) : QObject(parent) {}

DataScan::~DataScan() {
    m_job.cancel();
    m_pool.waitForDone();
}

template <typename Look>
void DataScan::begin(Look look) {
    m_job.start(
        [this, look = std::move(look)](const session::NewestJob::Cancelled& cancelled) {
            // `this` outlives the job: the destructor waits for it.
            return look([this, cancelled](std::int64_t done, std::int64_t total) {
                if (*cancelled) return false;
                QMetaObject::invokeMethod(this, [this, done, total] { Q_EMIT progressed(done, total); }, Qt::QueuedConnection);
                return true;
            });
        },
        [this](ScanResult result) { Q_EMIT finished(result); });
}

void DataScan::start(const config::DataSection& data, const config::TaskSection& task) {
    begin([data, task](const dataset::Progress& progress) { return scanData(data, task, progress); });
}

void DataScan::startOwnData(const QString& path) {
    begin([path = session::toStd(path)](const dataset::Progress& progress) { return scanOwnData(path, progress); });
}

void DataScan::cancel() { m_job.cancel(); }

}  // namespace lathe::pages
