#include "pages/run_actions.h"

#include "pages/run_kind.h"
#include "pages/run_verbs.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QAbstractButton>
#include <QAction>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QMenu>
#include <QUrl>

#include <algorithm>

namespace lathe::pages {

using Request = session::RunSession::Request;
using session::toQt;

RunActions::RunActions(Context context, RunVerbs& verbs, QWidget* parent) : QWidget(parent), m_context(context), m_verbs(verbs) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    const auto add = [row](QPushButton*& button, theme::Icon icon, const QString& text, const char* name, theme::ButtonKind kind = theme::ButtonKind::Normal) {
        button = theme::button(text, icon, kind);
        button->setObjectName(QLatin1String(name));
        row->addWidget(button);
    };
    add(m_pause, theme::Icon::Pause, tr("Pause"), "pauseRun");
    m_pauseHow = theme::flatButton(theme::Icon::Chevron, {});
    m_pauseHow->setObjectName(QStringLiteral("pauseHow"));
    m_pauseHow->setAccessibleName(tr("How to pause"));
    row->addWidget(m_pauseHow);
    connect(m_pauseHow, &QToolButton::clicked, this, &RunActions::showPauseMenu);
    add(m_save, theme::Icon::Save, tr("Save now"), "saveNow");
    add(m_stop, theme::Icon::Stop, tr("Stop…"), "stopRun", theme::ButtonKind::Danger);
    add(m_again, theme::Icon::Again, tr("Run again…"), "runAgain");
    add(m_continue, theme::Icon::Resume, tr("Continue"), "continueRun");
    m_more = theme::flatButton(theme::Icon::More, {});
    m_more->setObjectName(QStringLiteral("runMore"));
    m_more->setAccessibleName(tr("More for this run"));
    m_more->setToolTip(tr("More for this run"));
    row->addWidget(m_more);
    connect(m_pause, &QPushButton::clicked, this, &RunActions::togglePause);
    connect(m_save, &QPushButton::clicked, this, &RunActions::saveNow);
    connect(m_stop, &QPushButton::clicked, this, &RunActions::stop);
    connect(m_continue, &QPushButton::clicked, this, [this] { m_verbs.continueRun(folder()); });
    connect(m_again, &QPushButton::clicked, this, [this] { Q_EMIT runAgain(folder()); });
    connect(&m_context.queue, &session::QueueFeed::changed, this, &RunActions::refresh);
    connect(&m_verbs, &RunVerbs::goingOnChanged, this, &RunActions::refresh);
    connect(m_more, &QToolButton::clicked, this, &RunActions::showMenu);
}

void RunActions::setSession(std::shared_ptr<session::RunSession> session) {
    if (session == m_session) {
        refresh();
        return;
    }
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    if (m_session) {
        for (const auto signal : {&session::RunSession::stateChanged, &session::RunSession::loaded, &session::RunSession::checkpointsChanged})
            connect(m_session.get(), signal, this, &RunActions::refresh);
        connect(m_session.get(), &session::RunSession::requestAnswered, this, [this](Request, bool ok, const QString& sentence) {
            refresh();
            if (!ok) m_verbs.fail(folder(), sentence);
            else if (!sentence.isEmpty()) Q_EMIT said(sentence);
        });
    }
    refresh();
}

void RunActions::refresh() {
    setVisible(m_session != nullptr);
    if (!m_session) return;
    const session::Standing& now = m_session->standing();
    const bool alive = m_session->isAlive(), paused = now.state == rundir::State::Paused, stopping = now.state == rundir::State::Stopping;
    for (QPushButton* button : {m_pause, m_save}) button->setVisible(alive && !stopping);   // its stage takes their room
    for (QPushButton* button : {m_continue, m_again}) button->setVisible(!alive);
    const bool queued = now.state == rundir::State::Queued;
    m_stop->setVisible(alive || queued);
    m_stop->setText(queued ? tr("Take out…") : tr("Stop…"));
    m_continue->setVisible(!alive && !queued);
    m_pause->setText(paused ? tr("Unpause") : tr("Pause"));
    m_pause->setIcon(theme::icon(paused ? theme::Icon::Play : theme::Icon::Pause));
    const QString notHere = now.onThisHost ? QString() : tr("The run is up on another machine.");
    const QString notYet = now.attached ? QString() : tr("The run is just starting.");
    const QString ending = stopping ? tr("The run is stopping.") : QString();
    const QString why = !notHere.isEmpty() ? notHere : !ending.isEmpty() ? ending : notYet;
    const auto& stage = m_session->stopStage();
    for (QPushButton* button : {m_pause, m_save, m_stop}) {
        button->setEnabled(why.isEmpty());
        button->setToolTip(why);
    }
    // A stop that does not come to its end can be made harder, once.
    if (stopping && alive && notHere.isEmpty()) {
        const bool canHurry = stage && !stage->discards && !stage->isForced();
        m_stop->setText(tr("Stop at once…"));
        m_stop->setEnabled(canHurry);
        m_stop->setToolTip(canHurry ? tr("Does not wait for what is being saved") : !stage ? ending : tr("It is told to leave already, and ends by force where it does not."));
    }
    if (now.snag == session::Snag::Unsupervised) {
        m_stop->setText(tr("Stop…"));
        m_stop->setEnabled(true);
        m_stop->setToolTip(tr("Ends what its lost supervisor left"));
    }
    if (queued) {
        m_stop->setEnabled(true);
        m_stop->setToolTip(tr("Takes the run out of the queue; it does not start"));
    }
    if (why.isEmpty()) {
        m_save->setToolTip(tr("Writes a checkpoint after the update under way (Ctrl+S)"));
        m_stop->setToolTip(tr("Stop and save, or discard"));
        m_pause->setToolTip(paused ? tr("Goes on training") : tr("Waits after the update under way; memory stays held"));
    }
    const QString nothingGoes = now.whyNothingGoes();
    const RunKind kind = kindOf(m_session->summary());
    const QString never = whyNoCheckpoints(kind), notAgain = whyNotAgain(kind);
    if (kind == RunKind::Imported) {
        m_save->setEnabled(false);
        m_save->setToolTip(never);
    }
    if (kind == RunKind::Command && why.isEmpty()) {
        m_stop->setToolTip(tr("Asks the script to stop, or tells it to end where it does not listen"));
        m_save->setToolTip(tr("Asks the script to save what it keeps itself; it says so where it does not listen"));
        m_pause->setToolTip(paused ? tr("Lets the command go on") : tr("Holds the command where it is; memory stays held"));
    }
    m_pauseHow->setVisible(alive && !stopping && kind == RunKind::Training);
    m_pauseHow->setEnabled(why.isEmpty());
    m_pauseHow->setToolTip(why.isEmpty() ? tr("Pause, and hold the memory or release it") : why);
    m_again->setEnabled(notAgain.isEmpty());
    m_again->setToolTip(notAgain);
    const auto& checkpoints = m_session->checkpoints();
    const bool nothing = m_session->areCheckpointsKnown() && std::none_of(checkpoints.begin(), checkpoints.end(), [](const auto& item) { return item.info.problem.empty(); });
    const QString cannot = m_verbs.isGoingOn(folder()) ? tr("It is being started.") : !never.isEmpty() ? never : nothing ? tr("It has no checkpoint that can be used. Run again starts it anew.") : QString();
    m_continue->setEnabled(cannot.isEmpty());
    m_continue->setToolTip(!cannot.isEmpty() ? cannot : now.state == rundir::State::Completed ? tr("It has reached its end; asks how far it shall go on") : tr("Goes on from its newest checkpoint"));
    m_more->setEnabled(nothingGoes.isEmpty());
    m_more->setToolTip(nothingGoes.isEmpty() ? tr("More for this run") : nothingGoes);
    if (nothingGoes.isEmpty()) return;
    for (QAbstractButton* button : std::initializer_list<QAbstractButton*>{m_pause, m_pauseHow, m_save, m_stop, m_again, m_continue}) {
        button->setEnabled(false);
        button->setToolTip(nothingGoes);
    }
}

QString RunActions::folder() const { return m_session ? toQt(m_session->run().name()) : QString(); }

void RunActions::ask(Request request) {
    if (!m_session || !m_session->isAlive()) return;
    Q_EMIT m_verbs.acted(folder());
    m_session->request(request);
}

void RunActions::saveNow() { ask(Request::SaveNow); }

void RunActions::togglePause() {
    if (m_session) ask(m_session->standing().state == rundir::State::Paused ? Request::Unpause : Request::Pause);
}

void RunActions::stop() {
    if (m_session && m_session->standing().snag == session::Snag::Unsupervised) return m_verbs.stopLeft(*m_session);
    if (m_session && m_session->isAlive()) m_session->stopStage() ? m_verbs.stopAtOnce(*m_session) : m_verbs.stop(*m_session);
    if (m_session && m_session->standing().state == rundir::State::Queued) m_verbs.takeOutOfQueue(m_session->id(), m_session->name());
}

void RunActions::showPauseMenu() {
    if (!m_session) return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("pauseMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const bool paused = m_session->standing().state == rundir::State::Paused;
    QAction* hold = menu->addAction(theme::icon(theme::Icon::Pause), tr("Hold the memory: goes on at once"));
    hold->setEnabled(!paused);
    connect(hold, &QAction::triggered, this, [this] { ask(Request::Pause); });
    QAction* release = menu->addAction(theme::icon(theme::Icon::Save), tr("Release the memory: saves and ends, Continue loads it again and goes on exactly"));
    connect(release, &QAction::triggered, this, [this] { ask(Request::Release); });
    menu->popup(m_pauseHow->mapToGlobal(QPoint(0, m_pauseHow->height() + 4)));
}

void RunActions::showMenu() {
    if (!m_session) return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("runMoreMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const auto add = [&](theme::Icon icon, const QString& text, auto slot) {
        QAction* action = menu->addAction(theme::icon(icon), text);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    const bool star = m_session->user().star, archived = m_session->user().archived;
    if (m_session->isAlive()) add(theme::Icon::Again, tr("Run again…"), [this] { Q_EMIT runAgain(folder()); });
    else if (kindOf(m_session->summary()) == RunKind::Training && m_session->standing().state != rundir::State::Queued) {
        QAction* const goOn[] = {add(theme::Icon::Queue, tr("Continue in the queue"), [this] { m_verbs.continueRun(folder(), session::When::Queued); }),
                                 add(theme::Icon::Resume, tr("Continue with changes…"), [this] { m_verbs.goOnWithChanges(folder(), {}, {QStringLiteral("continue")}, QStringLiteral("continue")); })};
        for (QAction* action : goOn) {
            action->setEnabled(m_continue->isEnabled());
            action->setToolTip(m_continue->toolTip());
        }
    }
    add(theme::Icon::NewRun, tr("Rename…"), [this] { m_verbs.rename(folder()); });
    add(theme::Icon::Note, tr("Note…"), [this] { m_verbs.editNote(folder()); });
    add(theme::Icon::Tag, tr("Tags…"), [this] { m_verbs.editTags(folder()); });
    add(star ? theme::Icon::StarFilled : theme::Icon::Star, star ? tr("Remove the star") : tr("Star"), [this, star] { m_verbs.setStar(folder(), !star); });
    add(theme::Icon::Archive, archived ? tr("Take out of the archive") : tr("Archive"), [this, archived] { m_verbs.setArchived(folder(), !archived); });
    add(theme::Icon::Folder, tr("Open the folder"), [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(toQt(m_session->run().place().string()))); });
    menu->addSeparator();
    QAction* trash = add(theme::Icon::Trash, tr("Move to trash…"), [this] { m_verbs.moveToTrash(folder()); });
    const bool queued = m_session->standing().state == rundir::State::Queued;
    trash->setEnabled(!m_session->isAlive() && !queued);
    if (m_session->isAlive()) trash->setToolTip(tr("The run is up; stop it first."));
    if (queued) trash->setToolTip(tr("It waits in the queue; take it out first."));
    menu->popup(m_more->mapToGlobal(QPoint(m_more->width() - menu->sizeHint().width(), m_more->height() + 4)));
}

}  // namespace lathe::pages
