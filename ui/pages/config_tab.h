// A run's configuration as it was used, and what differs from the defaults, the first session or the parent run.
#pragma once

#include "models/config_model.h"
#include "pages/context.h"
#include "session/background.h"
#include "session/run_session.h"

#include <QWidget>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

class QPushButton;
class QTableView;
class QToolButton;

namespace lathe::theme {
class ElidedLabel;
}

namespace lathe::theme {
class ChoiceBox;
}

namespace lathe::pages {

class ConfigTab : public QWidget {
    Q_OBJECT

public:
    explicit ConfigTab(Context context, QWidget* parent = nullptr);
    void setSession(std::shared_ptr<session::RunSession> session);

Q_SIGNALS:
    void runAgainWanted();

private:
    struct Read {
        std::optional<config::RunConfig> mine;
        config::RunConfig theirs;
        std::map<std::string, std::string> settings;  ///< of another program, instead of a configuration
        QString problem;
    };
    struct Other {
        QString title;
        std::filesystem::path file;  ///< empty: the defaults
        std::string preset;          ///< instead of a file
    };
    void build();
    void fillOthers();
    int newestSession() const;
    void show();
    static Read read(const rundir::RunFolder& run, const std::filesystem::path& mine, const Other& other);

    Context m_context;
    std::shared_ptr<session::RunSession> m_session;
    models::ConfigModel m_model;
    std::vector<Other> m_others;
    session::SerialPool m_pool;
    session::NewestJob m_job{m_pool};
    int m_newestSession = 0;
    theme::ChoiceBox* m_other = nullptr;
    QToolButton* m_only = nullptr;
    QPushButton* m_again = nullptr;
    theme::ElidedLabel* m_note = nullptr;
    QTableView* m_table = nullptr;
};

}  // namespace lathe::pages
