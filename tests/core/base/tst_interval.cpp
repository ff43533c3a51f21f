#include "base/interval.h"

#include <QtTest/QTest>

using namespace lathe;

class TestInterval : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyFormIsReadAndWrittenBackEqual_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("canonical");
        QTest::newRow("never") << QByteArray("never") << QByteArray("never");
        QTest::newRow("bare number") << QByteArray("100") << QByteArray("100 updates");
        QTest::newRow("one") << QByteArray("1 update") << QByteArray("1 update");
        QTest::newRow("epochs") << QByteArray(" 2 epochs ") << QByteArray("2 epochs");
        QTest::newRow("minutes") << QByteArray("10 min") << QByteArray("10 min");
        QTest::newRow("seconds to hours") << QByteArray("7200 s") << QByteArray("2 h");
    }
    void everyFormIsReadAndWrittenBackEqual() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, canonical);
        const auto interval = parseInterval(text.toStdString());
        QVERIFY(interval.ok());
        QCOMPARE(QByteArray::fromStdString(toText(*interval)), canonical);
        QVERIFY(*parseInterval(toText(*interval)) == *interval);
    }
    void nonsenseIsRefusedWithAnExample() {
        for (const char* text : {"", "0", "-3", "ten", "10 furlongs", "99999999999999999 h", "1.5 epochs"}) {
            const auto interval = parseInterval(text);
            QVERIFY2(!interval.ok(), text);
            QVERIFY(interval.error().sentence.find("10 min") != std::string::npos);
        }
    }
};

QTEST_GUILESS_MAIN(TestInterval)
#include "tst_interval.moc"
