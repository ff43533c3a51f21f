// Text files as rows of bytes: what is foretold where, documents, the held-out end, and what cannot be read.
#include "data_files.h"

#include "dataset/suggest.h"
#include "dataset/text_rows.h"
#include <algorithm>

using namespace lathe;
using namespace lathe::dataset;

namespace {

/// A row with "-" where nothing is foretold and "|" before each further document.
struct Read {
    std::string bytes, next, documents;
};
Read read(const TextRows& rows, std::int64_t index) {
    const auto width = static_cast<std::size_t>(rows.context());
    std::vector<std::int64_t> bytes(width), next(width), documents(width);
    rows.read(index, {bytes, next, documents});
    Read out;
    for (std::size_t i = 0; i < width; ++i) {
        out.bytes += bytes[i] == 0 ? '_' : static_cast<char>(bytes[i]);
        out.next += next[i] == TextRows::kNothing ? '-' : static_cast<char>(next[i]);
        out.documents += std::to_string(documents[i]);
    }
    return out;
}

TextRows rowsOf(const std::string& text, std::vector<std::int64_t> starts, std::int64_t cut, std::int64_t context) {
    return TextRows(std::vector<std::uint8_t>(text.begin(), text.end()), std::move(starts), cut, context);
}

struct Asked {
    config::DataSection data;
    config::TaskSection task;
};
Asked asking(const std::filesystem::path& file) {
    Asked asked;
    asked.data.train = file.string();
    asked.data.format = "text";
    asked.data.context = 4;
    asked.data.evalFraction = 0;
    asked.task.name = "language";
    return asked;
}
std::string refusal(const Asked& asked, Part part = Part::Train, const Dataset* like = nullptr) {
    const auto opened = open(asked.data, asked.task, part, like);
    return opened ? std::string("(opened)") : opened.error().text() + " [" + opened.error().key + "]";
}

}  // namespace

class TestText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void eachByteIsReadOnceAndForetellsTheNext() {
        const TextRows rows = rowsOf("abcdefghij", {0}, 10, 4);
        QCOMPARE(rows.rows(), 3);
        QVERIFY(read(rows, 0).bytes == "abcd" && read(rows, 0).next == "bcde");
        QVERIFY(read(rows, 1).bytes == "efgh" && read(rows, 1).next == "fghi");
        QVERIFY(read(rows, 2).bytes == "ij__" && read(rows, 2).next == "j---");
        QVERIFY(rows.weight(0) == 4 && rows.weight(2) == 1);
    }

    void aLastByteAloneMakesNoRow() {
        const TextRows rows = rowsOf("abcdefghi", {0}, 9, 4);
        QCOMPARE(rows.rows(), 2);
        QVERIFY(read(rows, 1).next == "fghi");
    }

    /// SEMANTICS K1: a byte equal to the one that pads rows is foretold where it belongs to the text, once a document, and nowhere else
    void theEndOfADocumentIsLearnedThoughItEqualsWhatPads() {
        const TextRows rows = rowsOf(std::string("ab\0cd\0", 6), {0, 3}, 6, 8);
        QCOMPARE(rows.rows(), 1);
        const Read row = read(rows, 0);
        QCOMPARE(row.bytes, std::string("ab_cd___"));
        QCOMPARE(row.next, std::string("b\0-d\0---", 8));
        QCOMPARE(rows.weight(0), 4);
    }

    void documentsEndWithNothingToForetell() {
        const TextRows rows = rowsOf("abcdefghij", {0, 2, 8}, 10, 4);
        const Read first = read(rows, 0), second = read(rows, 1), third = read(rows, 2);
        QVERIFY(first.next == "b-de" && first.documents == "0011");
        QVERIFY(second.next == "fgh-" && second.documents == "0000");   // the document ends where the row does
        QVERIFY(third.next == "j---" && third.documents == "0011");     // what pads the row is a document of its own
    }

    void theWeightOfARowIsWhatItForetells() {
        for (const auto& starts : std::vector<std::vector<std::int64_t>>{{0}, {0, 4}, {0, 1, 2, 3}, {0, 5, 8}, {0, 3, 12}})
            for (const std::int64_t cut : {13, 8, 5}) {
                const TextRows rows = rowsOf("abcdefghijklm", starts, cut, 4);
                for (std::int64_t i = 0; i < rows.rows(); ++i) {
                    const std::string next = read(rows, i).next;
                    QCOMPARE(rows.weight(i), std::int64_t(next.size()) - std::count(next.begin(), next.end(), '-'));
                }
            }
    }

    void theHeldOutPartIsTheEndAndNothingCrossesIt() {
        const TextRows rows = rowsOf("abcdefghij", {0}, 6, 4);
        QVERIFY(rows.rows() == 3 && rows.heldOutRows() == 1);
        QVERIFY(read(rows, 1).bytes == "ef__" && read(rows, 1).next == "f---");
        QVERIFY(read(rows, 2).bytes == "ghij" && read(rows, 2).next == "hij-");
    }

    void theSplitGoesByBytesAndKeepsDocumentsWhole() {
        data_files::Folder files;
        Asked asked = asking(files.write("a.txt", "aaaa\nbbbb\n\ncccc\ndd\n"));
        asked.data.evalFraction = 0.5;
        const auto whole = open(asked.data, asked.task, Part::Train).value();
        QVERIFY(whole->info().heldOutBytes == 10 && *whole->info().heldOut == 3);
        asked.data.documents = "blank_line";
        const auto kept = open(asked.data, asked.task, Part::Train).value();
        QVERIFY(kept->info().documents == 2 && kept->info().heldOutBytes == 8);
        QCOMPARE(kept->info().sentence(), std::string("19 bytes · 2 documents · 5 rows of 4 · the last 8 bytes are held out"));
        asked.data.documents = "line";
        QCOMPARE(open(asked.data, asked.task, Part::Train).value()->info().documents, 5);
        asked.data.eval = files.write("b.txt", "xyz");
        QVERIFY(!open(asked.data, asked.task, Part::Train).value()->info().heldOutBytes);
    }

    void emptyLinesOfWindowsPartDocumentsToo() {
        data_files::Folder files;
        Asked asked = asking(files.write("a.txt", "one\r\n\r\n\r\ntwo\r\n"));
        asked.data.documents = "blank_line";
        QCOMPARE(open(asked.data, asked.task, Part::Train).value()->info().documents, 2);
    }

    void whatCannotBeLearnedFromIsSaid() {
        data_files::Folder files;
        const auto has = [](const std::string& text, const std::string& part) {
            if (text.find(part) == std::string::npos) qWarning("%s", text.c_str());
            return text.find(part) != std::string::npos;
        };
        QVERIFY(has(refusal(asking(files.write("empty.txt", ""))), "is empty"));
        const std::string tooShort = refusal(asking(files.write("short.txt", "abcd")));
        QVERIFY(has(tooShort, "holds 4 bytes, and a context of 4 needs 5") && has(tooShort, "[data.context]"));
        QVERIFY(has(refusal(asking(files.dir.path().toStdString())), "is a folder, and a text is one file"));
        QVERIFY(has(refusal(asking(files.path("none.txt"))), "does not exist"));
        Asked classes = asking(files.write("good.txt", "abcdefgh"));
        classes.task.name = "classification";
        QVERIFY(has(refusal(classes), "[task.name]"));
        Asked eval = asking(files.path("good.txt"));
        eval.data.eval = files.write("one.txt", "a");
        const auto train = open(eval.data, eval.task, Part::Train).value();
        QVERIFY(has(refusal(eval, Part::Eval, train.get()), "holds 1 byte"));
        QVERIFY(has(refusal(asking(files.write("damaged.txt.gz", QByteArray("\x1f\x8b\x08\x00garbage", 11)))), "damaged gzip"));
    }

    void zeroBytesRaiseADoubtAndAreLearned() {
        data_files::Folder files;
        const auto data = asking(files.write("bytes.txt", QByteArray("ab\0cdefg", 8)));
        const auto opened = open(data.data, data.task, Part::Train).value();
        QCOMPARE(opened->info().doubts().size(), std::size_t(1));
        QVERIFY(opened->info().doubts().front().sentence.find("zero bytes") != std::string::npos);
    }

    void aTextIsKnownByItsNameAndSuggestedAsLanguage() {
        data_files::Folder files;
        const auto file = files.write("poem.txt", QByteArray(2000, 'x'));
        QCOMPARE(guessFormat(file).value(), std::string("text"));
        const auto suggestion = suggest(file);
        QVERIFY(suggestion.ok());
        QVERIFY(suggestion->task.name == "language" && suggestion->data.format == "text" && suggestion->data.evalFraction == 0.1);
        QVERIFY(!suggest(files.write("tiny.txt", "abc")));
    }

    void shownSamplesAreExcerpts() {
        data_files::Folder files;
        const auto data = asking(files.write("a.txt", "abcdef\n\thij"));
        const auto opened = open(data.data, data.task, Part::Train).value();
        const auto shown = opened->thumbnail(1, 96);
        QVERIFY(shown && shown->text == "ef↵ " && shown->where == "bytes 4 to 7");
    }

    void packedAndPlainFilesAreTheSameData() {
        if (sharedData().empty()) QSKIP("the shared data set tinyshakespeare is absent");
        Asked plain = asking(sharedData() / "tinyshakespeare" / "input.txt"), packed = asking(LATHE_SOURCE_DIR "/resources/samples/shakespeare/shakespeare.txt.gz");
        const auto a = open(plain.data, plain.task, Part::Train).value(), b = open(packed.data, packed.task, Part::Train).value();
        QCOMPARE(a->info().bytes, 1115394);
        QCOMPARE(fingerprint(*a), fingerprint(*b));
    }
};

QTEST_GUILESS_MAIN(TestText)
#include "tst_text.moc"
