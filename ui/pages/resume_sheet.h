// The sheet before going on from a checkpoint with other settings: what the checkpoint says, what is asked for, what will be
// used, the learning rate as it was planned and as it will be, and how far it still is. What it shows comes from
// lathe-trainer, which will do the same.
#pragma once

#include "models/sheet_model.h"
#include "pages/prompts.h"

#include <QDialog>
#include <QTimer>

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QToolButton;

namespace lathe::theme {
class ChoiceBox;
class Switch;
}

namespace lathe::pages {

class RatePreview;

class ResumeSheet : public QDialog {
    Q_OBJECT

public:
    ResumeSheet(SheetQuestion question, QWidget* parent);
    /// What was chosen once it is accepted.
    SheetAnswer answer() const;
    models::SheetModel& model() { return m_model; }

private:
    void build();
    QWidget* buildTable();
    QWidget* buildFacts();
    void ask();
    void take(const QByteArray& json, const QString& sentence);
    void showFacts();
    static QString rateText(double rate);
    QString verb() const;

    SheetQuestion m_question;
    models::SheetModel m_model;
    QTimer m_soon;
    int m_asked = 0;             ///< answers to earlier questions are void
    bool m_current = false;      ///< what is shown belongs to what is typed
    theme::ChoiceBox* m_verb = nullptr;
    QLabel *m_sentence = nullptr, *m_rate = nullptr, *m_left = nullptr, *m_notices = nullptr, *m_problem = nullptr;
    QLineEdit* m_filter = nullptr;
    QToolButton* m_only = nullptr;
    QTableView* m_table = nullptr;
    RatePreview* m_preview = nullptr;
    theme::Switch* m_newCurve = nullptr;
    QPushButton *m_accept = nullptr, *m_later = nullptr;
    session::When m_when = session::When::Now;
};

}  // namespace lathe::pages
