// One line below the top bar: what was done, or what went wrong and what to do. Successes leave by themselves.
#pragma once

#include <QFrame>
#include <QTimer>

#include <functional>

class QLabel;
class QPushButton;

namespace lathe::shell {

class MessageBar : public QFrame {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);
    void say(const QString& sentence);
    /// With a button that takes it back; stays as long as a success does.
    void sayWithUndo(const QString& sentence, const QString& undo, std::function<void()> act);
    void fail(const QString& sentence);
    QString text() const;

private:
    void show(const QString& sentence, bool failure);

    std::function<void()> m_act;
    QPushButton* m_undo;

    QLabel* m_icon;
    QLabel* m_text;
    QTimer m_leave;
};

}  // namespace lathe::shell
