// labels: gui
#include "patience.h"

#include "form/field_editor.h"
#include "form/schema_form.h"
#include "theme/theme.h"

#include "config/config.h"

#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QtTest/QTest>
#include <QToolButton>

using namespace lathe;
using form::FormModel;
using form::SchemaForm;

namespace {

std::vector<config::Problem> validate(const config::Values& values) { return config::validate(config::fromValues(values)); }

void typeInto(QWidget* input, const char* text) {
    auto* line = qobject_cast<QLineEdit*>(input);
    QVERIFY(line != nullptr);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, QString::fromUtf8(text));
}

}  // namespace

class TestForm : public QObject {
    Q_OBJECT

    std::unique_ptr<FormModel> m_model;
    std::unique_ptr<SchemaForm> m_form;

    double learningRate() const { return std::get<double>(m_model->values().at("optimizer.learning_rate")); }
    QLabel* problemLabel(const QString& key) const { return m_form->findChild<QLabel*>(key + QLatin1String(".problem")); }
    bool isShown(const QString& key) const { return m_form->input(key)->isVisibleTo(m_form.get()); }

private Q_SLOTS:
    void initTestCase() { theme::apply(theme::Mode::Light); }
    void init() {
        m_model = std::make_unique<FormModel>(config::Schema::builtin(), validate);
        const auto preset = config::load("digits-mlp");
        QVERIFY(preset.ok());
        m_model->load(config::toValues(preset->config), config::toValues(preset->config));
        QVERIFY(!m_model->blocked());
        m_form = std::make_unique<SchemaForm>(*m_model);
        m_form->resize(900, 700);
        m_form->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_form.get()));
        m_form->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_form.get()));
    }
    void cleanup() {
        m_form.reset();
        m_model.reset();
    }

    void everyFieldOfTheSchemaHasANamedEditor() {
        int fields = 0;
        for (const config::Section& section : config::Schema::builtin().sections()) {
            for (const config::Field& field : section.fields) {
                QWidget* input = m_form->input(QString::fromStdString(field.key()));
                QVERIFY2(input != nullptr, field.key().c_str());
                QCOMPARE(input->objectName(), QString::fromStdString(field.key()));
                QVERIFY2(!input->accessibleName().isEmpty(), field.key().c_str());
                ++fields;
            }
        }
        QVERIFY(fields > 50);
    }
    void everyDefaultIsShownAsTextThatReadsBackEqual() {
        for (const config::Section& section : config::Schema::builtin().sections()) {
            for (const config::Field& field : section.fields) {
                const QString key = QString::fromStdString(field.key());
                m_model->load({}, {});
                const auto before = m_model->values().at(field.key());
                m_model->setText(key, m_model->text(key));
                QVERIFY2(m_model->values().at(field.key()) == before, field.key().c_str());
                QVERIFY2(!m_model->isChanged(key), field.key().c_str());
            }
        }
    }
    void aTypedNumberIsTakenAsItStands() {
        typeInto(m_form->input(QStringLiteral("optimizer.learning_rate")), "3e-2");
        QCOMPARE(learningRate(), 3e-2);
        QVERIFY(m_model->isChanged(QStringLiteral("optimizer.learning_rate")));
        QVERIFY(m_form->findChild<QToolButton*>(QStringLiteral("optimizer.learning_rate.reset"))->isVisible());
    }
    void aWrongTextTurnsRedAtOnceBlocksAndLeavesTheValue() {
        const double before = learningRate();
        QWidget* input = m_form->input(QStringLiteral("optimizer.learning_rate"));
        for (const char* text : {"abc", "-1", "0", "nan", "e-4", "-"}) {
            typeInto(input, text);
            QVERIFY2(m_model->blocked(), text);
            QCOMPARE(learningRate(), before);
            QVERIFY(input->property("invalid").toBool());
            QLabel* words = problemLabel(QStringLiteral("optimizer.learning_rate"));
            QVERIFY(words != nullptr && words->isVisible() && !words->text().isEmpty());
            QCOMPARE(input->accessibleDescription(), words->text());
            // Leaving the field does not put the old value under the wrong one.
            m_form->focusSearch();
            QCOMPARE(qobject_cast<QLineEdit*>(input)->text(), QString::fromUtf8(text));
        }
        typeInto(input, "0.5");
        QVERIFY(!m_model->blocked());
        QVERIFY(!input->property("invalid").toBool());
        QCOMPARE(learningRate(), 0.5);
    }
    void aRuleOverSeveralFieldsIsShownAtItsField() {
        m_model->setText(QStringLiteral("run.epochs"), QString());
        m_model->setText(QStringLiteral("run.max_updates"), QString());
        QVERIFY(!m_model->problems().empty());
    }
    void typingIsOneUndoStepAndUndoBringsTheWordsBack() {
        QWidget* input = m_form->input(QStringLiteral("data.batch_size"));
        const QString before = m_model->text(QStringLiteral("data.batch_size"));
        typeInto(input, "640");
        QCOMPARE(m_model->undoStack().count(), 1);
        m_form->focusSearch();
        typeInto(input, "64x");
        QVERIFY(m_model->blocked());
        QTest::keyClick(input, Qt::Key_Z, Qt::ControlModifier);
        m_model->undoStack().setIndex(1);
        QCOMPARE(m_model->text(QStringLiteral("data.batch_size")), QStringLiteral("640"));
        QVERIFY(!m_model->blocked());
        m_model->undoStack().undo();
        QCOMPARE(m_model->text(QStringLiteral("data.batch_size")), before);
        QVERIFY(!m_model->isChanged(QStringLiteral("data.batch_size")));
        m_model->undoStack().redo();
        QCOMPARE(qobject_cast<QLineEdit*>(input)->text(), QStringLiteral("640"));
    }
    void theResetArrowGoesBackToWhatTheFormWasLoadedWith() {
        config::Values base = config::toValues({});
        base["data.batch_size"] = std::int64_t(7);
        m_model->load(base, base);
        typeInto(m_form->input(QStringLiteral("data.batch_size")), "9");
        QTest::mouseClick(m_form->findChild<QToolButton*>(QStringLiteral("data.batch_size.reset")), Qt::LeftButton);
        QCOMPARE(std::get<std::int64_t>(m_model->values().at("data.batch_size")), 7);
        QCOMPARE(qobject_cast<QLineEdit*>(m_form->input(QStringLiteral("data.batch_size")))->text(), QStringLiteral("7"));
    }
    void fieldsThatDoNotMatterAreNotShown() {
        QVERIFY(!isShown(QStringLiteral("optimizer.momentum")));
        auto* choice = qobject_cast<QComboBox*>(m_form->input(QStringLiteral("optimizer.name")));
        choice->setCurrentText(QStringLiteral("sgd"));
        QVERIFY(isShown(QStringLiteral("optimizer.momentum")));
        m_model->undoStack().undo();
        QCOMPARE(choice->currentText(), QStringLiteral("adamw"));
        QVERIFY(!isShown(QStringLiteral("optimizer.momentum")));
    }
    void aWrongTextInAFieldThatDoesNotMatterDoesNotBlock() {
        m_model->setText(QStringLiteral("optimizer.name"), QStringLiteral("sgd"));
        m_model->setText(QStringLiteral("optimizer.momentum"), QStringLiteral("x"));
        QVERIFY(m_model->blocked());
        m_model->setText(QStringLiteral("optimizer.name"), QStringLiteral("adamw"));
        QVERIFY(!m_model->blocked());
    }
    void anUnsetOptionalSaysWhatItMeans() {
        auto* line = qobject_cast<QLineEdit*>(m_form->input(QStringLiteral("run.max_updates")));
        QVERIFY(line->text().isEmpty());
        QCOMPARE(line->placeholderText(), QStringLiteral("no limit"));
        typeInto(line, "500");
        QCOMPARE(std::get<std::int64_t>(m_model->values().at("run.max_updates")), 500);
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QVERIFY(std::holds_alternative<std::monostate>(m_model->values().at("run.max_updates")));
        QVERIFY(!m_model->blocked());
    }
    void aSwitchIsTurnedByKeyAndMouse() {
        QWidget* input = m_form->input(QStringLiteral("data.shuffle"));
        input->setFocus();
        QTest::keyClick(input, Qt::Key_Space);
        QCOMPARE(std::get<bool>(m_model->values().at("data.shuffle")), false);
        QTest::mouseClick(input, Qt::LeftButton);
        QCOMPARE(std::get<bool>(m_model->values().at("data.shuffle")), true);
    }
    void intervalsAndListsAreText() {
        typeInto(m_form->input(QStringLiteral("checkpoint.every")), "5 min");
        QVERIFY(std::get<Interval>(m_model->values().at("checkpoint.every")) == (Interval{Interval::Unit::Seconds, 300}));
        m_model->setText(QStringLiteral("model.hidden"), QStringLiteral("128, 64"));
        QVERIFY(std::get<std::vector<std::int64_t>>(m_model->values().at("model.hidden")) == (std::vector<std::int64_t>{128, 64}));
        m_model->setText(QStringLiteral("checkpoint.every"), QStringLiteral("ten furlongs"));
        QVERIFY(m_model->blocked());
    }
    void aBrowsedPathIsAsGoodAsATypedOne() {
        const auto before = form::FieldEditor::askForPath;
        form::FieldEditor::askForPath = [](QWidget*, bool folder, const QString&) { return folder ? QStringLiteral("/data/flowers") : QStringLiteral("/data/a.csv"); };
        auto* browse = m_form->findChild<QToolButton*>(QStringLiteral("data.train.browse"));
        browse->menu()->actions().front()->trigger();
        form::FieldEditor::askForPath = before;
        QCOMPARE(QString::fromStdString(std::get<std::string>(m_model->values().at("data.train"))), QStringLiteral("/data/flowers"));
        QCOMPARE(qobject_cast<QLineEdit*>(m_form->input(QStringLiteral("data.train")))->text(), QStringLiteral("/data/flowers"));
    }
    void searchLooksEverywhereAlsoInAdvancedFields() {
        QVERIFY(!isShown(QStringLiteral("optimizer.epsilon")));
        QTest::keyClick(m_form.get(), Qt::Key_F, Qt::ControlModifier);
        QWidget* search = QApplication::focusWidget();
        QCOMPARE(search->objectName(), QStringLiteral("formSearch"));
        QTest::keyClicks(search, QStringLiteral("epsilon"));
        QVERIFY(isShown(QStringLiteral("optimizer.epsilon")));
        QVERIFY(!isShown(QStringLiteral("run.seed")));
        int tabs = 0;
        while (QApplication::focusWidget() != m_form->input(QStringLiteral("optimizer.epsilon")) && tabs++ < 20) QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), m_form->input(QStringLiteral("optimizer.epsilon")));
    }
    void whatWasChangedOrIsWrongIsNeverHidden() {
        m_model->setText(QStringLiteral("optimizer.epsilon"), QStringLiteral("1e-6"));
        QVERIFY(isShown(QStringLiteral("optimizer.epsilon")));
        m_model->setText(QStringLiteral("optimizer.epsilon"), QStringLiteral("x"));
        QTest::mouseClick(m_form->findChild<QToolButton*>(QStringLiteral("formOnlyChanged")), Qt::LeftButton);
        QVERIFY(isShown(QStringLiteral("optimizer.epsilon")));
        QVERIFY(!isShown(QStringLiteral("run.seed")));
    }
    void revealShowsAFieldWhateverTheFiltersSay() {
        m_form->focusSearch();
        QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("seed"));
        m_form->reveal(QStringLiteral("checkpoint.keep_best"));
        QWidget* input = m_form->input(QStringLiteral("checkpoint.keep_best"));
        QCOMPARE(QApplication::focusWidget(), input);
        const auto* scroll = m_form->findChild<QScrollArea*>(QStringLiteral("formScroll"));
        QTRY_VERIFY(scroll->viewport()->rect().contains(input->mapTo(scroll->viewport(), input->rect().center())));
    }
    void severalSettingsFromDataAreOneUndoStep() {
        m_model->setValues({{QStringLiteral("data.format"), std::string("csv")}, {QStringLiteral("task.num_classes"), std::int64_t(5)}}, QStringLiteral("Own data"));
        QCOMPARE(std::get<std::int64_t>(m_model->values().at("task.num_classes")), 5);
        m_model->undoStack().undo();
        QVERIFY(std::holds_alternative<std::monostate>(m_model->values().at("task.num_classes")));
        QCOMPARE(m_model->undoStack().index(), 0);
    }
    void markupInAPathIsShownAsItIs() {
        m_model->setText(QStringLiteral("data.train"), QStringLiteral("<b>x</b><img src=y>"));
        QCOMPARE(qobject_cast<QLineEdit*>(m_form->input(QStringLiteral("data.train")))->text(), QStringLiteral("<b>x</b><img src=y>"));
        QVERIFY(!m_form->findChild<QToolButton*>(QStringLiteral("data.train.reset"))->toolTip().contains(QStringLiteral("<img")));
    }
    void everyControlHasANameForAScreenReader() {
        int controls = 0;
        const std::function<void(QAccessibleInterface*)> walk = [&](QAccessibleInterface* item) {
            if (item == nullptr || !item->isValid() || item->state().invisible) return;
            const auto role = item->role();
            if (role == QAccessible::EditableText || role == QAccessible::ComboBox || role == QAccessible::CheckBox || role == QAccessible::Button) {
                ++controls;
                QVERIFY2(!item->text(QAccessible::Name).isEmpty(), item->object() ? qPrintable(item->object()->objectName()) : "");
            }
            for (int i = 0; i < item->childCount(); ++i) walk(item->child(i));
        };
        walk(QAccessible::queryAccessibleInterface(m_form.get()));
        QVERIFY(controls > 30);
    }
};

QTEST_MAIN(TestForm)
#include "tst_form.moc"
