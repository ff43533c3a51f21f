// What is wrong with the disk of the workspace: filling, full, not writable, gone. Closing it holds until it is another
// thing that is wrong.
#pragma once

#include <QFrame>

#include "session/disk_watch.h"

class QLabel;

namespace lathe::shell {

class DiskBar : public QFrame {
    Q_OBJECT

public:
    explicit DiskBar(session::DiskWatch& disk, QWidget* parent = nullptr);
    QString text() const;

private:
    void refresh();
    QString sentence() const;

    session::DiskWatch& m_disk;
    launch::DiskOutlook::Kind m_closed = launch::DiskOutlook::Kind::Fine;
    QLabel* m_icon;
    QLabel* m_text;
};

}  // namespace lathe::shell
