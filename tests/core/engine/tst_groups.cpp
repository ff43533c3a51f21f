// Groups of parameters in training: rates and decays of their own, and what is frozen.
#include "engine/train/model_state.h"
#include "loop_fixture.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;

namespace {

struct Made {
    explicit Made(const config::OptimizerSection& section) {
        config::ModelSection network;
        network.hidden = {4, 3};
        model = makeModel(network, {.features = 5, .outputs = 2}, 7, at::kDouble, at::kCPU).value();
        table = ParamTable::make(*model, section).value();
        storage = std::make_unique<FlatStorage>(*table);
        optimizer = Optimizer::make(section, *storage, table->groups()).value();
    }
    void backward(std::int64_t i) {
        storage->clearGradients();
        Context context;
        model->forward(context, at::arange(10, at::kDouble).view({2, 5}).add(static_cast<double>(i)).sin()).square().sum().backward();
    }
    std::unique_ptr<Model> model;
    std::unique_ptr<ParamTable> table;
    std::unique_ptr<FlatStorage> storage;
    std::unique_ptr<Optimizer> optimizer;
};

config::OptimizerSection plainSgd(double decay) {
    config::OptimizerSection section;
    section.name = "sgd";
    section.momentum = 0;
    section.weightDecay = decay;
    return section;
}

}  // namespace

class GroupsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void eachGroupHasItsRateAndDecay() {
        config::OptimizerSection section = plainSgd(0.25);
        section.layerDecay = 0.5;
        Made made(section);
        const auto& rows = made.table->rows();
        section.groups = {rows[0].name + " lr_factor=8 weight_decay=0.5"};
        Made other(section);
        for (Made* each : {&made, &other}) {
            each->backward(1);
            std::vector<at::Tensor> expected;
            for (const ParamRow& row : each->table->rows()) {
                const std::uint32_t last = each->table->rows().back().block;
                double rate = 0.1, decay = row.shape.size() >= 2 ? 0.25 : 0;
                std::set<std::uint32_t> after;
                for (const ParamRow& later : each->table->rows()) if (later.block > row.block) after.insert(later.block);
                for (std::size_t i = 0; i < after.size(); ++i) rate *= 0.5;
                if (each == &other && row.name == rows[0].name) rate *= 8, decay = 0.5;
                expected.push_back(row.tensor.detach() - rate * (row.tensor.grad() + decay * row.tensor.detach()));
                QVERIFY(row.block <= last);
            }
            each->optimizer->step(0.1);
            for (std::size_t i = 0; i < expected.size(); ++i)
                QVERIFY2(at::allclose(each->table->rows()[i].tensor, expected[i], 1e-13, 1e-15), each->table->rows()[i].name.c_str());
        }
    }
    void frozenParametersHaveNoGradientNoStateAndTheirBits() {
        config::OptimizerSection section;
        section.weightDecay = 0.1;
        Made reference(section);
        section.freeze = {reference.table->rows()[0].name, reference.table->rows()[1].name};
        Made made(section);
        const at::Tensor before = made.table->rows()[0].tensor.clone(), trained = made.table->rows()[2].tensor.detach().clone();
        for (int i = 0; i < 5; ++i) {
            made.backward(i);
            made.optimizer->step(0.01);
        }
        QVERIFY(at::equal(made.table->rows()[0].tensor, before));
        QVERIFY(!made.table->rows()[0].tensor.grad().defined());
        QVERIFY(!at::equal(made.table->rows()[2].tensor, trained));
        for (const StateTensor& item : made.optimizer->stateTensors())
            QVERIFY2(!item.name.starts_with(section.freeze[0] + "/") && !item.name.starts_with(section.freeze[1] + "/"), item.name.c_str());
        QCOMPARE(made.storage->views().size(), reference.storage->views().size() - 2);
        const ModelState state(*made.model, *made.table);
        QVERIFY(state.stateTensors()[0].frozen && state.stateTensors()[1].frozen && !state.stateTensors()[2].frozen);
    }
    void oneGroupIsLaidOutAsItAlwaysWas() {
        config::OptimizerSection section = plainSgd(0.1);
        section.decayOn = "all";
        Made made(section);
        const auto model = makeModel({.hidden = {4, 3}}, {.features = 5, .outputs = 2}, 7, at::kDouble, at::kCPU).value();
        const ParamTable plain(*model);
        const FlatStorage storage(plain);
        QCOMPARE(made.storage->flats().size(), storage.flats().size());
        for (std::size_t i = 0; i < storage.views().size(); ++i) {
            QCOMPARE(made.storage->views()[i].flat, storage.views()[i].flat);
            QCOMPARE(made.storage->views()[i].offset, storage.views()[i].offset);
        }
    }
    void stateDoesNotDependOnTheGroups() {
        config::OptimizerSection section;
        section.weightDecay = 0.1;
        Made split(section);
        section.decayOn = "all";
        Made whole(section);
        split.backward(1);
        split.optimizer->step(0.1);
        const auto from = split.optimizer->stateTensors(), to = whole.optimizer->stateTensors();
        QCOMPARE(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            QCOMPARE(from[i].name, to[i].name);
            QCOMPARE(from[i].tensor.sizes(), to[i].tensor.sizes());
        }
    }
    void aPatternThatMatchesNothingIsRefused() {
        config::OptimizerSection section;
        section.freeze = {"nowhere.*"};
        const auto model = makeModel({}, {.features = 5, .outputs = 2}, 7, at::kFloat, at::kCPU).value();
        const auto refused = ParamTable::make(*model, section);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().key, std::string("optimizer.freeze"));
        for (const NamedTensor& parameter : model->parameters()) QVERIFY(parameter.tensor.requires_grad());
    }
};

QTEST_GUILESS_MAIN(GroupsTest)
#include "tst_groups.moc"
