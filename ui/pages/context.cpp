#include "pages/context.h"

#include <QPointer>

namespace lathe::pages {

LaunchReplies::LaunchReplies(session::Launcher& launcher, QObject* parent) : QObject(parent) {
    connect(&launcher, &session::Launcher::finished, this, [this](quint64 number, const session::LaunchResult& result) {
        const auto waiting = m_waiting.find(number);
        if (waiting == m_waiting.end()) return;
        const Reply reply = std::move(waiting->second);
        m_waiting.erase(waiting);
        reply(result);
    });
}

void LaunchReplies::await(quint64 number, QObject* context, Reply reply) {
    m_waiting[number] = [guard = QPointer<QObject>(context), reply = std::move(reply)](const session::LaunchResult& result) {
        if (guard) reply(result);
    };
}

}  // namespace lathe::pages
