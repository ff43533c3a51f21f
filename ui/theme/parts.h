// The handful of widgets that every page is made of. All text handed in is shown as plain text.
#pragma once

#include "theme/icons.h"
#include "theme/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

class QBoxLayout;
class QVBoxLayout;

namespace lathe::theme {

/// Sets the dynamic property that the style sheet looks at, and re-polishes when the widget is already styled.
void setRole(QWidget* widget, const char* role);

QFrame* card(QWidget* parent = nullptr);
QLabel* label(const QString& text, TextRole role = TextRole::Body, const char* tone = "");
/// Elides at the right instead of growing; the tooltip carries the whole text.
class ElidedLabel : public QLabel {
    Q_OBJECT

public:
    explicit ElidedLabel(TextRole role = TextRole::Body, const char* tone = "");
    void setFullText(const QString& text);
    QString fullText() const { return m_text; }
    QSize minimumSizeHint() const override { return {24, QLabel::minimumSizeHint().height()}; }
    QSize sizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void elide();
    QString m_text;
};

enum class ButtonKind { Normal, Primary, Danger };
QPushButton* button(const QString& text, Icon icon, ButtonKind kind = ButtonKind::Normal);
/// Icon and word without a frame; icon alone when `text` is empty (then `accessibleName` must be set).
QToolButton* flatButton(Icon icon, const QString& text, bool checkable = false);
/// A page's column: margins 20/16 and the given gap.
QVBoxLayout* pageColumn(QWidget* page, int gap = 12);

/// Two groups of controls side by side, the second at the right end; one below the other where there is no room for that.
class SplitRow : public QWidget {
    Q_OBJECT

public:
    SplitRow(QWidget* first, QWidget* second, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void arrange();

    QWidget *m_first, *m_second;
    QBoxLayout* m_row;
};

/// A thin vertical rule between the metrics of a strip.
class Rule : public QWidget {
    Q_OBJECT

public:
    explicit Rule(QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A caption, a large value, a line below it, and optionally a thin bar (fill in [0, 1], negative: none).
class Metric : public QWidget {
    Q_OBJECT

public:
    explicit Metric(const QString& caption, QWidget* parent = nullptr);
    void setCaption(const QString& caption);
    void setValue(const QString& value, const QString& below = {}, double fill = -1);
    QString value() const { return m_value; }
    QString below() const { return m_below; }
    QSize sizeHint() const override { return {120, 66}; }
    QSize minimumSizeHint() const override { return {72, 66}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_caption, m_value, m_below;
    double m_fill = -1;
};

/// A dot and a word on a tinted ground.
class Pill : public QWidget {
    Q_OBJECT

public:
    explicit Pill(QWidget* parent = nullptr);
    void setState(const QString& word, Tone tone);
    QString word() const { return m_word; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }
    static int widthOf(const QString& word);
    /// What is below the word and the word's colour: legible on each other wherever the pill lies.
    static QColor ground(const QColor& color);
    static QColor ink(const QColor& color);
    /// For delegates: paints the same pill, left-aligned and vertically centred in `area`.
    static void paint(QPainter* painter, const QRectF& area, const QString& word, const QColor& color);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_word;
    Tone m_tone = Tone::Muted;
};

/// A combo box that lets the page scroll under the wheel unless it has the focus, with an arrow of our own.
class ChoiceBox : public QComboBox {
    Q_OBJECT

public:
    explicit ChoiceBox(QWidget* parent = nullptr);

protected:
    void wheelEvent(QWheelEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
};

/// A switch: reads better than a tick box in a column of editors.
class Switch : public QCheckBox {
    Q_OBJECT

public:
    explicit Switch(QWidget* parent = nullptr);
    QSize sizeHint() const override { return {36, 26}; }

protected:
    bool hitButton(const QPoint& position) const override { return rect().contains(position); }
    void paintEvent(QPaintEvent* event) override;
};

/// A page without content yet: a sentence, and a button that leads on.
class EmptyState : public QWidget {
    Q_OBJECT

public:
    EmptyState(Icon icon, const QString& title, const QString& sentence, QPushButton* action = nullptr, QWidget* parent = nullptr);
    void setText(const QString& title, const QString& sentence);

private:
    QToolButton* m_picture;
    QLabel* m_title;
    QLabel* m_sentence;
};

}  // namespace lathe::theme
