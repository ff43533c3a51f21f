// The English words of the program, whose source texts write plurals as "run(s)".
#pragma once

namespace lathe::shell {

/// Installs a translator that turns "(s)" and "(es)" into what the number wants. Once, before the first window.
void installEnglish();

}  // namespace lathe::shell
