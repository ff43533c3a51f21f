// Looking into training data in the background: what it is, a few samples, and what is wrong with it. The same code that
// training reads with.
#pragma once

#include "config/sections.h"
#include "dataset/dataset.h"
#include "dataset/suggest.h"
#include "session/background.h"

#include <QObject>
#include <QStringList>

#include <optional>
#include <vector>

namespace lathe::pages {

struct ScanResult {
    config::DataSection data;   ///< as asked, with the format filled in; as suggested for own data
    config::TaskSection task;
    QStringList notes;          ///< what was decided for own data and may be changed
    std::optional<dataset::Suggestion> own;   ///< of own data
    dataset::Info info;
    std::vector<dataset::Thumbnail> samples;  ///< up to nine
    std::int64_t trainSamples = 0;            ///< after the split
    std::optional<Error> error;
};

class DataScan : public QObject {
    Q_OBJECT

public:
    explicit DataScan(QObject* parent = nullptr);
    ~DataScan() override;

    /// Looks at data.train; a later start() makes this one void.
    void start(const config::DataSection& data, const config::TaskSection& task);
    /// Finds out what a configuration should say about a path, then looks at that.
    void startOwnData(const QString& path);
    void cancel();

Q_SIGNALS:
    void progressed(qint64 done, qint64 total);
    void finished(const lathe::pages::ScanResult& result);

private:
    template <typename Look>
    void begin(Look look);

    session::SerialPool m_pool;
    session::NewestJob m_job{m_pool};
};

}  // namespace lathe::pages
