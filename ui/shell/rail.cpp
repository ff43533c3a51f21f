#include "shell/rail.h"

#include "pages/state_look.h"
#include "session/qt_text.h"
#include "shell/language.h"
#include "theme/parts.h"

#include <QActionGroup>
#include <QButtonGroup>
#include <QFontMetrics>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::shell {
namespace {

constexpr int kWidth = 172;
constexpr int kMostRuns = 4;

/// A run that is up: its name, and how far it is as a thin bar.
class RailRun : public QToolButton {
public:
    RailRun(const session::RunEntry& entry) : m_name(entry.name()), m_tone(pages::stateTone(entry.state, entry.snag)) {
        const auto planned = entry.summary.plannedUpdates;
        if (planned && *planned > 0) m_part = std::clamp(double(entry.summary.counters.globalStep.value()) / double(*planned), 0.0, 1.0);
        setObjectName(QStringLiteral("railRun"));
        setAccessibleName(m_name);
        const QString word = pages::stateWord(entry.state, entry.snag), how = entry.why.isEmpty() ? word : word + QStringLiteral(": ") + entry.why;
        setAccessibleDescription(how);
        setToolTip(m_name.toHtmlEscaped() + QStringLiteral("<br>") + how.toHtmlEscaped());
        theme::setRole(this, "nav");
        setFixedHeight(34);
        setFocusPolicy(Qt::TabFocus);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }

protected:
    void paintEvent(QPaintEvent* event) override {
        QToolButton::paintEvent(event);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme::toneColor(m_tone));
        painter.drawEllipse(QPointF(13, 13), 3, 3);
        painter.setFont(theme::textFont(theme::TextRole::Caption));
        painter.setPen(theme::colors().muted);
        const QRect text(23, 3, width() - 30, 20);
        painter.drawText(text, Qt::AlignVCenter, painter.fontMetrics().elidedText(m_name, Qt::ElideMiddle, text.width()));
        const QRectF groove(23, 25, width() - 33, 3);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme::colors().track);
        painter.drawRoundedRect(groove, 1.5, 1.5);
        painter.setBrush(theme::toneColor(m_tone));
        painter.drawRoundedRect(QRectF(groove.topLeft(), QSizeF(groove.width() * m_part, 3)), 1.5, 1.5);
    }

private:
    QString m_name;
    theme::Tone m_tone;
    double m_part = 0;
};

}  // namespace

Rail::Rail(session::Workspace& workspace, session::QueueFeed& queue, const QString& language, QWidget* parent)
    : QWidget(parent), m_workspace(workspace), m_queue(queue) {
    theme::setRole(this, "rail");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("rail"));
    setFixedWidth(kWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 14, 10, 12);
    column->setSpacing(2);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(8, 0, 0, 14);
    head->setSpacing(9);
    auto* mark = new QToolButton;
    mark->setIcon(theme::appIcon());
    mark->setIconSize({20, 20});
    mark->setStyleSheet(QStringLiteral("QToolButton { border: none; background: transparent; padding: 0; }"));
    mark->setAttribute(Qt::WA_TransparentForMouseEvents);
    mark->setFocusPolicy(Qt::NoFocus);
    mark->setAccessibleName(QStringLiteral("Lathe"));
    head->addWidget(mark);
    head->addWidget(theme::label(QStringLiteral("Lathe"), theme::TextRole::Strong));
    head->addStretch();
    column->addLayout(head);
    addPages(column);
    column->addStretch();
    m_runs = new QVBoxLayout;
    m_runs->setSpacing(2);
    column->addLayout(m_runs);
    column->addSpacing(6);
    addTheme(column);
    addLanguages(m_theme->menu(), language);
    connect(&m_workspace, &session::Workspace::runsChanged, this, &Rail::refreshRuns);
    connect(&m_queue, &session::QueueFeed::changed, this, &Rail::refreshQueue);
    refreshRuns();
    refreshQueue();
}

void Rail::addPages(QVBoxLayout* column) {
    struct Item {
        theme::Icon icon;
        QString text;
        const char* name;
    };
    const Item items[] = {{theme::Icon::NewRun, tr("New run"), "railNewRun"},
                          {theme::Icon::Runs, tr("Runs"), "railRuns"},
                          {theme::Icon::Queue, tr("Queue"), "railQueue"},
                          {theme::Icon::Compare, tr("Compare"), "railCompare"},
                          {theme::Icon::Devices, tr("Devices"), "railDevices"}};
    auto* group = new QButtonGroup(this);
    for (const Item& item : items) {
        const int number = int(m_pages.size());
        auto* button = new QToolButton;
        theme::setRole(button, "nav");
        button->setObjectName(QLatin1String(item.name));
        button->setIcon(theme::icon(item.icon));
        button->setIconSize({18, 18});
        button->setText(QStringLiteral("  ") + item.text);
        button->setAccessibleName(item.text);
        button->setToolTip(QStringLiteral("Ctrl+%1").arg(number + 1));
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setCheckable(true);
        button->setFixedHeight(34);
        button->setFocusPolicy(Qt::TabFocus);  // a click leaves no focus frame behind
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        group->addButton(button);
        connect(button, &QToolButton::clicked, this, [this, number] { Q_EMIT pageChosen(Page(number)); });
        m_pages.push_back(button);
        column->addWidget(button);
    }
}

void Rail::addTheme(QVBoxLayout* column) {
    m_theme = theme::flatButton(theme::Icon::HalfSun, tr("Theme"));
    m_theme->setObjectName(QStringLiteral("theme"));
    m_theme->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_theme);
    const std::pair<theme::Mode, QString> modes[] = {{theme::Mode::System, tr("As the system")}, {theme::Mode::Light, tr("Light")}, {theme::Mode::Dark, tr("Dark")}};
    const theme::Icon icons[] = {theme::Icon::HalfSun, theme::Icon::Sun, theme::Icon::Moon};
    for (int i = 0; i < 3; ++i) {
        const theme::Mode mode = modes[i].first;
        connect(menu->addAction(theme::icon(icons[i]), modes[i].second), &QAction::triggered, this, [this, mode] {
            Q_EMIT themeChosen(mode);
            refreshTheme();
        });
    }
    m_theme->setMenu(menu);
    column->addWidget(m_theme, 0, Qt::AlignLeft);
    refreshTheme();
}

void Rail::addLanguages(QMenu* menu, const QString& chosen) {
    menu->addSeparator();
    QMenu* sub = menu->addMenu(tr("Language"));
    auto* group = new QActionGroup(sub);
    const auto add = [&](const QString& name, const QString& text) {
        QAction* action = sub->addAction(text);
        action->setCheckable(true);
        action->setChecked(name == chosen);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, name] { Q_EMIT languageChosen(name); });
    };
    add({}, tr("Language of the system"));
    // Each in its own words and in English: who cannot read the window, or has no font for it, must find it.
    for (const QString& name : languages()) add(name, languageName(name));
}

void Rail::refreshTheme() {
    const theme::Mode mode = theme::mode();
    m_theme->setIcon(theme::icon(mode == theme::Mode::Light ? theme::Icon::Sun : mode == theme::Mode::Dark ? theme::Icon::Moon : theme::Icon::HalfSun));
    m_theme->setToolTip(mode == theme::Mode::Light ? tr("Light theme") : mode == theme::Mode::Dark ? tr("Dark theme") : tr("Theme of the system"));
}

void Rail::setPage(Page page) {
    const auto index = std::size_t(page == Page::Run ? Page::Runs : page);
    m_pages[index]->setChecked(true);
}

void Rail::refreshQueue() {
    const auto count = int(m_queue.now().runs.size());
    QToolButton* button = m_pages[std::size_t(Page::Queue)];
    button->setText(QStringLiteral("  ") + (count > 0 ? tr("Queue · %1").arg(count) : tr("Queue")));
    button->setAccessibleName(count > 0 ? tr("Queue, %n run(s) wait", nullptr, count) : tr("Queue"));
}

void Rail::refreshRuns() {
    while (QLayoutItem* item = m_runs->takeAt(0)) {
        if (item->widget() != nullptr) item->widget()->deleteLater();
        delete item;
    }
    int shown = 0;
    for (const session::RunEntry& entry : m_workspace.runs()) {
        if (!rundir::isAlive(entry.state) || ++shown > kMostRuns) continue;
        auto* button = new RailRun(entry);
        connect(button, &QToolButton::clicked, this, [this, folder = session::toQt(entry.folder)] { Q_EMIT runChosen(folder); });
        m_runs->addWidget(button);
    }
}

}  // namespace lathe::shell
