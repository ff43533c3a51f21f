#include "pages/run_verbs.h"

#include "base/clock.h"
#include "base/number_text.h"
#include "config/config.h"
#include "pages/run_kind.h"
#include "plan/schedule.h"
#include "session/background.h"
#include "session/qt_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QPointer>
#include <QWidget>

#include <algorithm>

namespace lathe::pages {

using session::toQt;
using session::toStd;

namespace {

/// Goes on as the run that it is; the others make a new one.
bool isSameRun(const QString& verb) { return verb == QLatin1String("continue") || verb == QLatin1String("roll-back"); }

QString reference(const QString& folder, const QString& checkpoint) { return folder + QLatin1Char('@') + checkpoint; }

}  // namespace

RunVerbs::RunVerbs(Context context, QWidget* parent) : QObject(parent), m_context(context), m_parent(parent) {}

QString RunVerbs::nameOf(const QString& folder) const {
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    return entry == nullptr ? folder : entry->name();
}

void RunVerbs::fail(const QString& folder, const QString& sentence) {
    const QString name = nameOf(folder);
    Q_EMIT failed(folder.isEmpty() || sentence.contains(name) ? sentence : tr("%1: %2", "a run, what went wrong with it").arg(name, sentence), folder);
}

void RunVerbs::reported(const QString& folder, const QStringList& words, const QString& success) {
    Q_EMIT acted(folder);
    m_context.replies.await(m_context.launcher.verb(words), this, [this, folder, success](const session::LaunchResult& result) {
        m_context.workspace.refresh();
        if (result.ok) Q_EMIT said(success);
        else fail(folder, result.sentence);
    });
}

void RunVerbs::goOn(const QString& verb, const QString& folder, const QString& checkpoint, const QStringList& settings, bool newCurve, When when) {
    // A run is one; what is made from it may be several, but not by the same words.
    const QString from = checkpoint.isEmpty() ? folder : reference(folder, checkpoint);
    const QString key = isSameRun(verb) ? folder : (QStringList{verb, from} + settings).join(QLatin1Char('\n'));
    if (m_goingOn.contains(key)) return;
    m_goingOn.insert(key);
    Q_EMIT goingOnChanged();
    Q_EMIT acted(folder);
    const quint64 number = m_context.launcher.goOn(verb, from, settings, newCurve, when);
    m_context.replies.await(number, this, [=, this](const session::LaunchResult& result) {
        m_context.workspace.refresh();
        if (!result.ok) {
            goneOn(key);
            fail(folder, result.sentence);
        } else if (when == When::Now) {
            wasStarted(key, result);
        } else {
            goneOn(key);
            wasQueued(verb, result);
        }
    });
}

/// The run that is up now is looked at once more, since a short one may be over before its next look. Until then Continue
/// would still be offered.
void RunVerbs::wasStarted(const QString& key, const session::LaunchResult& result) {
    const auto session = m_context.workspace.session(toStd(result.folder));
    connect(session.get(), &session::RunSession::stateChanged, this, [this, key, session] { goneOn(key); }, Qt::SingleShotConnection);
    session->refresh();
    Q_EMIT runStarted(result.folder);
}

void RunVerbs::wasQueued(const QString& verb, const session::LaunchResult& result) {
    m_context.queue.refresh();
    Q_EMIT said((isSameRun(verb) ? tr("%1 is in the queue and goes on when its device is free.") : tr("%1 is in the queue and starts when its device is free.")).arg(result.name));
}

void RunVerbs::goneOn(const QString& key) {
    if (m_goingOn.remove(key)) Q_EMIT goingOnChanged();
}

void RunVerbs::continueRun(const QString& folder, When when) {
    if (m_goingOn.contains(folder)) return;
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    if (entry != nullptr && entry->state == rundir::State::Completed) extendAndContinue(folder, when);
    else goOn(QStringLiteral("continue"), folder, {}, {}, false, when);
}

std::optional<RunVerbs::Target> RunVerbs::targetOf(const rundir::RunFolder& run, std::int64_t done) {
    const int newest = rundir::newestSession(run);
    auto loaded = config::load((newest > 0 ? run.sessionYaml(newest) : run.configYaml()).string());
    if (!loaded.ok()) loaded = config::load(run.configYaml().string());
    if (!loaded.ok()) return std::nullopt;
    const config::RunSection& section = loaded->config.run;
    const config::ScheduleSection& schedule = loaded->config.schedule;
    std::optional<double> endRate;
    if (plan::hasLength(schedule) && !schedule.totalUpdates) endRate = loaded->config.optimizer.learningRate * schedule.finalFactor;
    if (section.maxUpdates && (!section.epochs || done >= *section.maxUpdates)) return Target{QStringLiteral("run.max_updates"), tr("updates"), *section.maxUpdates, endRate};
    if (section.epochs) return Target{QStringLiteral("run.epochs"), tr("epochs"), *section.epochs, endRate};
    return std::nullopt;
}

void RunVerbs::extendAndContinue(const QString& folder, When when) {
    if (m_asking.contains(folder)) return;
    m_asking.insert(folder);
    const rundir::RunFolder run = m_context.workspace.runFolder(toStd(folder));
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    const std::int64_t done = entry == nullptr ? 0 : entry->summary.counters.globalStep.value();
    session::runInBackground(*QThreadPool::globalInstance(), this, [run, done] { return targetOf(run, done); },
                             [this, folder, when](std::optional<Target> target) {
                                 m_asking.remove(folder);
                                 if (target) askHowFar(folder, *target, when);
                                 else goOn(QStringLiteral("continue"), folder, {}, {}, false, when);
                             });
}

void RunVerbs::askHowFar(const QString& folder, const Target& target, When when) {
    const QLocale locale;
    TextQuestion question;
    question.title = tr("Extend %1?").arg(nameOf(folder));
    question.label = tr("It has reached its end: %1 %2 of %1. Up to how many shall it go on?").arg(locale.toString(target.value), target.label);
    question.text = QString::number(target.value * 2);
    question.accept = when == When::Now ? tr("Continue") : tr("Put in the queue");
    question.problem = [target, locale](const QString& text) {
        bool ok = false;
        const qint64 value = text.trimmed().toLongLong(&ok);
        return ok && value > target.value ? QString() : RunVerbs::tr("A whole number above %1, for example %2").arg(locale.toString(target.value)).arg(target.value * 2);
    };
    m_context.prompts.askText(m_parent, question, [this, folder, when, key = target.key, endRate = target.endRate](const std::optional<QString>& text) {
        if (!text) return;
        const QString setting = key + QLatin1Char('=') + text->trimmed();
        if (endRate) askForCurve(folder, setting, *endRate, when);
        else goOn(QStringLiteral("continue"), folder, {}, {setting}, false, when);
    });
}

void RunVerbs::askForCurve(const QString& folder, const QString& setting, double endRate, When when) {
    const QString rate = toQt(shortText(endRate));
    const Question question{tr("Make a new learning-rate curve?"),
                            (endRate > 0 ? tr("The curve of this run has come to its end: the rate stays at %1 from here on.").arg(rate)
                                         : tr("The curve of this run has come to its end: the rate is 0 from here on, and nothing would be learned."))
                                + QStringLiteral("\n\n") + tr("A new curve spans the longer run, so that the rate rises again to what it is there."),
                            {{tr("Cancel")}, {tr("Keep the curve")}, {tr("New curve"), true}}};
    m_context.prompts.ask(m_parent, question, [this, folder, setting, when](int choice) {
        if (choice >= 1) goOn(QStringLiteral("continue"), folder, {}, {setting}, choice == 2, when);
    });
}

void RunVerbs::rollBack(const QString& folder, const QString& checkpoint, std::int64_t step, std::int64_t newestStep, When when) {
    const QLocale locale;
    const QString left = newestStep > step ? tr("The %Ln update(s) after it stay in the run, dimmed on every chart. Nothing is deleted.", nullptr, int(newestStep - step))
                                           : tr("Nothing is deleted.");
    const Question question{tr("Roll back to step %1?").arg(locale.toString(qint64(step))),
                            tr("A new branch of %1 goes on from this checkpoint. %2").arg(nameOf(folder), left),
                            {{tr("Cancel")}, {tr("With changes…")}, {when == When::Now ? tr("Roll back") : tr("Put in the queue"), true}}};
    m_context.prompts.ask(m_parent, question, [=, this](int choice) {
        if (choice == 2) goOn(QStringLiteral("roll-back"), folder, checkpoint, {}, false, when);
        if (choice == 1) goOnWithChanges(folder, checkpoint, {QStringLiteral("roll-back"), QStringLiteral("fork"), QStringLiteral("start-from-weights")}, QStringLiteral("roll-back"));
    });
}

void RunVerbs::goOnWithChanges(const QString& folder, const QString& checkpoint, const QStringList& verbs, const QString& verb,
                               const QList<QPair<QString, QString>>& settings) {
    const auto from = [checkpoint](const QString& chosen) { return chosen == QLatin1String("continue") ? QString() : checkpoint; };
    SheetQuestion question;
    question.title = tr("Go on with changed settings: %1").arg(nameOf(folder));
    question.verbs = verbs;
    question.verb = verb;
    question.settings = settings;
    question.ask = [this, folder, from](const SheetAnswer& asked, QObject* context, SheetQuestion::Reply reply) {
        const QString checkpoint = from(asked.verb);
        const quint64 number = m_context.launcher.dryRun(asked.verb, checkpoint.isEmpty() ? folder : reference(folder, checkpoint), asked.settings, asked.newCurve);
        m_context.replies.await(number, context, [reply = std::move(reply)](const session::LaunchResult& result) { reply(result.json, result.sentence); });
    };
    m_context.prompts.askSheet(m_parent, question, [this, folder, from](const std::optional<SheetAnswer>& answer) {
        if (answer) goOn(answer->verb, folder, from(answer->verb), answer->settings, answer->newCurve, answer->when);
    });
}

void RunVerbs::fork(const QString& folder, const QString& checkpoint, When when) {
    goOn(QStringLiteral("fork"), folder, checkpoint, {}, false, when);
}

void RunVerbs::startFromWeights(const QString& folder, const QString& checkpoint, When when) {
    goOn(QStringLiteral("start-from-weights"), folder, checkpoint, {}, false, when);
}

void RunVerbs::verify(const QString& folder, const QString& checkpoint) {
    reported(folder, {QStringLiteral("verify"), reference(folder, checkpoint)}, tr("%1: every byte is as it was written.").arg(checkpoint));
}

void RunVerbs::exportRun(const QString& folder, const QString& checkpoint) {
    const auto target = m_context.workspace.runFolder(toStd(folder)).exportFolder();
    reported(folder, {QStringLiteral("export"), reference(folder, checkpoint)}, tr("Exported to %1").arg(toQt(target.string())));
}

void RunVerbs::deleteCheckpoint(const QString& folder, const QString& checkpoint, std::int64_t step) {
    const Question question{tr("Delete the checkpoint at step %1?").arg(QLocale().toString(qint64(step))),
                            tr("It goes to the trash, from where it can come back; its room on the disk is free once the trash is emptied. The curves of the run stay."),
                            {{tr("Cancel")}, {tr("Move to trash"), false, true}}};
    m_context.prompts.ask(m_parent, question, [=, this](int choice) {
        if (choice != 1) return;
        Q_EMIT acted(folder);
        const QString name = tr("The checkpoint at step %1").arg(QLocale().toString(qint64(step)));
        m_context.replies.await(m_context.launcher.verb({QStringLiteral("delete"), reference(folder, checkpoint)}), this, [=, this](const session::LaunchResult& result) {
            m_context.workspace.refresh();
            if (result.ok) Q_EMIT trashed(reference(folder, checkpoint), name);
            else fail(folder, result.sentence);
        });
    });
}

void RunVerbs::moveToTrash(const QString& folder) {
    const QString name = nameOf(folder);
    const Question question{tr("Move %1 to the trash?").arg(name),
                            tr("The whole run leaves the list: curves, checkpoints and logs. It can come back until the trash is emptied."),
                            {{tr("Cancel")}, {tr("Move to trash"), false, true}}};
    m_context.prompts.ask(m_parent, question, [=, this](int choice) {
        if (choice != 1) return;
        Q_EMIT acted(folder);
        m_context.replies.await(m_context.launcher.verb({QStringLiteral("delete"), folder}), this, [=, this](const session::LaunchResult& result) {
            m_context.workspace.refresh();
            if (!result.ok) return fail(folder, result.sentence);
            Q_EMIT runRemoved(folder);
            Q_EMIT trashed(folder, name);
        });
    });
}

void RunVerbs::restore(const QString& reference, const QString& name) {
    reported(reference.section(QLatin1Char('@'), 0, 0), {QStringLiteral("restore"), reference}, tr("%1 is back.").arg(name));
}

void RunVerbs::emptyTrash() {
    m_context.replies.await(m_context.launcher.verb({QStringLiteral("trash")}), this, [this](const session::LaunchResult& listed) {
        const QJsonArray all = QJsonDocument::fromJson(listed.json).array();
        if (!listed.ok) return Q_EMIT failed(listed.sentence);
        if (all.isEmpty()) return Q_EMIT said(tr("The trash is empty."));
        const auto checkpoints = int(std::count_if(all.begin(), all.end(), [](const QJsonValue& one) { return one.toObject().contains(QStringLiteral("checkpoint")); }));
        const int runs = int(all.size()) - checkpoints;
        QStringList what;
        if (runs > 0) what << tr("%n run(s)", nullptr, runs);
        if (checkpoints > 0) what << tr("%n checkpoint(s)", nullptr, checkpoints);
        // Exactly what was counted: what is deleted elsewhere while the question stands stays in the trash.
        QStringList words{QStringLiteral("trash"), QStringLiteral("--empty")};
        for (const QJsonValue& one : all) words << one[QStringLiteral("folder")].toString().section(QLatin1Char('/'), -1);
        const Question question{tr("Empty the trash?"), tr("Removed for good: %1.").arg(what.join(QStringLiteral(", "))), {{tr("Cancel")}, {tr("Empty the trash"), false, true}}};
        m_context.prompts.ask(m_parent, question, [this, words, removed = tr("%1 removed for good.").arg(what.join(QStringLiteral(", ")))](int choice) {
            if (choice == 1) reported({}, words, removed);
        });
    });
}

void RunVerbs::takeOutOfQueue(const QString& id, const QString& name) {
    const Question question{tr("Take %1 out of the queue?").arg(name),
                            tr("It does not start. It stays in the list of runs, from where it can be run again."),
                            {{tr("Cancel")}, {tr("Take out"), false, true}}};
    m_context.prompts.ask(m_parent, question, [=, this](int choice) {
        if (choice != 1) return;
        m_context.replies.await(m_context.launcher.verb({QStringLiteral("queue"), QStringLiteral("remove"), id}), this, [=, this](const session::LaunchResult& result) {
            m_context.queue.refresh();
            m_context.workspace.refresh();
            if (result.ok) Q_EMIT said(tr("%1 is out of the queue.").arg(name));
            else if (result.isNotFound) Q_EMIT said(tr("%1 does not wait any more: it was started, or taken out elsewhere.").arg(name));
            else Q_EMIT failed(result.sentence);
        });
    });
}

QString RunVerbs::lossText(const session::RunSession& session) {
    const auto& unsaved = session.unsaved();
    if (!unsaved) return tr("what came after the newest checkpoint is lost");
    return unsaved->updates == 0 ? tr("there is nothing to lose right now")
                                 : tr("%Ln update(s), %1 of work, are lost", nullptr, int(unsaved->updates)).arg(toQt(durationText(unsaved->seconds)));
}

void RunVerbs::askWhileUp(session::RunSession& session, const QString& title, std::vector<Choice> choices, std::function<QString(const session::RunSession&)> text,
                          std::function<void(session::RunSession&, int)> answered) {
    const auto guard = QPointer<session::RunSession>(&session);
    Question question{title, text(session), std::move(choices)};
    question.now = [guard, text = std::move(text)] { return guard && guard->isAlive() ? std::optional(text(*guard)) : std::nullopt; };
    m_context.prompts.ask(m_parent, question, [this, guard, name = session.name(), answered = std::move(answered)](int choice) {
        if (!guard || !guard->isAlive()) Q_EMIT said(tr("%1 has ended meanwhile.").arg(name));
        else if (choice >= 0) answered(*guard, choice);
    });
}

void RunVerbs::stopAtOnce(session::RunSession& session) {
    const auto text = [](const session::RunSession& now) {
        return kindOf(now.summary()) == RunKind::Command ? tr("The script gets less time before it is killed; what it has not saved itself is lost.")
                                                         : tr("It no longer waits for the checkpoint that is being written: %1. What was saved before stays.").arg(lossText(now));
    };
    askWhileUp(session, tr("Stop %1 at once?").arg(session.name()), {{tr("Let it finish"), true}, {tr("Stop at once"), false, true}}, text, [](session::RunSession& now, int choice) {
        if (choice == 1) now.request(session::RunSession::Request::Discard);
    });
}

/// Of the second and the third choice: without saving, and with it.
static void stopAs(session::RunSession& session, int choice) {
    if (choice == 1) session.request(session::RunSession::Request::Discard);
    if (choice == 2) session.request(session::RunSession::Request::Stop);
}

void RunVerbs::stop(session::RunSession& session) {
    if (kindOf(session.summary()) == RunKind::Command) return stopCommand(session);
    const auto text = [](const session::RunSession& now) {
        return tr("Stop and save finishes the update under way, writes a checkpoint and ends; Continue goes on from exactly there.\n\n"
                  "Discard ends without saving: %1.").arg(lossText(now));
    };
    askWhileUp(session, tr("Stop %1?").arg(session.name()), {{tr("Keep training")}, {tr("Discard"), false, true}, {tr("Stop and save"), true}}, text, stopAs);
}

void RunVerbs::stopLeft(session::RunSession& session) {
    const auto text = [](const session::RunSession&) {
        return tr("Its supervisor was lost, so nothing is recorded any more. What it ran saves and leaves by itself, and is ended by force where it does not; Continue goes on from the newest checkpoint.");
    };
    askWhileUp(session, tr("Stop %1?").arg(session.name()), {{tr("Cancel")}, {tr("Stop"), true}}, text, [this](session::RunSession& now, int choice) {
        if (choice != 1) return;
        const QString folder = toQt(now.run().name()), name = now.name();
        Q_EMIT acted(folder);
        Q_EMIT said(tr("%1 is told to leave, which may take a minute or two.").arg(name));
        m_context.replies.await(m_context.launcher.verb({QStringLiteral("stop"), folder}), this, [this, folder, name](const session::LaunchResult& result) {
            m_context.workspace.refresh();
            m_context.workspace.session(toStd(folder))->refresh();
            // Its exit code is that of how the run ended: interrupted.
            const bool failed = QJsonDocument::fromJson(result.json).object().contains(QStringLiteral("error"));
            if (failed || (!result.ok && result.json.isEmpty())) fail(folder, result.sentence);
            else Q_EMIT said(tr("%1 has ended.").arg(name));
        });
    });
}

void RunVerbs::stopCommand(session::RunSession& session) {
    const auto text = [](const session::RunSession&) {
        return tr("The script is asked to stop, or told to end (SIGTERM) where it does not listen, and has time to save what it keeps itself. Stop at once gives it less time before it is killed.");
    };
    askWhileUp(session, tr("Stop %1?").arg(session.name()), {{tr("Keep running")}, {tr("Stop at once"), false, true}, {tr("Stop"), true}}, text, stopAs);
}

void RunVerbs::editNote(const QString& folder) {
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    if (entry == nullptr) return;
    TextQuestion question{tr("Note"), tr("What is worth remembering about %1?").arg(entry->name()), toQt(entry->user.note.value_or("")), tr("Save"), true, {}};
    m_context.prompts.askText(m_parent, question, [this, folder](const std::optional<QString>& text) {
        if (text) m_context.workspace.editUser(toStd(folder), [note = toStd(*text)](rundir::UserRecord& user) { user.note = note; });
    });
}

void RunVerbs::editTags(const QString& folder) {
    const session::RunEntry* entry = m_context.workspace.find(toStd(folder));
    if (entry == nullptr) return;
    QStringList tags;
    for (const std::string& tag : entry->user.tags) tags << toQt(tag);
    TextQuestion question{tr("Tags"), tr("Words parted by commas"), tags.join(QStringLiteral(", ")), tr("Save"), false, {}};
    m_context.prompts.askText(m_parent, question, [this, folder](const std::optional<QString>& text) {
        if (!text) return;
        std::vector<std::string> chosen;
        for (const QString& part : text->split(QLatin1Char(','), Qt::SkipEmptyParts))
            if (const std::string tag = toStd(part.trimmed()); !tag.empty() && std::find(chosen.begin(), chosen.end(), tag) == chosen.end()) chosen.push_back(tag);
        m_context.workspace.editUser(toStd(folder), [chosen](rundir::UserRecord& user) { user.tags = chosen; });
    });
}

void RunVerbs::rename(const QString& folder) {
    TextQuestion question{tr("Rename"), tr("Name of the run"), nameOf(folder), tr("Save"), false, [](const QString& text) {
        return text.trimmed().isEmpty() ? RunVerbs::tr("A name has at least one letter") : QString();
    }};
    m_context.prompts.askText(m_parent, question, [this, folder](const std::optional<QString>& text) {
        if (text) m_context.workspace.editUser(toStd(folder), [name = toStd(text->trimmed())](rundir::UserRecord& user) { user.name = name; });
    });
}

void RunVerbs::setStar(const QString& folder, bool on) {
    m_context.workspace.editUser(toStd(folder), [on](rundir::UserRecord& user) { user.star = on; });
}

void RunVerbs::setArchived(const QString& folder, bool on) {
    m_context.workspace.editUser(toStd(folder), [on](rundir::UserRecord& user) { user.archived = on; });
}

}  // namespace lathe::pages
