// Devices of a machine: from written-out /proc and sysfs files, and from a stand-in for NVIDIA's management library.
#include "device/devices.h"
#include "device/proc.h"

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <algorithm>
#include <cmath>
#include <thread>

using namespace lathe;
using namespace lathe::device;

namespace {

constexpr std::uint64_t kGiB = 1024ull * 1024 * 1024;

void write(const QTemporaryDir& root, const QString& path, const QByteArray& content) {
    QDir().mkpath(QFileInfo(root.filePath(path)).path());
    QFile file(root.filePath(path));
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate) || file.write(content) != content.size()) qFatal("cannot write");
}

/// Four cores with two threads each, CPUs 0 and 4 on one core and so on.
void writeMachine(const QTemporaryDir& root) {
    write(root, "proc/cpuinfo", "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Test CPU 9000 @ 3 GHz\nflags\t\t: fpu sse4_2 avx2 fma avx\n\nprocessor\t: 1\nmodel name\t: Test CPU 9000 @ 3 GHz\n");
    write(root, "sys/devices/system/cpu/online", "0-7\n");
    for (int i = 0; i < 8; ++i)
        write(root, QString("sys/devices/system/cpu/cpu%1/topology/thread_siblings_list").arg(i), QByteArray::number(i % 4) + "," + QByteArray::number(i % 4 + 4) + "\n");
    write(root, "proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:    8388608 kB\n");
    write(root, "proc/loadavg", "1.25 0.5 0.1 1/100 4242\n");
    write(root, "proc/stat", "cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 2 3\n");
}

std::filesystem::path rootOf(const QTemporaryDir& root) { return root.path().toStdString(); }

const Sample* find(const std::vector<Sample>& samples, const char* name) {
    const auto found = std::find_if(samples.begin(), samples.end(), [&](const Sample& sample) { return sample.name == name; });
    return found == samples.end() ? nullptr : &*found;
}

}  // namespace

class TestDevices : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { qputenv("FAKE_NVML", "fine"); }

    void theCpuIsReadFromTheSystemsFiles() {
        QTemporaryDir root;
        writeMachine(root);
        const Cpu found = cpu(rootOf(root));
        QCOMPARE(found.model, std::string("Test CPU 9000 @ 3 GHz"));
        QVERIFY((found.instructions == std::vector<std::string>{"avx", "avx2", "fma", "sse4_2"}));
        QCOMPARE(found.threads, 8);
        QCOMPARE(found.physicalCores, 4);
        QCOMPARE(found.usableCores, 4);
        QCOMPARE(found.memoryTotal, 16 * kGiB);
        QCOMPARE(found.memoryAvailable, 8 * kGiB);
        QCOMPARE(found.load, 1.25);
    }

    void limitsOfAContainerCount() {
        QTemporaryDir root;
        writeMachine(root);
        write(root, "proc/self/cgroup", "0::/outer/inner\n");
        write(root, "sys/fs/cgroup/outer/inner/memory.max", "max\n");
        write(root, "sys/fs/cgroup/outer/memory.max", QByteArray::number(qulonglong(4 * kGiB)) + "\n");
        write(root, "sys/fs/cgroup/outer/memory.current", QByteArray::number(qulonglong(1 * kGiB)) + "\n");
        write(root, "sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
        write(root, "sys/fs/cgroup/cpu.max", "max 100000\n");
        const Cpu found = cpu(rootOf(root));
        QCOMPARE(found.memoryTotal, 4 * kGiB);
        QCOMPARE(found.memoryAvailable, 3 * kGiB);
        QCOMPARE(found.usableCores, 2);
        QCOMPARE(found.physicalCores, 4);
    }

    void killsForMemoryAreThoseOfTheControlGroup() {
        QTemporaryDir root;
        write(root, "proc/vmstat", "nr_free_pages 12\noom_kill 7\n");
        QCOMPARE(outOfMemoryKills(rootOf(root)), 7u);   // of the machine, where no group tells
        write(root, "proc/self/cgroup", "0::/outer/inner\n");
        write(root, "sys/fs/cgroup/outer/inner/memory.events", "low 0\nhigh 3\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n");
        QCOMPARE(outOfMemoryKills(rootOf(root)), 1u);
        write(root, "sys/fs/cgroup/outer/inner/memory.events", "oom_kill many\n");
        QCOMPARE(outOfMemoryKills(rootOf(root)), 7u);
        write(root, "proc/self/status", "Name:\tx\nVmSize:\t  2048 kB\nVmHWM:\t 1024 kB\n");
        QCOMPARE(ownMemory(rootOf(root)).mapped, 2048u * 1024);
        QCOMPARE(ownMemory(rootOf(root)).peak, 1024u * 1024);
        QTemporaryDir empty;
        QCOMPARE(outOfMemoryKills(rootOf(empty)), 0u);
    }

    void nonsenseInTheSystemsFilesKeepsDefaults() {
        QTemporaryDir empty;
        const Cpu nothing = cpu(rootOf(empty));
        QCOMPARE(nothing.model, std::string("unknown"));
        QCOMPARE(nothing.physicalCores, 1);
        QCOMPARE(nothing.memoryTotal, 0u);
        QTemporaryDir root;
        for (const char* file : {"proc/cpuinfo", "sys/devices/system/cpu/online", "proc/meminfo", "proc/loadavg", "proc/stat", "proc/self/cgroup"})
            write(root, file, "::: \xFF -9,99999999999,x-3\n0::/../../etc\nMemTotal: -1 kB\n");
        const Cpu garbled = cpu(rootOf(root));
        QVERIFY(garbled.physicalCores >= 1 && garbled.usableCores >= 1);
        Sampler sampler("/nowhere", rootOf(root));
        for (const Sample& sample : sampler.sample()) QVERIFY(std::isfinite(sample.value));
    }

    void thisMachineIsTold() {
        const Cpu found = cpu();
        QVERIFY(found.model != "unknown");
        QVERIFY(found.usableCores >= 1 && found.usableCores <= found.physicalCores && found.physicalCores <= found.threads);
        QVERIFY(found.memoryTotal > kGiB / 4 && found.memoryAvailable <= found.memoryTotal);
        QVERIFY(found.threads <= static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency())) * 64);
    }

    void gpusAreListedWithAllTheyTell() {
        const Gpus found = gpus(LATHE_FAKE_NVML);
        QVERIFY(found.none.empty());
        QCOMPARE(found.driverVersion, std::string("580.65.06"));
        QCOMPARE(found.list.size(), std::size_t(2));
        const Gpu& gpu = found.list[1];
        QVERIFY(gpu.usable());
        QCOMPARE(gpu.uuid, std::string("GPU-11111111-bbbb"));
        QCOMPARE(gpu.name, std::string("NVIDIA RTX 6000 Ada Generation"));
        QCOMPARE(gpu.pciBusId, std::string("00000000:41:00.0"));
        QCOMPARE(gpu.index, 1);
        QCOMPARE(gpu.computeMajor, 8);
        QCOMPARE(gpu.memoryTotal, 48 * kGiB);
        QCOMPARE(gpu.memoryFree, 40 * kGiB);
        QCOMPARE(*gpu.utilization, 70.0);
        QCOMPARE(*gpu.temperature, 66.0);
        QCOMPARE(*gpu.power, 212.0);
    }

    void theEnvironmentNamesAnotherLibrary() {
        qputenv("LATHE_NVML", LATHE_FAKE_NVML);
        QCOMPARE(gpus().list.size(), std::size_t(2));
        qputenv("LATHE_NVML", "/nowhere/libnvidia-ml.so.1");
        QVERIFY(gpus().list.empty());
        qunsetenv("LATHE_NVML");
    }

    void noLibraryIsNoGpuAndASentence() {
        const Gpus found = gpus("/nowhere/libnvidia-ml.so.1");
        QVERIFY(found.list.empty());
        QVERIFY2(found.none.starts_with("No NVIDIA driver is installed"), found.none.c_str());
    }

    void aLibraryThatIsAnotherOneIsNotCalled() {
        const Gpus found = gpus("libz.so.1");
        QVERIFY(found.list.empty() && !found.none.empty());
    }

    void aDriverThatRefusesIsNoGpuAndItsReason() {
        qputenv("FAKE_NVML", "no-init");
        const Gpus found = gpus(LATHE_FAKE_NVML);
        QVERIFY(found.list.empty());
        QVERIFY2(found.none.find("Driver/library version mismatch") != std::string::npos, found.none.c_str());
        qputenv("FAKE_NVML", "none");
        QVERIFY(gpus(LATHE_FAKE_NVML).none.find("finds no GPU") != std::string::npos);
    }

    void unusableGpusAreListedWithTheReason() {
        qputenv("FAKE_NVML", "old-driver");
        const Gpus oldDriver = gpus(LATHE_FAKE_NVML);
        QCOMPARE(oldDriver.list.size(), std::size_t(2));
        for (const Gpu& gpu : oldDriver.list) QVERIFY2(gpu.unusable.find("CUDA 12.2 and CUDA 13.0 is needed") != std::string::npos, gpu.unusable.c_str());
        qputenv("FAKE_NVML", "old-gpu one-lost");
        const Gpus oldGpu = gpus(LATHE_FAKE_NVML);
        QVERIFY2(oldGpu.list[0].unusable.find("capability 6.1") != std::string::npos, oldGpu.list[0].unusable.c_str());
        QVERIFY2(oldGpu.list[1].unusable.find("GPU is lost") != std::string::npos, oldGpu.list[1].unusable.c_str());
    }

    void missingSensorsAreLeftOut() {
        qputenv("FAKE_NVML", "mute");
        const Gpus found = gpus(LATHE_FAKE_NVML);
        QVERIFY(found.list[0].usable());
        QVERIFY(!found.list[0].utilization && !found.list[0].temperature && !found.list[0].power);
        Sampler sampler(LATHE_FAKE_NVML);
        const auto samples = sampler.sample();
        QVERIFY(find(samples, "device/0/memory_used"));
        QVERIFY(!find(samples, "device/0/temperature"));
    }

    void theDeviceIsChosenAsSettingAndMachineSay() {
        const Gpus none = gpus("/nowhere/libnvidia-ml.so.1");
        QCOMPARE(*chooseDevice("auto", none), std::string("cpu"));
        QCOMPARE(*chooseDevice("cpu", none), std::string("cpu"));
        const auto missing = chooseDevice("cuda", none);
        QVERIFY(!missing.ok());
        QCOMPARE(missing.error().key, std::string("parallel.device"));

        const Gpus two = gpus(LATHE_FAKE_NVML);
        QCOMPARE(*chooseDevice("auto", two), std::string("GPU-11111111-bbbb"));
        QCOMPARE(*chooseDevice("cuda", two), std::string("GPU-11111111-bbbb"));
        QCOMPARE(*chooseDevice("GPU-00000000-aaaa", two), std::string("GPU-00000000-aaaa"));
        QCOMPARE(*chooseDevice("cpu", two), std::string("cpu"));
        const auto unknown = chooseDevice("GPU-77", two);
        QVERIFY(!unknown.ok() && unknown.error().sentence.find("GPU-00000000-aaaa") != std::string::npos);
    }

    void anUnusableGpuIsNeverReplacedInSilence() {
        qputenv("FAKE_NVML", "old-driver");
        const Gpus unusable = gpus(LATHE_FAKE_NVML);
        for (const char* setting : {"auto", "cuda", "GPU-00000000-aaaa"}) {
            const auto chosen = chooseDevice(setting, unusable);
            QVERIFY2(!chosen.ok(), setting);
            QVERIFY(chosen.error().sentence.find("install driver 580") != std::string::npos);
        }
        QCOMPARE(*chooseDevice("cpu", unusable), std::string("cpu"));
        qputenv("FAKE_NVML", "old-gpu");
        QCOMPARE(*chooseDevice("auto", gpus(LATHE_FAKE_NVML)), std::string("GPU-11111111-bbbb"));
    }

    void ranksGetAGpuEachOrNone() {
        const Gpus two = gpus(LATHE_FAKE_NVML), none = gpus("/nowhere/libnvidia-ml.so.1");
        QCOMPARE(*deviceOfRank("cuda", 0, 2, two), std::string("GPU-00000000-aaaa"));
        QCOMPARE(*deviceOfRank("auto", 1, 2, two), std::string("GPU-11111111-bbbb"));
        QCOMPARE(*deviceOfRank("cpu", 3, 4, two), std::string("cpu"));
        QCOMPARE(*deviceOfRank("auto", 3, 4, none), std::string("cpu"));
        QCOMPARE(*deviceOfRank("GPU-00000000-aaaa", 0, 1, two), std::string("GPU-00000000-aaaa"));
        const auto tooMany = deviceOfRank("cuda", 0, 4, two), named = deviceOfRank("GPU-00000000-aaaa", 0, 2, two);
        QVERIFY(!tooMany.ok() && !named.ok() && !deviceOfRank("cuda", 0, 2, none).ok());
        QCOMPARE(tooMany.error().key, std::string("parallel.ranks"));
        QVERIFY2(tooMany.error().sentence.find("4 ranks on GPUs need one each, and this machine has 2 that can be used of 2") != std::string::npos, tooMany.error().sentence.c_str());
        QVERIFY2(named.error().sentence.find("parallel.device names 1") != std::string::npos, named.error().sentence.c_str());
        const std::string both = "GPU-11111111-bbbb, GPU-00000000-aaaa";   // as named, not as they are on the bus
        QCOMPARE(*deviceOfRank(both, 0, 2, two), std::string("GPU-11111111-bbbb"));
        QCOMPARE(*deviceOfRank(both, 1, 2, two), std::string("GPU-00000000-aaaa"));
        QCOMPARE(*deviceOfRank(both, 0, 1, two), std::string("GPU-11111111-bbbb"));
        for (const char* wrong : {"GPU-00000000-aaaa,GPU-00000000-aaaa", "GPU-00000000-aaaa,GPU-77", "GPU-00000000-aaaa,"}) {
            const auto refused = deviceOfRank(wrong, 0, 1, two);
            QVERIFY2(!refused.ok() && refused.error().key == "parallel.device", wrong);
        }
        qputenv("FAKE_NVML", "old-gpu");
        QVERIFY(!deviceOfRank("cuda", 0, 2, gpus(LATHE_FAKE_NVML)).ok());
    }

    void theSamplerMeasuresBetweenItsCalls() {
        QTemporaryDir root;
        writeMachine(root);
        Sampler sampler(LATHE_FAKE_NVML, rootOf(root));
        write(root, "proc/stat", "cpu  150 0 125 725 100 0 0 0 90 0\n");  // 75 of 100 ticks were busy
        auto samples = sampler.sample();
        QCOMPARE(find(samples, "device/cpu/utilization")->value, 75.0);
        QCOMPARE(find(samples, "device/cpu/utilization")->unit, std::string("%"));
        QCOMPARE(find(samples, "device/cpu/memory_used")->value, 8.0);
        QCOMPARE(find(samples, "device/1/utilization")->value, 70.0);
        QCOMPARE(find(samples, "device/1/memory_used")->value, 8.0);
        QCOMPARE(find(samples, "device/1/temperature")->value, 66.0);
        QCOMPARE(find(samples, "device/0/power")->value, 30.5);
        QVERIFY(!find(sampler.sample(), "device/cpu/utilization"));  // no time has passed
    }
};

QTEST_GUILESS_MAIN(TestDevices)
#include "tst_devices.moc"
