#include "session/settings.h"

#include <QStandardPaths>

namespace lathe::session {

QString Settings::defaultFile() {
    const QString redirected = qEnvironmentVariable("LATHE_SETTINGS");
    if (!redirected.isEmpty()) return redirected;
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/lathe/window.ini");
}

}  // namespace lathe::session
