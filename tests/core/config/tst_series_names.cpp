// What other programs call their series becomes what charts and comparison know.
#include "config/series_names.h"
#include "config/utf8.h"

#include <QtTest/QTest>

using namespace lathe::config;

class TestSeriesNames : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void namesThatMeanTheSameBecomeTheStandardOne_data() {
        QTest::addColumn<QString>("theirs");
        QTest::addColumn<QString>("ours");
        const std::vector<std::pair<const char*, std::vector<const char*>>> table = {
            {"train/loss", {"loss", "Loss", "train_loss", "train/loss", "Loss/train", "training_loss", "train.loss", "train_loss_step"}},
            {"train/lr", {"lr", "learning_rate", "train/learning_rate", "train/lr", "lr-AdamW", "lr-SGD/pg1", "Learning Rate"}},
            {"train/grad_norm", {"grad_norm", "train/grad_norm", "gradient_norm", "grad_2.0_norm_total"}},
            {"train/accuracy", {"train_acc", "train/accuracy", "acc/train", "Train Accuracy"}},
            {"eval/loss", {"val_loss", "eval_loss", "validation/loss", "Loss/val", "valid_loss", "eval/loss", "dev-loss", "Validation Loss"}},
            {"eval/accuracy", {"val_acc", "val/acc", "eval_accuracy", "Accuracy/validation"}},
            {"eval/bleu", {"eval_bleu", "val/bleu"}},
            {"eval/samples_per_second", {"eval_samples_per_second"}},
        };
        for (const auto& [ours, all] : table)
            for (const char* theirs : all) QTest::newRow(theirs) << QString::fromUtf8(theirs) << QString::fromUtf8(ours);
        for (const char* own : {"epoch", "accuracy", "test_loss", "value", "loss_ratio", "train/loss/extra", "lr_finder", "reward", "val", "_", "eval_", "trainloss"})
            QTest::newRow(own) << QString::fromUtf8(own) << QString::fromUtf8(own);
    }
    void namesThatMeanTheSameBecomeTheStandardOne() {
        QFETCH(QString, theirs);
        QFETCH(QString, ours);
        QCOMPARE(QString::fromStdString(standardSeriesName(theirs.toStdString())), ours);
        QCOMPARE(standardSeriesName(ours.toStdString()), ours.toStdString());
    }
    /// "loss" and "train/loss" of one program are two curves; neither may swallow the other.
    void twoNamesNeverShareASeries() {
        SeriesNames names;
        QCOMPARE(names.of("loss"), std::string("train/loss"));
        QCOMPARE(names.of("train_loss"), std::string("train_loss"));
        QCOMPARE(names.of("train/loss"), std::string("train/loss (2)"));
        QCOMPARE(names.of("loss"), std::string("train/loss"));
        QCOMPARE(names.of("a\x01"), std::string("a "));
        QCOMPARE(names.of("a\x02"), std::string("a  (2)"));
    }
    void aGiantNameIsCutAndStaysItself() {
        std::string one(1u << 20, 'x'), other = one;
        other.back() = 'y';
        SeriesNames names;
        const std::string first = names.of(one), second = names.of(other);
        QVERIFY(first != second);
        QCOMPARE(first.size(), kMostSeriesNameBytes);
        QVERIFY(first.starts_with("xxxx"));
        QCOMPARE(names.of(one), first);
    }
    void whatIsNotTextBecomesText() {
        QCOMPARE(cleanSeriesName(""), std::string("unnamed"));
        QCOMPARE(cleanSeriesName("\n\t"), std::string("unnamed"));
        QCOMPARE(cleanSeriesName("a\xff" "b\nc"), std::string("a?b c"));
        std::string umlauts;
        while (umlauts.size() < 2 * kMostSeriesNameBytes) umlauts += "\xc3\xa4";
        for (const std::string& text : {umlauts, "x" + umlauts}) {
            QCOMPARE(firstBadUtf8(cleanSeriesName(text)), std::string_view::npos);
            QVERIFY(cleanSeriesName(text).size() <= kMostSeriesNameBytes);
        }
    }
};

QTEST_APPLESS_MAIN(TestSeriesNames)
#include "tst_series_names.moc"
