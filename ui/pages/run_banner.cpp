#include "pages/run_banner.h"

#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QHBoxLayout>
#include <QProgressBar>

namespace lathe::pages {
namespace {

using rundir::State;

}  // namespace

RunBanner::RunBanner(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "card");
    setObjectName(QStringLiteral("runBanner"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 7, 10, 7);
    row->setSpacing(10);
    m_icon = new QLabel;
    m_icon->setFixedSize(16, 16);
    row->addWidget(m_icon);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("runBannerText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(220);
    m_bar->setAccessibleName(tr("Progress"));
    row->addWidget(m_bar);
    m_log = theme::button(tr("Open log"), theme::Icon::Note);
    m_log->setObjectName(QStringLiteral("openLog"));
    connect(m_log, &QPushButton::clicked, this, &RunBanner::logWanted);
    row->addWidget(m_log);
    hide();
}

QString RunBanner::text() const { return m_text->text(); }

void RunBanner::show(const session::RunSession& session, const QString& waits) {
    const session::Standing& now = session.standing();
    const bool bad = rundir::isTrouble(now.state), curves = session.data().points() > 0;
    QString text;
    if (!session.problem().isEmpty()) {
        text = session.problem();
    } else if (now.state == State::Queued) {
        text = waits.isEmpty() ? now.why : waits;
    } else if (bad) {
        text = now.why.isEmpty() ? stateWord(now.state) : stateWord(now.state) + QStringLiteral(": ") + now.why;
    } else if (now.snag == session::Snag::NotRecorded || now.snag == session::Snag::Unsupervised) {
        text = now.why;
    } else if (rundir::isAlive(now.state) && !curves) {
        text = now.phase.words.isEmpty() ? tr("Starting") : now.phase.text();
        text[0] = text[0].toUpper();
    } else if (rundir::isAlive(now.state) && !now.onThisHost) {
        text = now.why;
    } else if (now.attached && now.heartbeatAge > 10) {
        text = tr("No sign of life for %1 s").arg(int(now.heartbeatAge));
    } else if (session.lostFrames() > 0) {
        text = tr("%n record(s) were lost because the disk was too slow; the curves have gaps there.", nullptr, int(session.lostFrames()));
    }
    setVisible(!text.isEmpty());
    if (text.isEmpty()) return;
    m_text->setText(text);
    const bool waiting = rundir::isAlive(now.state) && !curves, queued = now.state == State::Queued;
    m_icon->setPixmap(theme::icon(waiting || queued ? theme::Icon::Clock : theme::Icon::Warning,
                                  waiting || queued ? theme::Tone::Muted : bad ? theme::Tone::Danger : theme::Tone::Warning).pixmap(QSize(16, 16), devicePixelRatioF()));
    m_bar->setVisible(waiting);
    m_bar->setRange(0, now.phase.total);
    m_bar->setValue(now.phase.done);
    m_log->setVisible(bad);
}

}  // namespace lathe::pages
