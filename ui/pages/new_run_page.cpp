#include "pages/new_run_page.h"

#include "config/config.h"
#include "form/field_editor.h"
#include "form/schema_form.h"
#include "pages/command_start.h"
#include "pages/data_card.h"
#include "pages/import_start.h"
#include "pages/plan_card.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace lathe::pages {
namespace {

using session::toQt;
using session::toStd;

constexpr int kScanDelayMs = 350, kNarrow = 960;

std::vector<config::Problem> validate(const config::Values& values) { return config::validate(config::fromValues(values)); }

}  // namespace

NewRunPage::NewRunPage(Context context, QWidget* parent) : QWidget(parent), m_context(context), m_model(config::Schema::builtin(), validate) {
    build();
    connectAll();
}

void NewRunPage::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_modes = new QTabBar;
    m_modes->setObjectName(QStringLiteral("newRunModes"));
    m_modes->setAccessibleName(tr("What to run"));
    m_modes->setDrawBase(false);
    m_modes->setExpanding(false);
    for (const QString& text : {tr("Train with Lathe"), tr("Own command"), tr("TensorBoard folder")}) m_modes->addTab(text);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(20, 6, 20, 0);
    row->addWidget(m_modes);
    row->addStretch();
    column->addLayout(row);
    m_stack = new QStackedWidget;
    m_command = new CommandStart(m_context);
    m_import = new ImportStart(m_context);
    for (QWidget* each : {buildTraining(), static_cast<QWidget*>(m_command), static_cast<QWidget*>(m_import)}) m_stack->addWidget(each);
    column->addWidget(m_stack, 1);
}

NewRunPage::Mode NewRunPage::mode() const { return Mode(m_modes->currentIndex()); }
void NewRunPage::setMode(Mode mode) { m_modes->setCurrentIndex(mode); }

QWidget* NewRunPage::buildTraining() {
    auto* page = new QWidget;
    auto* column = theme::pageColumn(page);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(12);
    m_form = new form::SchemaForm(m_model);
    m_form->addToBar(buildSource());
    m_data = new DataCard;
    m_form->addLead(m_data);
    middle->addWidget(m_form, 1);
    m_plan = new PlanCard(m_model);
    middle->addWidget(m_plan);
    column->addLayout(middle, 1);
    column->addWidget(buildFoot());
    return page;
}

void NewRunPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_plan->setNarrow(width() < kNarrow);
}

QWidget* NewRunPage::buildSource() {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    m_presets = new theme::ChoiceBox;
    m_presets->setObjectName(QStringLiteral("presets"));
    m_presets->setAccessibleName(tr("Preset"));
    m_presets->setMinimumWidth(180);
    for (const config::Preset& preset : config::presets()) {
        m_presets->addItem(toQt(preset.name));
        m_presets->setItemData(m_presets->count() - 1, toQt(preset.title).toHtmlEscaped(), Qt::ToolTipRole);
    }
    m_presets->setPlaceholderText(tr("Preset"));
    row->addWidget(m_presets);
    QToolButton* open = theme::flatButton(theme::Icon::Folder, {});
    open->setObjectName(QStringLiteral("openConfig"));
    open->setAccessibleName(tr("Open a configuration file"));
    open->setToolTip(tr("Open a configuration file…"));
    row->addWidget(open);
    connect(open, &QToolButton::clicked, this, [this] {
        const QString path = form::FieldEditor::askForPath(this, false, {});
        if (!path.isEmpty()) openFile(path);
    });
    return box;
}

QWidget* NewRunPage::buildFoot() {
    QFrame* foot = theme::card();
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(16, 10, 12, 10);
    m_state = theme::label({});
    m_state->setObjectName(QStringLiteral("formState"));
    row->addWidget(m_state, 1);
    m_queue = theme::button(tr("Put in the queue"), theme::Icon::Queue);
    m_queue->setObjectName(QStringLiteral("startQueued"));
    row->addWidget(m_queue);
    m_start = theme::button(tr("Start training"), theme::Icon::Play, theme::ButtonKind::Primary);
    m_start->setObjectName(QStringLiteral("start"));
    row->addWidget(m_start);
    return foot;
}

void NewRunPage::connectAll() {
    connect(m_modes, &QTabBar::currentChanged, this, [this](int index) {
        m_stack->setCurrentIndex(index);
        Q_EMIT subtitleChanged();
    });
    connect(m_command, &CommandStart::runStarted, this, &NewRunPage::runStarted);
    connect(m_command, &CommandStart::runQueued, this, &NewRunPage::runQueued);
    connect(m_command, &CommandStart::failed, this, &NewRunPage::failed);
    connect(m_import, &ImportStart::imported, this, &NewRunPage::imported);
    connect(m_import, &ImportStart::failed, this, &NewRunPage::failed);
    connect(&m_model, &form::FormModel::changed, this, &NewRunPage::changed);
    connect(&m_model, &form::FormModel::loaded, this, &NewRunPage::changed);
    connect(m_plan, &PlanCard::fieldChosen, m_form, &form::SchemaForm::reveal);
    connect(m_start, &QPushButton::clicked, this, [this] { start(session::When::Now); });
    connect(m_queue, &QPushButton::clicked, this, [this] { start(session::When::Queued); });
    connect(m_presets, &QComboBox::activated, this, [this](int index) { choosePreset(m_presets->itemText(index)); });
    connect(m_data, &DataCard::dataChosen, this, &NewRunPage::chooseOwnData);
    connect(&m_scan, &DataScan::progressed, m_data, &DataCard::showProgress);
    connect(&m_scan, &DataScan::finished, this, &NewRunPage::takeScan);
    connect(&m_context.workspace, &session::Workspace::runsChanged, this, &NewRunPage::refreshTitle);
    m_scanDelay.setSingleShot(true);
    m_scanDelay.setInterval(kScanDelayMs);
    connect(&m_scanDelay, &QTimer::timeout, this, &NewRunPage::lookAtData);
}

void NewRunPage::whenSafe(const QString& title, std::function<void()> go) {
    const auto changes = int(m_model.changedKeys().size());
    if (changes == 0) {
        go();
        return;
    }
    const Question question{title, tr("%n changed setting(s) would be replaced.", nullptr, changes), {{tr("Keep them")}, {tr("Replace"), true}}};
    m_context.prompts.ask(this, question, [this, go = std::move(go)](int choice) {
        if (choice == 1) go();
        m_presets->setCurrentText(m_origin == Origin::Preset ? m_originName : QString());
    });
}

void NewRunPage::choosePreset(const QString& name) {
    setMode(Training);
    whenSafe(tr("Load the preset %1?").arg(name), [this, name] { loadPreset(name); });
}

void NewRunPage::loadPreset(const QString& name) {
    auto loaded = config::load(toStd(name));
    if (!loaded.ok()) {
        Q_EMIT failed(toQt(loaded.error().text()));
        return;
    }
    load(Origin::Preset, name, loaded->config, loaded->config);
}

void NewRunPage::openFile(const QString& path) {
    whenSafe(tr("Open %1?").arg(QFileInfo(path).fileName()), [this, path] {
        auto loaded = config::load(toStd(path));
        if (!loaded.ok()) {
            Q_EMIT failed(toQt(loaded.error().text()));
            return;
        }
        if (config::hasErrors(loaded->problems)) {
            QStringList sentences;
            for (const config::Problem& problem : loaded->problems)
                if (problem.severity == config::Severity::Error) sentences << toQt(problem.key.empty() ? problem.sentence : problem.key + ": " + problem.sentence);
            Q_EMIT failed(tr("%1 was not loaded. %2").arg(QFileInfo(path).fileName(), sentences.mid(0, 3).join(QStringLiteral("; "))));
            return;
        }
        load(Origin::File, path, loaded->config, loaded->config);
    });
}

void NewRunPage::runAgain(const QString& folder, const QList<QPair<QString, QString>>& edits) {
    whenSafe(tr("Fill the form with this run's settings?"), [this, folder, edits] {
        const std::string file = m_context.workspace.runFolder(toStd(folder)).configYaml().string();
        const auto fill = [this, folder, edits](Result<config::Loaded> loaded) {
            if (!loaded.ok()) {
                Q_EMIT failed(toQt(loaded.error().text()));
                return;
            }
            if (config::isCommand(loaded->config)) {
                m_command->setCommand(toQt(loaded->config.command.line), toQt(loaded->config.command.folder));
                setMode(Command);
                return;
            }
            setMode(Training);
            load(Origin::Run, folder, loaded->config, loaded->config);
            for (const auto& [key, text] : edits)
                if (config::Schema::builtin().find(toStd(key)) != nullptr) m_model.setText(key, text);
            m_form->reveal(!edits.isEmpty() ? edits.front().first : m_context.settings.value(QStringLiteral("form/lastChanged"), QStringLiteral("optimizer.learning_rate")).toString());
        };
        session::runInBackground(*QThreadPool::globalInstance(), this, [file] { return config::load(file); }, fill);
    });
}

void NewRunPage::load(Origin origin, const QString& name, const config::RunConfig& baseline, const config::RunConfig& current) {
    m_origin = origin;
    m_originName = name;
    m_originTitle.clear();
    refreshTitle();
    m_presets->setCurrentText(name);
    if (origin != Origin::Preset) m_presets->setCurrentIndex(-1);
    config::RunConfig fresh = current;
    if (origin == Origin::Run) fresh.run.name.clear();  // a new run gets a name of its own
    config::RunConfig base = baseline;
    if (origin == Origin::Run) base.run.name.clear();
    m_model.load(config::toValues(base), config::toValues(fresh));
    Q_EMIT subtitleChanged();
}

/// Runs are known by their names once the workspace has been read.
void NewRunPage::refreshTitle() {
    const session::RunEntry* entry = m_origin == Origin::Run ? m_context.workspace.find(toStd(m_originName)) : nullptr;
    const QString title = entry != nullptr ? entry->name() : m_origin == Origin::File ? QFileInfo(m_originName).fileName() : m_originName;
    if (title == m_originTitle) return;
    m_originTitle = title;
    m_plan->setOrigin(title);
    Q_EMIT subtitleChanged();
}

QString NewRunPage::subtitle() const {
    if (mode() != Training) return {};
    switch (m_origin) {
    case Origin::Preset: return m_originTitle.isEmpty() ? QString() : tr("from preset %1").arg(m_originTitle);
    case Origin::File: return tr("from %1").arg(m_originTitle);
    case Origin::Run: return tr("again, from %1").arg(m_originTitle);
    }
    return {};
}

void NewRunPage::changed() {
    int errors = 0;
    for (const config::Problem& problem : m_model.problems()) errors += problem.severity == config::Severity::Error;
    const auto changes = int(m_model.changedKeys().size());
    theme::setRole(m_state, errors > 0 ? "error" : "muted");
    const QString all = changes == 0 ? tr("Ready") : tr("Ready, %n setting(s) changed", nullptr, changes);
    m_state->setText(errors > 0 ? tr("%n problem(s)", nullptr, errors) : all);
    m_start->setEnabled(errors == 0 && !m_starting);
    m_start->setText(m_starting ? tr("Starting…") : tr("Start training"));
    const QString mend = errors > 0 ? tr("Mend the problems on the right first.") : QString();
    m_start->setToolTip(mend);
    m_queue->setEnabled(m_start->isEnabled());
    m_queue->setToolTip(mend.isEmpty() ? tr("Starts when no other run uses its device, behind those that wait already") : mend);
    m_plan->setCommand(m_context.launcher.commandText(m_origin == Origin::Run ? QStringLiteral("again") : QStringLiteral("run"), m_originName, settings()));
    if (!m_model.lastChanged().isEmpty()) m_context.settings.setValue(QStringLiteral("form/lastChanged"), m_model.lastChanged());
    m_scanDelay.start();
}

QStringList NewRunPage::settings() const {
    QStringList settings;
    for (const auto& [key, value] : m_model.values())
        if (value != m_model.baseline().at(key)) settings << toQt(key) + QLatin1Char('=') + toQt(config::valueText(value));
    return settings;
}

bool NewRunPage::rememberScanned() {
    const config::RunConfig config = config::fromValues(m_model.values());
    // Only what changes the answer: another batch size must not read a thousand files again.
    config::RunConfig asked;
    asked.data = config.data;
    asked.data.batchSize = 1;
    asked.task.name = config.task.name;
    std::string text = config::toYaml(asked);
    const bool news = text != m_scannedAs;
    m_scannedAs = std::move(text);
    return news;
}

void NewRunPage::lookAtData() {
    if (m_ownData || !rememberScanned()) return;
    const config::RunConfig config = config::fromValues(m_model.values());
    if (config.data.train.empty()) {
        m_scan.cancel();
        m_data->showNothing();
        m_plan->setTrainSamples(std::nullopt);
        m_model.setOutsideProblems({});
        return;
    }
    m_data->showProgress(0, 0);
    m_scan.start(config.data, config.task);
}

void NewRunPage::chooseOwnData(const QString& path) {
    m_ownData = true;
    m_data->showProgress(0, 0);
    m_scan.startOwnData(path);
}

void NewRunPage::takeScan(const ScanResult& result) {
    const bool own = m_ownData;
    m_ownData = false;
    if (own && result.error) {
        // The settings are untouched: they show again what they name.
        Q_EMIT failed(toQt(result.error->text()));
        m_scannedAs.clear();
        lookAtData();
        return;
    }
    if (own && result.own) applyOwnData(*result.own);
    m_data->showResult(result);
    m_plan->setTrainSamples(result.error ? std::nullopt : std::optional(result.trainSamples));
    std::vector<config::Problem> problems;
    if (result.error) problems.push_back({result.error->key.empty() ? "data.train" : result.error->key, config::Severity::Error, result.error->text()});
    else if (result.info.images && result.info.width == 0)
        problems.push_back({"data.image_size", config::Severity::Error, "The pictures have different sizes; choose the side that all are brought to, for example 64"});
    m_model.setOutsideProblems(std::move(problems));
}

void NewRunPage::applyOwnData(const dataset::Suggestion& own) {
    // A preset as it is gives way to the one that suits data of another kind; what somebody set stays.
    const config::RunConfig shown = config::fromValues(m_model.values());
    const bool isSameKind = shown.data.format == own.data.format && shown.task.name == own.task.name;
    if (!isSameKind && m_origin == Origin::Preset && m_model.changedKeys().empty() && m_originName != toQt(own.preset)) loadPreset(toQt(own.preset));
    config::RunConfig wanted = config::fromValues(m_model.values());
    own.putInto(wanted);
    const bool isText = own.task.name == "language", wasText = wanted.model.name == "gpt";
    if (isText != wasText) wanted.model.name = isText ? "gpt" : config::ModelSection().name;
    std::vector<std::pair<QString, config::Value>> changes;
    const config::Values values = config::toValues(wanted);
    for (const auto& [key, value] : m_model.values())
        if (const auto now = values.find(key); now != values.end() && now->second != value) changes.emplace_back(toQt(key), now->second);
    m_model.setValues(changes, tr("Own data"));
    rememberScanned();
}

void NewRunPage::start(session::When when) {
    if (m_model.blocked() || m_starting) return;
    m_starting = true;
    changed();
    m_context.replies.await(launch(when), this, [this, when](const session::LaunchResult& result) {
        m_starting = false;
        changed();
        if (!result.ok) Q_EMIT failed(result.sentence);
        else if (when == session::When::Queued) Q_EMIT runQueued(result.name);
        else Q_EMIT runStarted(result.folder);
    });
}

quint64 NewRunPage::launch(session::When when) {
    if (m_origin == Origin::Run) return m_context.launcher.again(m_originName, settings(), when);
    if (m_origin == Origin::Preset) return m_context.launcher.runOf({m_originName}, settings(), when);
    // The file may have changed since: what the form shows is what is run.
    const config::RunConfig config = config::fromValues(m_model.values());
    const config::RunConfig base = config::fromValues(m_model.baseline());
    const QString name = config.run.name.empty() ? toQt(config::suggestName(toStd(m_originTitle), base, config)) : toQt(config.run.name);
    return m_context.launcher.run(toQt(config::toYaml(config)), name, {}, when);
}

void NewRunPage::saveDraft() {
    session::Settings& settings = m_context.settings;
    settings.setValue(QStringLiteral("form/mode"), int(mode()));
    settings.setValue(QStringLiteral("form/origin"), int(m_origin));
    settings.setValue(QStringLiteral("form/originName"), m_originName);
    settings.setValue(QStringLiteral("form/baseline"), toQt(config::toYaml(config::fromValues(m_model.baseline()))));
    settings.setValue(QStringLiteral("form/current"), toQt(config::toYaml(config::fromValues(m_model.values()))));
}

void NewRunPage::restoreDraft() {
    const session::Settings& settings = m_context.settings;
    setMode(Mode(std::clamp(settings.value(QStringLiteral("form/mode")).toInt(), 0, int(TensorBoard))));
    const std::string current = toStd(settings.value(QStringLiteral("form/current")).toString());
    const std::string baseline = toStd(settings.value(QStringLiteral("form/baseline")).toString());
    if (!current.empty() && !baseline.empty()) {
        const config::Loaded base = config::parse(baseline, {}), now = config::parse(current, {});
        if (!config::hasErrors(base.problems) && !config::hasErrors(now.problems)) {
            const int origin = std::clamp(settings.value(QStringLiteral("form/origin")).toInt(), 0, int(Origin::Run));
            const QString name = settings.value(QStringLiteral("form/originName")).toString();
            config::RunConfig before = base.config;
            // A newer program may bring the preset with other values; it is started by its name.
            if (origin == int(Origin::Preset))
                if (auto preset = config::load(toStd(name)); preset.ok()) before = preset->config;
            load(Origin(origin), name, before, now.config);
            return;
        }
    }
    // Nothing kept, or kept by another version: the preset that every machine can train.
    const QString first = m_presets->findText(QStringLiteral("digits-mlp")) >= 0 ? QStringLiteral("digits-mlp") : m_presets->itemText(0);
    if (!first.isEmpty()) loadPreset(first);
}

}  // namespace lathe::pages
