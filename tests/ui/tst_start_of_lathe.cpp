// labels: gui
// The program of the window where there is no display: it answers what needs none, and else says so without a crash.
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

class TestStartOfLathe : public QObject {
    Q_OBJECT

    struct Answer {
        int code = -1;   ///< -1: it crashed or did not end
        QString out, err;
    };
    static Answer lathe(const QStringList& arguments, const char* display = nullptr) {
        const QTemporaryDir home;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "LANG", "LC_ALL"}) environment.remove(QLatin1String(name));
        for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) environment.insert(QLatin1String(name), home.path());
        if (display != nullptr) environment.insert(QStringLiteral("DISPLAY"), QLatin1String(display));
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(LATHE_BIN_DIR "/lathe"), arguments);
        const bool ended = process.waitForFinished();
        return {ended && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }

private Q_SLOTS:
    void helpAndVersionNeedNoDisplay() {
        for (const char* option : {"--help", "-h"}) {
            const Answer help = lathe({QLatin1String(option)});
            QCOMPARE(help.code, 0);
            QVERIFY2(help.out.contains(QStringLiteral("--workspace")) && help.out.contains(QStringLiteral("[RUN]")), qPrintable(help.out));
            QCOMPARE(help.err, QString());
        }
        const Answer version = lathe({QStringLiteral("--version")});
        QCOMPARE(version.code, 0);
        QVERIFY2(version.out.startsWith(QStringLiteral("lathe ")), qPrintable(version.out));
    }
    void whereNoDisplayIsOneSentenceSaysWhatDoesTheSame() {
        for (const char* display : {static_cast<const char*>(nullptr), ":4711"}) {
            const Answer answer = lathe({QStringLiteral("latest")}, display);
            QVERIFY2(answer.code == 2, qPrintable(answer.err));
            QCOMPARE(answer.err.count(QLatin1Char('\n')), 1);
            QVERIFY2(answer.err.contains(QStringLiteral("no display")) && answer.err.contains(QStringLiteral("lathe-trainer")), qPrintable(answer.err));
            QVERIFY2(display == nullptr || answer.err.contains(QLatin1String(display)), qPrintable(answer.err));
        }
    }
};

QTEST_GUILESS_MAIN(TestStartOfLathe)
#include "tst_start_of_lathe.moc"
