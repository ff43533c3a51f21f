// The rules of the repository that a machine can check, each with its reason. Paths in messages are clickable.
#include <QtTest/QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kTop = LATHE_SOURCE_DIR;

struct Source {
    std::string path;  ///< from the top, with slashes
    std::vector<std::string> lines;
    bool under(std::string_view folder) const { return path.starts_with(folder); }
    std::string at(std::size_t line) const { return path + ":" + std::to_string(line + 1); }
};

std::vector<Source> sourcesBelow(const std::vector<std::string>& folders) {
    std::vector<Source> all;
    for (const std::string& folder : folders) {
        if (!fs::exists(kTop / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(kTop / folder)) {
            const fs::path file = entry.path();
            if (file.extension() != ".h" && file.extension() != ".cpp" && file.extension() != ".cu") continue;
            Source source{fs::relative(file, kTop).generic_string(), {}};
            std::ifstream in(file);
            for (std::string line; std::getline(in, line);) source.lines.push_back(line);
            all.push_back(std::move(source));
        }
    }
    return all;
}

const std::vector<Source>& code() {
    static const std::vector<Source> all = sourcesBelow({"core", "ui", "app"});
    return all;
}
const std::vector<Source>& codeAndTests() {
    static const std::vector<Source> all = sourcesBelow({"core", "ui", "app", "tests"});
    return all;
}

/// Which folders each folder may include. Data flows one way; a new edge is a decision about the design.
const std::map<std::string, std::set<std::string>> kMayInclude{
    {"base", {}},
    {"config", {"base"}},
    {"plan", {"base", "config"}},
    {"rundir", {"base", "config", "plan"}},
    {"dataset", {"base", "config", "plan"}},
    {"live", {"base", "config", "plan", "rundir"}},
    {"store", {"base", "config", "plan", "rundir", "live"}},
    {"device", {"base", "config", "plan", "rundir"}},
    {"tensorboard", {"base", "config", "rundir", "store"}},
    {"launch", {"base", "config", "plan", "rundir", "dataset", "live", "store", "device", "tensorboard"}},
    {"engine/model", {}},
    {"engine/data", {"engine/model"}},
    {"engine/task", {"engine/model", "engine/data"}},
    {"engine/parallel", {"engine/model", "engine/data", "engine/task"}},
    {"engine/train", {"engine/model", "engine/data", "engine/task", "engine/parallel"}},
    {"engine/checkpoint", {"engine/model", "engine/data", "engine/task", "engine/parallel", "engine/train"}},
    {"engine/plugin", {"engine/model", "engine/data", "engine/task", "engine/parallel", "engine/train"}},
    {"engine/session", {"engine/model", "engine/data", "engine/task", "engine/parallel", "engine/train", "engine/checkpoint", "engine/plugin"}},
    {"engine/export", {"engine/model", "engine/data", "engine/task", "engine/parallel", "engine/train", "engine/checkpoint", "engine/session"}},
    {"engine/cuda", {"engine/model", "engine/parallel"}},
    {"theme", {}},
    {"session", {}},
    {"models", {"session", "theme"}},
    {"charts", {"session", "theme"}},
    {"form", {"session", "theme"}},
    {"pages", {"form", "charts", "models", "session", "theme"}},
    {"shell", {"pages", "form", "charts", "models", "session", "theme"}},
};
const std::set<std::string> kBelowEngine{"base", "config", "plan", "rundir", "dataset", "live", "store", "device"};
const std::set<std::string> kCore{"base", "config", "plan", "rundir", "dataset", "live", "store", "device", "tensorboard", "launch"};

/// "core/engine/model/x.h" -> "engine/model"; "ui/form/x.h" -> "form"; "core/base/x.h" -> "base".
std::string folderOf(const std::string& path) {
    std::string rest = path.substr(path.find('/') + 1);
    const bool engine = rest.starts_with("engine/");
    std::size_t slash = rest.find('/');
    if (engine && slash != std::string::npos) slash = rest.find('/', slash + 1);
    return slash == std::string::npos ? std::string() : rest.substr(0, slash);
}

bool mayInclude(const std::string& from, const std::string& to, bool ui) {
    if (from == to || from.empty()) return true;
    const auto rule = kMayInclude.find(from);
    if (rule == kMayInclude.end()) return false;
    if (rule->second.contains(to)) return true;
    if (ui) return kCore.contains(to);
    return from.starts_with("engine/") && kBelowEngine.contains(to);
}

bool isWidgetHeader(const std::string& line) {
    static const std::regex widgets(R"(#include <Q(Widget|Application|MainWindow|Label|PushButton|Dialog|TableView|Painter|Chart.*|Graphics.*)>)");
    return std::regex_search(line, widgets);
}

}  // namespace

class TestRules : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void includesPointOneWay() {
        static const std::regex include("^#include \"([^\"]+)\"");
        std::string wrong;
        for (const Source& source : code()) {
            if (!source.under("core/") && !source.under("ui/")) continue;
            for (std::size_t i = 0; i < source.lines.size(); ++i) {
                std::smatch match;
                if (!std::regex_search(source.lines[i], match, include)) continue;
                const std::string target = folderOf("x/" + match[1].str());
                if (target.empty() || mayInclude(folderOf(source.path), target, source.under("ui/"))) continue;
                wrong += "\n" + source.at(i) + ": " + folderOf(source.path) + " must not include " + target;
            }
        }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// Each heavy or replaceable library has one home.
    void librariesStayInTheirFolders() {
        struct Home {
            std::regex include;
            std::vector<std::string> folders;
            const char* library;
        };
        const std::vector<Home> homes{
            {std::regex("#include [<\"](torch|ATen|c10)/"), {"core/engine/", "app/worker/"}, "LibTorch"},
            {std::regex(R"(#include <Q[A-Z])"), {"ui/", "app/workbench/"}, "Qt"},
            {std::regex(R"(#include <sqlite3\.h>)"), {"core/store/"}, "SQLite"},
            {std::regex(R"(#include <yaml-cpp/)"), {"core/config/"}, "yaml-cpp"},
            {std::regex(R"(#include <(jpeglib|png)\.h>)"), {"core/dataset/"}, "libjpeg and libpng"},
            {std::regex(R"(#include <spdlog/)"), {"core/base/"}, "spdlog"},
            {std::regex(R"(#include <protozero/)"), {"core/tensorboard/"}, "protozero"},
            {std::regex(R"(#include <QChart|#include <Q.*Axis>|#include <QLineSeries>)"), {"ui/charts/"}, "QtCharts"},
        };
        std::string wrong;
        for (const Source& source : code())
            for (std::size_t i = 0; i < source.lines.size(); ++i)
                for (const Home& home : homes) {
                    if (!std::regex_search(source.lines[i], home.include)) continue;
                    if (std::none_of(home.folders.begin(), home.folders.end(), [&](const auto& f) { return source.under(f); }))
                        wrong += "\n" + source.at(i) + ": " + home.library + " outside its folder";
                }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// Headers are read by everyone; these libraries cost seconds in every file that sees them.
    void headersAreFreeOfHeavyLibraries() {
        static const std::regex heavy(R"(#include <(nlohmann/json\.hpp|yaml-cpp/|sqlite3|spdlog/|CLI/))");
        std::string wrong;
        for (const Source& source : code()) {
            if (!source.path.ends_with(".h") || source.path.ends_with("_pch.h") || source.under("app/")) continue;
            for (std::size_t i = 0; i < source.lines.size(); ++i)
                if (std::regex_search(source.lines[i], heavy)) wrong += "\n" + source.at(i) + ": " + source.lines[i];
        }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// Data and live handles must be testable and reusable without a screen.
    void sessionAndModelsKnowNoWidgets() {
        std::string wrong;
        for (const Source& source : code())
            if (source.under("ui/session/") || source.under("ui/models/"))
                for (std::size_t i = 0; i < source.lines.size(); ++i)
                    if (isWidgetHeader(source.lines[i])) wrong += "\n" + source.at(i) + ": " + source.lines[i];
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// A file that nobody can hold in the head is where faults live: 400 lines are the rule, 600 the limit.
    void filesAreShort() {
        std::string wrong;
        for (const Source& source : codeAndTests()) {
            if (source.lines.size() > 600) wrong += "\n" + source.path + " has " + std::to_string(source.lines.size()) + " lines";
            else if (source.lines.size() > 400) qInfo("over 400 lines: %s (%zu)", source.path.c_str(), source.lines.size());
        }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// 40 lines are the rule for a function, 80 the limit. A function is what opens with "{" at the left edge.
    void functionsAreShort() {
        static const std::regex noFunction(R"(^(namespace|struct|class|enum|union|extern|using|template <|const|constexpr|static const|inline const|}|//|#))");
        std::string wrong;
        int longer = 0;
        for (const Source& source : code()) {
            std::size_t start = 0;
            bool inside = false;
            for (std::size_t i = 0; i < source.lines.size(); ++i) {
                const std::string& line = source.lines[i];
                if (!inside && line.ends_with("{") && line[0] != ' ' && !std::regex_search(line, noFunction)) {
                    inside = true;
                    start = i;
                } else if (inside && line == "}") {
                    inside = false;
                    if (i - start - 1 > 80) wrong += "\n" + source.at(start) + ": " + std::to_string(i - start - 1) + " lines";
                    else longer += i - start - 1 > 40;
                }
            }
        }
        qInfo("functions of 41 to 80 lines: %d", longer);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// Unfinished marks and dead code hide what is really missing; known limits stand in the README.
    void nothingIsMarkedUnfinished() {
        static const std::regex marks("\\b(TO" "DO|FIX" "ME|XX" "X|HA" "CK)\\b");
        std::string wrong;
        for (const Source& source : codeAndTests())
            for (std::size_t i = 0; i < source.lines.size(); ++i)
                if (std::regex_search(source.lines[i], marks)) wrong += "\n" + source.at(i) + ": " + source.lines[i];
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// A sleep makes a test slow on every machine and wrong on a busy one.
    void testsWaitForFacts() {
        static const std::regex sleeps("(qSl" "eep|msl" "eep|sleep_f" "or|usl" "eep|QEXPECT_F" "AIL)\\b");
        std::string wrong;
        for (const Source& source : codeAndTests())
            if (source.under("tests/") && !source.under("tests/bench/"))
                for (std::size_t i = 0; i < source.lines.size(); ++i)
                    if (std::regex_search(source.lines[i], sleeps)) wrong += "\n" + source.at(i) + ": " + source.lines[i];
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// Qt Test takes a slot named ..._data for the data of another one and silently never runs it.
    void everyDataSlotHasItsTest() {
        static const std::regex slot(R"(void (\w+)_data\(\))");
        std::string wrong;
        for (const Source& source : codeAndTests()) {
            if (!source.under("tests/")) continue;
            std::string all;
            for (const std::string& line : source.lines) all += line + "\n";
            for (std::sregex_iterator it(all.begin(), all.end(), slot), end; it != end; ++it)
                if (all.find("void " + (*it)[1].str() + "()") == std::string::npos) wrong += "\n" + source.path + ": " + (*it)[1].str();
        }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    /// No shell, no execution of what a file says.
    void nothingIsRunThroughAShell() {
        static const std::regex shell(R"((\bstd::system\(|[^:\w ]system\(|= *system\(|popen\(|/bin/sh|execl\())");
        std::string wrong;
        for (const Source& source : code())
            for (std::size_t i = 0; i < source.lines.size(); ++i)
                if (std::regex_search(source.lines[i], shell)) wrong += "\n" + source.at(i) + ": " + source.lines[i];
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    void everyFolderIsExplained() {
        std::string wrong;
        for (const char* part : {"core", "ui", "tests"}) {
            std::ifstream in(kTop / part / "README.md");
            const std::string text((std::istreambuf_iterator<char>(in)), {});
            for (const auto& entry : fs::directory_iterator(kTop / part)) {
                const std::string name = entry.path().filename().string();
                if (entry.is_directory() && text.find("**" + name + "**") == std::string::npos) wrong += "\n" + std::string(part) + "/README.md does not explain " + name;
            }
        }
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
    void topLevelHoldsNothingElse() {
        const std::set<std::string> agreed{"examples", "app", "core", "ui", "resources", "installer", "tests", "build", "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE"};
        for (const auto& entry : fs::directory_iterator(kTop)) {
            const std::string name = entry.path().filename().string();
            QVERIFY2(name[0] == '.' || agreed.contains(name), name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestRules)
#include "tst_rules.moc"
