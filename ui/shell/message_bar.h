// What was done, or what went wrong and what to do: lies on the page near its lower edge, so that nothing jumps when it comes
// and goes. Successes leave by themselves.
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
    /// Lies on `page`, as its sibling.
    explicit MessageBar(QWidget* page);
    void say(const QString& sentence);
    /// With a button that takes it back; stays as long as a success does.
    void sayWithUndo(const QString& sentence, const QString& undo, std::function<void()> act);
    void fail(const QString& sentence);
    QString text() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    void show(const QString& sentence, bool failure);

    QWidget* m_page;
    std::function<void()> m_act;
    QPushButton* m_undo;
    QLabel* m_icon;
    QLabel* m_text;
    QTimer m_leave;
};

}  // namespace lathe::shell
