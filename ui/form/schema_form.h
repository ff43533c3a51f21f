// A form made from a schema: one card a section in the schema's order, a list of sections beside them, search, and the
// filters "Advanced" and "Only changed". A changed or wrong field is never hidden by them.
#pragma once

#include "form/form_model.h"

#include <QWidget>

#include <vector>

class QBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace lathe::form {

class FieldRow;

class SchemaForm : public QWidget {
    Q_OBJECT

public:
    /// The model outlives the form.
    explicit SchemaForm(FormModel& model, QWidget* parent = nullptr);

    /// Makes the field visible whatever the filters say, scrolls to it and gives it the focus.
    void reveal(const QString& key);
    QWidget* input(const QString& key) const;  ///< nullptr for an unknown key
    void focusSearch();
    /// A widget above the first card (choosing data); owned by the form from then on.
    void addLead(QWidget* widget);
    /// A widget at the left of the bar above the cards.
    void addToBar(QWidget* widget);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Card {
        QString label;
        QWidget* frame = nullptr;
        QPushButton* link = nullptr;
        std::vector<FieldRow*> rows;
    };
    QBoxLayout* buildBar();
    void buildCards();
    void buildCard(const config::Section& section, QBoxLayout* links);
    void addShortcuts();
    void refreshAll();
    void refilter();
    bool isShown(const FieldRow& row, const Card& card, const QStringList& words) const;

    FormModel& m_model;
    std::vector<Card> m_cards;
    QHash<QString, FieldRow*> m_rows;
    QLineEdit* m_search = nullptr;
    QToolButton* m_advanced = nullptr;
    QToolButton* m_onlyChanged = nullptr;
    QWidget* m_links = nullptr;           ///< to the sections
    QScrollArea* m_scroll = nullptr;
    QBoxLayout* m_bar = nullptr;
    QBoxLayout* m_list = nullptr;
    QLabel* m_nothing = nullptr;
};

}  // namespace lathe::form
