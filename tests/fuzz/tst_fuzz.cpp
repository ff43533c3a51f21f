// labels: fault
// timeout: 900
// RELIABILITY R8: mutated inputs of every reader: no crash, no hang, and under checksums no silent change.
#include "targets.h"

#include "base/file_system.h"

#include <QtCore/QElapsedTimer>
#include <QtTest/QTest>

#include <algorithm>
#include <array>
#include <random>

using namespace lathe;
using namespace lathe::fuzz;

namespace {

std::uint64_t seed() {
    static const std::uint64_t value = qEnvironmentVariableIsSet("LATHE_SEED") ? qgetenv("LATHE_SEED").toULongLong() : std::random_device{}();
    return value;
}

std::vector<std::string> corpusOf(const Target& target) {
    std::vector<std::string> all = target.seeds();
    const std::filesystem::path folder = std::filesystem::path(LATHE_SOURCE_DIR "/tests/fuzz/corpus") / target.name;
    const auto names = listFolder(folder);
    for (std::size_t i = 0; names.ok() && i < names->size(); ++i)
        if (auto text = readFile(folder / (*names)[i], 1u << 20); text.ok()) all.push_back(std::move(*text));
    return all;
}

/// One to four small damages.
std::string mutated(std::string text, const std::vector<std::string>& corpus, std::mt19937_64& random) {
    static constexpr std::array kNumbers = {"0", "-1", "1e309", "nan", "18446744073709551616", "9223372036854775807", "\xff\xff\xff\xff", "\"", "{", "[", ":", "\n", "'", "\\"};
    const auto place = [&](std::size_t size) { return size == 0 ? 0 : random() % size; };
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
        const std::size_t at = place(text.size() + 1), length = 1 + random() % 16;
        switch (random() % 8) {
            case 0: if (!text.empty()) text[place(text.size())] ^= static_cast<char>(1u << random() % 8); break;
            case 1: if (!text.empty()) text[place(text.size())] = static_cast<char>(random()); break;
            case 2: text.insert(at, kNumbers[random() % kNumbers.size()]); break;
            case 3: text.erase(at, length); break;
            case 4: text.insert(at, text.substr(place(text.size() + 1), length)); break;
            case 5: text.resize(at); break;
            case 6: text.append(length, static_cast<char>(random())); break;
            default: {
                const std::string& other = corpus[random() % corpus.size()];
                text = text.substr(0, at) + other.substr(place(other.size() + 1));
            }
        }
    }
    return text;
}

Input bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

class FuzzTest : public QObject {
    Q_OBJECT
    std::size_t m_total = 0;

private Q_SLOTS:
    void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(seed())); }
    void noMutationHurts_data() {
        QTest::addColumn<QString>("name");
        for (const Target& target : targets()) QTest::newRow(target.name) << QString::fromLatin1(target.name);
    }
    void noMutationHurts() {
        QFETCH(QString, name);
        const Target& target = *targetNamed(name.toStdString());
        const std::vector<std::string> seeds = target.seeds(), corpus = corpusOf(target);
        std::size_t accepted = 0;
        for (const std::string& text : corpus) accepted += target.read(bytesOf(text)) ? 1 : 0;
        QVERIFY2(accepted > 0, "no valid input is accepted: the mutations would not get far");
        std::mt19937_64 random(seed());
        const std::size_t count = (qEnvironmentVariableIsSet("LATHE_FULL") ? 100'000 : 2'000) / target.cost;
        std::size_t taken = 0;
        qint64 longest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string text = mutated(corpus[random() % corpus.size()], corpus, random);
            QElapsedTimer timer;
            timer.start();
            const bool isTaken = target.read(bytesOf(text));
            longest = std::max(longest, timer.elapsed());
            taken += isTaken ? 1 : 0;
            if (isTaken && target.isSealed && std::find(seeds.begin(), seeds.end(), text) == seeds.end())
                QFAIL(qPrintable(QStringLiteral("a changed input was taken: mutation %1, seed %2").arg(i).arg(seed())));
        }
        m_total += count;
        qInfo("%zu mutations, %zu of them readable, the longest took %lld ms", count, taken, static_cast<long long>(longest));
    }
    void cleanupTestCase() { qInfo("%zu mutated inputs: no crash, no silent change", m_total); }
};

QTEST_GUILESS_MAIN(FuzzTest)
#include "tst_fuzz.moc"
