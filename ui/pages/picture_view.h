// A recorded picture as large as there is room: small ones in whole, crisp pixels, large ones smoothly.
#pragma once

#include <QImage>
#include <QWidget>

namespace lathe::pages {

class PictureView : public QWidget {
    Q_OBJECT

public:
    explicit PictureView(QWidget* parent = nullptr);
    void setPicture(const QImage& picture);
    const QImage& picture() const { return m_picture; }
    QSize sizeHint() const override { return {480, 360}; }
    QSize minimumSizeHint() const override { return {160, 120}; }
    /// Where it is painted.
    QRectF target() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QImage m_picture;
    QImage m_scaled;   ///< of a large one, for the size of the last painting
};

}  // namespace lathe::pages
