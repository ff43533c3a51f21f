// labels: gui
// Nothing that the window says is missing from its translations, no placeholder is lost, and the language follows the
// system or the choice.
#include "config/schema.h"
#include "launch/run/session_end.h"
#include "live/segment.h"
#include "session/qt_text.h"
#include "session/told.h"
#include "shell/language.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QLibraryInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>
#include <csignal>
#include <functional>

using namespace lathe;

namespace {

struct Message {
    QString context, source, type;
    QStringList translations;
};

std::vector<Message> messagesOf(const QString& file) {
    std::vector<Message> messages;
    QFile text(file);
    if (!text.open(QIODevice::ReadOnly)) qFatal("cannot read %s", qPrintable(file));
    QXmlStreamReader xml(&text);
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QLatin1String("name")) context = xml.readElementText();
        else if (xml.name() == QLatin1String("message")) messages.push_back({context, {}, {}, {}});
        else if (xml.name() == QLatin1String("source")) messages.back().source = xml.readElementText();
        else if (xml.name() == QLatin1String("translation")) messages.back().type = xml.attributes().value(QLatin1String("type")).toString();
        if (xml.name() == QLatin1String("numerusform")) messages.back().translations << xml.readElementText();
        else if (xml.name() == QLatin1String("translation") && xml.readNext() == QXmlStreamReader::Characters && !xml.isWhitespace()) messages.back().translations << xml.text().toString();
    }
    if (xml.hasError()) qFatal("%s: %s", qPrintable(file), qPrintable(xml.errorString()));
    return messages;
}

QString translations(const char* name) { return QStringLiteral(LATHE_SOURCE_DIR "/resources/translations/") + QLatin1String(name); }

/// "%1 %1 %n" in order of their names.
QStringList placeholders(const QString& text) {
    static const QRegularExpression kPlace(QStringLiteral("%L?(\\d+|n)"));
    QStringList found;
    for (auto match = kPlace.globalMatch(text); match.hasNext();) found << match.next().captured();
    found.sort();
    return found;
}

}  // namespace

class TestTranslations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyTextOfTheWindowIsTranslated() {
        const QString lupdate = QLibraryInfo::path(QLibraryInfo::BinariesPath) + QStringLiteral("/lupdate");
        if (!QFile::exists(lupdate)) QSKIP("lupdate is not installed (qt6-l10n-tools)");
        QTemporaryDir folder;
        const QString copy = folder.filePath(QStringLiteral("lathe_zh_CN.ts"));
        QVERIFY(QFile::copy(translations("lathe_zh_CN.ts"), copy));
        QVERIFY(QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner));
        QProcess process;
        process.setWorkingDirectory(QStringLiteral(LATHE_SOURCE_DIR));
        process.start(lupdate, {QStringLiteral("-silent"), QStringLiteral("-locations"), QStringLiteral("none"), QStringLiteral("ui"), QStringLiteral("app/workbench"),
                                QStringLiteral("-extensions"), QStringLiteral("cpp,h"), QStringLiteral("-ts"), copy});
        QVERIFY2(process.waitForFinished(60000) && process.exitCode() == 0, process.readAllStandardError().constData());
        QStringList missing;
        int texts = 0;
        for (const Message& message : messagesOf(copy)) {
            if (message.type == QLatin1String("vanished") || message.type == QLatin1String("obsolete")) continue;
            ++texts;
            if (message.type == QLatin1String("unfinished") || message.translations.isEmpty()) missing << message.context + QStringLiteral(": ") + message.source;
        }
        QVERIFY(texts > 300);
        QVERIFY2(missing.isEmpty(), qPrintable(QStringLiteral("add to resources/translations (see ui/README.md):\n") + missing.join(QLatin1Char('\n'))));
    }
    /// By how they begin, where they are told: as an event, as the reason of an end, as what such a variable holds, and behind
    /// another sentence.
    void whatTheTrainerTellsIsKnown() {
        static const QString kText = QStringLiteral("\"((?:[^\"\\\\]|\\\\.)+)\"");
        const QRegularExpression places[] = {
            QRegularExpression(QStringLiteral("(?:\\b(?:m_)?tell(?:Event)?|told\\.push_back|notices\\.push_back|rames\\.event|log->event)\\(\\s*(?:\"\\w+\",\\s*)?(?=\"[A-Z][^\" ]* )") + kText),
            QRegularExpression(QStringLiteral("(?:\\bend\\(|Ending\\{|\\{)(?:rundir::)?State::\\w+,\\s*(?:std::string\\()?") + kText),
            QRegularExpression(QStringLiteral("(?:\\b(?:sentence|text|why|m_news|m_pauseWhy) =|\\.why \\+=) (?:[^;\"?]+ \\? )?") + kText),
        };
        QStringList beginnings;   // of what told() knows
        for (const Message& message : messagesOf(translations("lathe_zh_CN.ts")))
            if (message.context == QLatin1String("Told")) beginnings << (message.source.startsWith(QLatin1String("%1")) ? message.source.mid(2) : message.source).section(QLatin1Char('%'), 0, 0);
        const auto saysNothing = [](const QString& text) { return text.size() < 3; };   // ". " between two sentences
        beginnings.removeIf(saysNothing);
        const auto isKnown = [&](const QString& text) {
            return std::any_of(beginnings.begin(), beginnings.end(), [&](const QString& known) { return text.startsWith(known) || known.startsWith(text); });
        };
        QStringList unknown;
        int found = 0;
        for (const char* folder : {"launch/session", "launch/workers", "launch/run", "launch/import", "launch/verbs", "engine/session", "engine/train"}) {
            const QDir sources(QStringLiteral(LATHE_SOURCE_DIR "/core/") + QLatin1String(folder));
            for (const QString& name : sources.entryList({QStringLiteral("*.cpp")})) {
                if (name == QLatin1String("settle.cpp")) continue;   // for a terminal that waits
                QFile file(sources.filePath(name));
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QString code = QString::fromUtf8(file.readAll());
                for (const QRegularExpression& place : places) {
                    for (auto match = place.globalMatch(code); match.hasNext(); ++found) {
                        const QString text = match.next().captured(1).replace(QLatin1String("\\\""), QLatin1String("\""));
                        if (!saysNothing(text) && !isKnown(text)) unknown << name + QStringLiteral(": ") + text;
                    }
                }
            }
        }
        QVERIFY2(found > 60, qPrintable(QString::number(found)));
        QVERIFY2(unknown.isEmpty(), qPrintable(QStringLiteral("add to ui/session/told.cpp:\n") + unknown.join(QLatin1Char('\n'))));
    }
    void placeholdersMatch_data() {
        QTest::addColumn<QString>("file");
        QTest::newRow("window") << QStringLiteral("lathe_zh_CN.ts");
        QTest::newRow("schema") << QStringLiteral("schema_zh_CN.ts");
    }
    void placeholdersMatch() {
        QFETCH(QString, file);
        const auto messages = messagesOf(translations(file.toLatin1().constData()));
        QVERIFY(messages.size() > 50);
        for (const Message& message : messages) {
            QVERIFY2(!message.translations.isEmpty() && !message.translations.front().trimmed().isEmpty(), qPrintable(message.source));
            for (const QString& translation : message.translations)
                QVERIFY2(placeholders(translation) == placeholders(message.source), qPrintable(message.source + QStringLiteral(" -> ") + translation));
        }
    }
    void theLanguageFollowsTheChoiceThenTheSystem() {
        const QStringList chinese{QStringLiteral("zh-Hans-CN"), QStringLiteral("en")}, german{QStringLiteral("de-DE"), QStringLiteral("de")};
        const auto all = [](const QString&) { return true; };
        QCOMPARE(shell::languageFor({}, chinese, all), QStringLiteral("zh_CN"));
        QCOMPARE(shell::languageFor({}, german, all), QStringLiteral("en"));
        QCOMPARE(shell::languageFor({}, {QStringLiteral("en-US"), QStringLiteral("zh-CN")}, all), QStringLiteral("en"));
        QCOMPARE(shell::languageFor(QStringLiteral("en"), chinese, all), QStringLiteral("en"));
        QCOMPARE(shell::languageFor(QStringLiteral("zh_CN"), german, all), QStringLiteral("zh_CN"));
        QCOMPARE(shell::languageFor(QStringLiteral("../../etc"), german, all), QStringLiteral("en"));
    }
    void aLanguageOfTheSystemThatNoFontCanWriteIsNotTaken() {
        const QStringList chinese{QStringLiteral("zh-Hans-CN"), QStringLiteral("zh")};
        const auto none = [](const QString& language) { return language == QLatin1String("en"); };
        QCOMPARE(shell::languageFor({}, chinese, none), QStringLiteral("en"));
        QCOMPARE(shell::languageFor(QStringLiteral("zh_CN"), chinese, none), QStringLiteral("zh_CN"));   // somebody asked for it
        QVERIFY(shell::canBeWritten(QStringLiteral("en")));
        QProcess fonts;   // what the system itself says of its fonts
        fonts.start(QStringLiteral("fc-list"), {QStringLiteral(":lang=zh-cn"), QStringLiteral("family")});
        if (!fonts.waitForFinished()) QSKIP("fc-list (fontconfig) is not there");
        QCOMPARE(shell::canBeWritten(QStringLiteral("zh_CN")), !fonts.readAllStandardOutput().trimmed().isEmpty());
    }
    void everyLanguageIsNamedInItselfAndInEnglish() {
        for (const QString& language : shell::languages()) {
            const QString name = shell::languageName(language);
            QVERIFY2(name.contains(QLocale::languageToString(QLocale(language).language())), qPrintable(name));
            QVERIFY2(language == QLatin1String("en") || name.contains(QLocale(language).nativeLanguageName()), qPrintable(name));
        }
    }
    void theBuiltTranslationsSpeak() {  // last: it stays installed
        QVERIFY(shell::installLanguage(QStringLiteral("zh_CN")));
        QCOMPARE(QCoreApplication::translate("lathe::shell::Rail", "New run"), QString::fromUtf8("新运行"));
        QVERIFY(QCoreApplication::translate("lathe::shell::Rail", "Language").contains(QStringLiteral("Language")));   // the way back
        QCOMPARE(QCoreApplication::translate("lathe::pages::RunsPage", "%n run(s)", nullptr, 3), QString::fromUtf8("3 个运行"));
        QCOMPARE(session::schemaText(config::Schema::builtin().find("optimizer.learning_rate")->label), QString::fromUtf8("学习率"));
        QVERIFY(!shell::installLanguage(QStringLiteral("xx")));
    }
    void whatTheTrainerSaysOfEndsIsTranslated() {   // after that: it speaks Chinese now
        using launch::EndFacts;
        std::vector<launch::SessionFacts> all;
        const auto add = [&](const std::function<void(EndFacts&)>& change) {
            launch::SessionFacts facts;
            facts.written.hasSession = true;
            facts.written.wasUp = true;
            facts.end.updates = 5;
            change(facts.end);
            all.push_back(std::move(facts));
        };
        add([](EndFacts& end) { end.exit.signal = SIGKILL; });
        add([](EndFacts& end) { end.exit.signal = SIGKILL, end.systemRanOutOfMemory = true; });
        add([](EndFacts& end) { end.exit.signal = SIGSEGV, end.logTail = "last line"; });
        add([](EndFacts& end) { end.killedBy = "it did not stop"; });
        add([](EndFacts&) {});
        for (const ExitCode code : {ExitCode::Completed, ExitCode::OutOfMemory, ExitCode::Diverged, ExitCode::Failed}) add([code](EndFacts& end) { end.exit.code = int(code); });
        add([](EndFacts& end) { end.isCommand = true, end.exit.code = 0; });
        add([](EndFacts& end) { end.isCommand = true, end.exit.code = 3, end.logTail = "last line"; });
        add([](EndFacts& end) { end.isCommand = true, end.exit.signal = SIGSEGV; });
        add([](EndFacts& end) { end.isCommand = true, end.stopAsked = true, end.exit.code = 0; });
        add([](EndFacts& end) { end.isRecorded = true; });
        add([](EndFacts& end) { end.isRecorded = true, end.stopAsked = true; });
        add([](EndFacts& end) { end.seen = false; });
        static const QRegularExpression kChinese(QStringLiteral("\\p{Han}")), kEnglish(QStringLiteral("(?i)\\b(the|worker|command|ended|was)\\b"));
        for (const launch::SessionFacts& facts : all) {
            const QString said = session::toQt(launch::judge(facts).why), told = session::told(said);
            QVERIFY2(!said.isEmpty() && told.contains(kChinese) && !told.contains(kEnglish), qPrintable(said + QStringLiteral(" -> ") + told));
        }
        QVERIFY(session::told(session::toQt(launch::judge(all[2]).why)).contains(QStringLiteral("last line")));
        QCOMPARE(session::told(QStringLiteral("Rank 1: The worker failed with exit code 3; its log ends with: %1 and 100 %2")),
                 QString::fromUtf8("Rank 1：工作进程失败，退出码 3；其日志结尾为：%1 and 100 %2"));
        for (const char* sentence : {"Rank 1 was ended by signal SIGKILL; what the first rank is saving is waited for, at most 15 min", "Runs python train.py in /home/me", "Paused by itself: a hook asked for it; unpause goes on",
                                     "Rank 1 has been silent for 12 s in forward and backward, update 5; rank 0 waits in reduce gradients, update 5", "Guard, loss spike: update attempt 7 is left out, and the run pauses, since the loss is 9",
                                     "12 rows were neither recorded in time nor could they be written aside", "The disk is full. Training is not affected", "Saves after this update", "Its evaluation was added to checkpoint s001-000000078"})
            QVERIFY2(session::told(QString::fromUtf8(sentence)).contains(kChinese), sentence);
        QCOMPARE(session::told(QStringLiteral("Rank 0: The worker was ended: it gave no sign of life for 5 s (parallel.wait_seconds)")), QString::fromUtf8("Rank 0：工作进程被结束：它已 5 秒没有生命迹象（parallel.wait_seconds）"));
        QCOMPARE(session::told(QStringLiteral("The worker was ended by signal SIGKILL. It goes on by itself, restart 1 of at most 3 an hour")), QString::fromUtf8("工作进程被信号 SIGKILL 结束。自行继续，每小时最多 3 次重启中的第 1 次"));
        for (const QString& stranger : {QStringLiteral("Nobody knows this sentence"), QString(), QStringLiteral("%1")}) QCOMPARE(session::told(stranger), stranger);
        QCOMPARE(session::eventKindText(QStringLiteral("checkpoint_damaged")), QString::fromUtf8("检查点损坏"));
        QCOMPARE(session::eventKindText(QStringLiteral("of_a_plugin")), QStringLiteral("of a plugin"));
        for (int phase = 0; phase <= int(live::Phase::Ended); ++phase) {
            const QString word = session::toQt(live::name(live::Phase(phase)));
            QVERIFY2(session::phaseText(word).contains(kChinese), qPrintable(word));
        }
    }
};

QTEST_MAIN(TestTranslations)
#include "tst_translations.moc"
