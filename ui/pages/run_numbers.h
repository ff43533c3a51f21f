// The numbers of the strip above a run's charts, taken from a session. No widgets.
#pragma once

#include "session/run_session.h"

#include <QString>

namespace lathe::pages {

struct StripValue {
    QString caption, value, below;
    double fill = -1;
};

StripValue stepValue(const session::RunSession& session);
StripValue timeValue(const session::RunSession& session, std::int64_t nowNs);
/// The smoothed training loss and, below, the newest value as it is.
StripValue lossValue(const session::RunSession& session, double smoothing);
StripValue bestValue(const session::RunSession& session);
StripValue speedValue(const session::RunSession& session);
/// What the newest session says it computes on.
StripValue deviceValue(const session::RunSession& session);
/// "last checkpoint 2 min ago · 120 updates at risk", or empty when the run is not up.
QString riskText(const session::RunSession& session, std::int64_t nowNs);

/// De-biased moving average of the newest points of a series on the surviving line; NaN without a finite one.
double smoothedLatest(const session::RunData& data, const std::string& name, double weight);

}  // namespace lathe::pages
