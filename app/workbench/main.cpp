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

using namespace lathe;

namespace {

struct Arguments {
    std::filesystem::path workspace;
    QString run;
    QString preset;
};

Arguments readArguments(const QApplication& application) {
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

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("lathe"));
    QApplication::setApplicationDisplayName(QStringLiteral("Lathe"));
    QApplication::setApplicationVersion(QStringLiteral(LATHE_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("lathe"));
    session::Settings settings;
    shell::installLanguage(shell::languageFor(settings.value(QStringLiteral("window/language")).toString(), QLocale().uiLanguages()));
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
