// NCCL where it cannot be used: a sentence that names the way on, and nothing else happens. What sums gradients on GPUs is
// in a library of its own; where CUDA's toolkit is, it is built, and whether it loads depends on the machine.
#include "engine/parallel/nccl.h"

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;

class NcclTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aMissingLibraryIsTold() {
        c10d::HashStore store;
        const auto made = makeNccl("/nowhere/liblathe_nccl.so", store, 0, 2, std::chrono::seconds(1));
        QVERIFY(!made.ok());
        QCOMPARE(made.error().key, std::string("parallel.ranks"));
        QVERIFY2(made.error().sentence.find("this build has no liblathe_nccl.so") != std::string::npos, made.error().sentence.c_str());
    }

    void aLibraryOfAnotherKindIsTold() {
        QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "liblathe_nccl.so";
        std::filesystem::copy_file(LATHE_SOURCE_DIR "/README.md", file);
        c10d::HashStore store;
        const auto made = makeNccl(file, store, 0, 2, std::chrono::seconds(1));
        QVERIFY(!made.ok());
        QVERIFY2(made.error().sentence.find("Set parallel.ranks to 1, or parallel.device to cpu") != std::string::npos, made.error().sentence.c_str());
    }

    void withoutAGpuTheLibraryIsNoUse() {
        const std::filesystem::path library = LATHE_BIN_DIR "/liblathe_nccl.so";
        if (!std::filesystem::exists(library)) QSKIP("built without CUDA's toolkit: there is no liblathe_nccl.so");
        if (std::filesystem::exists("/proc/driver/nvidia/version")) QSKIP("there is an NVIDIA driver here");
        c10d::HashStore store;
        const auto made = makeNccl(library, store, 0, 2, std::chrono::seconds(1));
        QVERIFY(!made.ok());
        QCOMPARE(made.error().code, ErrorCode::Unsupported);
    }
};

QTEST_GUILESS_MAIN(NcclTest)
#include "tst_nccl.moc"
