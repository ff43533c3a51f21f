// How a run's state looks: the word of the table of endings and its colour. Colour never stands alone.
#pragma once

#include "rundir/run_folder.h"
#include "session/run_session.h"
#include "session/run_words.h"
#include "theme/icons.h"

#include <QString>

namespace lathe::pages {

using session::ageText;
using session::stateWord;

theme::Tone stateTone(rundir::State state, session::Snag snag = session::Snag::None);

/// How far a stop is: "finishing update 1,204 · 3 s · told to leave in 57 s".
QString stopText(const session::RunSession& session);

/// "rank 1 silent for 12 s in reduce gradients, update 120", empty while all get on.
QString hangText(const session::RunSession& session);

}  // namespace lathe::pages
