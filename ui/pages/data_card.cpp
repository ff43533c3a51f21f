#include "pages/data_card.h"

#include "form/field_editor.h"
#include "pages/data_pictures.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QLocale>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QUrl>
#include <QVBoxLayout>

namespace lathe::pages {
namespace {

/// The one local path of a drag, or empty.
QString droppedPath(const QMimeData* data) {
    const QList<QUrl> urls = data->urls();
    return urls.size() == 1 && urls.front().isLocalFile() ? urls.front().toLocalFile() : QString();
}

}  // namespace

DataCard::DataCard(QWidget* parent) : QFrame(parent) {
    theme::setRole(this, "card");
    setObjectName(QStringLiteral("dataCard"));
    setAcceptDrops(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(18, 12, 16, 14);
    column->setSpacing(8);

    auto* head = new QHBoxLayout;
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    m_sentence = theme::label({}, theme::TextRole::Strong);
    m_sentence->setObjectName(QStringLiteral("dataSentence"));
    m_sentence->setWordWrap(true);
    m_detail = theme::label({}, theme::TextRole::Caption, "muted");
    m_detail->setObjectName(QStringLiteral("dataDetail"));
    m_detail->setWordWrap(true);
    words->addWidget(m_sentence);
    words->addWidget(m_detail);
    head->addLayout(words, 1);
    m_choose = theme::flatButton(theme::Icon::Data, tr("Own data…"));
    m_choose->setObjectName(QStringLiteral("ownData"));
    m_choose->setToolTip(tr("A folder of class folders with JPEG or PNG pictures, a CSV file, IDX files or a text file. Dropping it on this card does the same."));
    m_choose->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_choose);
    connect(menu->addAction(tr("A folder of pictures…")), &QAction::triggered, this, [this] { ask(true); });
    connect(menu->addAction(tr("A CSV, IDX or text file…")), &QAction::triggered, this, [this] { ask(false); });
    m_choose->setMenu(menu);
    head->addWidget(m_choose, 0, Qt::AlignTop);
    column->addLayout(head);

    auto* pictures = new QHBoxLayout;
    pictures->setSpacing(16);
    m_samples = new SampleStrip;
    m_balance = new ClassBalance;
    pictures->addWidget(m_samples, 1, Qt::AlignTop);
    pictures->addWidget(m_balance, 0, Qt::AlignTop);
    column->addLayout(pictures);
    showNothing();
}

void DataCard::showNothing() {
    m_sentence->setText(tr("No training data chosen"));
    m_detail->setText(tr("Drop a folder of class folders, a CSV file, IDX files or a text file here, or press Own data."));
    theme::setRole(m_detail, "muted");
    m_samples->setSamples({});
    m_balance->setClasses({});
}

void DataCard::showProgress(qint64 done, qint64 total) {
    const QLocale locale;
    m_sentence->setText(total > 0 ? tr("Looking at the data  %1 of %2").arg(locale.toString(done), locale.toString(total)) : tr("Looking at the data"));
}

void DataCard::showResult(const ScanResult& result) {
    const QString path = session::toQt(result.data.train);
    m_samples->setSamples(result.samples);
    m_balance->setClasses(result.info);
    if (result.error) {
        m_sentence->setText(tr("This data cannot be used"));
        m_detail->setText(session::toQt(result.error->text()));
        theme::setRole(m_detail, "error");
        return;
    }
    m_sentence->setText(session::toQt(result.info.sentence()));
    theme::setRole(m_detail, "muted");
    QString detail = path;
    for (const QString& note : result.notes) detail += QLatin1Char('\n') + note;
    for (const dataset::Doubt& doubt : result.info.doubts()) detail += QLatin1Char('\n') + session::toQt(doubt.sentence);
    if (!result.info.unreadable.empty()) {
        const dataset::Unreadable& first = result.info.unreadable.front();
        detail += QLatin1Char('\n') + tr("Left out: %1 (%2)").arg(session::toQt(first.what), session::toQt(first.why));
        if (result.info.unreadableCount > 1) detail += tr(" and %n more", nullptr, int(result.info.unreadableCount - 1));
    }
    m_detail->setText(detail);
}

QString DataCard::sentence() const { return m_sentence->text(); }

void DataCard::ask(bool folder) {
    const QString path = form::FieldEditor::askForPath(this, folder, {});
    if (!path.isEmpty()) Q_EMIT dataChosen(path);
}

void DataCard::dragEnterEvent(QDragEnterEvent* event) {
    if (droppedPath(event->mimeData()).isEmpty()) return;
    event->acceptProposedAction();
    m_dropping = true;
    update();
}

void DataCard::dragLeaveEvent(QDragLeaveEvent* event) {
    QFrame::dragLeaveEvent(event);
    m_dropping = false;
    update();
}

void DataCard::dropEvent(QDropEvent* event) {
    m_dropping = false;
    update();
    if (const QString path = droppedPath(event->mimeData()); !path.isEmpty()) {
        event->acceptProposedAction();
        Q_EMIT dataChosen(path);
    }
}

void DataCard::paintEvent(QPaintEvent* event) {
    QFrame::paintEvent(event);
    if (!m_dropping) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme::colors().accent, 2, Qt::DashLine));
    painter.drawRoundedRect(QRectF(rect()).adjusted(2, 2, -2, -2), 6, 6);
}

}  // namespace lathe::pages
