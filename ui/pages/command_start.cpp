#include "pages/command_start.h"

#include "pages/start_form.h"
#include "theme/parts.h"

#include <QDir>
#include <QFontMetrics>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace lathe::pages {

namespace {
const QString kLine = QStringLiteral("command/line"), kFolder = QStringLiteral("command/folder");
}

CommandStart::CommandStart(Context context, QWidget* parent) : QWidget(parent), m_context(context) {
    build();
    setCommand(m_context.settings.value(kLine).toString(), m_context.settings.value(kFolder, QDir::homePath()).toString());
}

void CommandStart::build() {
    StartForm form(this, tr("Run your own command"),
                   tr("Any program that trains. Lathe starts it, keeps its output, and shows the values that it logs. It runs without a shell: quotes work, pipes and redirections do not."));
    m_line = new QPlainTextEdit;
    m_line->setObjectName(QStringLiteral("commandLine"));
    m_line->setFont(theme::textFont(theme::TextRole::Mono));
    m_line->setTabChangesFocus(true);
    m_line->setPlaceholderText(QStringLiteral("python train.py --lr 3e-4"));
    m_line->setFixedHeight(QFontMetrics(m_line->font()).lineSpacing() * 4 + 16);
    form.add(tr("Command"), m_line);
    m_folder = new QLineEdit;
    m_folder->setObjectName(QStringLiteral("commandFolder"));
    form.addPath(tr("Working folder"), m_folder);
    m_name = new QLineEdit;
    m_name->setObjectName(QStringLiteral("commandName"));
    m_name->setPlaceholderText(tr("from the script and its arguments"));
    form.add(tr("Name"), m_name);
    m_start = theme::button(tr("Start the command"), theme::Icon::Play, theme::ButtonKind::Primary);
    m_start->setObjectName(QStringLiteral("commandStart"));
    m_queue = theme::button(tr("Put in the queue"), theme::Icon::Queue);
    m_queue->setObjectName(QStringLiteral("commandQueued"));
    m_queue->setToolTip(tr("Starts when no other run uses its device, behind those that wait already"));
    m_state = form.finish({m_queue, m_start});
    connect(m_line, &QPlainTextEdit::textChanged, this, &CommandStart::changed);
    connect(m_folder, &QLineEdit::textChanged, this, &CommandStart::changed);
    connect(m_start, &QPushButton::clicked, this, [this] { start(session::When::Now); });
    connect(m_queue, &QPushButton::clicked, this, [this] { start(session::When::Queued); });
}

void CommandStart::setCommand(const QString& line, const QString& folder) {
    m_line->setPlainText(line);
    m_folder->setText(folder);
    m_name->clear();
    changed();
}

void CommandStart::changed() {
    const bool empty = m_line->toPlainText().trimmed().isEmpty();
    m_state->setText(m_starting ? tr("Starting…") : empty ? tr("Type a command first") : tr("Ready"));
    for (QPushButton* button : {m_start, m_queue}) button->setEnabled(!empty && !m_starting);
}

void CommandStart::start(session::When when) {
    const QString line = m_line->toPlainText().trimmed(), folder = m_folder->text().trimmed(), name = m_name->text().trimmed();
    m_context.settings.setValue(kLine, line);
    m_context.settings.setValue(kFolder, folder);
    QStringList settings;
    if (!folder.isEmpty()) settings << QStringLiteral("command.folder=") + folder;
    if (!name.isEmpty()) settings << QStringLiteral("run.name=") + name;
    m_starting = true;
    changed();
    m_context.replies.await(m_context.launcher.runOf({QStringLiteral("--command"), line}, settings, when), this, [this, when](const session::LaunchResult& result) {
        m_starting = false;
        changed();
        if (!result.ok) Q_EMIT failed(result.sentence);
        else if (when == session::When::Queued) Q_EMIT runQueued(result.name);
        else Q_EMIT runStarted(result.folder);
    });
}

}  // namespace lathe::pages
