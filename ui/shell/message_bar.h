// One line below the top bar: what was done, or what went wrong and what to do. Successes leave by themselves.
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;

namespace lathe::shell {

class MessageBar : public QFrame {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);
    void say(const QString& sentence);
    void fail(const QString& sentence);
    QString text() const;

private:
    void show(const QString& sentence, bool failure);

    QLabel* m_icon;
    QLabel* m_text;
    QTimer m_leave;
};

}  // namespace lathe::shell
