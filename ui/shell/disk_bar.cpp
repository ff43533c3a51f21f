#include "shell/disk_bar.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QHBoxLayout>

namespace lathe::shell {

using Kind = launch::DiskOutlook::Kind;
using session::toQt;

DiskBar::DiskBar(session::DiskWatch& disk, QWidget* parent) : QFrame(parent), m_disk(disk) {
    theme::setRole(this, "topbar");
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(QStringLiteral("diskBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(20, 6, 12, 6);
    row->setSpacing(10);
    m_icon = new QLabel;
    row->addWidget(m_icon);
    m_text = theme::label({});
    m_text->setObjectName(QStringLiteral("diskText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_text, 1);
    QToolButton* close = theme::flatButton(theme::Icon::Close, {});
    close->setObjectName(QStringLiteral("closeDisk"));
    close->setAccessibleName(tr("Close the warning about the disk"));
    close->setIconSize({12, 12});
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, [this] {
        m_closed = m_disk.now().kind;
        refresh();
    });
    connect(&m_disk, &session::DiskWatch::changed, this, &DiskBar::refresh);
    refresh();
}

QString DiskBar::text() const { return isHidden() ? QString() : m_text->text(); }

QString DiskBar::sentence() const {
    const launch::DiskOutlook& now = m_disk.now();
    const QString place = toQt(m_disk.workspace().string()), free = toQt(diskText(now.freeBytes));
    switch (now.kind) {
    case Kind::Fine: return {};
    case Kind::Gone: return tr("%1 is not there any more. What is shown here is as it was when it was seen last; nothing can be started or saved there.").arg(place);
    case Kind::ReadOnly: return tr("%1 cannot be written. What is there can be looked at; no run can start or save there.").arg(place);
    case Kind::NoInodes: return tr("The disk of %1 takes no more files (%2 free): its inodes are used up, or a quota is. No run can start or save there; delete what is not needed and empty the trash.").arg(place, free);
    case Kind::Full:
        if (now.nextSave == 0) return tr("The disk of %1 is full (%2 free). No run can start there; delete what is not needed and empty the trash.").arg(place, free);
        return tr("The disk of %1 is full (%2 free). Runs that are up go on and cannot save until there is room; delete what is not needed and empty the trash.").arg(place, free);
    case Kind::Filling: break;
    }
    if (*now.hoursLeft <= 0) return tr("The disk of %1 has %2 free, less than the checkpoints need that the runs there keep.").arg(place, free);
    return tr("The disk of %1 is full in about %2: %3 free, the runs that are up write %4 an hour.")
        .arg(place, toQt(durationText(*now.hoursLeft * 3600)), free, toQt(diskText(std::uint64_t(now.bytesPerHour))));
}

void DiskBar::refresh() {
    const Kind kind = m_disk.now().kind;
    if (kind == Kind::Fine) m_closed = Kind::Fine;
    const bool filling = kind == Kind::Filling;
    m_text->setText(sentence());
    m_text->setAccessibleName(m_text->text());
    m_icon->setPixmap(theme::icon(theme::Icon::Warning, filling ? theme::Tone::Warning : theme::Tone::Danger).pixmap(QSize(16, 16), devicePixelRatioF()));
    setVisible(kind != Kind::Fine && kind != m_closed);
}

}  // namespace lathe::shell
