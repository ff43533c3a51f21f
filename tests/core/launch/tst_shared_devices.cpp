// A session's hold on its devices, against what the queue and a cleaner of temporary files do with the same locks.
#include "launch/session/shared_devices.h"

#include <QTemporaryDir>
#include <QtTest/QTest>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace lathe;
using launch::DeviceLock;
using launch::SharedDevices;
using Use = DeviceLock::Use;
using Sentences = std::vector<std::string>;

static constexpr std::int64_t kSecond = 1'000'000'000;

class TestSharedDevices : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    const device::Candidates m_cpu{{"cpu"}, 1};

    std::filesystem::path file() const { return std::filesystem::path(m_folder->path().toStdString()) / "lathe-cpu.lock"; }
    /// One that is older than who was just made: else nobody gets it alone.
    void make() const {
        std::ofstream(file()) << "";
        std::filesystem::last_write_time(file(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
    static std::optional<DeviceLock> take(Use use) {
        auto lock = DeviceLock::take("cpu", use);
        if (!lock) qFatal("%s", lock.error().text().c_str());
        return std::move(*lock);
    }
    static bool tells(const Sentences& told, const std::string& part) { return told.size() == 1 && told.front().find(part) != std::string::npos; }

private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        qputenv("LATHE_DEVICE_LOCKS", m_folder->path().toUtf8());
        make();
    }

    void whatIsSharedNobodyGetsAloneUntilItsSessionIsOver() {
        {
            SharedDevices one, other;
            QVERIFY(one.share(m_cpu).empty() && other.share(m_cpu).empty());
            QVERIFY(!take(Use::Alone));
            QVERIFY(one.keep(0).empty());
        }
        QVERIFY(take(Use::Alone));
    }
    void asManyAreTakenAsAreNeeded() {
        SharedDevices devices;
        QVERIFY(devices.share({{"cpu", "GPU-2", "GPU-3"}, 2}).empty());
        QVERIFY(std::filesystem::exists(file().parent_path() / "lathe-GPU-2.lock"));
        QVERIFY(!std::filesystem::exists(file().parent_path() / "lathe-GPU-3.lock"));
    }
    void thatARunFromTheQueueHasOneIsToldAndNoMore() {
        const auto alone = take(Use::Alone);
        SharedDevices devices;
        QVERIFY(tells(devices.share(m_cpu), "A run from the queue has cpu for itself"));
        QVERIFY(devices.keep(0).empty() && devices.keep(5 * kSecond).empty());   // it never had that one
    }
    void whatACleanerRemovedIsTakenAgainWithoutAWord() {
        SharedDevices devices;
        devices.share(m_cpu);
        std::filesystem::remove(file());
        QVERIFY(devices.keep(0).empty());
        std::filesystem::last_write_time(file(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
        QVERIFY(!take(Use::Alone));
    }
    void whatSomebodyTookMeanwhileIsToldOnceAndOnlyAfterASecond() {
        SharedDevices devices;
        devices.share(m_cpu);
        for (const std::int64_t from : {100 * kSecond, 200 * kSecond}) {   // and again once it was held in between
            std::filesystem::remove(file());
            make();
            auto other = take(Use::Alone);
            QVERIFY(other);
            QVERIFY(devices.keep(from).empty() && devices.keep(from + kSecond - 1).empty());
            QVERIFY(tells(devices.keep(from + kSecond), "another run has cpu by now"));
            QVERIFY(devices.keep(from + 9 * kSecond).empty());
            other.reset();
            QVERIFY(devices.keep(from + 10 * kSecond).empty());
            QVERIFY(!take(Use::Alone));
        }
    }
    void aLockThatCannotBeMadeAgainIsToldWithItsReason() {
        SharedDevices devices;
        devices.share(m_cpu);
        std::filesystem::remove(file());
        std::filesystem::create_symlink("/dev/null", file());   // not followed
        QVERIFY(devices.keep(100 * kSecond).empty());
        QVERIFY(tells(devices.keep(101 * kSecond), "a run from the queue may start beside this one: "));
    }
    void whatTheQueueTookIsKeptAloneAndGoesWithWhoTookIt() {
        auto locks = std::make_shared<launch::DeviceLocks>();
        locks->push_back(*take(Use::Alone));
        SharedDevices devices(locks);
        std::filesystem::remove(file());
        QVERIFY(devices.keep(0).empty());
        QVERIFY(!take(Use::Shared));
        QCOMPARE(locks->size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestSharedDevices)
#include "tst_shared_devices.moc"
