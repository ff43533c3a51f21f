#include "store/run_store.h"

#include <algorithm>
#include <limits>
#include <map>

namespace lathe::store {

std::vector<LinePart> survivingLine(const std::vector<SessionRow>& sessions) {
    std::map<std::int32_t, const SessionRow*> byNumber;
    for (const SessionRow& session : sessions) byNumber[session.number] = &session;
    std::vector<LinePart> line;
    if (byNumber.empty()) return line;
    std::int64_t lastAttempt = std::numeric_limits<std::int64_t>::max();
    const SessionRow* at = byNumber.rbegin()->second;
    while (true) {
        line.push_back({at->number, lastAttempt});
        const auto parent = byNumber.find(at->parentSession);
        // A parent is older than its child: this also ends the walk where a damaged file has a circle.
        if (parent == byNumber.end() || at->parentSession >= at->number) return line;
        // Not past where a later session has gone back to: its parent may itself have begun behind that point.
        lastAttempt = std::min(lastAttempt, at->parentAttempt);
        at = parent->second;
    }
}

}  // namespace lathe::store
