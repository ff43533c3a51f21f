#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/exit_code.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "failing_file_system.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <bit>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace lathe;
namespace stdfs = std::filesystem;

static std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }
static mode_t modeOf(const stdfs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

class TestBase : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    stdfs::path m_folder;

private Q_SLOTS:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    // ---- file system

    void filesAreForTheirOwnerOnlyUnderAnyMask() {
        for (const mode_t mask : {mode_t{0}, mode_t{022}}) {
            const mode_t before = ::umask(mask);
            const stdfs::path folder = m_folder / std::to_string(mask);
            const auto made = makeFolders(FileSystem::real(), folder / "a/b");
            const auto written = replaceFile(FileSystem::real(), folder / "a/b/file", "text");
            ::umask(before);
            QVERIFY(made.ok() && written.ok());
            QCOMPARE(modeOf(folder / "a/b"), mode_t{0700});
            QCOMPARE(modeOf(folder / "a/b/file"), mode_t{0600});
        }
    }
    void aReplacedFileIsTheOldOrTheNewOneWhateverFails() {
        const stdfs::path file = m_folder / "file";
        for (const bool fromThenOn : {false, true}) {
            for (int n = 1;; ++n) {
                QVERIFY(replaceFile(FileSystem::real(), file, "old").ok());
                test::FailingFileSystem fs(n, fromThenOn);
                const auto replaced = replaceFile(fs, file, "new content");
                const std::string content = readFile(file, 100).value();
                QVERIFY2(content == "old" || content == "new content", content.c_str());
                QVERIFY(!replaced.ok() || content == "new content");
                QCOMPARE(*listFolder(m_folder), std::vector<std::string>{"file"});  // no temporary is left
                if (replaced.ok()) break;
                QVERIFY(replaced.error().code == ErrorCode::NoSpace);
                QVERIFY2(replaced.error().sentence.find(m_folder.string()) != std::string::npos, replaced.error().sentence.c_str());
                QVERIFY(n < 20);
            }
        }
    }
    void whatIsTakenIsNeverOverwritten() {
        QVERIFY(replaceFile(FileSystem::real(), m_folder / "file", "text").ok());
        QVERIFY(FileSystem::real().create(m_folder / "file").error().code == ErrorCode::Exists);
        QVERIFY(FileSystem::real().makeFolder(m_folder / "file").error().code == ErrorCode::Exists);
        QVERIFY(!makeFolders(FileSystem::real(), m_folder / "file/below").ok());
        QCOMPARE(*readFile(m_folder / "file", 100), std::string("text"));
    }
    void onlyRegularFilesOfABoundedSizeAreRead() {
        QVERIFY(replaceFile(FileSystem::real(), m_folder / "file", "12345").ok());
        QCOMPARE(*readFile(m_folder / "file", 5), std::string("12345"));
        QVERIFY(readFile(m_folder / "file", 4).error().code == ErrorCode::Corrupt);
        QVERIFY(readFile(m_folder / "none", 4).error().code == ErrorCode::NotFound);
        QVERIFY(!readFile(m_folder, 4).ok());
        QVERIFY(::mkfifo((m_folder / "pipe").c_str(), 0600) == 0);
        QVERIFY(!readFile(m_folder / "pipe", 4).ok());  // and does not wait for a writer
    }
    void aPartOfAFileIsReadWholeOrNotAtAll() {
        QVERIFY(replaceFile(FileSystem::real(), m_folder / "file", "0123456789").ok());
        const Descriptor file(::open((m_folder / "file").c_str(), O_RDONLY | O_CLOEXEC)), folder(::open(m_folder.c_str(), O_RDONLY | O_CLOEXEC));
        std::string text(4, '?');
        QVERIFY(readAt(file.get(), 6, std::as_writable_bytes(std::span(text)), "file").ok());
        QCOMPARE(text, std::string("6789"));
        QVERIFY(readAt(file.get(), 99, {}, "file").ok());
        const auto cut = readAt(file.get(), 7, std::as_writable_bytes(std::span(text)), "weights");
        QVERIFY(!cut && cut.error().code == ErrorCode::Corrupt);
        QCOMPARE(cut.error().sentence, std::string("weights was cut short: it ends after 10 bytes"));
        QVERIFY(readAt(folder.get(), 0, std::as_writable_bytes(std::span(text)), "folder").error().code == ErrorCode::Io);
    }
    void aTreeIsRemovedWithoutFollowingLinks() {
        const stdfs::path kept = m_folder / "kept", tree = m_folder / "tree";
        QVERIFY(makeFolders(FileSystem::real(), tree / "a/b").ok() && FileSystem::real().makeFolder(kept).ok());
        QVERIFY(replaceFile(FileSystem::real(), kept / "file", "text").ok() && replaceFile(FileSystem::real(), tree / "a/file", "text").ok());
        stdfs::create_directory_symlink(kept, tree / "a/link");
        QVERIFY(removeTree(FileSystem::real(), tree).ok());
        QVERIFY(!stdfs::exists(tree) && stdfs::exists(kept / "file"));
        QVERIFY(removeTree(FileSystem::real(), tree).ok());  // gone is as wanted
    }
    void aPathThroughADescriptorIsShownAsThePlaceWhereItLies() {
        const stdfs::path before = m_folder / "before", after = m_folder / "after";
        QVERIFY(FileSystem::real().makeFolder(before).ok());
        const int fd = ::open(before.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        const std::string path = kDescriptors + std::to_string(fd);
        QCOMPARE(shownPath(path + "/file"), before.string() + "/file");
        stdfs::rename(before, after);
        QCOMPARE(shownPath(path), after.string());
        const Error error = Error{ErrorCode::Io, "Cannot read " + path + "/a and " + path + "/b", {}, {}}.in("in " + path);
        QCOMPARE(error.text(), "Cannot read " + after.string() + "/a and " + after.string() + "/b (in " + after.string() + ")");
        ::close(fd);
        QCOMPARE(shownPath(path + "/file"), path + "/file");
        QCOMPARE(shownPath("/proc/self/fd/"), std::string("/proc/self/fd/"));
        QCOMPARE(shownPath("/a/b"), std::string("/a/b"));
    }

    // ---- results

    void anErrorTellsWhatWhereAndAround() {
        const Error error = fileError("write", "/a/b", ENOSPC).in("while saving").in("in run x");
        QVERIFY(error.code == ErrorCode::NoSpace);
        QVERIFY2(error.text().starts_with("Cannot write /a/b: ") && error.text().ends_with(" (while saving) (in run x)"), error.text().c_str());
        QVERIFY(fileError("", "", EACCES).code == ErrorCode::Permission && fileError("", "", ENOENT).code == ErrorCode::NotFound);
        QVERIFY(fileError("", "", EIO).code == ErrorCode::Io && fileError("", "", EDQUOT).code == ErrorCode::NoSpace);
    }
    void aResultHandsOnTheFirstError() {
        const auto half = [](int n) -> Result<int> {
            if (n % 2 != 0) return Error{ErrorCode::Usage, std::to_string(n) + " is odd", {}, {}};
            return n / 2;
        };
        const auto quarter = [&](int n) -> Result<int> {
            LATHE_TRY_ASSIGN(const int once, half(n));
            LATHE_TRY(half(once));
            return half(once);
        };
        QCOMPARE(*quarter(12), 3);
        QCOMPARE(quarter(6).error().sentence, std::string("3 is odd"));
        QCOMPARE(quarter(7).error().sentence, std::string("7 is odd"));
        auto owned = Result<std::unique_ptr<int>>(std::make_unique<int>(5));
        QCOMPARE(*std::move(owned).value(), 5);
    }
    void everyFailureHasItsExitCode() {
        QVERIFY(exitCodeOf(ErrorCode::Usage) == ExitCode::Usage && exitCodeOf(ErrorCode::Config) == ExitCode::Usage);
        QVERIFY(exitCodeOf(ErrorCode::Busy) == ExitCode::Busy && exitCodeOf(ErrorCode::OutOfMemory) == ExitCode::OutOfMemory);
        QVERIFY(exitCodeOf(ErrorCode::Stopped) == ExitCode::Stopped && exitCodeOf(ErrorCode::Diverged) == ExitCode::Diverged);
        for (const ErrorCode code : {ErrorCode::NotFound, ErrorCode::Io, ErrorCode::Corrupt, ErrorCode::Internal}) QVERIFY(exitCodeOf(code) == ExitCode::Failed);
    }

    // ---- hash and bytes

    void hashesAreThoseOfXxh3() {
        // Published test values of XXH3 with seed 0.
        QCOMPARE(hashHex({}), std::string("99aa06d3014798d86001c324468d497f"));
        QCOMPARE(hash64({}), std::uint64_t{0x2d06800538d394c2});
        std::string text;
        for (int i = 0; i < 100'000; ++i) text += static_cast<char>('a' + i % 26);
        Hasher parts;
        for (std::size_t at = 0; at < text.size(); at += 777) parts.update(bytesOf(std::string_view(text).substr(at, 777)));
        QCOMPARE(parts.hex(), hashHex(bytesOf(text)));
        text[50'000] = static_cast<char>(text[50'000] ^ 1);
        QVERIFY(parts.hex() != hashHex(bytesOf(text)));
        QVERIFY(hash64(bytesOf("a"), 1) != hash64(bytesOf("a"), 2));
        // Long ones go by the widest instructions there are; the same as by libxxhash's portable ones.
        std::string longer;
        for (unsigned i = 0; i < 5000; ++i) longer += static_cast<char>(i * i * 7 + i);
        QCOMPARE(hashHex(bytesOf(longer)), std::string("2210c6d3b35bfac10bc222eb1fdb8271"));
        Hasher inTwo;
        inTwo.update(bytesOf(std::string_view(longer).substr(0, 1001)));
        inTwo.update(bytesOf(std::string_view(longer).substr(1001)));
        QCOMPARE(inTwo.hex(), hashHex(bytesOf(longer)));
    }
    void fieldsComeBackAndNothingIsReadBehindTheEnd() {
        Bytes bytes;
        put(bytes, std::uint16_t{0x1234});
        put(bytes, -2.5);
        putText(bytes, "Zug № 5");
        QCOMPARE(bytes[0], std::byte{0x34});  // little-endian
        ByteReader whole(bytes);
        QCOMPARE(whole.get<std::uint16_t>(), std::uint16_t{0x1234});
        QCOMPARE(whole.get<double>(), -2.5);
        QCOMPARE(whole.getText(), std::string("Zug № 5"));
        QVERIFY(whole.finished());
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            ByteReader cut(std::span(bytes).first(length));
            cut.get<std::uint16_t>();
            cut.get<double>();
            cut.getText();
            QVERIFY2(!cut.ok() && !cut.finished(), std::to_string(length).c_str());
            QCOMPARE(cut.get<std::uint64_t>(), std::uint64_t{0});  // and stays so
        }
        Bytes huge;
        put(huge, std::numeric_limits<std::uint32_t>::max());
        QCOMPARE(ByteReader(huge).getText(), std::string());
    }

    // ---- numbers as text

    void exactTextReadsBackToTheSameBits() {
        std::vector<double> values = {0.0, -0.0, 0.1, 1.0 / 3, 1e22, 5e-324, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 123456789.0};
        std::uint64_t bits = 0x9e3779b97f4a7c15;
        for (int i = 0; i < 10'000; ++i) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            if (const double value = std::bit_cast<double>(bits); std::isfinite(value)) values.push_back(value);
        }
        for (const double value : values) {
            const auto back = readDouble(exactText(value));
            QVERIFY2(back && std::bit_cast<std::uint64_t>(*back) == std::bit_cast<std::uint64_t>(value), exactText(value).c_str());
        }
        QCOMPARE(exactText(0.1), std::string("0.1"));  // the shortest
        QCOMPARE(exactText(std::nan("")), std::string("nan"));
        QCOMPARE(exactText(-HUGE_VAL), std::string("-inf"));
        QVERIFY(std::isnan(readDouble("nan").value()) && readDouble("inf") == HUGE_VAL && readDouble("-inf") == -HUGE_VAL);
    }
    void onlyWholeNumbersAreRead() {
        for (const char* text : {"", " 1", "1 ", "1,5", "1x", "0x10", "1e999", "--1", "e5"}) {
            QVERIFY2(!readDouble(text), text);
            QVERIFY2(!readInteger(text), text);
        }
        QCOMPARE(readDouble("+1.5e3"), std::optional(1500.0));
        QCOMPARE(readInteger("-9223372036854775808"), std::optional(std::numeric_limits<std::int64_t>::min()));
        QVERIFY(!readInteger("9223372036854775808") && !readInteger("1.0"));
    }
    void peopleReadShortNumbers() {
        QCOMPARE(shortText(3e-4), std::string("0.0003"));
        QCOMPARE(shortText(3e-5), std::string("3e-5"));
        QCOMPARE(shortText(1.5e20), std::string("1.5e20"));
        QCOMPARE(shortText(12.3456), std::string("12.35"));
        QCOMPARE(shortText(-HUGE_VAL), std::string("-inf"));
        QCOMPARE(memoryText(41ull << 30), std::string("41.0 GiB"));
        QCOMPARE(diskText(999), std::string("999 B"));
        QCOMPARE(diskText(41'000'000'000), std::string("41.0 GB"));
        QCOMPARE(durationText(12), std::string("12 s"));
        QCOMPARE(durationText(245), std::string("4 min 05 s"));
        QCOMPARE(durationText(11'520), std::string("3 h 12 min"));
        QCOMPARE(durationText(-1), std::string("unknown"));
        QCOMPARE(durationText(std::nan("")), std::string("unknown"));
    }
};

QTEST_GUILESS_MAIN(TestBase)
#include "tst_base.moc"
