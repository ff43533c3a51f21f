// "While you were away: 2 completed, 1 diverged at 03:12", with a way to each of these runs. Stays until it is closed.
#pragma once

#include <QFrame>

#include "launch/verbs/away.h"

#include <vector>

class QHBoxLayout;
class QLabel;

namespace lathe::shell {

class AwayBar : public QFrame {
    Q_OBJECT

public:
    explicit AwayBar(QWidget* parent = nullptr);
    void show(const std::vector<launch::RunEnding>& endings);
    QString text() const;

Q_SIGNALS:
    void runChosen(const QString& folder);
    void allWanted();

private:
    QLabel* m_text;
    QHBoxLayout* m_links;
};

}  // namespace lathe::shell
