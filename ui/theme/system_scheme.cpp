#include "theme/system_scheme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QObject>
#include <QPalette>

#include <optional>

namespace lathe::theme {
namespace {

constexpr auto kService = "org.freedesktop.portal.Desktop";
constexpr auto kPath = "/org/freedesktop/portal/desktop";
constexpr auto kInterface = "org.freedesktop.portal.Settings";
constexpr auto kNamespace = "org.freedesktop.appearance";
constexpr auto kKey = "color-scheme";

std::optional<bool> portalAnswer;

/// The portal wraps the number in one or two variants, depending on its version.
uint unwrap(QVariant value) {
    while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    return value.toUInt();
}

class SchemeWatcher : public QObject {
    Q_OBJECT

public:
    explicit SchemeWatcher(std::function<void()> changed) : QObject(qApp), m_changed(std::move(changed)) {
        QDBusConnection bus = QDBusConnection::sessionBus();
        if (!bus.isConnected()) return;
        bus.connect(QLatin1String(kService), QLatin1String(kPath), QLatin1String(kInterface), QStringLiteral("SettingChanged"), this,
                    SLOT(onSettingChanged(QString, QString, QDBusVariant)));
        QDBusMessage read = QDBusMessage::createMethodCall(QLatin1String(kService), QLatin1String(kPath), QLatin1String(kInterface), QStringLiteral("Read"));
        read << QLatin1String(kNamespace) << QLatin1String(kKey);
        auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(read), this);
        connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
            const QDBusPendingReply<QDBusVariant> reply = *watcher;
            if (!reply.isError()) take(unwrap(QVariant::fromValue(reply.value())));
            watcher->deleteLater();
        });
    }

private Q_SLOTS:
    void onSettingChanged(const QString& space, const QString& key, const QDBusVariant& value) {
        if (space == QLatin1String(kNamespace) && key == QLatin1String(kKey)) take(unwrap(value.variant()));
    }

private:
    void take(uint scheme) {
        const bool before = systemPrefersDark();
        portalAnswer = scheme == 1;  // 0: no preference, 1: dark, 2: light
        if (systemPrefersDark() != before) m_changed();
    }

    std::function<void()> m_changed;
};

}  // namespace

bool systemPrefersDark() {
    static const bool paletteWasDark = QPalette().color(QPalette::Window).lightnessF() < 0.5;
    return portalAnswer.value_or(paletteWasDark);
}

void watchSystemScheme(std::function<void()> changed) { new SchemeWatcher(std::move(changed)); }

}  // namespace lathe::theme

#include "system_scheme.moc"
