// What was done, or what went wrong and what to do: lies on the page near its lower edge, so that nothing jumps when it comes
// and goes. Successes leave by themselves; an error when its run is acted on anew, when a page is opened that it is not about, or
// when it is closed; a notice when it is closed or its button is used.
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
    /// A button beside a sentence: what can be done about it.
    struct Act {
        QString label;
        std::function<void()> run;
    };
    void say(const QString& sentence, Act act = {});
    /// `run`: the folder of the run that it is about, or empty.
    void fail(const QString& sentence, const QString& run = {});
    /// Of something that happened by itself and wants a look. `closed`: it was closed unused.
    void notice(const QString& sentence, Act act, std::function<void()> closed);
    /// Something is done with this run: an error about it is over.
    void settle(const QString& run);
    /// Another page was opened, of this run or of none: an error that is not about it is over.
    void openedPage(const QString& run);
    QString text() const;
    bool isError() const { return !isHidden() && m_kind == Kind::Error; }
    bool isNotice() const { return !isHidden() && m_kind == Kind::Notice; }
    /// Takes away what is shown.
    void leave();

Q_SIGNALS:
    /// There is room for what waits to be told.
    void left();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Kind { Success, Error, Notice };
    void place();
    void show(Kind kind, const QString& sentence, Act act);

    QWidget* m_page;
    Kind m_kind = Kind::Success;
    QString m_run;
    Act m_act;
    std::function<void()> m_closed;
    QPushButton* m_button;
    QLabel* m_icon;
    QLabel* m_text;
    QTimer m_leave;
};

}  // namespace lathe::shell
