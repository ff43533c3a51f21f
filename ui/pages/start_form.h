// The look that the small start pages share: a card with a heading, a sentence, labelled editors, and a foot with the
// state and the button that starts.
#pragma once

#include <QString>

#include <initializer_list>

class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;
class QWidget;

namespace lathe::pages {

class StartForm {
public:
    /// Builds into `page`, which owns everything.
    StartForm(QWidget* page, const QString& title, const QString& sentence);
    /// The editor gets the label as its accessible name and its buddy.
    void add(const QString& label, QWidget* editor);
    /// With a button that asks for a folder.
    void addPath(const QString& label, QLineEdit* editor);
    /// The foot; returns where the state is told. The last button is the one that most people want.
    QLabel* finish(std::initializer_list<QPushButton*> buttons);

private:
    QWidget* m_page;
    QVBoxLayout* m_column;
    QVBoxLayout* m_fields;
};

}  // namespace lathe::pages
