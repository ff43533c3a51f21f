#include "pages/config_tab.h"

#include "config/config.h"
#include "pages/run_kind.h"
#include "session/qt_text.h"
#include "theme/parts.h"
#include "theme/tables.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {
namespace {

using models::ConfigModel;
using session::toQt;
using session::toStd;

/// Changed values stand out by weight and colour; keys are set in the fixed-width face.
class ConfigDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const bool differs = index.data(ConfigModel::DiffersRole).toBool();
        const QString section = index.data(ConfigModel::SectionRole).toString();
        if (index.column() == ConfigModel::Key && !section.isEmpty()) option->text = section + QStringLiteral(" · ") + option->text;
        if (index.column() == ConfigModel::Value) {
            option->font = theme::textFont(differs ? theme::TextRole::Strong : theme::TextRole::Body);
            if (differs) option->palette.setColor(QPalette::Text, theme::colors().accent);
        }
        if (index.column() == ConfigModel::Other) option->palette.setColor(QPalette::Text, theme::colors().muted);
    }
};

}  // namespace

ConfigTab::ConfigTab(Context context, QWidget* parent) : QWidget(parent), m_context(context) { build(); }

void ConfigTab::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 12, 20, 16);
    column->setSpacing(10);
    auto* bar = new QHBoxLayout;
    bar->addWidget(theme::label(tr("Compare with"), theme::TextRole::Body, "muted"));
    m_other = new theme::ChoiceBox;
    m_other->setObjectName(QStringLiteral("configOther"));
    m_other->setAccessibleName(tr("Compare with"));
    m_other->setMinimumWidth(200);
    bar->addWidget(m_other);
    m_only = theme::flatButton(theme::Icon::Filter, tr("Only differences"), true);
    m_only->setObjectName(QStringLiteral("configOnlyDifferences"));
    bar->addWidget(m_only);
    m_note = new theme::ElidedLabel(theme::TextRole::Caption, "muted");
    bar->addWidget(m_note, 1);
    QPushButton* copy = theme::button(tr("Copy as YAML"), theme::Icon::Copy);
    copy->setObjectName(QStringLiteral("copyYaml"));
    m_again = theme::button(tr("Run again…"), theme::Icon::Again);
    m_again->setObjectName(QStringLiteral("configRunAgain"));
    bar->addWidget(copy);
    bar->addWidget(m_again);
    column->addLayout(bar);

    m_table = theme::rowTable("configTable", tr("Configuration"), 29);
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new ConfigDelegate(m_table));
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setColumnWidth(ConfigModel::Key, 320);
    m_table->setColumnWidth(ConfigModel::Value, 420);
    m_table->setTextElideMode(Qt::ElideMiddle);
    QFrame* card = theme::card();
    auto* inner = new QVBoxLayout(card);
    inner->setContentsMargins(1, 1, 1, 1);
    inner->addWidget(m_table);
    column->addWidget(card, 1);

    connect(m_other, &QComboBox::activated, this, &ConfigTab::show);
    connect(m_only, &QToolButton::toggled, &m_model, &ConfigModel::setOnlyDifferences);
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_model.yaml()); });
    connect(m_again, &QPushButton::clicked, this, &ConfigTab::runAgainWanted);
}

void ConfigTab::setSession(std::shared_ptr<session::RunSession> session) {
    if (m_session) m_session->disconnect(this);
    m_session = std::move(session);
    if (!m_session) return;
    // A roll-back or Continue may have brought other settings.
    connect(m_session.get(), &session::RunSession::stateChanged, this, [this] {
        if (newestSession() == m_newestSession) return;
        fillOthers();
        show();
    });
    // What it was made from is known once the summary has been read.
    connect(m_session.get(), &session::RunSession::loaded, this, [this] {
        fillOthers();
        show();
    });
    fillOthers();
    show();
}

int ConfigTab::newestSession() const {
    const auto& sessions = m_session->data().sessions();
    return sessions.empty() ? 0 : sessions.back().number;
}

void ConfigTab::fillOthers() {
    const rundir::RunFolder& run = m_session->run();
    m_newestSession = newestSession();
    m_others.clear();
    const rundir::Summary& summary = m_session->summary();
    if (!summary.preset.empty()) m_others.push_back({tr("preset %1").arg(toQt(summary.preset)), {}, summary.preset});
    for (const session::RunEntry& entry : m_context.workspace.runs())
        if (!summary.parentRun.empty() && entry.summary.id == summary.parentRun)
            m_others.push_back({tr("parent %1").arg(entry.name()), m_context.workspace.runFolder(entry.folder).configYaml(), {}});
    m_others.push_back({tr("defaults"), {}, {}});
    for (int n = m_newestSession - 1; n >= 1; --n) m_others.push_back({tr("session %1").arg(n), run.sessionYaml(n), {}});
    m_other->clear();
    for (const Other& other : m_others) m_other->addItem(other.title);
    m_other->setCurrentIndex(0);
}

ConfigTab::Read ConfigTab::read(const rundir::RunFolder& run, const std::filesystem::path& mine, const Other& other) {
    Read out;
    if (auto theirs = rundir::readSettings(run); theirs.ok() && !theirs->empty()) {
        out.settings = std::move(*theirs);
        return out;
    }
    if (auto loaded = config::load(mine.string()); loaded.ok()) out.mine = loaded->config;
    else out.problem = toQt(loaded.error().text());
    if (other.preset.empty() && other.file.empty()) return out;
    if (auto loaded = config::load(other.preset.empty() ? other.file.string() : other.preset); loaded.ok()) out.theirs = loaded->config;
    else out.problem = toQt(loaded.error().text());
    return out;
}

void ConfigTab::show() {
    const QString notAgain = whyNotAgain(kindOf(m_session->summary()));
    m_again->setEnabled(notAgain.isEmpty());
    m_again->setToolTip(notAgain);
    const rundir::RunFolder& run = m_session->run();
    const auto file = m_newestSession > 0 ? run.sessionYaml(m_newestSession) : run.configYaml();
    const Other other = m_others[std::size_t(std::max(0, m_other->currentIndex()))];
    m_job.start([run, file, other](const session::NewestJob::Cancelled&) { return read(run, file, other); },
                [this, title = other.title](Read found) {
                    m_note->setFullText(found.problem);
                    if (!found.settings.empty()) m_model.setSettings(found.settings);
                    if (found.mine) m_model.setConfigs(*found.mine, found.theirs, title);
                });
}

}  // namespace lathe::pages
