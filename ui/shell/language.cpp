#include "shell/language.h"

#include "shell/english.h"

#include <QCoreApplication>
#include <QFontDatabase>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

// Resources of a static library are linked only where they are asked for, by a name outside all namespaces.
static void linkTranslations() { Q_INIT_RESOURCE(translations); }

namespace lathe::shell {
namespace {

bool install(const QString& file, const QString& folder) {
    auto* translator = new QTranslator(qApp);
    if (translator->load(file, folder)) return QCoreApplication::installTranslator(translator);
    delete translator;
    return false;
}

}  // namespace

QStringList languages() { return {QStringLiteral("en"), QStringLiteral("zh_CN")}; }

QString languageName(const QString& language) {
    return language == QLatin1String("zh_CN") ? QString::fromUtf8("简体中文 (Simplified Chinese)") : QStringLiteral("English");
}

bool canBeWritten(const QString& language) {
    return language != QLatin1String("zh_CN") || !QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty();
}

QString languageFor(const QString& chosen, const QStringList& systemLanguages, const std::function<bool(const QString&)>& writable) {
    if (languages().contains(chosen)) return chosen;
    for (const QString& wanted : systemLanguages) {
        const QLocale locale(wanted);
        if (locale.language() == QLocale::English) break;
        if (const auto chinese = QStringLiteral("zh_CN"); locale.language() == QLocale::Chinese && writable(chinese)) return chinese;
    }
    return QStringLiteral("en");
}

bool installLanguage(const QString& language) {
    installEnglish();
    if (language == QLatin1String("en")) return true;
    install(QStringLiteral("qtbase_") + language, QLibraryInfo::path(QLibraryInfo::TranslationsPath));  // buttons of Qt's own dialogs
    linkTranslations();
    const QString folder = QStringLiteral(":/translations");
    return install(QStringLiteral("schema_") + language, folder) && install(QStringLiteral("lathe_") + language, folder);
}

}  // namespace lathe::shell
