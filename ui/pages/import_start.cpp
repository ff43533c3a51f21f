#include "pages/import_start.h"

#include "pages/start_form.h"
#include "theme/parts.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QLocale>
#include <QVBoxLayout>

namespace lathe::pages {

ImportStart::ImportStart(Context context, QWidget* parent) : QWidget(parent), m_context(context) {
    build();
    changed();
}

void ImportStart::build() {
    StartForm form(this, tr("Take over TensorBoard files"),
                   tr("Each folder with event files becomes a run here, with its curves in full. Reading a folder again adds only what is new; the files are never changed."));
    m_folder = new QLineEdit(m_context.settings.value(QStringLiteral("import/folder")).toString());
    m_folder->setObjectName(QStringLiteral("importFolder"));
    form.addPath(tr("Folder"), m_folder);
    m_name = new QLineEdit;
    m_name->setObjectName(QStringLiteral("importName"));
    m_name->setPlaceholderText(tr("that of the folder"));
    form.add(tr("Name"), m_name);
    m_follow = new theme::Switch;
    m_follow->setObjectName(QStringLiteral("importFollow"));
    form.add(tr("Follow the files while they grow"), m_follow);
    m_start = theme::button(tr("Import"), theme::Icon::Data, theme::ButtonKind::Primary);
    m_start->setObjectName(QStringLiteral("importStart"));
    m_state = form.finish({m_start});
    connect(m_folder, &QLineEdit::textChanged, this, &ImportStart::changed);
    connect(m_start, &QPushButton::clicked, this, &ImportStart::start);
}

void ImportStart::changed() {
    const bool empty = m_folder->text().trimmed().isEmpty();
    m_state->setText(m_reading ? tr("Reading the files…") : empty ? tr("Choose a folder first") : tr("Ready"));
    m_start->setEnabled(!empty && !m_reading);
}

void ImportStart::start() {
    const QString folder = m_folder->text().trimmed(), name = m_name->text().trimmed();
    m_context.settings.setValue(QStringLiteral("import/folder"), folder);
    QStringList arguments{QStringLiteral("import"), QDir::cleanPath(folder)};
    if (!name.isEmpty()) arguments << QStringLiteral("--name") << name;
    if (m_follow->isChecked()) arguments << QStringLiteral("--follow") << QStringLiteral("--detach");
    m_reading = true;
    changed();
    m_context.replies.await(m_context.launcher.verb(arguments), this, [this](const session::LaunchResult& result) {
        m_reading = false;
        changed();
        take(result);
    });
}

void ImportStart::take(const session::LaunchResult& result) {
    const QJsonObject answer = QJsonDocument::fromJson(result.json).object();
    QStringList folders, problems;
    qint64 points = 0;
    for (const QJsonValue& run : answer.value(QStringLiteral("runs")).toArray()) {
        folders << QDir(run[QStringLiteral("folder")].toString()).dirName();
        points += qint64(run[QStringLiteral("points")].toDouble());
    }
    for (const QJsonValue& problem : answer.value(QStringLiteral("problems")).toArray()) problems << problem.toString();
    if (!result.ok || folders.isEmpty()) {
        const QString nothing = problems.isEmpty() ? tr("There are no TensorBoard event files in %1").arg(m_folder->text().trimmed()) : problems.join(QLatin1Char('\n'));
        Q_EMIT failed(result.ok || result.sentence.isEmpty() ? nothing : result.sentence);
        return;
    }
    QString sentence = tr("%n run(s) imported", nullptr, int(folders.size()));
    if (points > 0) sentence = tr("%1, %2 new points").arg(sentence, QLocale().toString(points));
    if (!problems.isEmpty()) sentence += QLatin1Char('\n') + problems.join(QLatin1Char('\n'));
    Q_EMIT imported(folders, sentence);
}

}  // namespace lathe::pages
