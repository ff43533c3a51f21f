// What going on from a checkpoint would do, as lathe-trainer tells it (--dry-run --json): one row for each setting with
// what the checkpoint says, what was asked for, what will be used and what becomes of it. What is asked for is edited here.
#pragma once

#include <QAbstractTableModel>
#include <QJsonObject>
#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace lathe::models {

/// The parts of a sheet beside its rows.
struct SheetFacts {
    struct RatePoint {
        qint64 step = 0;
        double before = 0, after = 0;
    };
    qint64 step = 0;
    double rateBefore = 0, rateAfter = 0;                          ///< of the next update; here and in the curve nan: not known, a notice says why
    std::vector<RatePoint> curve;
    std::optional<qint64> plannedBefore, plannedAfter, left;       ///< updates
    QStringList notices;
    bool wouldStart = false;
    QString refused, refusedKey;                                   ///< why not, and which setting it is about
};

class SheetModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Setting, Checkpoint, Form, Used, Effect, ColumnCount };
    enum Role { KeyRole = Qt::UserRole + 1, EffectRole };

    explicit SheetModel(QObject* parent = nullptr);
    /// A sheet as it came; rows keep their places, so that an editor that is open stays.
    void take(const QJsonObject& sheet);
    const SheetFacts& facts() const { return m_facts; }
    QString label(const QString& key) const;  ///< "Run: Epochs"
    /// "key=value" of everything that was typed.
    QStringList settings() const;
    void setAsked(const QString& key, const QString& text);  ///< empty: as in the checkpoint

    /// Only rows that hold `text`, and where wanted only those that were asked for or differ. What has no meaning with the
    /// other settings shows only when it is searched for.
    void setFilter(const QString& text, bool onlyChanges);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void asked();   ///< something else was typed: the sheet is out of date

private:
    struct Row {
        QString key, label, checkpoint, used, effect, why;
        bool changeable = true, visible = true;
    };
    static QString word(const QString& effect);
    QString formText(const Row& row) const;
    std::vector<int> selected() const;

    std::vector<Row> m_rows;
    std::vector<int> m_shown;
    QMap<QString, QString> m_asked;
    SheetFacts m_facts;
    QString m_filter;
    bool m_onlyChanges = false;
};

}  // namespace lathe::models
