// What happened in a run as diamonds on the top edge of its charts.
#pragma once

#include "charts/curve.h"
#include "session/run_session.h"

#include <vector>

namespace lathe::charts {

/// Checkpoints that are there, evaluations, pauses, errors and resumes; those of abandoned branches only when wanted.
std::vector<ChartEvent> eventsOf(const session::RunSession& session, session::XAxis axis, bool withAbandoned);

}  // namespace lathe::charts
