// What one record says: a text to read, a table, a histogram (with the others of its name over the steps), a picture; or
// why it cannot be shown. All of it comes from a program that is not ours: text is plain text, and nothing is followed.
#pragma once

#include "charts/histogram_view.h"
#include "models/record_table_model.h"
#include "session/run_records.h"

#include <QStackedWidget>

class QLabel;
class QPlainTextEdit;
class QTableView;

namespace lathe::pages {

class PictureView;

class RecordBody : public QStackedWidget {
    Q_OBJECT

public:
    explicit RecordBody(QWidget* parent = nullptr);
    void showNothing();
    void showRecord(const session::ShownRecord& record, const QString& name);
    /// Histograms over the steps, and which of them is shown.
    void setStrip(const session::RunRecords& records);
    void setMarked(std::size_t place) { m_strip->setMarked(place); }
    bool canCopy() const;
    void copy() const;

Q_SIGNALS:
    void placeWanted(std::size_t place);

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* buildTable();
    QWidget* buildHistogram();
    void applyPalette();
    void fitColumns();
    QString histogramText() const;

    QWidget *m_nothing, *m_textPage, *m_histogramPage;
    QLabel* m_problem;
    QPlainTextEdit* m_text;
    QString m_whole;       ///< what m_text shows, before its long lines were broken
    QTableView* m_table = nullptr;
    models::RecordTableModel m_tableModel;
    charts::HistogramView* m_histogram = nullptr;
    charts::HistogramStrip* m_strip = nullptr;
    PictureView* m_picture;
    store::HistogramContent m_counts;
    session::RecordKey m_shownKey;
};

}  // namespace lathe::pages
