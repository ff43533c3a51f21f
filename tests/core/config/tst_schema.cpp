// The schema, and values from text and back.
#include "config/config.h"
#include "config/member_count.h"
#include "config/schema.h"
#include "config/synonyms.h"

#include <QtTest/QTest>

#include <QtCore/QRandomGenerator>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

using namespace lathe;
using namespace lathe::config;

namespace {

template <typename Visit>
void forEachField(Visit visit) {
    for (const Section& section : Schema::builtin().sections())
        for (const Field& field : section.fields) visit(field);
}

// Every kind of member counts once, or a forgotten one could slip through describe()'s check.
struct OneOfEach {
    bool a = false;
    std::int64_t b = 0;
    double c = 0;
    std::string d;
    Interval e;
    std::optional<std::int64_t> f;
    std::optional<double> g;
    std::vector<std::int64_t> h;
    std::vector<std::string> i;
};
struct Nothing {};
static_assert(memberCount<OneOfEach, AnyMember>() == 9);
static_assert(memberCount<Nothing, AnyMember>() == 0);
static_assert(memberCount<RunConfig, AnySection>() == 15);

std::string randomText(std::mt19937_64& random, bool note) {
    static const std::vector<std::string> kPieces{"a", "Z", "7", " ", ":", "#", "- ", "\"", "'", "\\", "ä", "日本", "😀", ",", "[", "{", "%", "&", "*", "!", "|", ">", "@", "`",
                                                  "true", "none", "~", "null", "1e5", "0x10", ".5", "=", "?", "\u0085", "\u2028"};
    std::string text;
    for (std::uint64_t left = random() % 8; left > 0; --left) text += kPieces[random() % kPieces.size()];
    if (note && random() % 2) text += "\nsecond line\n\n\tthird\n";
    return text;
}

Value randomValue(const Field& field, std::mt19937_64& random) {
    const auto low = field.minimum.value_or(-1e6), high = field.maximum.value_or(1e6);
    const auto whole = [&] {
        return std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high))(random);
    };
    const auto number = [&] {
        const double drawn = low + (high - low) * std::uniform_real_distribution<double>(0, 1)(random) * std::pow(10, -static_cast<double>(random() % 9));
        return field.minimumExclusive && drawn <= low ? high : std::clamp(drawn, low, high);
    };
    const bool unset = random() % 4 == 0;
    switch (field.type) {
    case FieldType::Bool: return random() % 2 == 0;
    case FieldType::Integer: return whole();
    case FieldType::Number: return number();
    case FieldType::OptionalInteger: return unset ? Value() : Value(whole());
    case FieldType::OptionalNumber: return unset ? Value() : Value(number());
    case FieldType::Choice: return field.choices[random() % field.choices.size()];
    case FieldType::Text: return randomText(random, field.multiline);
    case FieldType::Path: return unset ? std::string() : "/" + std::string(1, static_cast<char>('a' + random() % 26)) + "/x" + randomText(random, false) + "x";
    case FieldType::Interval: {
        const auto unit = static_cast<Interval::Unit>(random() % 4);
        return unit == Interval::Unit::Never ? Interval{} : Interval{unit, static_cast<std::int64_t>(random() % 100000 + 1)};
    }
    case FieldType::IntegerList: {
        std::vector<std::int64_t> list(random() % 5);
        for (auto& item : list) item = whole();
        return list;
    }
    case FieldType::TextList: {
        std::vector<std::string> list(random() % 5);
        for (auto& item : list) item = randomText(random, false);
        return list;
    }
    }
    return {};
}

std::string normalPath(const Field& field, const Value& value) {
    const auto& text = std::get<std::string>(value);
    std::string normal = std::filesystem::path(text).lexically_normal().string();
    while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
    return field.type == FieldType::Path ? normal : text;
}

}  // namespace

class TestSchema : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theSectionsStandInOrder() {
        QStringList names;
        for (const Section& section : Schema::builtin().sections()) names << QString::fromStdString(section.name);
        QCOMPARE(names, (QStringList{"run", "data", "model", "task", "optimizer", "schedule", "accumulation", "precision", "parallel", "evaluation", "guard", "checkpoint", "telemetry", "plugins", "command"}));
    }

    void everyFieldIsFullyDescribed() {
        std::set<std::string> keys;
        forEachField([&](const Field& field) {
            const std::string key = field.key();
            QVERIFY2(keys.insert(key).second, key.c_str());
            QVERIFY2(!field.label.empty() && !field.help.empty() && field.help.ends_with("."), key.c_str());
            QVERIFY2(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos, key.c_str());
            const bool optional = field.type == FieldType::OptionalInteger || field.type == FieldType::OptionalNumber;
            QVERIFY2(optional == !field.noneText.empty(), key.c_str());
            const bool numeric = optional || field.type == FieldType::Integer || field.type == FieldType::Number || field.type == FieldType::IntegerList;
            QVERIFY2(numeric == (field.minimum && field.maximum), key.c_str());
            QVERIFY2(Schema::builtin().find(key) == &field, key.c_str());
            if (field.visibleIfKey.empty()) return;
            const Field* other = Schema::builtin().find(field.visibleIfKey);
            QVERIFY2(other, key.c_str());
            for (const std::string& value : field.visibleIfValues) QVERIFY2(readValue(*other, value).ok(), key.c_str());
        });
        QCOMPARE(keys.size(), toValues(RunConfig{}).size());
    }

    void defaultsAndExamplesAreValid() {
        forEachField([](const Field& field) {
            QVERIFY2(checkValue(field, field.defaultValue).ok(), field.key().c_str());
            QVERIFY2(readValue(field, field.example).ok(), (field.key() + ": " + field.example).c_str());
        });
    }

    void shortNamesAreUnique() {
        std::set<std::string> names;
        forEachField([&](const Field& field) {
            if (!field.shortName.empty()) QVERIFY2(names.insert(field.shortName).second, field.shortName.c_str());
        });
    }

    // Each field, random valid values: through text and through a YAML file to the same value, and to no other.
    void everyValueSurvivesTextAndYaml() {
        const std::uint64_t seed = QRandomGenerator::global()->generate();
        qInfo("seed %llu", static_cast<unsigned long long>(seed));
        std::mt19937_64 random(seed);
        const Values defaults = toValues(RunConfig{});
        forEachField([&](const Field& field) {
            for (int round = 0; round < 50; ++round) {
                Value value = randomValue(field, random);
                if (std::holds_alternative<std::string>(value)) value = normalPath(field, value);
                QVERIFY2(checkValue(field, value).ok(), (field.key() + ": " + valueText(value)).c_str());
                const auto back = readValue(field, valueText(value));
                QVERIFY2(back.ok() && *back == value, (field.key() + ": " + valueText(value)).c_str());

                Values values = defaults;
                if (field.belongs == Belongs::Command) values["command.line"] = std::string("true");
                values[field.key()] = value;
                const std::string yaml = toYaml(fromValues(values));
                const Loaded loaded = parse(yaml, "/somewhere");
                for (const Problem& problem : loaded.problems) QFAIL((problem.sentence + "\n" + yaml).c_str());
                QVERIFY2(toValues(loaded.config) == values, yaml.c_str());
                QCOMPARE(toYaml(loaded.config), yaml);
            }
        });
    }

    void textThatIsNoValueIsRefusedWithRuleAndExample_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("part");
        QTest::newRow("word for a count") << "data.batch_size" << "many" << "whole number";
        QTest::newRow("fraction for a count") << "data.batch_size" << "3.5" << "whole number";
        QTest::newRow("zero") << "data.batch_size" << "0" << "from 1 to 1000000";
        QTest::newRow("too large") << "data.batch_size" << "99999999999999999999" << "for example 32";
        QTest::newRow("rate 0") << "optimizer.learning_rate" << "0" << "above 0";
        QTest::newRow("half an exponent") << "optimizer.learning_rate" << "3E-" << "for example 3e-4";
        QTest::newRow("nan") << "optimizer.learning_rate" << "nan" << "a number";
        QTest::newRow("inf") << "optimizer.weight_decay" << "inf" << "a number";
        QTest::newRow("dropout 1") << "model.dropout" << "1" << "from 0 to 0.95";
        QTest::newRow("choice") << "optimizer.name" << "adamm" << "did you mean adamw?";
        QTest::newRow("switch") << "data.shuffle" << "maybe" << "true or false";
        QTest::newRow("interval") << "checkpoint.every" << "often" << "interval";
        QTest::newRow("list") << "model.hidden" << "64, x" << "\"x\"";
        QTest::newRow("list with a hole") << "model.hidden" << "64,,64" << "list of whole numbers";
        QTest::newRow("empty number") << "run.seed" << "" << "not empty";
        QTest::newRow("control character") << "run.name" << "a\x01" "b" << "control character";
    }
    void textThatIsNoValueIsRefusedWithRuleAndExample() {
        QFETCH(QString, key);
        QFETCH(QString, text);
        QFETCH(QString, part);
        const Field* field = Schema::builtin().find(key.toStdString());
        QVERIFY(field);
        const auto value = readValue(*field, text.toStdString());
        QVERIFY(!value.ok());
        QCOMPARE(value.error().key, key.toStdString());
        const QString sentence = QString::fromStdString(value.error().sentence);
        QVERIFY2(sentence.contains(part), qPrintable(sentence));
        QVERIFY(sentence.startsWith(QString::fromStdString(field->label)));
    }

    void whatAPersonTypesIsUnderstood() {
        const auto read = [](const char* key, const char* text) { return *readValue(*Schema::builtin().find(key), text); };
        QVERIFY(read("optimizer.learning_rate", " 3E-4 ") == Value(3e-4));
        QVERIFY(read("model.hidden", "[64, 32]") == Value(std::vector<std::int64_t>{64, 32}));
        QVERIFY(read("model.hidden", "") == Value(std::vector<std::int64_t>{}));
        QVERIFY(read("data.features", "age, \"a, b\"") == Value(std::vector<std::string>{"age", "a, b"}));
        QVERIFY(read("optimizer.max_grad_norm", "none") == Value());
        QVERIFY(read("evaluation.every", "never") == Value(Interval{}));
        QCOMPARE(valueText(Value(3e-4)), std::string("3e-4"));
        QCOMPARE(valueText(Value(1e15)), std::string("1e15"));
        QCOMPARE(valueText(Value(0.1)), std::string("0.1"));
    }

    void visibilityFollowsTheOtherValue() {
        Values values = toValues(RunConfig{});
        const Field& hidden = *Schema::builtin().find("model.hidden");
        const Field& stem = *Schema::builtin().find("model.stem");
        QVERIFY(isVisible(hidden, values) && !isVisible(stem, values));
        values["model.name"] = std::string("resnet50");
        QVERIFY(!isVisible(hidden, values) && isVisible(stem, values));
    }

    void eachSynonymStandsForASettingThatIsThere() {
        for (const char* word : {"lr", "Max_Steps", "batch-size", "label", "warmup_steps", "grad_clip", "num_workers", "amp", "eval_interval", "min_lr", "n_layer", "block_size", "early_stopping", "save_total_limit"})
            QVERIFY2(Schema::builtin().find(synonymOf(word)) != nullptr, word);
        for (const char* word : {"", "-", "gluon", "learning"}) QVERIFY2(synonymOf(word).empty(), word);
    }
    void theNearestKeyIsFound() {
        const Schema& schema = Schema::builtin();
        QCOMPARE(schema.nearest("optimizer.learning_rat"), std::string("optimizer.learning_rate"));
        QCOMPARE(schema.nearest("optimizer.batch_sise"), std::string("data.batch_size"));
        QCOMPARE(schema.nearest("data.epochs"), std::string("run.epochs"));
        QCOMPARE(schema.nearest("learning_rate"), std::string("optimizer.learning_rate"));
        QCOMPARE(schema.nearest("modle.nme"), std::string("model.name"));
        QCOMPARE(schema.nearest("evaluation.batchsize"), std::string("evaluation.batch_size"));
        QCOMPARE(schema.nearest("quark.gluon"), std::string());
        // words of other trainers
        QCOMPARE(schema.nearest("run.steps"), std::string("run.max_updates"));
        QCOMPARE(schema.nearest("optimizer.lr"), std::string("optimizer.learning_rate"));
        QCOMPARE(schema.nearest("data.label"), std::string("data.target"));
        QCOMPARE(schema.nearest("optimizer.eps"), std::string("optimizer.epsilon"));
        QCOMPARE(schema.nearest("training.Num-Workers"), std::string("data.loader_threads"));
        QCOMPARE(schema.nearest("lr"), std::string("optimizer.learning_rate"));
    }
};

QTEST_GUILESS_MAIN(TestSchema)
#include "tst_schema.moc"
