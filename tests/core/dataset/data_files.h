// Small data files written by tests of core/dataset.
#pragma once

#include "dataset/dataset.h"
#include "shared_data.h"

#include <QtCore/QByteArray>
#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QString>
#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>

#include <string>
#include <vector>

namespace data_files {

/// The folder of shared data sets, or empty.
inline QString shared() { return QString::fromStdString(sharedData().string()); }

struct Folder {
    QTemporaryDir dir;
    std::string path(const char* name) const { return dir.filePath(QString::fromUtf8(name)).toStdString(); }
    std::string write(const char* name, const QByteArray& bytes) const {
        const QString file = dir.filePath(QString::fromUtf8(name));
        QDir().mkpath(QFileInfo(file).path());
        QFile out(file);
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size()) qFatal("cannot write %s", qPrintable(file));
        return file.toStdString();
    }
};

/// `values` as they lie in the file (big-endian, of the type).
inline QByteArray idx(unsigned char type, const std::vector<unsigned>& dimensions, const QByteArray& values) {
    QByteArray bytes("\0\0", 2);
    bytes.append(static_cast<char>(type)).append(static_cast<char>(dimensions.size()));
    for (const unsigned d : dimensions)
        for (int shift = 24; shift >= 0; shift -= 8) bytes.append(static_cast<char>(d >> shift & 0xFF));
    return bytes + values;
}

inline std::vector<double> inputOf(const lathe::dataset::Dataset& data, std::int64_t sample,
                                   const lathe::dataset::Augmentation* augmentation = nullptr) {
    std::vector<double> out(static_cast<std::size_t>(data.info().inputElements()));
    if (!data.input(sample, augmentation, std::span(out)).ok()) qFatal("input failed");
    return out;
}

}  // namespace data_files

/// The error's sentence must hold every one of the parts (separated by '|').
#define COMPARE_ERROR(result, errorKey, parts)                                                                  \
    do {                                                                                                        \
        QVERIFY2(!(result).ok(), "was accepted");                                                               \
        const QString sentence_ = QString::fromStdString((result).error().sentence);                            \
        QCOMPARE(QString::fromStdString((result).error().key), QString::fromUtf8(errorKey));                     \
        for (const QString& part_ : QString::fromUtf8(parts).split(QLatin1Char('|')))                           \
            QVERIFY2(sentence_.contains(part_), qPrintable(sentence_ + QStringLiteral(" lacks ") + part_));     \
    } while (false)
