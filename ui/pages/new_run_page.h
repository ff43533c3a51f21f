// New run: where a configuration comes from (a preset, a file, an earlier run), one's own data, the form, what is planned,
// and Start. Beside it, a run of one's own command, and runs read from TensorBoard files.
#pragma once

#include "form/form_model.h"
#include "pages/context.h"
#include "pages/data_scan.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace lathe::form {
class SchemaForm;
}

namespace lathe::pages {

class CommandStart;
class DataCard;
class ImportStart;
class PlanCard;

class NewRunPage : public QWidget {
    Q_OBJECT

public:
    explicit NewRunPage(Context context, QWidget* parent = nullptr);

    enum Mode { Training, Command, TensorBoard };
    Mode mode() const;
    void setMode(Mode mode);

    form::FormModel& model() { return m_model; }
    form::SchemaForm& form() { return *m_form; }
    /// Loads a preset; changes made so far are asked about first.
    void choosePreset(const QString& name);
    void openFile(const QString& path);
    /// Fills the form with a run's configuration, measured against it, and makes `edits` (key, text) in it, marked as changes;
    /// the first of them has the focus, else the field that was changed last.
    void runAgain(const QString& folder, const QList<QPair<QString, QString>>& edits = {});
    /// Keeps the unsaved form, and brings it back.
    void saveDraft();
    void restoreDraft();
    QString subtitle() const;

Q_SIGNALS:
    void runStarted(const QString& folder);
    void runQueued(const QString& name);
    void imported(const QStringList& folders, const QString& sentence);
    void failed(const QString& sentence);
    void subtitleChanged();

private:
    enum class Origin { Preset, File, Run };

    void resizeEvent(QResizeEvent* event) override;
    void build();
    QWidget* buildTraining();
    QWidget* buildFoot();
    QWidget* buildSource();
    void connectAll();
    void loadPreset(const QString& name);
    void load(Origin origin, const QString& name, const config::RunConfig& baseline, const config::RunConfig& current);
    void refreshTitle();
    void whenSafe(const QString& title, std::function<void()> go);
    void changed();
    void lookAtData();
    bool rememberScanned();  ///< true when the settings name other data than the last look
    void chooseOwnData(const QString& path);
    void takeScan(const ScanResult& result);
    void applyOwnData(const dataset::Suggestion& own);
    QStringList settings() const;
    void start(session::When when);
    quint64 launch(session::When when);

    Context m_context;
    form::FormModel m_model;
    DataScan m_scan;
    QTimer m_scanDelay;
    Origin m_origin = Origin::Preset;
    QString m_originName;      ///< preset, file, or folder of the run
    QString m_originTitle;     ///< for people
    std::string m_scannedAs;   ///< what the last scan was asked for, so that other changes do not repeat it
    bool m_ownData = false;    ///< the scan under way decides settings
    bool m_starting = false;

    QTabBar* m_modes = nullptr;
    QStackedWidget* m_stack = nullptr;
    CommandStart* m_command = nullptr;
    ImportStart* m_import = nullptr;
    form::SchemaForm* m_form = nullptr;
    DataCard* m_data = nullptr;
    PlanCard* m_plan = nullptr;
    QComboBox* m_presets = nullptr;
    QLabel* m_state = nullptr;
    QPushButton *m_start = nullptr, *m_queue = nullptr;
};

}  // namespace lathe::pages
