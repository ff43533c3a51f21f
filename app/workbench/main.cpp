// lathe: the window. Can be closed or killed at any time without touching a run.
#include "base/program_paths.h"
#include "pages/prompts.h"
#include "session/qt_text.h"
#include "session/settings.h"
#include "shell/language.h"
#include "shell/main_window.h"
#include "shell/notifier.h"
#include "theme/theme.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QLocale>
#include <QMessageLogContext>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

using namespace lathe;

namespace {

struct Arguments {
    std::filesystem::path workspace;
    QString run;
    QString preset;
};

Arguments readArguments(const QCoreApplication& application) {
    QCommandLineParser parser;
    parser.setApplicationDescription(QApplication::translate("main", "Configure, start and watch training runs, and go on from any checkpoint."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption workspace(QStringLiteral("workspace"), QApplication::translate("main", "Folder with the runs (default: $LATHE_WORKSPACE, else ~/lathe)."),
                                       QStringLiteral("DIR"));
    parser.addOption(workspace);
    const QCommandLineOption preset(QStringLiteral("preset"), QApplication::translate("main", "Begin with this preset on the page New run."), QStringLiteral("NAME"));
    parser.addOption(preset);
    parser.addPositionalArgument(QStringLiteral("RUN"), QApplication::translate("main", "Run to open: id, name, folder, or latest."), QStringLiteral("[RUN]"));
    parser.process(application);
    return {workspaceFolder(session::toStd(parser.value(workspace))), parser.positionalArguments().value(0), parser.value(preset)};
}

void speak(const session::Settings& settings, const std::function<bool(const QString&)>& writable) {
    shell::installLanguage(shell::languageFor(settings.value(QStringLiteral("window/language")).toString(), QLocale().uiLanguages(), writable));
}

/// Asked for words and no window: answered where there is no display, too.
bool asksForWords(int argc, char** argv) {
    const auto asks = [](std::string_view argument) { return argument == "-h" || argument == "--help" || argument == "--help-all" || argument == "-v" || argument == "--version"; };
    char** const end = std::find_if(argv, argv + argc, [](std::string_view argument) { return argument == "--"; });
    return std::any_of(argv, end, asks);
}

/// Qt ends the program with a core dump where it finds no display: this ends it with a sentence.
void tellOfNoDisplay(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    static QString reason;   // the first complaint is the cause
    if (type == QtFatalMsg) {
        const QString why = reason.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(reason);
        std::fprintf(stderr, "lathe: There is no display to show the window on%s; lathe-trainer does the same in the terminal.\n", qPrintable(why));
        std::_Exit(2);
    }
    if (context.category != nullptr && std::strncmp(context.category, "qt.qpa", 6) == 0) {
        if (reason.isEmpty()) reason = text.trimmed();
    } else {
        std::fprintf(stderr, "%s\n", qPrintable(text));
    }
}

}  // namespace

int main(int argc, char** argv) {
    QApplication::setApplicationName(QStringLiteral("lathe"));
    QApplication::setApplicationDisplayName(QStringLiteral("Lathe"));
    QApplication::setApplicationVersion(QStringLiteral(LATHE_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("lathe"));
    if (asksForWords(argc, argv)) {
        const QCoreApplication words(argc, argv);
        speak(session::Settings(), [](const QString&) { return true; });   // what the terminal can write is its affair
        readArguments(words);   // ends the program
    }
    const QtMessageHandler before = qInstallMessageHandler(tellOfNoDisplay);
    const QApplication application(argc, argv);
    qInstallMessageHandler(before);
    session::Settings settings;
    speak(settings, shell::canBeWritten);
    const Arguments arguments = readArguments(application);

    const int mode = settings.value(QStringLiteral("window/theme"), int(theme::Mode::System)).toInt();
    theme::apply(mode >= 0 && mode <= int(theme::Mode::Dark) ? theme::Mode(mode) : theme::Mode::System);
    theme::followSystem();
    pages::DialogPrompts prompts;
    shell::DesktopNotifier notifier;
    shell::MainWindow window(arguments.workspace, {settings, prompts, notifier});
    window.restore();
    if (!arguments.run.isEmpty()) window.openReference(arguments.run);
    window.show();
    if (!arguments.preset.isEmpty()) window.openPreset(arguments.preset);  // may ask, so after the window is there
    return QApplication::exec();
}
