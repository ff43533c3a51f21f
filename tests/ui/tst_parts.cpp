// labels: gui
// What pages are made of: colours that can be read, rows that find room, questions whose default loses nothing, bars.
#include "window_bench.h"

#include "base/clock.h"
#include "pages/prompts.h"
#include "shell/away_bar.h"
#include "theme/parts.h"
#include "theme/plain_tip.h"

#include <QDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTextDocumentFragment>

#include <cmath>

using namespace lathe;

namespace {

/// Contrast as WCAG 2 defines it.
double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& color) {
        const auto linear = [](double part) { return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); };
        return 0.2126 * linear(double(color.redF())) + 0.7152 * linear(double(color.greenF())) + 0.0722 * linear(double(color.blueF()));
    };
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

constexpr theme::Tone kTones[] = {theme::Tone::Muted, theme::Tone::Accent, theme::Tone::Danger, theme::Tone::Success, theme::Tone::Warning, theme::Tone::Paused};

}  // namespace

class TestParts : public QObject {
    Q_OBJECT

    static QDialog* openDialog() {
        for (QWidget* widget : QApplication::topLevelWidgets())
            if (auto* dialog = qobject_cast<QDialog*>(widget); dialog && dialog->isVisible()) return dialog;
        return nullptr;
    }

private Q_SLOTS:
    void initTestCase() { shell::installEnglish(); }
    void init() { theme::apply(theme::Mode::Light); }

    void wordsCanBeReadInBothThemes_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void wordsCanBeReadInBothThemes() {
        QFETCH(bool, dark);
        theme::apply(dark ? theme::Mode::Dark : theme::Mode::Light);
        const theme::Colors& c = theme::colors();
        constexpr double kLegible = 4.5;   // of WCAG 2, for text of this size
        for (const QColor& ground : {c.surface, c.window, c.selection, c.hover, c.field, c.raised}) {
            QVERIFY2(contrast(c.text, ground) >= kLegible, qPrintable(ground.name()));
            QVERIFY2(contrast(c.muted, ground) >= kLegible, qPrintable(ground.name()));
        }
        for (const QColor& ground : {c.surface, c.field}) QVERIFY2(contrast(c.faint, ground) >= kLegible, qPrintable(ground.name()));
        for (const theme::Tone tone : kTones) {
            const QColor color = theme::toneColor(tone);
            for (const QColor& ground : {c.surface, c.window}) QVERIFY2(contrast(color, ground) >= kLegible, qPrintable(color.name() + ground.name()));
            QVERIFY2(contrast(theme::Pill::ink(color), theme::Pill::ground(color)) >= kLegible, qPrintable(color.name()));
        }
        QVERIFY(contrast(c.onAccent, c.accent) >= kLegible);
    }
    void aTooltipShowsItsTextLetterByLetter() {
        for (const char* text : {"plain & \"quoted\"", "<b>one</b>", "a &lt; b", "two\nlines"}) {
            const QString said = QString::fromUtf8(text), tip = theme::plainTip(said);
            QCOMPARE(Qt::mightBeRichText(tip) ? QTextDocumentFragment::fromHtml(tip).toPlainText() : tip, said);
        }
        QVERIFY(Qt::mightBeRichText(theme::plainTip(QString(200, QLatin1Char('x')))));   // only those are wrapped
    }
    void groupsOfARowGoBelowEachOtherWhereThereIsNoRoom() {
        const auto group = [] {
            auto* part = new QWidget;
            auto* row = new QHBoxLayout(part);
            row->setContentsMargins(0, 0, 0, 0);
            for (int i = 0; i < 3; ++i) row->addWidget(new QPushButton(QStringLiteral("A button of some width")));
            return part;
        };
        QWidget *first = group(), *second = group();
        theme::SplitRow row(first, second);
        row.resize(first->sizeHint().width() + second->sizeHint().width() + 40, row.sizeHint().height());
        row.show();
        QVERIFY(QTest::qWaitForWindowExposed(&row));
        QCOMPARE(first->y(), second->y());
        QCOMPARE(second->geometry().right(), row.width() - 1);
        row.resize(first->sizeHint().width() + 20, 400);
        QTRY_VERIFY(second->y() > first->geometry().bottom());
        QCOMPARE(second->x(), first->x());
        QVERIFY(second->width() >= second->sizeHint().width());
        row.resize(first->sizeHint().width() * 3, 400);
        QTRY_COMPARE(first->y(), second->y());
    }
    void enterChoosesWhatLosesNothing_data() {
        QTest::addColumn<bool>("hasPrimary");
        QTest::addColumn<int>("chosen");
        QTest::newRow("what is meant") << true << 2;
        QTest::newRow("nothing, where the rest loses something") << false << 0;
    }
    void enterChoosesWhatLosesNothing() {
        QFETCH(bool, hasPrimary);
        QFETCH(int, chosen);
        QWidget parent;
        pages::DialogPrompts prompts;
        int answer = -2;
        const pages::Question question{QStringLiteral("Stop?"), QStringLiteral("A sentence."),
                                       {{QStringLiteral("Keep")}, {QStringLiteral("Discard"), false, true}, {QStringLiteral("Save"), hasPrimary, !hasPrimary}}};
        prompts.ask(&parent, question, [&](int choice) { answer = choice; });
        QTRY_VERIFY(openDialog() != nullptr && openDialog()->focusWidget() != nullptr);
        QCOMPARE(openDialog()->focusWidget()->objectName(), QStringLiteral("choice%1").arg(chosen));   // what has the focus is what Enter presses
        QTest::keyClick(openDialog(), Qt::Key_Return);
        QTRY_COMPARE(answer, chosen);

        // The one that somebody went to by Tab is pressed, not the default.
        prompts.ask(&parent, question, [&](int choice) { answer = choice; });
        QTRY_VERIFY(openDialog() != nullptr && openDialog()->focusWidget() != nullptr);
        openDialog()->findChild<QPushButton*>(QStringLiteral("choice1"))->setFocus();
        QTest::keyClick(openDialog()->focusWidget(), Qt::Key_Return);
        QTRY_COMPARE(answer, 1);

        prompts.ask(&parent, question, [&](int choice) { answer = choice; });
        QTRY_VERIFY(openDialog() != nullptr);
        QTest::keyClick(openDialog(), Qt::Key_Escape);
        QTRY_COMPARE(answer, -1);
    }
    void whatEndedMeanwhileTakesFewLinesHoweverMuchItWas() {
        std::vector<launch::RunEnding> endings;
        const std::int64_t now = Clock::system().wallNs();
        for (const rundir::State state : {rundir::State::Completed, rundir::State::Stopped, rundir::State::Failed, rundir::State::Killed, rundir::State::OutOfMemory,
                                          rundir::State::Diverged, rundir::State::Interrupted, rundir::State::Failed})
            endings.push_back({rundir::RunFolder("/nowhere/run"), "a-run-with-a-name-that-is-longer-than-most-and-tells-much", state, "why", now});
        shell::AwayBar bar;
        QVERIFY(bar.isHidden());
        bar.show(endings);
        bar.resize(780, 60);
        QVERIFY(QTest::qWaitForWindowExposed(&bar));
        QVERIFY2(bar.layout()->totalHeightForWidth(780) <= 90, qPrintable(QString::number(bar.layout()->totalHeightForWidth(780))));
        QVERIFY2(bar.text().startsWith(QStringLiteral("While you were away: 1 completed, 1 stopped at ")), qPrintable(bar.text()));
        QVERIFY2(bar.text().contains(QStringLiteral("2 failed (the last at ")), qPrintable(bar.text()));
        for (int i = 0; i < 3; ++i) {
            auto* link = bar.findChild<QPushButton*>(QStringLiteral("awayRun%1").arg(i));
            QVERIFY(link != nullptr && link->accessibleName().endsWith(QStringLiteral("tells-much")));
            QVERIFY2(link->text().contains(QStringLiteral("…")), qPrintable(link->text()));
        }
        QCOMPARE(bar.findChild<QPushButton*>(QStringLiteral("awayAll"))->text(), QStringLiteral("and 5 more"));
    }
};

QTEST_MAIN(TestParts)
#include "tst_parts.moc"
