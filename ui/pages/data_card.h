// The card above the form: what the training data is, nine samples of it, how the classes are balanced, and the way to
// one's own data (button, or dropping a folder or file on it).
#pragma once

#include "pages/data_scan.h"

#include <QFrame>
#include <QString>

class QLabel;
class QStackedWidget;
class QToolButton;

namespace lathe::pages {

class SampleStrip;
class ClassBalance;

class DataCard : public QFrame {
    Q_OBJECT

public:
    explicit DataCard(QWidget* parent = nullptr);

    void showNothing();                              ///< no data chosen yet
    void showProgress(qint64 done, qint64 total);
    void showResult(const ScanResult& result);
    QString sentence() const;

Q_SIGNALS:
    void dataChosen(const QString& path);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void ask(bool folder);

    QLabel* m_sentence;
    QLabel* m_detail;
    QToolButton* m_choose;
    SampleStrip* m_samples;
    ClassBalance* m_balance;
    bool m_dropping = false;
};

}  // namespace lathe::pages
