#include "config/yaml_tree.h"

#include "base/number_text.h"
#include "config/utf8.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace lathe::config {
namespace {

std::string place(int line, int column) { return "line " + std::to_string(line) + ", column " + std::to_string(column); }

Error badYaml(int line, int column, const std::string& what) {
    return {ErrorCode::Config, "Cannot read the YAML at " + place(line, column) + ": " + what, {}, {}};
}

/// What the handler throws through the parser; caught in readYaml() only.
struct Refused {
    YAML::Mark mark;
    std::string what;
};

/// Builds the tree from the parser's events and refuses what the strict form does not allow.
class TreeBuilder : public YAML::EventHandler {
public:
    YamlNode takeRoot() { return std::move(m_root); }
    /// Where the last text in quotation marks or block begins, or npos.
    std::size_t lastQuoted() const { return m_lastQuoted; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuseMarks(mark, "", anchor);
        add(mark, YamlNode::Kind::Null);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Refused{mark, "aliases (*name) are not allowed; write the value out"}; }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
        refuseMarks(mark, tag, anchor);
        const bool quoted = tag == "!";
        if (quoted) m_lastQuoted = static_cast<std::size_t>(mark.pos);
        if (expectsKey()) {
            takeKey(mark, value);
            return;
        }
        const bool null = !quoted && (value.empty() || value == "~" || value == "null");
        YamlNode& node = add(mark, null ? YamlNode::Kind::Null : YamlNode::Kind::Scalar);
        node.text = value;
        node.quoted = quoted;
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        refuseMarks(mark, tag, anchor);
        open(mark, YamlNode::Kind::List);
    }
    void OnSequenceEnd() override { m_open.pop_back(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        refuseMarks(mark, tag, anchor);
        open(mark, YamlNode::Kind::Map);
    }
    void OnMapEnd() override { m_open.pop_back(); }

private:
    struct Open {
        YamlNode* node;
        bool keyTaken = false;  ///< Map: the last entry waits for its value
    };

    void refuseMarks(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (anchor != 0) throw Refused{mark, "anchors (&name) are not allowed; write the value out"};
        if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, "tags (" + tag.substr(0, 40) + ") are not allowed"};
        if (m_open.empty() && m_hasRoot) throw Refused{mark, "a file holds one document only"};
    }
    bool expectsKey() const { return !m_open.empty() && m_open.back().node->kind == YamlNode::Kind::Map && !m_open.back().keyTaken; }
    void takeKey(const YAML::Mark& mark, const std::string& key) {
        YamlNode& map = *m_open.back().node;
        if (key.size() > 256) throw Refused{mark, "this key is longer than 256 bytes"};
        if (map.entries.size() >= 1000) throw Refused{mark, "more than 1,000 keys in one place"};
        if (map.find(key) != nullptr) throw Refused{mark, "the key \"" + key + "\" stands here for the second time; remove one"};
        map.entries.push_back({key, {}});
        m_open.back().keyTaken = true;
    }
    /// The place where the next value goes. A pointer to an open node stays good: its parent gets no new child before it closes.
    YamlNode& add(const YAML::Mark& mark, YamlNode::Kind kind) {
        YamlNode* node = &m_root;
        if (m_open.empty()) {
            m_hasRoot = true;
        } else if (Open& parent = m_open.back(); parent.node->kind == YamlNode::Kind::Map) {
            if (!parent.keyTaken) throw Refused{mark, "a key must be a word"};
            node = &parent.node->entries.back().value;
            parent.keyTaken = false;
        } else {
            node = &parent.node->items.emplace_back();
        }
        if (++m_nodes > kMaxNodes) throw Refused{mark, "more values than any configuration has"};
        node->kind = kind;
        node->line = mark.line + 1;
        node->column = mark.column + 1;
        return *node;
    }
    void open(const YAML::Mark& mark, YamlNode::Kind kind) {
        if (m_open.size() >= static_cast<std::size_t>(kMaxYamlDepth))
            throw Refused{mark, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels"};
        YamlNode& node = add(mark, kind);
        m_open.push_back({&node});
    }

    static constexpr int kMaxNodes = 20000;

    YamlNode m_root;
    int m_nodes = 0;
    std::size_t m_lastQuoted = std::string::npos;
    bool m_hasRoot = false;
    std::vector<Open> m_open;
};

/// Line and column of a byte offset.
Error badYamlAt(std::string_view text, std::size_t offset, const std::string& what) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
    return badYaml(static_cast<int>(line), static_cast<int>(column), what);
}

/// What can be refused without parsing, so that garbage costs nothing: the parser reads ahead without bounds on one line
/// and over open brackets.
Result<void> checkBytes(std::string_view text) {
    if (text.size() > kMaxYamlBytes)
        return Error{ErrorCode::Config, "This is " + diskText(text.size()) + " long, and a configuration has at most 1 MiB: it is something else", {}, {}};
    constexpr std::size_t kMaxLine = 70000, kMaxMarks = 40000;
    std::size_t lineStart = 0, marks = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') lineStart = i + 1;
        if (i > lineStart + kMaxLine) return badYamlAt(text, i, "this line is longer than any of a configuration");
        if ((text[i] == '[' || text[i] == '{' || text[i] == ',') && ++marks > kMaxMarks)
            return badYamlAt(text, i, "more brackets and commas than any configuration has");
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F)
            return badYamlAt(text, i, "a control character; this is not a text file");
    }
    if (const std::size_t bad = firstBadUtf8(text); bad != std::string_view::npos)
        return badYamlAt(text, bad, "this is not UTF-8; save the file as UTF-8");
    return {};
}

/// yaml-cpp takes a quotation that the end of the file cuts off for a whole one.
bool isClosed(std::string_view text, std::size_t start) {
    const char mark = text[start];
    if (mark != '"' && mark != '\'') return true;
    for (std::size_t i = start + 1; i < text.size(); ++i) {
        if (mark == '"' && text[i] == '\\') ++i;
        else if (mark == '\'' && text.substr(i).starts_with("''")) ++i;
        else if (text[i] == mark) return true;
    }
    return false;
}

/// What the parser's words leave open: the usual slips on the line it stumbled over.
std::string saidBetter(std::string_view text, int line, const std::string& words) {
    std::size_t start = 0;
    for (int i = 0; i < line && start != std::string_view::npos; ++i) {
        start = text.find('\n', start);
        if (start != std::string_view::npos) ++start;
    }
    if (start == std::string_view::npos) return words;
    const std::string_view found = text.substr(start, text.find('\n', start) - start);
    if (found.substr(0, found.find_first_not_of(" \t")).find('\t') != std::string_view::npos) return "a tab at the begin of the line; indent with spaces";
    const std::size_t first = found.find(": ");
    if (first != std::string_view::npos && found.find(": ", first + 2) != std::string_view::npos) return "a second colon in the line; put a value with a colon in quotes";
    return words;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    for (const auto& [name, node] : entries)
        if (name == key) return &node;
    return nullptr;
}

Result<YamlNode> readYaml(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    LATHE_TRY(checkBytes(text));
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        TreeBuilder builder;
        while (parser.HandleNextDocument(builder)) {}
        if (builder.lastQuoted() < text.size() && !isClosed(text, builder.lastQuoted()))
            return badYamlAt(text, builder.lastQuoted(), "this quotation has no end");
        return builder.takeRoot();
    } catch (const Refused& refused) {
        return badYaml(refused.mark.line + 1, refused.mark.column + 1, refused.what);
    } catch (const YAML::Exception& problem) {
        return badYaml(problem.mark.line + 1, problem.mark.column + 1, saidBetter(text, problem.mark.line, problem.msg));
    }
}

std::string yamlText(std::string_view text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-$ ";
    constexpr std::array kWords{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"};
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool word = std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
    const bool startsPlain = !text.empty() && text.front() != '-' && text.front() != '.' && text.front() != '+' && text.front() != ' ' &&
                             !(text.front() >= '0' && text.front() <= '9');
    if (startsPlain && !word && text.back() != ' ' && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
    constexpr char kHex[] = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') (quoted += '\\') += c;
        else if (c == '\n') quoted += "\\n";
        else if (c == '\t') quoted += "\\t";
        else if (byte < 0x20 || byte == 0x7F) ((quoted += "\\x") += kHex[byte >> 4]) += kHex[byte & 15];
        else quoted += c;
    }
    return quoted + "\"";
}

}  // namespace lathe::config
