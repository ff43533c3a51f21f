#include "theme/parts.h"

#include "theme/plain_tip.h"

#include <QFontMetrics>
#include <QPainter>
#include <QResizeEvent>
#include <QStyle>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>

namespace lathe::theme {

static constexpr int kSmallestNumber = 13;   // pixels

static QColor mixed(const QColor& a, const QColor& b, double part) {
    const auto between = [part](float x, float y) { return float(double(x) * part + double(y) * (1 - part)); };
    return QColor::fromRgbF(between(a.redF(), b.redF()), between(a.greenF(), b.greenF()), between(a.blueF(), b.blueF()));
}

void setRole(QWidget* widget, const char* role) {
    if (widget->property("role").toByteArray() == role) return;
    widget->setProperty("role", QByteArray(role));
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

QFrame* card(QWidget* parent) {
    auto* frame = new QFrame(parent);
    setRole(frame, "card");
    return frame;
}

QLabel* label(const QString& text, TextRole role, const char* tone) {
    auto* widget = new QLabel(text);
    widget->setTextFormat(Qt::PlainText);
    widget->setFont(textFont(role));
    if (*tone != '\0') setRole(widget, tone);
    return widget;
}

ElidedLabel::ElidedLabel(TextRole role, const char* tone) {
    setTextFormat(Qt::PlainText);
    setFont(textFont(role));
    if (*tone != '\0') setRole(this, tone);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ElidedLabel::setFullText(const QString& text) {
    if (text == m_text) return;
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    elide();
}

QSize ElidedLabel::sizeHint() const { return {fontMetrics().horizontalAdvance(m_text) + 2, QLabel::sizeHint().height()}; }

void ElidedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide() {
    const QString shown = fontMetrics().elidedText(m_text, Qt::ElideRight, std::max(0, width()));
    setText(shown);
    setToolTip(shown == m_text ? QString() : plainTip(m_text));
}

QPushButton* button(const QString& text, Icon which, ButtonKind kind) {
    auto* widget = new QPushButton(text);
    const Tone tone = kind == ButtonKind::Primary ? Tone::OnAccent : kind == ButtonKind::Danger ? Tone::Danger : Tone::Muted;
    widget->setProperty("primary", kind == ButtonKind::Primary);
    widget->setProperty("danger", kind == ButtonKind::Danger);
    widget->setIcon(icon(which, tone));
    widget->setIconSize({15, 15});
    widget->setAutoDefault(false);
    return widget;
}

QToolButton* flatButton(Icon which, const QString& text, bool checkable) {
    auto* widget = new QToolButton;
    setRole(widget, "flat");
    widget->setProperty("words", !text.isEmpty());
    widget->setIcon(icon(which));
    widget->setIconSize({16, 16});
    widget->setText(text);
    widget->setAccessibleName(text);
    widget->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    widget->setCheckable(checkable);
    widget->setFocusPolicy(Qt::TabFocus);
    return widget;
}

QVBoxLayout* pageColumn(QWidget* page, int gap) {
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(20, 16, 20, 16);
    column->setSpacing(gap);
    return column;
}

SplitRow::SplitRow(QWidget* first, QWidget* second, QWidget* parent) : QWidget(parent), m_first(first), m_second(second), m_row(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(8);
    m_row->addWidget(first, 0, Qt::AlignLeft);
    m_row->addStretch();
    m_row->addWidget(second, 0, Qt::AlignLeft);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize SplitRow::minimumSizeHint() const { return {std::max(m_first->minimumSizeHint().width(), m_second->minimumSizeHint().width()), QWidget::minimumSizeHint().height()}; }

void SplitRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

bool SplitRow::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) arrange();   // a word of a group changed
    return QWidget::event(event);
}

void SplitRow::arrange() {
    const bool fits = m_first->sizeHint().width() + 2 * m_row->spacing() + m_second->sizeHint().width() <= width();
    const QBoxLayout::Direction wanted = fits ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
    if (wanted == m_row->direction()) return;
    m_row->setDirection(wanted);
    updateGeometry();
}

Rule::Rule(QWidget* parent) : QWidget(parent) { setFixedWidth(1); }

void Rule::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect().adjusted(0, 4, 0, -4), colors().border); }

Metric::Metric(const QString& caption, QWidget* parent) : QWidget(parent), m_caption(caption) {
    setFixedHeight(66);
    setAccessibleName(caption);
}

void Metric::setCaption(const QString& caption) {
    if (caption == m_caption) return;
    m_caption = caption;
    setAccessibleName(caption);
    update();
}

void Metric::setValue(const QString& value, const QString& below, double fill) {
    if (value == m_value && below == m_below && fill == m_fill) return;
    m_value = value;
    m_below = below;
    m_fill = fill;
    setAccessibleDescription(below.isEmpty() ? value : value + QLatin1String(", ") + below);
    update();
}

void Metric::paintEvent(QPaintEvent*) {
    const Colors& c = colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    // A number is never shortened: it gets smaller where there is no room for it.
    const auto line = [&](double top, double height, TextRole role, const QColor& color, const QString& text) {
        QFont font = textFont(role);
        while (role == TextRole::Display && font.pixelSize() > kSmallestNumber && QFontMetrics(font).horizontalAdvance(text) > width()) font.setPixelSize(font.pixelSize() - 1);
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(QRectF(0, top, width(), height), Qt::AlignVCenter, painter.fontMetrics().elidedText(text, Qt::ElideRight, width()));
    };
    line(2, 15, TextRole::Caption, c.muted, m_caption);
    line(17, 26, TextRole::Display, c.text, m_value);
    line(43, 15, TextRole::Caption, c.muted, m_below);
    if (m_fill < 0) return;
    const QRectF bar(0, 62, width() - 18, 3);
    painter.setPen(Qt::NoPen);
    painter.setBrush(c.track);
    painter.drawRoundedRect(bar, 1.5, 1.5);
    painter.setBrush(c.accent);
    painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(bar.width() * std::min(1.0, m_fill), 3)), 1.5, 1.5);
}

Pill::Pill(QWidget* parent) : QWidget(parent) {
    setFont(textFont(TextRole::Caption));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Pill::setState(const QString& word, Tone tone) {
    if (word == m_word && tone == m_tone) return;
    m_word = word;
    m_tone = tone;
    setAccessibleName(tr("State"));
    setAccessibleDescription(word);
    updateGeometry();
    update();
}

int Pill::widthOf(const QString& word) { return QFontMetrics(textFont(TextRole::Caption)).horizontalAdvance(word) + 28; }

QSize Pill::sizeHint() const { return {widthOf(m_word), 22}; }

QColor Pill::ground(const QColor& color) { return mixed(color, colors().surface, colors().dark ? 0.20 : 0.12); }
QColor Pill::ink(const QColor& color) { return mixed(colors().text, color, 0.15); }

void Pill::paint(QPainter* painter, const QRectF& area, const QString& word, const QColor& color) {
    painter->setFont(textFont(TextRole::Caption));
    const QRectF pill(area.left(), area.center().y() - 10, widthOf(word), 20);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(ground(color));
    painter->drawRoundedRect(pill, 10, 10);
    painter->setBrush(color);
    painter->drawEllipse(QPointF(pill.left() + 10.5, pill.center().y()), 3, 3);
    painter->setPen(ink(color));
    painter->drawText(pill.adjusted(18, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, word);
}

void Pill::paintEvent(QPaintEvent*) {
    if (m_word.isEmpty()) return;
    QPainter painter(this);
    paint(&painter, rect(), m_word, toneColor(m_tone));
}

ChoiceBox::ChoiceBox(QWidget* parent) : QComboBox(parent) { setFocusPolicy(Qt::StrongFocus); }

void ChoiceBox::wheelEvent(QWheelEvent* event) {
    if (hasFocus()) QComboBox::wheelEvent(event);
    else event->ignore();
}

void ChoiceBox::paintEvent(QPaintEvent* event) {
    QComboBox::paintEvent(event);
    QPainter painter(this);
    icon(Icon::Chevron).paint(&painter, QRect(width() - 22, (height() - 16) / 2, 16, 16), Qt::AlignCenter, isEnabled() ? QIcon::Normal : QIcon::Disabled);
}

Switch::Switch(QWidget* parent) : QCheckBox(parent) {
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Switch::paintEvent(QPaintEvent*) {
    const Colors& c = colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF groove(1.5, (height() - 18) / 2.0, 32, 18);
    painter.setPen(hasFocus() ? QPen(isChecked() ? c.text : c.accent, 1.5) : QPen(isChecked() ? c.accent : c.borderStrong, 1));
    painter.setBrush(isChecked() ? c.accent : c.hover);
    painter.drawRoundedRect(groove, 9, 9);
    painter.setPen(Qt::NoPen);
    painter.setBrush(isChecked() ? c.onAccent : c.muted);
    painter.drawEllipse(QPointF(isChecked() ? groove.right() - 9 : groove.left() + 9, groove.center().y()), 6, 6);
}

EmptyState::EmptyState(Icon which, const QString& title, const QString& sentence, QPushButton* action, QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setSpacing(8);
    column->addStretch(2);
    m_picture = new QToolButton;
    m_picture->setIcon(icon(which));
    m_picture->setIconSize({36, 36});
    m_picture->setStyleSheet(QStringLiteral("QToolButton { border: none; background: transparent; }"));
    m_picture->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_picture->setFocusPolicy(Qt::NoFocus);
    m_picture->setAccessibleName(title);
    column->addWidget(m_picture, 0, Qt::AlignHCenter);
    m_title = label(title, TextRole::Title);
    m_title->setAlignment(Qt::AlignHCenter);
    column->addWidget(m_title);
    m_sentence = label(sentence, TextRole::Body, "muted");
    m_sentence->setAlignment(Qt::AlignHCenter);
    m_sentence->setWordWrap(true);
    column->addWidget(m_sentence);
    if (action != nullptr) {
        column->addSpacing(8);
        column->addWidget(action, 0, Qt::AlignHCenter);
    }
    column->addStretch(3);
}

void EmptyState::setText(const QString& title, const QString& sentence) {
    m_picture->setAccessibleName(title);
    m_title->setText(title);
    m_sentence->setText(sentence);
}

}  // namespace lathe::theme
