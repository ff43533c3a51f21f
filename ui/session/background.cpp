#include "session/background.h"

namespace lathe::session {

QThreadPool& jobPool() {
    // Jobs mostly wait for the disk or for a supervisor's answer, so their number has little to do with cores.
    static QThreadPool* pool = [] {
        auto* made = new QThreadPool;
        made->setMaxThreadCount(8);
        // Results are posted to the application: the last job must end before it does.
        qAddPostRoutine([] { jobPool().waitForDone(); });
        return made;
    }();
    return *pool;
}

}  // namespace lathe::session
