// labels: process fault
// RELIABILITY F8, F10: a run's folder is taken away and a link put in its place; a disk that has room but no inodes.
#include "supervised.h"

#include "launch/run/checkpoint_choice.h"
#include "launch/run/disk_outlook.h"
#include "launch/run/standing.h"

#include <QtTest/QTest>

#include <fstream>
#include <sys/mount.h>

using namespace lathe;
using namespace lathe::test;

namespace {

/// Something mounted for the life of this object.
class FewInodes {
public:
    explicit FewInodes(const std::filesystem::path& folder) : m_folder(folder) {
        m_works = makeFolders(FileSystem::real(), folder).ok() && ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64m,nr_inodes=200") == 0;
    }
    ~FewInodes() {
        if (m_works) ::umount2(m_folder.c_str(), MNT_DETACH);
    }
    FewInodes(const FewInodes&) = delete;
    FewInodes& operator=(const FewInodes&) = delete;
    bool works() const { return m_works; }

    void takeAll() const {
        std::filesystem::create_directory(m_folder / "filler");
        for (int i = 0; std::ofstream(m_folder / "filler" / std::to_string(i)).is_open(); ++i) {}
    }
    void giveBack() const { std::filesystem::remove_all(m_folder / "filler"); }

private:
    std::filesystem::path m_folder;
    bool m_works = false;
};

}  // namespace

class TestFoldersTaken : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aLinkInThePlaceOfARunsFolderIsNotFollowed() {
        const auto workspace = fresh("train");
        const auto run = running(*workspace);
        const QString id = QString::fromStdString(rundir::readManifest(run)->id);
        const rundir::RunFolder moved(run.root().parent_path() / "renamed");
        const auto elsewhere = workspace->scratch() / "elsewhere";
        std::filesystem::create_directory(elsewhere);
        std::filesystem::rename(run.root(), moved.root());
        std::filesystem::create_directory_symlink(elsewhere, run.root());
        const std::size_t before = pointsOf(moved, "train/loss");
        QVERIFY(eventually([&] { return pointsOf(moved, "train/loss") > before + 10; }));
        QCOMPARE(workspace->ask({"save", id}).code, 0);
        const Answer stopped = workspace->ask({"stop", id});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        QVERIFY(eventually([&] { return !rundir::RunLock::isHeld(moved.lock()); }));
        QVERIFY(listFolder(elsewhere)->empty());  // nothing was written outside
        QVERIFY(launch::standingOf(moved).state == rundir::State::Stopped);
        QVERIFY(!launch::newestOnLine(moved).empty());
        nothingIsLeft(moved);
    }
    void aDiskWithoutInodesIsToldAndWhatIsThereIsRead() {
        const auto workspace = fresh("points 20; save; end stopped, 4");
        const FewInodes disk(workspace->folder());
        if (!disk.works()) QSKIP("no right to mount a small disk");
        QCOMPARE(workspace->ask({"run", "digits-mlp"}).code, 4);
        disk.takeAll();
        for (const QStringList& words : {QStringList{"run", "digits-mlp"}, {"continue", "latest"}, {"fork", "latest@20"}, {"pin", "latest@20"}}) {
            const Answer refused = workspace->ask(words);
            QVERIFY2(refused.code == 3, (refused.out + refused.err).c_str());
            QVERIFY2(refused.err.find("No space left on device") != std::string::npos, refused.err.c_str());
        }
        QCOMPARE(listFolder(workspace->folder() / "runs")->size(), std::size_t{1});
        QCOMPARE(workspace->ask({"series", "latest", "train/loss", "--json"}).json().size(), std::size_t{20});
        QCOMPARE(workspace->ask({"verify", "latest@latest"}).code, 0);
        disk.giveBack();
        QCOMPARE(workspace->ask({"continue", "latest"}).code, 4);
        QCOMPARE(pointsOf(workspace->latest(), "train/loss"), std::size_t{40});
    }
    /// Bytes are free, and it can be written: only who tries it finds out.
    void aStopThatCouldNotSaveForWantOfInodesIsRefused() {
        const auto workspace = fresh("points 20; save; train");
        const FewInodes disk(workspace->folder());
        if (!disk.works()) QSKIP("no right to mount a small disk");
        QCOMPARE(workspace->ask({"run", "digits-mlp", "--detach"}).code, 0);
        const auto run = workspace->latest();
        QVERIFY(eventually([&] { return std::filesystem::exists(run.checkpoints() / "s001-000000020"); }));
        disk.takeAll();
        const Answer refused = workspace->ask({"stop", "latest"});
        QVERIFY(refused.code != 0);
        QVERIFY2(refused.err.find("its disk takes no more files (") != std::string::npos && refused.err.find("--discard") != std::string::npos, refused.err.c_str());
        const Answer kept = workspace->ask({"pause", "latest", "--release"});
        QVERIFY2(kept.code != 0 && kept.err.find("so its memory is not let go") != std::string::npos, kept.err.c_str());
        QVERIFY(launch::standingOf(run).state == rundir::State::Running);
        QCOMPARE(launch::diskOutlook(workspace->folder()).kind, launch::DiskOutlook::Kind::NoInodes);
        disk.giveBack();
        QVERIFY(launch::diskOutlook(workspace->folder()).kind != launch::DiskOutlook::Kind::NoInodes);
        const Answer stopped = workspace->ask({"stop", "latest"});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        QVERIFY(launch::standingOf(run).state == rundir::State::Stopped);
        const auto names = listFolder(run.checkpoints());
        QVERIFY(names && std::none_of(names->begin(), names->end(), [](const std::string& name) { return name.starts_with("."); }));
    }
};

QTEST_GUILESS_MAIN(TestFoldersTaken)
#include "tst_folders_taken.moc"
