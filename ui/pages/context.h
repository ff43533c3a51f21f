// What every page is given. The window owns all of it and outlives its pages.
#pragma once

#include "pages/prompts.h"
#include "session/launcher.h"
#include "session/queue_feed.h"
#include "session/settings.h"
#include "session/workspace.h"

#include <QObject>

#include <functional>
#include <map>

namespace lathe::pages {

/// Hands each answer of the launcher to the one who asked.
class LaunchReplies : public QObject {
    Q_OBJECT

public:
    using Reply = std::function<void(const session::LaunchResult&)>;
    explicit LaunchReplies(session::Launcher& launcher, QObject* parent = nullptr);
    /// `reply` is not called once `context` is gone.
    void await(quint64 number, QObject* context, Reply reply);

private:
    std::map<quint64, Reply> m_waiting;
};

struct Context {
    session::Workspace& workspace;
    session::Launcher& launcher;
    LaunchReplies& replies;
    session::QueueFeed& queue;
    session::Settings& settings;
    Prompts& prompts;
};

}  // namespace lathe::pages
