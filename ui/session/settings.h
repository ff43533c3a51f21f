// What the window remembers between starts. Thread: GUI thread.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QVariant>

namespace lathe::session {

class Settings {
public:
    /// $LATHE_SETTINGS, else ~/.config/lathe/window.ini.
    static QString defaultFile();
    explicit Settings(const QString& file = defaultFile()) : m_store(file, QSettings::IniFormat) {}

    QVariant value(const QString& key, const QVariant& otherwise = {}) const { return m_store.value(key, otherwise); }
    void setValue(const QString& key, const QVariant& value) { m_store.setValue(key, value); }
    void remove(const QString& key) { m_store.remove(key); }
    void sync() { m_store.sync(); }

private:
    QSettings m_store;
};

}  // namespace lathe::session
