#include "shell/english.h"

#include <QCoreApplication>
#include <QTranslator>

namespace lathe::shell {
namespace {

class English final : public QTranslator {
public:
    using QTranslator::QTranslator;
    bool isEmpty() const override { return false; }
    QString translate(const char*, const char* source, const char*, int n) const override {
        if (n < 0 || source == nullptr) return {};
        QString text = QString::fromUtf8(source);
        if (!text.contains(QLatin1String("s)"))) return {};
        text.replace(QStringLiteral("(es)"), n == 1 ? QString() : QStringLiteral("es"));
        return text.replace(QStringLiteral("(s)"), n == 1 ? QString() : QStringLiteral("s"));
    }
};

}  // namespace

void installEnglish() { QCoreApplication::installTranslator(new English(qApp)); }

}  // namespace lathe::shell
