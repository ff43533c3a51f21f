// labels: fast
#include "launch/process/signal_feed.h"

#include <QtTest/QTest>

#include <csignal>
#include <sys/resource.h>

using namespace lathe;
using launch::SignalFeed;

class TestSignalFeed : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whatComesIsHeldBackAndTaken() {
        auto feed = SignalFeed::listen({SIGUSR1, SIGUSR2});
        QVERIFY(feed.ok());
        QVERIFY(!feed->take());
        ::raise(SIGUSR1);   // would end this process
        ::raise(SIGUSR2);
        QCOMPARE(feed->take().value_or(0) + feed->take().value_or(0), SIGUSR1 + SIGUSR2);
        QVERIFY(!feed->take());
    }
    void whoCannotListenIsTold() {
        rlimit usual{}, none{};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &usual), 0);
        none = usual;
        none.rlim_cur = 1;
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &none), 0);
        const auto feed = SignalFeed::listen({SIGUSR1});
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &usual), 0);
        QVERIFY(!feed.ok());
        QVERIFY2(feed.error().text().find("a wish to stop could not be heard") != std::string::npos, feed.error().text().c_str());
    }
};

QTEST_GUILESS_MAIN(TestSignalFeed)
#include "tst_signal_feed.moc"
