#include "shell/notifier.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCall>
#include <QVariantMap>

namespace lathe::shell {
namespace {

constexpr int kHandOverMs = 400;

}  // namespace

void DesktopNotifier::notify(const QString& title, const QString& text, bool urgent) {
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    QDBusMessage message = QDBusMessage::createMethodCall(QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
                                                          QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    // The body may be read as markup: a run's name must not become any.
    message << QStringLiteral("Lathe") << 0u << QStringLiteral("lathe") << title << text.toHtmlEscaped() << QStringList() << QVariantMap() << -1;
    if (urgent) bus.call(message, QDBus::Block, kHandOverMs);
    else bus.asyncCall(message);
}

}  // namespace lathe::shell
