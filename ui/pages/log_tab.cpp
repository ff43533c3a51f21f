#include "pages/log_tab.h"

#include "base/file_system.h"
#include "pages/state_look.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QListView>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {
namespace {

using session::toQt;
using session::toStd;

constexpr int kFailureLines = 40;

}  // namespace

LogTab::LogTab(QWidget* parent) : QWidget(parent) {
    build();
    connect(&m_tail, &models::LogModel::changed, this, &LogTab::showTail);
}

void LogTab::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 12, 20, 16);
    column->setSpacing(10);
    column->addWidget(buildFailure());
    auto* split = new QSplitter(Qt::Vertical);
    split->setHandleWidth(10);
    split->setChildrenCollapsible(false);
    split->addWidget(buildEvents());
    split->addWidget(buildFiles());
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    column->addWidget(split, 1);
}

QWidget* LogTab::buildFailure() {
    m_failure = theme::card();
    m_failure->setObjectName(QStringLiteral("failure"));
    auto* column = new QVBoxLayout(m_failure);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    m_cause = theme::label({}, theme::TextRole::Strong, "error");
    m_cause->setObjectName(QStringLiteral("failureCause"));
    m_cause->setWordWrap(true);
    m_cause->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_cause);
    column->addWidget(theme::label(tr("The last lines of the log"), theme::TextRole::Caption, "muted"));
    m_lastLines = new QPlainTextEdit;
    m_lastLines->setObjectName(QStringLiteral("failureLines"));
    m_lastLines->setAccessibleName(tr("The last lines of the log"));
    theme::setRole(m_lastLines, "plain");
    m_lastLines->setFont(theme::textFont(theme::TextRole::Mono));
    m_lastLines->setReadOnly(true);
    m_lastLines->setTabChangesFocus(true);
    m_lastLines->setLineWrapMode(QPlainTextEdit::NoWrap);
    column->addWidget(m_lastLines);
    m_failure->hide();
    return m_failure;
}

QWidget* LogTab::buildEvents() {
    QFrame* card = theme::card();
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 10, 1, 1);
    QLabel* head = theme::label(tr("Events"), theme::TextRole::Strong);
    head->setContentsMargins(14, 0, 0, 0);
    column->addWidget(head);
    m_table = theme::rowTable("eventsTable", tr("Events"), 28);
    m_table->setModel(&m_events);
    m_table->horizontalHeader()->setStretchLastSection(true);
    const int widths[] = {176, 90, 130};
    for (int i = 0; i < 3; ++i) m_table->setColumnWidth(i, widths[i]);
    column->addWidget(m_table, 1);
    return card;
}

QWidget* LogTab::buildFiles() {
    QFrame* card = theme::card();
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(1, 10, 1, 1);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(14, 0, 10, 0);
    head->addWidget(theme::label(tr("Log file"), theme::TextRole::Strong));
    m_file = new theme::ChoiceBox;
    m_file->setObjectName(QStringLiteral("logFile"));
    m_file->setAccessibleName(tr("Log file"));
    m_file->setMinimumWidth(170);
    head->addWidget(m_file);
    m_fileProblem = theme::label({}, theme::TextRole::Caption, "muted");
    head->addWidget(m_fileProblem, 1);
    column->addLayout(head);
    m_lines = new QListView;
    m_lines->setObjectName(QStringLiteral("logLines"));
    m_lines->setAccessibleName(tr("Log file"));
    m_lines->setModel(&m_log);
    m_lines->setFont(theme::textFont(theme::TextRole::Mono));
    m_lines->setUniformItemSizes(true);
    m_lines->setStyleSheet(QStringLiteral("QListView::item { padding: 0 14px; }"));
    m_lines->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_lines->setEditTriggers(QAbstractItemView::NoEditTriggers);
    column->addWidget(m_lines, 1);
    connect(m_file, &QComboBox::activated, this, &LogTab::showFile);
    const auto toEnd = [this] { QMetaObject::invokeMethod(m_lines, &QListView::scrollToBottom, Qt::QueuedConnection); };
    connect(&m_log, &models::LogModel::rowsInserted, this, [this, toEnd] {
        // New lines are followed unless somebody has scrolled up to read.
        QScrollBar* bar = m_lines->verticalScrollBar();
        if (bar->value() >= bar->maximum() - 2) toEnd();
    });
    connect(&m_log, &models::LogModel::modelReset, this, toEnd);
    connect(&m_log, &models::LogModel::changed, this, [this] { m_fileProblem->setText(m_log.problem()); });
    return card;
}

void LogTab::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    m_listing.cancel();
    m_events.setSession(m_session);
    m_tail.setFile({});
    if (!m_session) return;
    connect(m_session.get(), &session::RunSession::stateChanged, this, &LogTab::refreshFailure);
    takeFiles({});
    fillFiles();
    refreshFailure();
}

void LogTab::fillFiles() {
    m_listing.start([logs = m_session->run().logs()](const session::NewestJob::Cancelled&) { return listFolder(logs); },
                    [this](const Result<std::vector<std::string>>& names) {
                        QStringList found;
                        if (names.ok())
                            for (const std::string& name : *names) found << toQt(name);
                        takeFiles(found);
                    });
}

void LogTab::takeFiles(const QStringList& names) {
    const QString before = m_file->currentText();
    m_file->clear();
    m_file->addItems(names);
    m_file->setVisible(!names.isEmpty());
    const int rank = m_file->findText(QStringLiteral("rank-0.log"));
    const int same = m_file->findText(before);
    m_file->setCurrentIndex(same >= 0 ? same : rank >= 0 ? rank : names.isEmpty() ? -1 : 0);
    showFile();
}

void LogTab::showFile() {
    if (m_file->currentIndex() < 0) {
        m_log.setFile({});
        m_fileProblem->setText(tr("No log file yet"));
        return;
    }
    if (const auto file = m_session->run().logs() / toStd(m_file->currentText()); m_log.file() != file) m_log.setFile(file);
    m_log.setFollowing(isVisible());
}

void LogTab::refreshFailure() {
    const session::Standing& now = m_session->standing();
    const bool bad = rundir::isTrouble(now.state);
    m_failure->setVisible(bad);
    if (!bad) {
        m_tail.setFile({});
        return;
    }
    m_cause->setText(now.why.isEmpty() ? stateWord(now.state) : stateWord(now.state) + QStringLiteral(": ") + now.why);
    if (m_tail.file().empty()) m_tail.setFile(m_session->run().rankLog(0));
    else m_tail.refresh();
}

void LogTab::showTail() {
    if (!m_session) return;
    const QString lines = m_tail.lastLines(kFailureLines);
    if (lines.isEmpty() && m_tail.file() != m_session->run().supervisorLog()) {
        m_tail.setFile(m_session->run().supervisorLog());  // the worker said nothing
        return;
    }
    const QString text = lines.isEmpty() ? tr("The log is empty.") : lines;
    if (text == m_lastLines->toPlainText()) return;  // what somebody marked stays marked
    m_lastLines->setPlainText(text);
    m_lastLines->setFixedHeight(std::min(8, std::max(2, m_lastLines->blockCount())) * m_lastLines->fontMetrics().lineSpacing() + 18);
    m_lastLines->verticalScrollBar()->setValue(m_lastLines->verticalScrollBar()->maximum());
}

void LogTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_session) fillFiles();
    m_log.setFollowing(true);
}

void LogTab::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_log.setFollowing(false);
}

}  // namespace lathe::pages
