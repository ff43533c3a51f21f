// The painted parts of the data card: a row of samples, and bars for the classes.
#pragma once

#include "dataset/dataset.h"

#include <QImage>
#include <QWidget>

#include <vector>

namespace lathe::pages {

/// Up to nine samples in a row: pictures with their class below, or rows of numbers as text.
class SampleStrip : public QWidget {
    Q_OBJECT

public:
    explicit SampleStrip(QWidget* parent = nullptr);
    void setSamples(const std::vector<dataset::Thumbnail>& samples);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Sample {
        QImage picture;
        QString where, answer, text;
    };
    int side() const;  ///< of a picture: all nine always fit
    QRect cell(int index) const;
    bool pictures() const { return !m_samples.empty() && !m_samples.front().picture.isNull(); }

    std::vector<Sample> m_samples;
};

/// A bar a class, the largest at full height; many classes become thin bars without names.
class ClassBalance : public QWidget {
    Q_OBJECT

public:
    explicit ClassBalance(QWidget* parent = nullptr);
    void setClasses(const dataset::Info& info);
    QSize sizeHint() const override { return {220, 84}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    double barWidth() const;
    std::vector<std::pair<QString, qint64>> m_classes;
    qint64 m_largest = 0;
};

}  // namespace lathe::pages
