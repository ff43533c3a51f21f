// labels: gui
// Every control of every page has a name for a screen reader and can be reached and used by keyboard alone.
#include "fixture_run.h"
#include "window_bench.h"

#include "pages/new_run_page.h"
#include "pages/runs_page.h"
#include "shell/message_bar.h"
#include "theme/parts.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QAbstractItemView>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSlider>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>

#include <set>

using namespace lathe;
using shell::Page;
using tests::WindowBench;

namespace {

QString pathOf(const QWidget* widget) {
    QStringList path;
    for (; widget != nullptr; widget = widget->parentWidget())
        path.prepend(QLatin1String(widget->metaObject()->className()) + (widget->objectName().isEmpty() ? QString() : QLatin1Char('#') + widget->objectName()));
    return path.join(QLatin1Char('/'));
}

bool isControl(const QWidget* widget) {
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QComboBox*>(widget) ||
           qobject_cast<const QAbstractItemView*>(widget) || qobject_cast<const QPlainTextEdit*>(widget) || qobject_cast<const QAbstractSlider*>(widget) ||
           qobject_cast<const QTabBar*>(widget);
}

/// Tab comes to one of an exclusive group, the arrows go on from there.
bool isReached(QWidget* widget, const std::set<QWidget*>& reached) {
    if (reached.count(widget) || reached.count(widget->focusProxy())) return true;
    const auto* button = qobject_cast<QAbstractButton*>(widget);
    if (!button || !button->group() || !button->group()->exclusive()) return false;
    const auto all = button->group()->buttons();
    return std::any_of(all.begin(), all.end(), [&](QAbstractButton* each) { return reached.count(each) > 0; });
}

/// Where a widget stands on a page, however far it is scrolled.
QPoint placeOf(const QWidget* widget, const QWidget* page) {
    for (const QWidget* parent = widget; parent && parent != page; parent = parent->parentWidget())
        if (const auto* scroll = qobject_cast<const QScrollArea*>(parent); scroll && scroll->widget()->isAncestorOf(widget))
            return scroll->mapTo(page, QPoint()) + widget->mapTo(scroll->widget(), widget->rect().center());
    return widget->mapTo(page, widget->rect().center());
}

/// Parts that Qt makes itself inside a control.
bool isInner(const QWidget* widget) {
    return widget->objectName().startsWith(QLatin1String("qt_")) || qobject_cast<const QComboBox*>(widget->parentWidget()) ||
           qobject_cast<const QAbstractItemView*>(widget->parentWidget()) || qobject_cast<const QTabBar*>(widget->parentWidget()) ||
           widget->inherits("QScrollBar") || widget->inherits("QHeaderView") || widget->inherits("QTableCornerButton") || widget->inherits("QLineEditIconButton");
}

}  // namespace

class TestAccessibility : public QObject {
    Q_OBJECT

    std::unique_ptr<WindowBench> m_bench;
    std::unique_ptr<tests::FixtureRun> m_run;

    void openPlace(int page, int tab) {
        if (page < shell::kRailPages) m_bench->window->openPage(Page(page));
        if (page == 0) m_bench->window->newRunPage().setMode(pages::NewRunPage::Mode(tab));
        if (page == shell::kRailPages) m_bench->window->openRun(QString::fromStdString(m_run->folder().name()), pages::RunPage::Tab(tab));
        QCoreApplication::processEvents();
    }
    /// Controls and labels that need more room than they have.
    QStringList cutWords() const {
        QStringList cut;
        for (QWidget* widget : m_bench->window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || isInner(widget) || widget->sizeHint().width() <= widget->width() + 1) continue;
            const auto* button = qobject_cast<QAbstractButton*>(widget);
            const auto* label = qobject_cast<QLabel*>(widget);
            const bool elides = qobject_cast<theme::ElidedLabel*>(widget) != nullptr;   // with its whole text as a tooltip
            if ((button != nullptr && !button->text().isEmpty()) || (label != nullptr && !label->text().isEmpty() && !label->wordWrap() && !elides)) cut << pathOf(widget);
        }
        return cut;
    }
    static void places() {
        QTest::addColumn<int>("page");
        QTest::addColumn<int>("tab");
        const char* names[] = {"New run", "Runs", "Queue", "Compare", "Devices"};
        for (int page = 0; page < shell::kRailPages; ++page) QTest::newRow(names[page]) << page << 0;
        QTest::newRow("Own command") << 0 << 1;
        QTest::newRow("TensorBoard folder") << 0 << 2;
        const char* tabs[] = {"Charts", "Checkpoints", "Records", "Config", "Log"};
        for (int tab = 0; tab < 5; ++tab) QTest::newRow(tabs[tab]) << shell::kRailPages << tab;
    }

private Q_SLOTS:
    void initTestCase() {
        m_bench = std::make_unique<WindowBench>();
        m_run = std::make_unique<tests::FixtureRun>(m_bench->workspace(), "one", std::string());
        m_run->beginSession(1);
        for (int i = 1; i <= 40; ++i) m_run->points(i, {{"train/loss", 1.0 / i}, {"train/lr", 1e-3}});
        for (int i = 1; i <= 3; ++i) m_run->record({live::FrameType::Text, 0, 0, i, 0, "sample", {}, "text", {}});
        m_run->endSession();
        m_run->checkpoint(1, 40);
        m_run->summary([](rundir::Summary& summary) { summary.state = rundir::State::Completed; });
        m_run->closeWriter();
        m_bench->open();
        QTRY_VERIFY(m_bench->window->workspace().runs().size() == 1);
    }

    void everyControlHasAName_data() { places(); }
    void everyControlHasAName() {
        QFETCH(int, page);
        QFETCH(int, tab);
        openPlace(page, tab);
        QStringList nameless;
        int seen = 0;
        for (QWidget* widget : m_bench->window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || !isControl(widget) || isInner(widget)) continue;
            ++seen;
            QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(widget);
            if (!spoken || spoken->text(QAccessible::Name).trimmed().isEmpty()) nameless << pathOf(widget);
        }
        QVERIFY(seen > 4);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QLatin1Char('\n'))));
    }
    void everyControlIsReachedByTab_data() { places(); }
    void everyControlIsReachedByTab() {
        QFETCH(int, page);
        QFETCH(int, tab);
        openPlace(page, tab);
        std::set<QWidget*> wanted;
        for (QWidget* widget : m_bench->window->findChildren<QWidget*>())
            if (widget->isVisible() && widget->isEnabled() && isControl(widget) && !isInner(widget) && !widget->testAttribute(Qt::WA_TransparentForMouseEvents)) wanted.insert(widget);
        std::set<QWidget*> reached;
        for (int i = 0; i < 400; ++i) {
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : m_bench->window.get(), Qt::Key_Tab);
            QWidget* now = QApplication::focusWidget();
            if (now && !reached.insert(now).second && i > 20) break;  // once around
        }
        QStringList missed;
        for (QWidget* widget : wanted)
            if (!isReached(widget, reached)) missed << pathOf(widget);
        QVERIFY2(missed.isEmpty(), qPrintable(missed.join(QLatin1Char('\n'))));
    }
    void tabGoesDownThePageNotBackAndForth_data() { places(); }
    void tabGoesDownThePageNotBackAndForth() {
        QFETCH(int, page);
        QFETCH(int, tab);
        openPlace(page, tab);
        QWidget* stack = m_bench->window->findChild<QStackedWidget*>()->currentWidget();
        // Within a row from left to right, rows from top to bottom: at most a few jumps upwards, one for each column.
        int upwards = 0, steps = 0;
        QPoint before;
        QWidget* first = nullptr;
        stack->setFocus();
        for (int i = 0; i < 400; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            QWidget* now = QApplication::focusWidget();
            if (now == first) break;
            if (!stack->isAncestorOf(now)) {
                if (first) break;
                continue;
            }
            if (!first) first = now;
            const QPoint place = placeOf(now, stack);
            if (steps++ && place.y() < before.y() - now->height()) ++upwards;
            before = place;
        }
        if (steps == 0) QVERIFY(page == int(Page::Devices));  // a page of numbers alone
        QVERIFY2(upwards <= 3, qPrintable(QString::number(upwards)));
    }
    void everyWordHasRoomInTheSmallestWindow_data() { places(); }
    void everyWordHasRoomInTheSmallestWindow() {
        QFETCH(int, page);
        QFETCH(int, tab);
        const QSize before = m_bench->window->size();
        m_bench->window->resize(m_bench->window->minimumSize());
        openPlace(page, tab);
        QTRY_COMPARE(m_bench->window->centralWidget()->width(), m_bench->window->minimumSize().width());   // a window manager takes its time
        QTRY_VERIFY2(cutWords().isEmpty(), qPrintable(cutWords().join(QLatin1Char('\n'))));
        m_bench->window->resize(before);
    }
    void theWholeWindowWorksWithoutAMouse() {
        auto& window = *m_bench->window;
        QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(window.page(), Page::Runs);
        auto* table = m_bench->find<QTableView>("runsTable");
        table->setFocus();
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::keyClick(table, Qt::Key_Return);
        QTRY_VERIFY(window.page() == Page::Run);
        QTest::keyClick(&window, Qt::Key_2, Qt::AltModifier);
        QCOMPARE(window.runPage().tab(), pages::RunPage::Checkpoints);
        QTest::keyClick(&window, Qt::Key_5, Qt::AltModifier);
        QCOMPARE(window.runPage().tab(), pages::RunPage::Log);
        QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
        QCOMPARE(window.page(), Page::NewRun);
        QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier);
        auto* filter = m_bench->find<QLineEdit>("switcherFilter");
        QTRY_VERIFY(filter->hasFocus());
        QTest::keyClicks(filter, "one");
        QTest::keyClick(filter, Qt::Key_Return);
        QTRY_VERIFY(window.page() == Page::Run);
    }
};

QTEST_MAIN(TestAccessibility)
#include "tst_accessibility.moc"
