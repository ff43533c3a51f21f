// The bar above the page: what is open, how it stands, what can be done with it, and the run switcher.
#pragma once

#include "pages/run_actions.h"

#include <QWidget>

class QToolButton;

namespace lathe::theme {
class ElidedLabel;
class Pill;
}

namespace lathe::shell {

class TopBar : public QWidget {
    Q_OBJECT

public:
    TopBar(pages::Context context, pages::RunVerbs& verbs, QWidget* parent = nullptr);
    void setTitle(const QString& title, const QString& subtitle);
    /// A run's name, state and actions; nullptr hides them.
    void setRun(const std::shared_ptr<session::RunSession>& session);
    pages::RunActions& actions() { return *m_actions; }
    QString title() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

Q_SIGNALS:
    void switcherWanted();

private:
    theme::ElidedLabel* m_title;
    theme::ElidedLabel* m_subtitle;
    theme::Pill* m_pill;
    pages::RunActions* m_actions;
    QToolButton* m_switcher;
};

}  // namespace lathe::shell
