#include "session/background.h"

namespace lathe::session {

QThreadPool& jobPool() {
    // Jobs mostly wait for the disk or for a supervisor's answer, so their number has little to do with cores.
    static QThreadPool* pool = [] {
        auto* made = new QThreadPool;  // never destroyed before the last job ended: QCoreApplication waits for it
        made->setMaxThreadCount(8);
        QObject::connect(qApp, &QCoreApplication::aboutToQuit, [made] { made->waitForDone(); });
        return made;
    }();
    return *pool;
}

}  // namespace lathe::session
