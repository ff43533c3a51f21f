#include "session/launcher.h"

#include "base/program_paths.h"
#include "session/child_process.h"
#include "session/qt_text.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryFile>

#include <algorithm>

namespace lathe::session {

namespace {

QString quoted(const QString& word) {
    static const QString kPlain = QStringLiteral("-_./=:@,+%");
    const bool plain = !word.isEmpty() && std::all_of(word.begin(), word.end(), [](QChar c) {
        return (c.unicode() < 128 && c.isLetterOrNumber()) || kPlain.contains(c);
    });
    if (plain) return word;
    QString inner = word;
    return QLatin1Char('\'') + inner.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

QStringList withSettings(QStringList arguments, const QStringList& settings) {
    for (const QString& setting : settings) arguments << QStringLiteral("--set") << setting;
    return arguments;
}

QString word(When when) { return when == When::Queued ? QStringLiteral("--queue") : QStringLiteral("--detach"); }

QStringList withCurve(QStringList arguments, bool newCurve) {
    if (newCurve) arguments << QStringLiteral("--new-curve");
    return arguments;
}

/// The sentence of a failure: from the JSON, else the last line on standard error.
QString sentenceOf(const QJsonObject& object, const QByteArray& errors, int exitCode) {
    const QJsonObject error = object.value(QStringLiteral("error")).toObject();
    QString sentence = error.value(QStringLiteral("sentence")).toString();
    const QJsonObject problem = error.value(QStringLiteral("problems")).toArray().first().toObject();
    if (!problem.isEmpty())
        sentence += QStringLiteral(": %1: %2").arg(problem.value(QStringLiteral("key")).toString(), problem.value(QStringLiteral("sentence")).toString());
    if (!sentence.isEmpty()) return sentence;
    const QByteArray last = errors.trimmed().split('\n').last().trimmed();
    return last.isEmpty() ? Launcher::tr("lathe-trainer ended with code %1 and said nothing").arg(exitCode) : QString::fromUtf8(last);
}

/// The end of a sentence that says what to type stays in the terminal.
QString forTheWindow(QString sentence) {
    static const QRegularExpression kTyped(QStringLiteral("; (lathe-trainer |name a step, a folder, ).*$"), QRegularExpression::DotMatchesEverythingOption);
    return sentence.remove(kTyped);
}

LaunchResult resultOf(const ChildProcess::Ended& ended) {
    LaunchResult result;
    result.exitCode = ended.exitCode;
    const QList<QByteArray> lines = ended.output.trimmed().split('\n');
    result.json = lines.isEmpty() ? QByteArray() : lines.last();
    const QJsonObject object = QJsonDocument::fromJson(result.json).object();
    result.folder = QDir(object.value(QStringLiteral("folder")).toString()).dirName();
    if (result.folder == QLatin1String(".")) result.folder.clear();
    result.name = object.value(QStringLiteral("name")).toString();
    result.ok = ended.exitCode == 0;
    if (!result.ok)
        result.sentence = ended.exitCode < 0 ? Launcher::tr("lathe-trainer was ended by signal %1").arg(ended.signal)
                                             : forTheWindow(sentenceOf(object, ended.errors, ended.exitCode));
    result.isNotFound = object.value(QStringLiteral("error")).toObject().value(QStringLiteral("code")).toString() == QLatin1String("not_found");
    return result;
}

}  // namespace

struct Launcher::Job {
    std::unique_ptr<ChildProcess> process;
    std::filesystem::path temporary;  ///< the configuration it reads; removed afterwards
};

Launcher::Launcher(std::filesystem::path workspace, QObject* parent)
    : QObject(parent), m_workspace(std::move(workspace)), m_program(siblingProgram("lathe-trainer")) {}

Launcher::~Launcher() = default;

void Launcher::setProgram(std::filesystem::path program) { m_program = std::move(program); }
int Launcher::running() const { return int(m_jobs.size()); }

quint64 Launcher::run(const QString& yaml, const QString& name, const QStringList& settings, When when) {
    QTemporaryFile file(QDir::tempPath() + QStringLiteral("/lathe-XXXXXX.yaml"));
    file.setAutoRemove(false);
    const QByteArray text = yaml.toUtf8();
    const bool written = file.open() && file.write(text) == text.size() && file.flush();
    const std::filesystem::path path = toStd(file.fileName());
    if (!written) {
        if (!path.empty()) QFile::remove(file.fileName());
        const quint64 number = m_next++;
        fail(number, tr("Cannot write the configuration to %1: %2. Free some space there").arg(QDir::tempPath(), file.errorString()));
        return number;
    }
    QStringList arguments{QStringLiteral("run"), file.fileName(), word(when)};
    if (!name.isEmpty()) arguments << QStringLiteral("--set") << QStringLiteral("run.name=") + name;
    return start(withSettings(arguments, settings), path);
}

quint64 Launcher::runOf(const QStringList& words, const QStringList& settings, When when) {
    return start(withSettings(QStringList{QStringLiteral("run")} + words + QStringList{word(when)}, settings));
}

quint64 Launcher::again(const QString& run, const QStringList& settings, When when) { return start(withSettings({QStringLiteral("again"), run, word(when)}, settings)); }

quint64 Launcher::dryRun(const QString& verb, const QString& reference, const QStringList& settings, bool newCurve) {
    return start(withSettings(withCurve({verb, reference, QStringLiteral("--dry-run")}, newCurve), settings));
}

quint64 Launcher::goOn(const QString& verb, const QString& reference, const QStringList& settings, bool newCurve, When when) {
    return start(withSettings(withCurve({verb, reference, word(when)}, newCurve), settings));
}

quint64 Launcher::verb(const QStringList& arguments) { return start(arguments); }

QString Launcher::commandText(const QString& verb, const QString& source, const QStringList& settings) const {
    QStringList words{QStringLiteral("lathe-trainer")};
    words << withSettings({verb, source}, settings) << QStringLiteral("--workspace") << toQt(m_workspace.native());
    std::transform(words.begin(), words.end(), words.begin(), quoted);
    return words.join(QLatin1Char(' '));
}

quint64 Launcher::start(const QStringList& arguments, std::filesystem::path temporary) {
    const quint64 number = m_next++;
    std::vector<std::string> words{m_program.native()};
    for (const QString& argument : arguments) words.push_back(toStd(argument));
    for (const char* word : {"--json", "--workspace"}) words.emplace_back(word);
    words.push_back(m_workspace.native());
    auto job = std::make_unique<Job>();
    job->temporary = std::move(temporary);
    auto process = ChildProcess::start(words);
    if (!process.ok()) {
        m_jobs[number] = std::move(job);
        fail(number, toQt(process.error().text()));
        return number;
    }
    job->process = std::move(*process);
    connect(job->process.get(), &ChildProcess::ended, this, [this, number] { jobEnded(number); }, Qt::QueuedConnection);
    m_jobs[number] = std::move(job);
    return number;
}

void Launcher::fail(quint64 number, const QString& sentence) {
    // Always answered later, as a success is: callers know the number first.
    QMetaObject::invokeMethod(this, [this, number, sentence] {
        if (const auto job = m_jobs.find(number); job != m_jobs.end()) {
            std::error_code ignored;
            std::filesystem::remove(job->second->temporary, ignored);
            m_jobs.erase(job);
        }
        LaunchResult failed;
        failed.sentence = sentence;
        Q_EMIT finished(number, failed);
    }, Qt::QueuedConnection);
}

void Launcher::jobEnded(quint64 number) {
    const auto found = m_jobs.find(number);
    if (found == m_jobs.end()) return;
    const std::unique_ptr<Job> job = std::move(found->second);
    m_jobs.erase(found);
    std::error_code ignored;
    if (!job->temporary.empty()) std::filesystem::remove(job->temporary, ignored);
    Q_EMIT finished(number, resultOf(job->process->result()));
}

}  // namespace lathe::session
