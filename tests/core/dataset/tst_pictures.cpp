// Golden values: golden_images.py (Pillow), kept beside this file; the photos of the shared data sets have their own.
#include "data_files.h"
#include "dataset/image_codec.h"
#include "dataset/image_file.h"
#include "dataset/picture.h"

#include <QtCore/QJsonArray>
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtTest/QTest>

#include <algorithm>
#include <cmath>
#include <set>
#include <zlib.h>

using namespace lathe;
using namespace lathe::dataset;

class TestPictures : public QObject {
    Q_OBJECT

    data_files::Folder m_folder;
    QJsonObject m_golden;

    static QJsonDocument json(const QString& file) {
        QFile in(file);
        if (!in.open(QIODevice::ReadOnly)) qFatal("no %s", qPrintable(file));
        return QJsonDocument::fromJson(in.readAll());
    }
    static QByteArray bytes(const QString& file) {
        QFile in(file);
        if (!in.open(QIODevice::ReadOnly)) qFatal("no %s", qPrintable(file));
        return in.readAll();
    }
    static QString image(const char* name) { return QStringLiteral(LATHE_SOURCE_DIR "/tests/core/dataset/images/") + QString::fromUtf8(name); }
    static Picture pictureOf(const QJsonObject& o, int channels, const char* key = "hex") {
        const QByteArray hex = QByteArray::fromHex(o[QLatin1String(key)].toString().toLatin1());
        return {o[QStringLiteral("width")].toInt(), o[QStringLiteral("height")].toInt(), channels, {hex.begin(), hex.end()}};
    }
    static int largestDifference(const std::vector<std::uint8_t>& a, const QByteArray& b) {
        if (static_cast<qsizetype>(a.size()) != b.size()) return 999;
        int largest = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            largest = std::max(largest, std::abs(a[i] - static_cast<unsigned char>(b[static_cast<qsizetype>(i)])));
        return largest;
    }
    static QByteArray word(quint32 v) {
        QByteArray four;
        for (int shift = 24; shift >= 0; shift -= 8) four.append(static_cast<char>(v >> shift));
        return four;
    }
    static QByteArray pngChunk(const char* kind, const QByteArray& data) {
        const QByteArray body = QByteArray(kind, 4) + data;
        const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.constData()), static_cast<uInt>(body.size()));
        return word(static_cast<quint32>(data.size())) + body + word(static_cast<quint32>(crc));
    }
    static QByteArray pngOfSize(quint32 width, quint32 height) {
        const QByteArray header = word(width) + word(height) + QByteArray("\x08\x02\0\0\0", 5);
        return QByteArray("\x89PNG\r\n\x1A\n", 8) + pngChunk("IHDR", header) + pngChunk("IDAT", qCompress(QByteArray(100, 'x')).mid(4)) +
               pngChunk("IEND", {});
    }

private Q_SLOTS:
    void initTestCase() { m_golden = json(QStringLiteral(LATHE_SOURCE_DIR "/tests/core/dataset/golden_images.json")).object(); }

    void everyKindIsDecodedAsPillowDoes() {
        const QJsonArray files = m_golden[QStringLiteral("files")].toArray();
        QVERIFY(files.size() >= 24);
        for (const QJsonValue& value : files) {
            const QJsonObject expected = value.toObject();
            const QByteArray name = expected[QStringLiteral("file")].toString().toUtf8();
            const std::string path = image(name.constData()).toStdString();
            const auto picture = decodeImage(path);
            QVERIFY2(picture.ok(), picture.ok() ? "" : picture.error().text().c_str());
            QVERIFY2(picture->width == expected[QStringLiteral("width")].toInt() && picture->height == expected[QStringLiteral("height")].toInt(), name.constData());
            QVERIFY2(picture->channels == expected[QStringLiteral("channels")].toInt(), name.constData());
            const int difference = largestDifference(picture->pixels, QByteArray::fromHex(expected[QStringLiteral("hex")].toString().toLatin1()));
            QVERIFY2(difference <= (name.endsWith(".png") ? 0 : 3), (name + " differs by " + QByteArray::number(difference)).constData());
            const auto header = readImageHeader(path);
            QVERIFY2(header.ok(), name.constData());
            QVERIFY2(header->width == picture->width && header->height == picture->height && header->whole, name.constData());
            QVERIFY2(header->colour == (picture->channels == 3), name.constData());
        }
    }

    void thePhotosDecodeToTheSumsOfTheirSource() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        const QString flowers = data_files::shared() + QStringLiteral("/flowers/");
        int photos = 0;
        for (const QByteArray& line : bytes(flowers + QStringLiteral("expected.jsonl")).split('\n')) {
            if (line.isEmpty() || photos++ % 10 != 0) continue;
            const QJsonObject expected = QJsonDocument::fromJson(line).object();
            const auto picture = decodeImage((flowers + expected[QStringLiteral("file")].toString()).toStdString());
            QVERIFY(picture.ok());
            QCOMPARE(picture->width, expected[QStringLiteral("width")].toInt());
            QCOMPARE(picture->height, expected[QStringLiteral("height")].toInt());
            for (int c = 0; c < 3; ++c) {
                double sum = 0;
                for (std::size_t i = static_cast<std::size_t>(c); i < picture->pixels.size(); i += 3) sum += picture->pixels[i];
                const double wanted = expected[QStringLiteral("rgb_sum")].toArray()[c].toDouble();
                QVERIFY(std::abs(sum - wanted) / static_cast<double>(picture->pixels.size() / 3) < 0.05);  // of 255
            }
        }
        QCOMPARE(photos, 300);
    }

    void everyVariantOfAPhotoIsReadOrRefused() {
        if (data_files::shared().isEmpty()) QSKIP("the shared data sets are not here");
        const QString flowers = data_files::shared() + QStringLiteral("/flowers/");
        const auto files = json(flowers + QStringLiteral("variants/expected.json")).object()[QStringLiteral("files")].toArray();
        for (const QJsonValue& value : files) {
            const QJsonObject expected = value.toObject();
            const QString name = expected[QStringLiteral("file")].toString();
            const QByteArray label = name.toUtf8();
            const auto picture = decodeImage((flowers + name).toStdString());
            if (name.endsWith(QStringLiteral(".bmp")) || name.contains(QStringLiteral("truncated"))) {
                QVERIFY2(!picture.ok(), label.constData());
                continue;
            }
            QVERIFY2(picture.ok(), label.constData());
            if (name.contains(QStringLiteral("gray16")))
                QCOMPARE(picture->channels, 1);
            if (!expected.contains(QStringLiteral("rgb_sum"))) continue;
            for (std::size_t c = 0; c < 3; ++c) {
                double sum = 0;
                const auto channels = static_cast<std::size_t>(picture->channels);
                for (std::size_t i = channels == 3 ? c : 0; i < picture->pixels.size(); i += channels) sum += picture->pixels[i];
                const double wanted = expected[QStringLiteral("rgb_sum")].toArray()[static_cast<int>(c)].toDouble();
                QVERIFY2(std::abs(sum - wanted) / (static_cast<double>(picture->pixels.size()) / static_cast<double>(channels)) < 1.0, label.constData());
            }
            if (!expected.contains(QStringLiteral("decoded")) || expected[QStringLiteral("exif_orientation")].toInt() > 1) continue;
            const auto reference = decodeImage((flowers + expected[QStringLiteral("decoded")].toString()).toStdString());
            QVERIFY(reference.ok());
            const Picture a = withChannels(*picture, 3), b = withChannels(*reference, 3);
            QVERIFY2(a.pixels.size() == b.pixels.size(), label.constData());
            double difference = 0;
            for (std::size_t i = 0; i < a.pixels.size(); ++i) difference += std::abs(a.pixels[i] - b.pixels[i]);
            QVERIFY2(difference / static_cast<double>(a.pixels.size()) <= 2.0, label.constData());
        }
    }

    void resizingEqualsPillowToTheByte() {
        const Picture scene = pictureOf(m_golden[QStringLiteral("scene")].toObject(), 3);
        for (const QJsonValue& value : m_golden[QStringLiteral("resized")].toArray()) {
            const Picture expected = pictureOf(value.toObject(), 3);
            QVERIFY(scaled(scene, expected.width, expected.height).pixels == expected.pixels);
        }
        for (const QJsonValue& value : m_golden[QStringLiteral("squares")].toArray()) {
            const int side = value.toObject()[QStringLiteral("side")].toInt();
            const Picture square = toSquare(scene, side, false);
            QCOMPARE(square.width, side);
            QCOMPARE(square.height, side);
            QVERIFY(square.pixels == pictureOf(value.toObject(), 3).pixels);
            QVERIFY(toSquare(scene, side, true).pixels == scaled(scene, side, side).pixels);
        }
        QVERIFY(withChannels(scene, 1).pixels == pictureOf(m_golden[QStringLiteral("scene")].toObject(), 1, "gray").pixels);
        const Picture fit = fitted(scene, 30);
        QCOMPARE(fit.width, 30);
        QCOMPARE(fit.height, 18);
        QCOMPARE(fitted(scene, 100).width, 61);
    }
    void anExtremelyLongPictureCostsNoMemory() {
        Picture line{1, 3'000'000, 1, std::vector<std::uint8_t>(3'000'000, 7)};
        const Picture square = toSquare(line, 224, false);  // scaled whole it would have 150 gigapixels
        QCOMPARE(square.pixels.size(), std::size_t{224 * 224});
        QVERIFY(std::all_of(square.pixels.begin(), square.pixels.end(), [](std::uint8_t v) { return v == 7; }));
    }

    void normalizingFollowsItsFormula() {
        std::vector<std::uint8_t> pixels(256 * 3);
        for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i / 3);
        std::vector<float> single(pixels.size());
        std::vector<double> wide(pixels.size());
        const PixelWriter unit(256, 1, 3, false);
        unit.write<float>(pixels, 0, nullptr, single);
        unit.write<double>(pixels, 0, nullptr, wide);
        for (std::size_t v = 0; v < 256; ++v) {
            QVERIFY(single[v] == static_cast<float>(v) / 255.0f);
            QVERIFY(wide[512 + v] == static_cast<double>(v) / 255.0);
        }
        const PixelWriter imagenet(256, 1, 3, true);
        imagenet.write<double>(pixels, 0, nullptr, wide);
        QCOMPARE(wide[0], -0.485 / 0.229);
        QCOMPARE(wide[256 + 255], (1 - 0.456) / 0.224);
        QCOMPARE(wide[512 + 51], (0.2 - 0.406) / 0.225);
        std::vector<double> gray(256);
        PixelWriter(256, 1, 1, true).write<double>(std::span(pixels).first(256), 0, nullptr, gray);
        QCOMPARE(gray[0], -0.449 / 0.226);
    }
    void channelsAreWrittenOneAfterTheOther() {
        const std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 6};  // two pixels
        std::vector<double> out(6);
        PixelWriter(2, 1, 3, false).write<double>(pixels, 0, nullptr, out);
        const std::vector<double> expected{1 / 255.0, 4 / 255.0, 2 / 255.0, 5 / 255.0, 3 / 255.0, 6 / 255.0};
        QVERIFY(out == expected);
    }

    void augmentationIsAFunctionOfItsPlaceAlone() {
        constexpr int kSide = 9;
        std::vector<std::uint8_t> pixels(kSide * kSide);
        for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i + 1);
        const PixelWriter writer(kSide, kSide, 1, false);
        const auto at = [&](std::int64_t sample, Augmentation a) {
            std::vector<double> out(pixels.size());
            writer.write<double>(pixels, sample, &a, out);
            return out;
        };
        // which shift and flip made it: exactly one explains all pixels
        const auto explain = [&](const std::vector<double>& out, int reach) {
            std::set<std::tuple<bool, int, int>> found;
            for (const bool flip : {false, true})
                for (int dx = -reach; dx <= reach; ++dx)
                    for (int dy = -reach; dy <= reach; ++dy) {
                        bool same = true;
                        for (int y = 0; y < kSide && same; ++y)
                            for (int x = 0; x < kSide && same; ++x) {
                                const int fx = x - dx, fy = y - dy;
                                const bool inside = fx >= 0 && fx < kSide && fy >= 0 && fy < kSide;
                                const int value = inside ? fy * kSide + (flip ? kSide - 1 - fx : fx) + 1 : 0;
                                same = std::abs(out[static_cast<std::size_t>(y * kSide + x)] - value / 255.0) < 1e-12;
                            }
                        if (same) found.insert({flip, dx, dy});
                    }
            return found;
        };
        std::set<std::tuple<bool, int, int>> seen;
        int flipped = 0;
        for (std::int64_t sample = 0; sample < 400; ++sample) {
            const Augmentation a{.seed = 5, .epoch = 3, .copy = 0, .flip = true, .shift = 2};
            const auto found = explain(at(sample, a), 2);
            QCOMPARE(found.size(), std::size_t{1});
            flipped += std::get<0>(*found.begin()) ? 1 : 0;
            seen.insert(*found.begin());
            QVERIFY(at(sample, a) == at(sample, a));
        }
        QCOMPARE(seen.size(), std::size_t{50});  // each of 2 * 5 * 5 came up
        QVERIFY(flipped > 150 && flipped < 250);
        const Augmentation base{.seed = 5, .epoch = 3, .copy = 0, .flip = true, .shift = 4};
        std::set<std::vector<double>> different{at(7, base)};
        for (const Augmentation& a : {Augmentation{6, 3, 0, true, 4}, Augmentation{5, 4, 0, true, 4}, Augmentation{5, 3, 1, true, 4}})
            different.insert(at(7, a));
        different.insert(at(8, base));
        QCOMPARE(different.size(), std::size_t{5});
        QVERIFY(at(7, Augmentation{5, 3, 0, false, 0}) == at(9, Augmentation{1, 1, 1, false, 0}));
    }

    void badPicturesAreRefusedWithAReason_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QByteArray>("reason");
        const QByteArray jpeg = bytes(image("420.jpg")), progressive = bytes(image("progressive.jpg")), png = bytes(image("rgb.png"));
        QTest::newRow("empty") << QByteArray() << QByteArray("is empty");
        QTest::newRow("text") << QByteArray("hello") << QByteArray("is no JPEG or PNG picture");
        QTest::newRow("bmp") << QByteArray("BM\x36\x84\x03\0\0\0\0\0\x36\0\0\0", 14) << QByteArray("is a BMP file: convert");
        QTest::newRow("gif") << QByteArray("GIF89a....") << QByteArray("is a GIF file");
        QTest::newRow("webp") << QByteArray("RIFF\x24\x9B\x01\0WEBPVP8 ", 16) << QByteArray("is a WebP file");
        QTest::newRow("jpeg mark alone") << jpeg.left(4) << QByteArray("damaged or cut short");
        QTest::newRow("jpeg cut in its header") << jpeg.left(200) << QByteArray("damaged or cut short");
        QTest::newRow("jpeg cut in its pixels") << jpeg.chopped(30) << QByteArray("damaged or cut short");
        QTest::newRow("progressive cut") << progressive.chopped(60) << QByteArray("damaged or cut short");
        QTest::newRow("png mark alone") << png.left(8) << QByteArray("damaged or cut short");
        QTest::newRow("png cut") << png.chopped(60) << QByteArray("damaged or cut short");
        QTest::newRow("png without its end") << png.chopped(12) << QByteArray("damaged or cut short");
        QByteArray flipped = png;
        flipped[png.size() / 2] = static_cast<char>(flipped[png.size() / 2] ^ 0x55);
        QTest::newRow("png with a wrong byte") << flipped << QByteArray("damaged or cut short");
        QTest::newRow("huge") << pngOfSize(12000, 12000) << QByteArray("too large: 12000 x 12000 pixels, the limit is 100 megapixels");
        QTest::newRow("huger than 32 bits") << pngOfSize(0x7FFFFFFF, 0x7FFFFFFF) << QByteArray("too large");
        QTest::newRow("large without its pixels") << pngOfSize(9000, 9000) << QByteArray("damaged or cut short");
        QTest::newRow("no width") << pngOfSize(0, 10) << QByteArray("damaged or cut short");
    }
    void badPicturesAreRefusedWithAReason() {
        QFETCH(QByteArray, content);
        QFETCH(QByteArray, reason);
        const std::string path = m_folder.write("picture.jpg", content);
        const auto picture = decodeImage(path);
        QVERIFY(!picture.ok());
        QCOMPARE(picture.error().code, ErrorCode::Data);
        QVERIFY2(picture.error().sentence.starts_with(path + " ") && picture.error().sentence.find(reason.toStdString()) != std::string::npos,
                 picture.error().sentence.c_str());
        const auto header = readImageHeader(path);
        QVERIFY(!header.ok() || !header->whole || QByteArray(QTest::currentDataTag()).contains("png with a wrong") ||
                QByteArray(QTest::currentDataTag()).contains("large without"));
    }
    void damagedPicturesNeverCrash() {
        int refused = 0;
        for (const char* name : {"420.jpg", "progressive.jpg", "cmyk.jpg", "exif6.jpg", "palette.png", "interlaced.png", "exif6.png"}) {
            const QByteArray good = bytes(image(name));
            for (qsizetype i = 0; i < good.size(); i += 5) {
                QByteArray bad = good;
                bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
                if (!decodeImage(m_folder.write("bad", bad)).ok()) ++refused;
                if (i % 2 == 0 && !decodeImage(m_folder.write("bad", good.left(i))).ok()) ++refused;
            }
        }
        QVERIFY(refused > 200);
    }
    void exifDataOfAnyShapeAreBounded() {
        const std::vector<std::uint8_t> good{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0};
        QCOMPARE(exifOrientation(good), 6);
        for (std::size_t n = 0; n < good.size(); ++n) QCOMPARE(exifOrientation(std::span(good).first(n)), 1);
        std::vector<std::uint8_t> far = good;
        far[4] = far[5] = far[6] = far[7] = 0xFF;
        QCOMPARE(exifOrientation(far), 1);
        std::vector<std::uint8_t> many = good;
        many[8] = many[9] = 0xFF;
        many[10] = 0;
        QCOMPARE(exifOrientation(many), 1);
        std::vector<std::uint8_t> nine = good;
        nine[18] = 9;
        QCOMPARE(exifOrientation(nine), 1);
    }
};

QTEST_GUILESS_MAIN(TestPictures)
#include "tst_pictures.moc"
