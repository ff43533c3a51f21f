// After memory ran out: what would need less, the one that costs least first, each as a button that opens the form with
// these settings changed, or goes on with them where that is possible.
#pragma once

#include <QFrame>
#include <QList>
#include <QPair>
#include <QString>

#include "rundir/memory_record.h"

#include <vector>

class QGridLayout;

namespace lathe::pages {

/// key, text as --set takes it.
using Edits = QList<QPair<QString, QString>>;

class RemediesCard : public QFrame {
    Q_OBJECT

public:
    explicit RemediesCard(QWidget* parent = nullptr);
    /// Hidden where there is none. `canGoOn`: the run can be continued now.
    void show(const std::vector<rundir::Remedy>& remedies, bool canGoOn);

Q_SIGNALS:
    void chosen(const lathe::pages::Edits& edits, bool goesOn);

private:
    void addRow(const rundir::Remedy& remedy, std::size_t number, bool canGoOn);

    QWidget* m_body = nullptr;   ///< made anew with other remedies
    QGridLayout* m_rows = nullptr;
    std::vector<rundir::Remedy> m_shown;
    bool m_canGoOn = false;
};

}  // namespace lathe::pages
