// A person's command as text: quoting without a shell, and the settings among its arguments.
#include "config/command_text.h"
#include "config/config.h"

#include <QtTest/QTest>

using namespace lathe;
using namespace lathe::config;

static QString text(const std::string& from) { return QString::fromStdString(from); }

static QString shown(const std::vector<std::string>& words) {
    QString all;
    for (const std::string& word : words) all += QStringLiteral("[") + text(word) + QStringLiteral("]");
    return all;
}

static QString settingsOf(const std::string& line) {
    const auto command = splitCommand(line);
    if (!command) return text(command.error().sentence);
    const CommandParts parts = partsOf(*command);
    QString all = text(parts.line) + QStringLiteral(" |");
    for (const auto& [name, value] : parts.variables) all += QStringLiteral(" $") + text(name + "=" + value);
    for (const auto& [name, value] : parts.settings) all += QStringLiteral(" ") + text(name + "=" + value);
    return all;
}

class TestCommandText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Expected words are those of POSIX shells, see XCU 2.2.
    void wordsAreThoseOfAShell_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const char* line, const char* words) { QTest::newRow(name) << QString::fromUtf8(line) << QString::fromUtf8(words); };
        row("plain", "  python\ttrain.py --lr  3e-4 ", "[python][train.py][--lr][3e-4]");
        row("single", "a 'b  $c \"d\" \\e' f", "[a][b  $c \"d\" \\e][f]");
        row("double", "a \"b 'c' \\\" \\\\ \\$x \\n\" d", "[a][b 'c' \" \\ $x \\n][d]");
        row("glued", "a'b c'\"d e\"\\ f", "[ab cd e f]");
        row("empty words", "a '' \"\"", "[a][][]");
        row("escaped", "a\\ b \\'c\\' \\|", "[a b]['c'][|]");
        row("lines", "a \\\n  --b 1 \\\n --c\n2", "[a][--b][1][--c][2]");
        row("utf8", "größe 'ü ß'", "[größe][ü ß]");
        row("brackets", "a lr=[1,2] {x} (y) *.txt #z !q", "[a][lr=[1,2]][{x}][(y)][*.txt][#z][!q]");
    }
    void wordsAreThoseOfAShell() {
        QFETCH(QString, line);
        QFETCH(QString, words);
        const auto command = splitCommand(line.toStdString());
        QVERIFY2(command.ok(), command ? "" : command.error().sentence.c_str());
        QCOMPARE(shown(command->words), words);
        const auto again = splitCommand(joinCommand(command->words));
        QVERIFY(again.ok());
        QCOMPARE(shown(again->words), words);
    }
    void whatCannotBeMeantGetsASentence_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* line, const char* says) { QTest::newRow(line) << QString::fromUtf8(line) << QString::fromUtf8(says); };
        row("python 'train.py --lr 3", "begins at 'train.py --lr 3 has no end");
        row("python \"train.py", "has no end; close it with \"");
        row("python train.py \\", "backslash that has nothing behind it");
        row("a | b", "\"|\" is for a shell");
        row("a > log", "\">\" is for a shell");
        row("a && b", "\"&\" is for a shell");
        row("a --d $HOME", "\"$\" is for a shell");
        row("a --d \"$HOME\"", "\"$\" is for a shell");
        row("a `b`", "\"`\" is for a shell");
        row("a ~/data", "write the whole path instead of \"~/data\"");
        row("   ", "names no program");
        row("A=1 B=2", "names no program");
        row("'' x", "empty word");
    }
    void whatCannotBeMeantGetsASentence() {
        QFETCH(QString, line);
        QFETCH(QString, says);
        const auto command = splitCommand(line.toStdString());
        QVERIFY(!command.ok());
        QVERIFY2(text(command.error().sentence).contains(says), command.error().sentence.c_str());
        QCOMPARE(text(command.error().key), QStringLiteral("command.line"));
        RunConfig config;
        config.command.line = line.toStdString();
        QVERIFY(hasErrors(validate(config)));
    }
    void argumentsAreSettings_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("parts");
        const auto row = [](const char* line, const char* parts) { QTest::newRow(line) << QString::fromUtf8(line) << QString::fromUtf8(parts); };
        row("python train.py --lr 3e-4 --bs=32 -n 5 epochs=3 --amp", "python train.py | lr=3e-4 bs=32 n=5 epochs=3 amp=true");
        row("python -u -W ignore train.py data --shift -1 --offset -.5", "python -u -W ignore train.py data | shift=-1 offset=-.5");
        row("python -m pkg.train --lr 1", "python -m pkg.train | lr=1");
        row("torchrun --standalone --nproc_per_node 2 train.py --lr 1", "torchrun --standalone --nproc_per_node 2 train.py | lr=1");
        row("./train --lr 1 conf.py", "./train conf.py | lr=1");
        row("./train --betas 0.9 0.99 --multirun lr=1,2", "./train 0.99 | betas=0.9 multirun=true lr=1,2");
        row("CUDA_VISIBLE_DEVICES=0 X= python t.py +model.lr=1", "python t.py | $CUDA_VISIBLE_DEVICES=0 $X= +model.lr=1");
        row("./t --tag a --tag b -- --not-one x=1", "./t -- --not-one x=1 | tag=a b");
        row("./t --name 'a b' --empty= s3://bucket/a=b - --", "./t s3://bucket/a=b - -- | name=a b empty=");
    }
    void argumentsAreSettings() {
        QFETCH(QString, line);
        QFETCH(QString, parts);
        QCOMPARE(settingsOf(line.toStdString()), parts);
    }
    void aSettingIsChangedInItsPlace_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("changed");
        const auto row = [](const char* line, const char* name, const char* value, const char* changed) {
            QTest::addRow("%s %s %s", line, name, value) << QString::fromUtf8(line) << QString::fromUtf8(name) << QString::fromUtf8(value) << QString::fromUtf8(changed);
        };
        row("A=1 ./t --lr 1 x", "lr", "2", "A=1 ./t --lr 2 x");
        row("./t --lr=1 x", "lr", "a b", "./t '--lr=a b' x");
        row("./t lr=1", "lr", "2", "./t lr=2");
        row("./t lr=1", "seed", "2", "./t lr=1 seed=2");
        row("./t --lr 1", "seed", "2", "./t --lr 1 --seed 2");
        row("./t", "b", "2", "./t -b 2");
        row("./t --amp --lr 1", "amp", "false", "./t --lr 1");
        row("./t --amp", "amp", "bf16", "./t --amp bf16");
        row("./t", "amp", "true", "./t --amp");
        row("./t", "amp", "false", "./t");
    }
    void aSettingIsChangedInItsPlace() {
        QFETCH(QString, line);
        QFETCH(QString, name);
        QFETCH(QString, value);
        QFETCH(QString, changed);
        const auto result = withSetting(line.toStdString(), name.toStdString(), value.toStdString());
        QVERIFY(result.ok());
        QCOMPARE(text(*result), changed);
    }
    void aSettingThatIsThereTwiceIsNotGuessed() {
        const auto result = withSetting("./t --tag a --tag b", "tag", "c");
        QVERIFY(!result.ok());
        QVERIFY(text(result.error().sentence).contains(QStringLiteral("tag 2 times")));
    }
    void namesAreThoseOfTheScript() {
        for (const auto& [line, name] : std::vector<std::pair<std::string, std::string>>{
                 {"python -u src/train.py --lr 1", "train"}, {"python -m pkg.train_it", "train_it"}, {"/opt/run.v2/fit --x", "fit"}, {"python3.11 -c 'x y.py'", "python3.11"}})
            QCOMPARE(text(commandName(*splitCommand(line))), text(name));
        RunConfig config;
        config.command.line = "python train.py --data /very/long --lr 3e-4 --amp --bs 32";
        QCOMPARE(text(suggestName({}, {}, config)), QStringLiteral("train-lr3e-4-amp"));
    }
    void aCommandStandsInItsOwnSectionAlone() {
        RunConfig config;
        config.run.name = "mine";
        config.command.line = "python 'my script.py' --lr 3e-4";
        config.command.folder = "/data/work";
        const std::string yaml = toYaml(config);
        QVERIFY(!text(yaml).contains(QStringLiteral("seed")) && !text(yaml).contains(QStringLiteral("optimizer")) && !text(yaml).contains(QStringLiteral("log_every")));
        const Loaded back = parse(yaml, "/");
        QVERIFY2(check(back).empty(), check(back).empty() ? "" : check(back).front().sentence.c_str());
        QCOMPARE(text(back.config.command.line), text(config.command.line));
        QCOMPARE(text(toYaml(back.config)), text(yaml));
        QVERIFY(!text(toYaml(RunConfig{})).contains(QStringLiteral("command")));
        Loaded changed = back;
        applySettings(changed, {"argument.lr=1e-3", "run.note=again"});
        QVERIFY(check(changed).empty());
        QCOMPARE(text(changed.config.command.line), QStringLiteral("python 'my script.py' --lr 1e-3"));
        const auto settings = comparedSettings(changed.config);
        const std::vector<std::pair<std::string, std::string>> expected = {
            {"run.keep_awake", "true"}, {"parallel.device", "auto"}, {"telemetry.devices_every", "2 s"}, {"telemetry.tensorboard", ""}, {"command.folder", "/data/work"}, {"command.line", "python 'my script.py'"}, {"argument.lr", "1e-3"}};
        QVERIFY(settings == expected);
    }
    void argumentsNeedACommand() {
        Loaded loaded;
        applySettings(loaded, {"argument.lr=1"});
        QVERIFY(hasErrors(loaded.problems));
        QCOMPARE(text(loaded.problems.front().key), QStringLiteral("argument.lr"));
    }
};

QTEST_APPLESS_MAIN(TestCommandText)
#include "tst_command_text.moc"
