// Work off the GUI thread. Results come back on the thread of the object that asked, and only while it lives.
#pragma once

#include <QCoreApplication>
#include <QMetaObject>
#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <atomic>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace lathe::session {

/// For jobs that mostly wait. Thread: GUI thread.
QThreadPool& jobPool();

/// Runs `work` on `pool`, then `done(result)` on the thread of `context` unless it is gone. `work` must not touch `context`.
template <typename Work, typename Done>
void runInBackground(QThreadPool& pool, QObject* context, Work work, Done done) {
    // The receiver lives as long as its parent; it is what a finished job finds, or does not find.
    auto receiver = std::make_shared<QPointer<QObject>>(new QObject(context));
    pool.start([receiver, work = std::move(work), done = std::move(done)]() mutable {
        auto result = std::make_shared<std::invoke_result_t<Work>>(work());
        QMetaObject::invokeMethod(QCoreApplication::instance(), [receiver, result, done = std::move(done)]() mutable {
            if (receiver->isNull()) return;
            delete receiver->data();
            done(std::move(*result));
        }, Qt::QueuedConnection);
    });
}

/// A pool of one thread that stays: jobs run in order, always on the same thread (for objects bound to one).
class SerialPool : public QThreadPool {
public:
    SerialPool() {
        setMaxThreadCount(1);
        setExpiryTimeout(-1);
    }
};

/// Newest wins: a later start() makes the result of an earlier one void. `work` gets a flag to look at in long loops.
class NewestJob : public QObject {
public:
    using Cancelled = std::shared_ptr<const std::atomic<bool>>;
    explicit NewestJob(QThreadPool& pool, QObject* parent = nullptr) : QObject(parent), m_pool(pool) {}
    ~NewestJob() override { cancel(); }

    template <typename Work, typename Done>
    void start(Work work, Done done) {
        cancel();
        auto flag = m_flag = std::make_shared<std::atomic<bool>>(false);
        runInBackground(m_pool, this, [work = std::move(work), flag]() mutable { return work(Cancelled(flag)); },
                        [this, flag, done = std::move(done)](auto result) mutable {
                            if (*flag) return;
                            m_flag.reset();
                            done(std::move(result));
                        });
    }
    void cancel() {
        if (m_flag) *m_flag = true;
        m_flag.reset();
    }
    bool running() const { return m_flag != nullptr; }

private:
    QThreadPool& m_pool;
    std::shared_ptr<std::atomic<bool>> m_flag;
};

}  // namespace lathe::session
