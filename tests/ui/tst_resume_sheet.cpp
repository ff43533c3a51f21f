// labels: gui
// The sheet before going on with other settings: what is typed is asked about, and only what was answered can be accepted.
#include "patience.h"

#include "pages/resume_sheet.h"
#include "shell/english.h"
#include "theme/theme.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

using namespace lathe;
using models::SheetModel;
using pages::SheetAnswer;

namespace {

QJsonObject row(const QString& key, const QString& checkpoint, const QString& used, const QString& effect, const QString& why = {}) {
    return {{QStringLiteral("key"), key}, {QStringLiteral("label"), key}, {QStringLiteral("checkpoint"), checkpoint}, {QStringLiteral("form"), QJsonValue()},
            {QStringLiteral("used"), used}, {QStringLiteral("effect"), effect}, {QStringLiteral("why"), why}};
}

/// Stands in for lathe-trainer: answers when told to.
class Trainer {
public:
    pages::SheetQuestion question() {
        pages::SheetQuestion made;
        made.title = QStringLiteral("Go on");
        made.verbs = QStringList{QStringLiteral("continue"), QStringLiteral("fork")};
        made.verb = QStringLiteral("continue");
        made.ask = [this](const SheetAnswer& wanted, QObject*, pages::SheetQuestion::Reply reply) {
            asked.push_back(wanted);
            replies.push_back(std::move(reply));
        };
        return made;
    }
    /// As lathe-trainer does: a batch size cannot change, a rate can.
    void answer(std::size_t question) {
        const QString settings = asked[question].settings.join(QLatin1Char(' '));
        const bool rate = settings.contains(QStringLiteral("learning_rate=0.5")), batch = settings.contains(QStringLiteral("batch_size"));
        const QString applies = QStringLiteral("applies from now"), same = QStringLiteral("same"), forbidden = QStringLiteral("forbidden");
        QJsonObject sheet{{QStringLiteral("dry_run"), true}, {QStringLiteral("step"), 400}, {QStringLiteral("would_start"), !batch},
                          {QStringLiteral("settings"), QJsonArray{row(QStringLiteral("optimizer.learning_rate"), QStringLiteral("0.1"), rate ? QStringLiteral("0.5") : QStringLiteral("0.1"), rate ? applies : same),
                                                                  row(QStringLiteral("data.batch_size"), QStringLiteral("32"), QStringLiteral("32"), batch ? forbidden : same, batch ? QStringLiteral("made with 32") : QString())}},
                          {QStringLiteral("learning_rate"), QJsonObject{{QStringLiteral("before"), 0.1}, {QStringLiteral("after"), rate ? 0.5 : 0.1}}},
                          {QStringLiteral("updates"), QJsonObject{{QStringLiteral("planned_before"), 900}, {QStringLiteral("planned_after"), 1350}, {QStringLiteral("left"), 950}}}};
        if (batch) sheet[QStringLiteral("error")] = QJsonObject{{QStringLiteral("sentence"), QStringLiteral("data.batch_size cannot change")}};
        replies[question](QJsonDocument(sheet).toJson(QJsonDocument::Compact), {});
    }

    std::vector<SheetAnswer> asked;
    std::vector<pages::SheetQuestion::Reply> replies;
};

}  // namespace

class TestResumeSheet : public QObject {
    Q_OBJECT

    std::unique_ptr<Trainer> m_trainer;
    std::unique_ptr<pages::ResumeSheet> m_sheet;

    template <typename Widget>
    Widget* find(const char* name) const { return m_sheet->findChild<Widget*>(QLatin1String(name)); }
    bool acceptable() const { return find<QPushButton>("sheetAccept")->isEnabled(); }
    /// Types into the column "Asked for" of a row by keyboard alone.
    void type(int row, const QString& text) {
        auto* table = find<QTableView>("sheetTable");
        table->setFocus();
        table->setCurrentIndex(m_sheet->model().index(row, SheetModel::Form));
        QTest::keyClick(table, Qt::Key_F2);
        QWidget* editor = table->findChild<QLineEdit*>();
        QVERIFY(editor);
        QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(editor, text);
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_VERIFY(!table->findChild<QLineEdit*>());  // what was typed is taken over in its own time
    }

private Q_SLOTS:
    void initTestCase() {
        shell::installEnglish();
        theme::apply(theme::Mode::Light);
    }
    void init() {
        m_trainer = std::make_unique<Trainer>();
        m_sheet = std::make_unique<pages::ResumeSheet>(m_trainer->question(), nullptr);
        m_sheet->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_sheet.get()));
        m_sheet->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_sheet.get()));
    }

    void nothingIsAcceptedBeforeItsAnswer() {
        QCOMPARE(m_trainer->asked.size(), std::size_t{1});
        QVERIFY(!acceptable());
        m_trainer->answer(0);
        QVERIFY(acceptable());
        QCOMPARE(m_sheet->model().rowCount(), 2);
        QVERIFY(find<QLabel>("sheetRate")->text().contains(QStringLiteral("as planned")));
        QVERIFY2(find<QLabel>("sheetLeft")->text().contains(QStringLiteral("950")) && find<QLabel>("sheetLeft")->text().contains(QStringLiteral("900")), qPrintable(find<QLabel>("sheetLeft")->text()));
    }
    void aTypedValueIsAskedAboutAndShown() {
        QAbstractItemModelTester tester(&m_sheet->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        m_trainer->answer(0);
        type(0, QStringLiteral("0.5"));
        QVERIFY(!acceptable());  // until it is known what comes of it
        QTRY_COMPARE(m_trainer->asked.size(), std::size_t{2});
        QCOMPARE(m_trainer->asked.back().settings, QStringList{QStringLiteral("optimizer.learning_rate=0.5")});
        m_trainer->answer(1);
        QVERIFY(acceptable());
        const auto cell = [this](int column) { return m_sheet->model().index(0, column).data().toString(); };
        QCOMPARE(cell(SheetModel::Checkpoint), QStringLiteral("0.1"));
        QCOMPARE(cell(SheetModel::Form), QStringLiteral("0.5"));
        QCOMPARE(cell(SheetModel::Used), QStringLiteral("0.5"));
        QCOMPARE(cell(SheetModel::Effect), QStringLiteral("applies from now"));
        QVERIFY(find<QLabel>("sheetRate")->text().startsWith(QStringLiteral("0.5 instead of 0.1")));
        QCOMPARE(m_sheet->answer().settings, QStringList{QStringLiteral("optimizer.learning_rate=0.5")});
        type(0, QStringLiteral("0.1"));  // as in the checkpoint: nothing is asked for
        QVERIFY(m_sheet->answer().settings.isEmpty());
    }
    void whatIsForbiddenSaysWhyAndCannotBeAccepted() {
        m_trainer->answer(0);
        type(1, QStringLiteral("64"));
        QTRY_COMPARE(m_trainer->asked.size(), std::size_t{2});
        m_trainer->answer(1);
        QVERIFY(!acceptable());
        QVERIFY(find<QLabel>("sheetProblem")->text().contains(QStringLiteral("cannot change")));
        QVERIFY(m_sheet->model().index(1, SheetModel::Effect).data().toString().contains(QStringLiteral("made with 32")));
        QTest::mouseClick(find<QToolButton>("sheetOnlyChanges"), Qt::LeftButton);
        QCOMPARE(m_sheet->model().rowCount(), 1);
    }
    void anEarlierAnswerIsNotTakenForTheNewestQuestion() {
        m_trainer->answer(0);
        find<QComboBox>("sheetVerb")->setCurrentIndex(1);
        QCOMPARE(m_trainer->asked.size(), std::size_t{2});
        QCOMPARE(m_trainer->asked.back().verb, QStringLiteral("fork"));
        m_trainer->answer(0);
        QVERIFY(!acceptable());
        m_trainer->answer(1);
        QVERIFY(acceptable());
        QCOMPARE(m_sheet->answer().verb, QStringLiteral("fork"));
        QTest::mouseClick(find<QWidget>("sheetNewCurve"), Qt::LeftButton);
        QVERIFY(m_trainer->asked.size() == 3 && m_trainer->asked.back().newCurve && !acceptable());
        m_trainer->answer(2);
        QVERIFY(m_sheet->answer().newCurve && m_sheet->answer().when == session::When::Now);
    }
    void whatIsComparedIsShortenedAlikeAndToldWhole() {
        m_trainer->answer(0);
        auto* table = find<QTableView>("sheetTable");
        QCOMPARE(table->columnWidth(SheetModel::Checkpoint), table->columnWidth(SheetModel::Used));
        QCOMPARE(table->textElideMode(), Qt::ElideMiddle);
        for (const int column : {SheetModel::Checkpoint, SheetModel::Used}) {
            const QModelIndex cell = m_sheet->model().index(0, column);
            QVERIFY2(!cell.data().toString().isEmpty() && cell.data(Qt::ToolTipRole).toString().endsWith(cell.data().toString()), qPrintable(cell.data(Qt::ToolTipRole).toString()));
        }
    }
    void itCanWaitInTheQueue() {
        auto* later = find<QPushButton>("sheetQueue");
        QVERIFY(!later->isEnabled());
        m_trainer->answer(0);
        QTest::mouseClick(later, Qt::LeftButton);
        QCOMPARE(m_sheet->result(), int(QDialog::Accepted));
        QVERIFY(m_sheet->answer().when == session::When::Queued);
    }
    void whereThereIsNothingToShowItSaysWhy() {
        m_trainer->replies[0]("{\"error\":{\"sentence\":\"x\"}}", QStringLiteral("No such run"));
        QVERIFY(!acceptable());
        QCOMPARE(find<QLabel>("sheetProblem")->text(), QStringLiteral("No such run"));
    }
};

QTEST_MAIN(TestResumeSheet)
#include "tst_resume_sheet.moc"
