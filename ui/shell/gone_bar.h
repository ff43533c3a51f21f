// Above the page of a run that was moved to the trash, or whose folder is gone: says so, and brings it back.
#pragma once

#include "session/run_session.h"

#include <QFrame>

#include <memory>

class QLabel;
class QPushButton;

namespace lathe::shell {

class GoneBar : public QFrame {
    Q_OBJECT

public:
    explicit GoneBar(QWidget* parent = nullptr);
    /// The run whose page is open, or nothing.
    void show(const std::shared_ptr<session::RunSession>& session);
    QString text() const;

Q_SIGNALS:
    void restoreWanted(const QString& folder, const QString& name);

private:
    QLabel* m_text;
    QPushButton* m_restore;
    QString m_folder, m_name;
};

}  // namespace lathe::shell
