// The card beside the form: problems and changes as links to their fields, the learning rate over the run, how many
// updates it will make, and the command line that does the same.
#pragma once

#include "form/form_model.h"
#include "session/background.h"

#include <QFrame>

#include <optional>
#include <string>

class QLabel;
class QVBoxLayout;

namespace lathe::pages {

class SchedulePreview;

class PlanCard : public QFrame {
    Q_OBJECT

public:
    explicit PlanCard(form::FormModel& model, QWidget* parent = nullptr);

    /// Where the form needs the room.
    void setNarrow(bool on);
    /// What "changed" refers to: "digits-mlp".
    void setOrigin(const QString& name);
    /// Samples in the training part, when known.
    void setTrainSamples(std::optional<std::int64_t> samples);
    void setCommand(const QString& command);
    QString command() const;

Q_SIGNALS:
    void fieldChosen(const QString& key);

private:
    void refresh();
    void refreshProblems();
    void refreshChanges();
    void refreshPlan();
    void drawSchedule(const config::RunConfig& config, const config::ScheduleSection& schedule, std::int64_t updates, bool isKnown);
    void addLink(QVBoxLayout* list, const QString& key, const QString& title, const QString& text, const char* tone, bool rich = false);
    QString fieldTitle(const QString& key) const;

    form::FormModel& m_model;
    std::optional<std::int64_t> m_trainSamples;
    QString m_origin;
    QLabel* m_problemsHead;
    QVBoxLayout* m_problems;
    QLabel* m_changesHead;
    QVBoxLayout* m_changes;
    SchedulePreview* m_schedule;
    QLabel* m_scheduleNote;               ///< why no curve is drawn
    QLabel* m_doubts = nullptr;         ///< curves and ramps of another length than the run
    session::NewestJob m_curveJob;        ///< asks the plug-in whose curve it is
    std::string m_askedCurve;             ///< what it asks, or has asked
    QLabel* m_updates;
    QLabel* m_command;
    bool m_pending = false;
};

}  // namespace lathe::pages
