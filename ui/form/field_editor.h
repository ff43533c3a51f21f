// The editor of one field, chosen by the field's type: a switch, a choice, a line of text, a path with a browse button.
// Numbers are lines of text: "3e-4" can be typed, a bad text turns red instead of being clamped, no wheel accidents.
#pragma once

#include "config/schema.h"

#include <QWidget>

#include <functional>

namespace lathe::form {

class FieldEditor : public QWidget {
    Q_OBJECT

public:
    static FieldEditor* make(const config::Field& field, QWidget* parent);

    /// The widget that takes keys; carries the object name and the accessible texts.
    QWidget* input() const { return m_input; }
    virtual void showText(const QString& text) = 0;
    void setInvalid(bool invalid);

    /// Asks a person for a path; replaced in tests. Gets "is a folder wanted" and where to begin.
    static std::function<QString(QWidget*, bool folder, const QString& start)> askForPath;

Q_SIGNALS:
    void edited(const QString& text);
    void finished();  ///< focus left, or Enter

protected:
    using QWidget::QWidget;
    QWidget* m_input = nullptr;
};

}  // namespace lathe::form
