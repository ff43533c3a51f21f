// What is not a configuration gives a sentence, at once, whatever it is.
#include "config/config.h"
#include "config/yaml_tree.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QFile>
#include <QtCore/QRandomGenerator>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <functional>
#include <random>

using namespace lathe;
using namespace lathe::config;

namespace {

std::string repeated(const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    text.resize(bytes);
    return text;
}

std::string aliasBomb() {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string previous = "*a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous;
        for (int k = 0; k < 9; ++k) text += ", " + previous;
        text += "]\n";
    }
    return text;
}

std::string randomBytes(std::size_t count, unsigned seed, const std::string& alphabet) {
    std::mt19937 random(seed);
    std::string text(count, ' ');
    for (char& c : text) c = alphabet.empty() ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    return text;
}

}  // namespace

class TestYaml : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void badTextIsRefusedWithAReason_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const std::string& text, const char* part) { QTest::newRow(name) << QByteArray::fromStdString(text) << QString(part); };
        row("unclosed list", "model:\n  hidden: [64, 64\n", "line ");
        row("unclosed quotation", "run:\n  name: \"abc\n", "line 2, column 9");
        row("unclosed quotation after others", "run:\n  name: \"ä\"\n  note: 'it''s\n\n", "line 3, column 9");
        row("tab as indent", "run:\n\tname: x\n", "line 2, column");
        row("tab as indent, what to do", "run:\n\tname: x\n", "indent with spaces");
        row("two colons", "run: name: x\n", "line 1");
        row("two colons, what to do", "data:\n  target: label: yes/no\n", "put a value with a colon in quotes");
        row("wrong indent", "run:\n    name: x\n  seed: 3\n", "line 3");
        row("anchor", "run: &a\n  name: x\n", "anchors");
        row("alias", "run:\n  name: *a\n", "line 2");
        row("known alias", "run: &a {}\ndata: *a\n", "anchors");
        row("tag", "run:\n  seed: !!int 3\n", "tags");
        row("own tag", "run: !python/object:os.system\n  name: x\n", "tags");
        row("duplicate section", "run:\n  name: x\nrun:\n  seed: 1\n", "line 3");
        row("duplicate key", "run:\n  seed: 1\n  seed: 2\n", "line 3, column 3");
        row("list as key", "? [a, b]\n: 3\n", "line 1");
        row("two documents", "run:\n  seed: 1\n---\nrun:\n  seed: 2\n", "one document");
        row("latin 1", "run:\n  name: caf\xE9\n", "line 2, column 12");
        row("overlong UTF-8", "run:\n  name: \xC0\xAF\n", "UTF-8");
        row("surrogate", "run:\n  name: \xED\xA0\x80\n", "UTF-8");
        row("cut character", "run:\n  name: \xE2\x82", "UTF-8");
        row("NUL", std::string("run:\n  name: a\0b\n", 17), "control character");
        row("end-of-transmission", "run:\n  name: a\x04\n", "control character");
        row("33 levels", repeated("[", 33) + repeated("]", 33), "32 levels");
        row("too many values", "model:\n  hidden: [" + repeated("1,\n", 90000) + "1]\n", "more values");
        row("too many brackets", "model:\n" + repeated("[\n", 100000), "brackets");
        row("too long a line", "run:\n  note: " + repeated("x", 100000), "longer");
    }
    void badTextIsRefusedWithAReason() {
        QFETCH(QByteArray, text);
        QFETCH(QString, part);
        const Loaded loaded = parse(text.toStdString(), "/");
        QCOMPARE(loaded.problems.size(), std::size_t(1));
        QVERIFY(hasErrors(loaded.problems));
        const QString sentence = QString::fromStdString(loaded.problems.front().sentence);
        QVERIFY2(sentence.contains(part), qPrintable(sentence));
        QCOMPARE(toYaml(loaded.config), toYaml(RunConfig{}));
    }

    void thirtyTwoLevelsAreRead() {
        const auto tree = readYaml(repeated("[", 32) + repeated("]", 32));
        QVERIFY(tree.ok());
    }

    // Each of these has made a YAML reader somewhere hang or run out of stack.
    void hostileTextIsRefusedAtOnce_data() {
        QTest::addColumn<QByteArray>("text");
        const auto row = [](const char* name, const std::string& text) { QTest::newRow(name) << QByteArray::fromStdString(text); };
        constexpr std::size_t kMiB = 1024 * 1024;
        row("5 MB of random bytes", randomBytes(5'000'000, 1, ""));
        row("5 MB of letters", randomBytes(5'000'000, 2, "abc: \n"));
        row("1 MiB of random bytes", randomBytes(kMiB, 3, ""));
        row("1 MiB of punctuation", randomBytes(kMiB, 4, "[]{},:-?&*!|>'\"%@ \nabc"));
        row("alias bomb", aliasBomb());
        row("brackets", repeated("[", kMiB));
        row("braces", repeated("{", kMiB));
        row("brackets on lines", repeated("[\n", kMiB));
        row("braces on lines", repeated("{\n", 79000));
        row("mixed brackets", repeated("[{", kMiB));
        row("maps in flow", repeated("{a: ", kMiB));
        row("dashes", repeated("- ", kMiB));
        row("question marks", repeated("? ", kMiB));
        row("colons", repeated(": ", kMiB));
        row("quotes", repeated("\"", kMiB));
        row("open quote", "\"" + repeated("a", kMiB - 1));
        row("one long word", repeated("a", kMiB));
        row("one long key", repeated("a", kMiB - 2) + ": ");
        row("bangs", repeated("!", kMiB));
        row("anchors", repeated("&a ", kMiB));
        row("aliases", repeated("*a ", kMiB));
        row("directives", repeated("%TAG ! !\n", kMiB));
        row("documents", repeated("---\n", kMiB));
        row("keys", [] {
            std::string text;
            for (int i = 0; text.size() < kMiB - 20; ++i) text += "k" + std::to_string(i) + ": 1\n";
            return text;
        }());
        row("deep indents", [] {
            std::string text;
            for (int i = 0; text.size() + static_cast<std::size_t>(i) + 4 < kMiB; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
            return text;
        }());
        row("commas", "[" + repeated(",", kMiB - 1));
        row("values", "[" + repeated("1,", kMiB - 1));
        row("block text", "a: |\n" + repeated(" x\n", kMiB - 10));
        row("comments", repeated("# x\n", kMiB));
        row("newlines", repeated("\n", kMiB));
        row("carriage returns", repeated("\r", kMiB));
        row("spaces", repeated(" ", kMiB));
        row("tabs", repeated("\t", kMiB));
    }
    void hostileTextIsRefusedAtOnce() {
        QFETCH(QByteArray, text);
        const std::string yaml = text.toStdString();
        QElapsedTimer timer;
        timer.start();
        const Loaded loaded = parse(yaml, "/");
        const qint64 taken = timer.elapsed();
        QVERIFY(hasErrors(loaded.problems));
        QVERIFY(loaded.problems.front().sentence.size() < 400);
        qInfo("%lld ms: %s", static_cast<long long>(taken), loaded.problems.front().sentence.c_str());
    }

    // A valid file with bytes changed, removed or doubled: a configuration or a sentence, never anything else.
    void damagedFilesNeverCrash() {
        const std::uint32_t seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const std::string good = toYaml(RunConfig{});
        for (int round = 0; round < 400; ++round) {
            std::string text = good;
            for (std::uint32_t change = random() % 6 + 1; change > 0; --change) {
                const std::size_t at = random() % text.size();
                const std::size_t length = std::min<std::size_t>(random() % 20, text.size() - at);
                switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text.erase(at, length); break;
                case 2: text.insert(at, text.substr(at, length)); break;
                default: text[at] = "[]{}:,-?&*!|>'\"%@`#\n\t "[random() % 22]; break;
                }
                if (text.empty()) text = " ";
            }
            const Loaded loaded = parse(text, "/");
            for (const Problem& problem : loaded.problems) QVERIFY(!problem.sentence.empty());
            if (!hasErrors(loaded.problems)) QVERIFY(readYaml(toYaml(loaded.config)).ok());
        }
    }

    void filesThatCannotBeReadGiveASentence() {
        QTemporaryDir folder;
        const auto write = [&](const char* name, const QByteArray& content) {
            QFile file(folder.filePath(name));
            if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) qFatal("cannot write");
            return folder.filePath(name).toStdString();
        };
        const auto missing = load(folder.filePath("none.yaml").toStdString());
        QVERIFY(!missing.ok() && missing.error().code == ErrorCode::NotFound);
        QVERIFY(missing.error().text().find("none.yaml") != std::string::npos);
        const auto isFolder = load(folder.path().toStdString());
        QVERIFY(!isFolder.ok());
        const auto large = load(write("large.yaml", QByteArray(5'000'000, 'x')));
        QVERIFY(large.ok() && hasErrors(large->problems));
        QVERIFY(large->problems.front().sentence.find("large.yaml") != std::string::npos);
        const auto empty = load(write("empty.yaml", ""));
        QVERIFY(empty.ok() && hasErrors(empty->problems));
        QVERIFY(empty->problems.front().sentence.find("empty") != std::string::npos);
        const auto comments = load(write("comments.yaml", "# nothing\n\n"));
        QVERIFY(comments.ok() && hasErrors(comments->problems));
        const auto list = load(write("list.yaml", "- a\n- b\n"));
        QVERIFY(list.ok() && hasErrors(list->problems));
        const auto word = load(write("word.yaml", "hello\n"));
        QVERIFY(word.ok() && hasErrors(word->problems));
        const auto devices = load("/dev/zero");
        QVERIFY(!devices.ok());
    }

    void pathsAreRelativeToTheirFile() {
        QTemporaryDir folder;
        QFile file(folder.filePath("a.yaml"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("data:\n  train: ../x/./flowers/\n  eval: /abs/eval\nmodel:\n  weights: w.safetensors\n");
        file.close();
        const auto loaded = load(folder.filePath("a.yaml").toStdString());
        QVERIFY(loaded.ok() && loaded->problems.empty());
        const std::filesystem::path base = folder.path().toStdString();
        QCOMPARE(loaded->config.data.train, (base.parent_path() / "x/flowers").string());
        QCOMPARE(loaded->config.data.eval, std::string("/abs/eval"));
        QCOMPARE(loaded->config.model.weights, (base / "w.safetensors").string());
        QCOMPARE(loaded->config.data.trainLabels, std::string());
    }

    void aByteOrderMarkAndWindowsLineEndsAreFine() {
        const Loaded loaded = parse("\xEF\xBB\xBFrun:\r\n  name: \"a\"\r\n  seed: 7\r\n", "/");
        QVERIFY(loaded.problems.empty());
        QCOMPARE(loaded.config.run.name, std::string("a"));
        QCOMPARE(loaded.config.run.seed, 7);
    }

    void writtenTextIsReadBackByTheReader() {
        for (const char* text : {"", " ", "plain", "- dash", "a: b", "#c", "true", "No", "1", ".5", "~", "\"", "\\n", "line\nbreak", "tab\t", "€", "a #b", "x ", "'", "%", "@", "`"}) {
            const auto tree = readYaml("k: " + yamlText(text) + "\n");
            QVERIFY2(tree.ok(), text);
            QCOMPARE(tree->find("k")->text, std::string(text));
        }
    }
};

QTEST_GUILESS_MAIN(TestYaml)
#include "tst_yaml.moc"
