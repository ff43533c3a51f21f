#include "config/command_text.h"

#include "base/number_text.h"

#include <algorithm>
#include <array>

namespace lathe::config {
namespace {

constexpr const char* kKey = "command.line";

Error problem(std::string sentence) { return {ErrorCode::Config, std::move(sentence), kKey, {}}; }

std::string shown(std::string_view text) { return "\"" + std::string(text.substr(0, 40)) + (text.size() > 40 ? "…" : "") + "\""; }

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// One pass over the line, a word at a time.
class Splitter {
public:
    explicit Splitter(std::string_view line) : m_line(line) {}

    Result<std::vector<std::string>> split() {
        std::vector<std::string> words;
        while (true) {
            while (const std::size_t blank = blankBytes()) m_at += blank;
            if (m_at == m_line.size()) return words;
            if (m_line[m_at] == '~')
                return problem("\"~\" is for a shell, and a command runs without one: write the whole path instead of " + shown(m_line.substr(m_at)));
            m_word.clear();
            while (m_at < m_line.size() && blankBytes() == 0) LATHE_TRY(step());
            words.push_back(m_word);
        }
    }

private:
    /// Length of a blank here; a line that goes on after a backslash is one.
    std::size_t blankBytes() const {
        if (m_at < m_line.size() && isBlank(m_line[m_at])) return 1;
        return m_line.substr(m_at).starts_with("\\\n") ? 2 : 0;
    }
    Result<void> step() {
        const char c = m_line[m_at];
        if (c == '\'') return singleQuoted();
        if (c == '"') return doubleQuoted();
        if (c == '\\') return escaped();
        if (std::string_view("|&;<>$`").find(c) != std::string_view::npos) return forShell(c);
        m_word += c;
        ++m_at;
        return {};
    }
    Result<void> singleQuoted() {
        const std::size_t end = m_line.find('\'', m_at + 1);
        if (end == std::string_view::npos) return unclosed(m_at, '\'');
        m_word += m_line.substr(m_at + 1, end - m_at - 1);
        m_at = end + 1;
        return {};
    }
    Result<void> doubleQuoted() {
        const std::size_t begin = m_at++;
        for (; m_at < m_line.size() && m_line[m_at] != '"'; ++m_at) {
            char c = m_line[m_at];
            if (c == '$' || c == '`') return forShell(c);
            if (c == '\\' && m_at + 1 < m_line.size() && std::string_view("\"\\$`\n").find(m_line[m_at + 1]) != std::string_view::npos) {
                c = m_line[++m_at];
                if (c == '\n') continue;
            }
            m_word += c;
        }
        if (m_at == m_line.size()) return unclosed(begin, '"');
        ++m_at;
        return {};
    }
    Result<void> escaped() {
        if (m_at + 1 == m_line.size()) return problem("The command ends with a backslash that has nothing behind it; remove it");
        m_word += m_line[m_at + 1];
        m_at += 2;
        return {};
    }
    Result<void> unclosed(std::size_t begin, char mark) const {
        return problem(std::string("The quotation that begins at ") + std::string(m_line.substr(begin, 40)) + " has no end; close it with " + mark);
    }
    Result<void> forShell(char c) const {
        return problem(std::string("\"") + c + "\" is for a shell, and a command runs without one: put it in single quotation marks, or run "
                       "sh -c '…'");
    }

    std::string_view m_line;
    std::size_t m_at = 0;
    std::string m_word;
};

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isVariable(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || !isNameStart(word[0])) return false;
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) { return isNameStart(c) || isDigit(c); });
}

/// lr=3e-4, optimizer.lr=3e-4, +data/augment=none
bool isAssignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    std::string_view name = word.substr(0, equals);
    while (name.starts_with('+')) name.remove_prefix(1);
    return !name.empty() && isNameStart(name[0])
           && std::all_of(name.begin(), name.end(), [](char c) { return isNameStart(c) || isDigit(c) || c == '.' || c == '-' || c == '/' || c == '@'; });
}

bool isOption(std::string_view word) {
    return word.size() > 1 && word[0] == '-' && word != "--" && !readDouble(word);
}

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view stem(std::string_view name) { return name.rfind('.') == 0 ? name : name.substr(0, name.rfind('.')); }

/// Programs that run a script or module which has the arguments.
bool isLauncher(std::string_view program) {
    static constexpr std::array kKnown = {
        "accelerate", "bash", "conda", "dash", "deepspeed", "env", "hatch", "ipython", "julia", "micromamba", "mpiexec", "mpirun", "nice", "node",
        "nohup", "numactl", "perl", "pipenv", "pixi", "poetry", "Rscript", "ruby", "rye", "sh", "srun", "stdbuf", "taskset", "time", "timeout",
        "torchrun", "uv", "xvfb-run", "zsh"};
    const std::string_view name = baseName(program);
    return name.starts_with("python") || name.starts_with("pypy") || std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
}

bool isScript(std::string_view word) {
    static constexpr std::array kEndings = {".py", ".sh", ".bash", ".zsh", ".jl", ".R", ".r", ".js", ".mjs", ".rb", ".pl", ".lua"};
    return !word.starts_with('-') && std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return word.ends_with(ending); });
}

/// Place of the word that says what is run.
std::size_t scriptPlace(const std::vector<std::string>& words) {
    if (!isLauncher(words[0])) return 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (isScript(words[i])) return i;
        if ((words[i] == "-m" || words[i] == "-c") && i + 1 < words.size()) return i + 1;
    }
    return 0;
}

/// A setting in its place.
struct Setting {
    enum class Form { Separate, Joined, Assignment, Flag };
    std::string name, value;
    std::size_t place = 0;   ///< its (first) word
    Form form = Form::Flag;
};

std::vector<Setting> settingsIn(const std::vector<std::string>& words) {
    std::vector<Setting> found;
    for (std::size_t i = scriptPlace(words) + 1; i < words.size() && words[i] != "--"; ++i) {
        const std::string& word = words[i];
        const std::size_t equals = word.find('=');
        if (isAssignment(word)) {
            found.push_back({word.substr(0, equals), word.substr(equals + 1), i, Setting::Form::Assignment});
        } else if (isOption(word)) {
            const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
            if (equals != std::string::npos && equals > begin) {
                found.push_back({word.substr(begin, equals - begin), word.substr(equals + 1), i, Setting::Form::Joined});
                continue;
            }
            const bool hasValue = i + 1 < words.size() && words[i + 1] != "--" && !isOption(words[i + 1]) && !isAssignment(words[i + 1]);
            if (begin < word.size())
                found.push_back({word.substr(begin), hasValue ? words[i + 1] : "true", i, hasValue ? Setting::Form::Separate : Setting::Form::Flag});
            if (hasValue) ++i;
        }
    }
    return found;
}

std::string quoted(std::string_view word) {
    const auto isPlain = [](char c) {
        return isNameStart(c) || isDigit(c) || static_cast<unsigned char>(c) >= 0x80 || std::string_view("@%+=:,./-[]{}()*?!^#").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), isPlain)) return std::string(word);
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') out += "'\\''";
        else out += c;
    }
    return out + "'";
}

void addSetting(std::vector<std::string>& words, const std::vector<Setting>& present, const std::string& name, const std::string& value) {
    const bool assigns = !present.empty() && present.front().form == Setting::Form::Assignment;
    if (assigns) return words.push_back(name + "=" + value);
    words.push_back((name.size() == 1 ? "-" : "--") + name);
    if (value != "true") words.push_back(value);
}

void changeSetting(std::vector<std::string>& words, const Setting& setting, const std::string& value) {
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(setting.place);
    switch (setting.form) {
        case Setting::Form::Separate: *(place + 1) = value; return;
        case Setting::Form::Joined:
        case Setting::Form::Assignment: *place = place->substr(0, place->find('=') + 1) + value; return;
        case Setting::Form::Flag: break;
    }
    if (value == "false") words.erase(place);
    else if (value != "true") words.insert(place + 1, value);
}

std::pair<std::string, std::string> halves(const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    return {assignment.substr(0, equals), assignment.substr(equals + 1)};
}

}  // namespace

Result<CommandWords> splitCommand(std::string_view line) {
    LATHE_TRY_ASSIGN(std::vector<std::string> words, Splitter(line).split());
    const auto program = std::find_if(words.begin(), words.end(), [](const std::string& word) { return !isVariable(word); });
    if (program == words.end()) return problem("The command names no program; for example python train.py --lr 3e-4");
    if (program->empty()) return problem("The command begins with an empty word, which is no program; for example python train.py");
    return CommandWords{{words.begin(), program}, {program, words.end()}};
}

std::string joinCommand(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

CommandParts partsOf(const CommandWords& command) {
    CommandParts parts;
    for (const std::string& variable : command.variables) parts.variables.push_back(halves(variable));
    std::vector<bool> taken(command.words.size());
    for (const Setting& setting : settingsIn(command.words)) {
        taken[setting.place] = true;
        if (setting.form == Setting::Form::Separate) taken[setting.place + 1] = true;
        const auto known = std::find_if(parts.settings.begin(), parts.settings.end(), [&](const auto& one) { return one.first == setting.name; });
        if (known == parts.settings.end()) parts.settings.emplace_back(setting.name, setting.value);
        else known->second += " " + setting.value;
    }
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < command.words.size(); ++i)
        if (!taken[i]) rest.push_back(command.words[i]);
    parts.line = joinCommand(rest);
    return parts;
}

Result<std::string> withSetting(std::string_view line, const std::string& name, const std::string& value) {
    LATHE_TRY_ASSIGN(CommandWords command, splitCommand(line));
    std::vector<Setting> present = settingsIn(command.words);
    const auto isIt = [&](const Setting& setting) { return setting.name == name; };
    const auto count = std::count_if(present.begin(), present.end(), isIt);
    if (count > 1) return problem("The command gives " + name + " " + std::to_string(count) + " times; write the whole command with --command");
    if (count == 1) changeSetting(command.words, *std::find_if(present.begin(), present.end(), isIt), value);
    else if (value != "false") addSetting(command.words, present, name, value);
    command.variables.insert(command.variables.end(), command.words.begin(), command.words.end());
    return joinCommand(command.variables);
}

std::string commandName(const CommandWords& command) {
    const std::size_t place = scriptPlace(command.words);
    const std::string& word = command.words[place];
    const bool isModule = place > 0 && command.words[place - 1] == "-m", isText = place > 0 && command.words[place - 1] == "-c";
    if (isText) return std::string(baseName(command.words[0]));
    if (isModule) return word.substr(word.rfind('.') + 1);
    return std::string(stem(baseName(word)));
}

}  // namespace lathe::config
