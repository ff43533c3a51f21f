// A person's own command as one line of text: split into words by the quoting rules of a shell, but without a shell, and
// the settings that its arguments are.
//
// Words are separated by blanks. '…' is taken literally, "…" with \" and \\ inside, a backslash takes the next character
// literally (before a line's end it is a blank). What a shell would act on (| & ; < > $ ` and a leading ~) is an
// error unless quoted: it would mean something else here. NAME=VALUE in front of the program sets a variable.
//
// Settings: --lr 3e-4, --lr=3e-4, -b 32 and lr=3e-4 are the settings "lr" and "b"; --flag is "flag" with the value true.
// A word after an option is its value unless it begins with a dash and is no number, or is a setting of its own. After
// an interpreter or launcher (python, torchrun, bash …) settings begin behind its script, module or -c text; after "--"
// there are none. What is no setting stays in the line.
// Thread: pure functions.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::config {

struct CommandWords {
    std::vector<std::string> variables;  ///< "NAME=VALUE", as written in front of the program
    std::vector<std::string> words;      ///< program and arguments; not empty
};

/// The error (Config, command.line) is a sentence that names the place.
Result<CommandWords> splitCommand(std::string_view line);
/// The line that splitCommand() takes back to these words.
std::string joinCommand(const std::vector<std::string>& words);

/// What a command is made of, for comparison: the line without its settings, and the settings in order. A name that is
/// given several times has all its values, with blanks between.
struct CommandParts {
    std::string line;
    std::vector<std::pair<std::string, std::string>> variables, settings;
};
CommandParts partsOf(const CommandWords& command);

/// The line with one setting changed in its place, or added at the end in the way the others are written. "false" takes a
/// flag away. Config error where the name is given several times.
Result<std::string> withSetting(std::string_view line, const std::string& name, const std::string& value);

/// "train" of "python -u train.py --lr 3e-4": the script, the module, or the program.
std::string commandName(const CommandWords& command);

}  // namespace lathe::config
