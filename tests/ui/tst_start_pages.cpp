// labels: gui
// Runs of one's own command and from TensorBoard files, as a person starts them in the window.
#include "fixture_run.h"
#include "window_bench.h"

#include "pages/data_card.h"
#include "pages/new_run_page.h"
#include "pages/run_kind.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>

using namespace lathe;
using pages::NewRunPage;
using tests::FixtureRun;
using tests::WindowBench;

class TestStartPages : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;

    NewRunPage& page() const { return m_bench->window->newRunPage(); }
    QString message() const { return m_bench->window->messages().text(); }
    /// A run of another kind that ended.
    std::unique_ptr<FixtureRun> otherRun(const char* task) {
        auto run = std::make_unique<FixtureRun>(m_bench->workspace(), "other");
        run->beginSession(1);
        for (int i = 1; i <= 30; ++i) run->points(i, {{"loss", 1.0 / i}, {"val/accuracy", i / 30.0}, {"train/accuracy", i / 40.0}});
        run->endSession();
        run->summary([task](rundir::Summary& summary) {
            summary.state = rundir::State::Completed;
            summary.task = task;
        });
        run->closeWriter();
        return run;
    }

private Q_SLOTS:
    void init() {
        m_bench = std::make_unique<WindowBench>();
        m_bench->useScript(QStringLiteral("{}"));
    }
    void cleanup() { m_bench.reset(); }

    void aCommandIsStartedWithItsFolderAndName() {
        m_bench->open();
        page().setMode(NewRunPage::Command);
        auto* start = m_bench->find<QPushButton>("commandStart");
        QVERIFY(!start->isEnabled());
        m_bench->find<QPlainTextEdit>("commandLine")->setPlainText(QStringLiteral("python train.py --lr 3e-4"));
        m_bench->find<QLineEdit>("commandFolder")->setText(QStringLiteral("/tmp"));
        m_bench->find<QLineEdit>("commandName")->setText(QStringLiteral("mine"));
        QVERIFY(start->isEnabled());
        QTest::mouseClick(start, Qt::LeftButton);
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("run --command python train.py --lr 3e-4 --detach --set command.folder=/tmp --set run.name=mine")), qPrintable(m_bench->called()));
        QTRY_VERIFY(start->isEnabled());
        m_bench->close();
        m_bench->open();
        QCOMPARE(page().mode(), NewRunPage::Command);
        QCOMPARE(m_bench->find<QPlainTextEdit>("commandLine")->toPlainText(), QStringLiteral("python train.py --lr 3e-4"));
    }
    void aTextAsOwnDataBecomesALanguageModel() {
        m_bench->open();
        page().setMode(NewRunPage::Training);
        QTemporaryDir folder;
        const auto write = [&](const char* name, const QByteArray& bytes) {
            QFile file(folder.filePath(QString::fromLatin1(name)));
            if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("cannot write");
            return file.fileName();
        };
        auto* card = m_bench->find<pages::DataCard>("dataCard");
        auto* start = m_bench->find<QPushButton>("start");
        Q_EMIT card->dataChosen(write("poem.txt", QByteArray("The sea, the sea, the open sea!\n").repeated(200)));
        QTRY_VERIFY2(card->sentence().startsWith(QStringLiteral("6,400 bytes · 1 document · ")), qPrintable(card->sentence()));
        QVERIFY(card->sentence().contains(QStringLiteral("the last 640 bytes are held out")));
        QTRY_VERIFY(start->isEnabled());
        QTest::mouseClick(start, Qt::LeftButton);
        // With the preset that suits a text, as the command line takes it.
        QTRY_VERIFY2(m_bench->called().contains(QStringLiteral("run shakespeare-char")) && m_bench->called().contains(QStringLiteral("poem.txt")), qPrintable(m_bench->called()));
        QTRY_VERIFY(m_bench->window->page() == shell::Page::Run);
        // What is no usable text says so and leaves the settings as they were.
        Q_EMIT card->dataChosen(write("empty.txt", QByteArray()));
        QTRY_VERIFY2(message().contains(QStringLiteral("is empty")), qPrintable(message()));
        QTRY_VERIFY(card->sentence().startsWith(QStringLiteral("6,400 bytes")));
    }
    void aCommandThatDoesNotStartSaysWhyAndKeepsTheForm() {
        m_bench->useScript(QStringLiteral("{\"error\":{\"sentence\":\"There is no program nowhere\"}}"), 2);
        m_bench->open();
        page().setMode(NewRunPage::Command);
        m_bench->find<QPlainTextEdit>("commandLine")->setPlainText(QStringLiteral("nowhere"));
        m_bench->click<QPushButton>("commandStart");
        QTRY_VERIFY2(message().contains(QStringLiteral("no program nowhere")), qPrintable(message()));
        QCOMPARE(m_bench->find<QPlainTextEdit>("commandLine")->toPlainText(), QStringLiteral("nowhere"));
        QVERIFY(m_bench->find<QPushButton>("commandStart")->isEnabled());
    }
    void anImportedFolderOpensItsRun() {
        const auto run = otherRun("imported");
        m_bench->useScript(QStringLiteral("{\"runs\":[{\"folder\":\"%1\",\"points\":1200}],\"problems\":[]}").arg(QString::fromStdString(run->folder().root().string())));
        m_bench->open();
        page().setMode(NewRunPage::TensorBoard);
        QVERIFY(!m_bench->find<QPushButton>("importStart")->isEnabled());
        m_bench->find<QLineEdit>("importFolder")->setText(QStringLiteral("/logs/"));
        QTest::mouseClick(m_bench->find<theme::Switch>("importFollow"), Qt::LeftButton);
        m_bench->click<QPushButton>("importStart");
        QTRY_VERIFY(m_bench->window->page() == shell::Page::Run);
        QVERIFY2(m_bench->called().contains(QStringLiteral("import /logs --follow --detach")), qPrintable(m_bench->called()));
        QVERIFY2(message().contains(QStringLiteral("1,200")), qPrintable(message()));
    }
    void aFolderWithoutEventFilesSaysSo() {
        m_bench->useScript(QStringLiteral("{\"runs\":[],\"problems\":[]}"));
        m_bench->open();
        page().setMode(NewRunPage::TensorBoard);
        m_bench->find<QLineEdit>("importFolder")->setText(QStringLiteral("/empty"));
        m_bench->click<QPushButton>("importStart");
        QTRY_VERIFY2(message().contains(QStringLiteral("/empty")), qPrintable(message()));
    }
    void verbsThatARunCannotHaveSayWhy_data() {
        QTest::addColumn<QString>("task");
        QTest::addColumn<bool>("again");
        QTest::newRow("command") << QStringLiteral("command") << true;
        QTest::newRow("imported") << QStringLiteral("imported") << false;
    }
    void verbsThatARunCannotHaveSayWhy() {
        QFETCH(QString, task);
        QFETCH(bool, again);
        const auto run = otherRun(task.toLatin1().constData());
        m_bench->open();
        m_bench->window->openRun(QString::fromStdString(run->key()), pages::RunPage::Checkpoints);
        const QString why = pages::whyNoCheckpoints(pages::kindOf(m_bench->window->runPage().session()->summary()));
        auto* go = m_bench->find<QPushButton>("continueRun");
        QTRY_VERIFY2(!go->isEnabled() && !go->toolTip().isEmpty(), qPrintable(go->toolTip()));
        for (const char* name : {"continue", "rollBack", "fork", "startFromWeights", "export"})
            QTRY_VERIFY2(!m_bench->find<QPushButton>(name)->isEnabled() && m_bench->find<QPushButton>(name)->toolTip() == go->toolTip(), name);
        QTRY_COMPARE(m_bench->find<QPushButton>("runAgain")->isEnabled(), again);
        QVERIFY(why.isEmpty() || why == go->toolTip());
    }
};

QTEST_MAIN(TestStartPages)
#include "tst_start_pages.moc"
