// Notifications of the desktop. An interface, so that tests see what would be said.
#pragma once

#include <QString>

namespace lathe::shell {

class Notifier {
public:
    virtual ~Notifier() = default;
    /// `urgent` waits for the message to be handed over: for the moment before the program ends.
    virtual void notify(const QString& title, const QString& text, bool urgent = false) = 0;
};

/// org.freedesktop.Notifications over D-Bus; silent where there is no such service.
class DesktopNotifier : public Notifier {
public:
    void notify(const QString& title, const QString& text, bool urgent) override;
};

}  // namespace lathe::shell
