// Own operators of a decoder against LibTorch's: values and gradients, extreme inputs, the same bits for any number of threads.
#include "engine/model/text_operators.h"
#include "golden_file.h"

#include <ATen/Parallel.h>
#include <ATen/core/Reduction.h>

#include <QtTest>

using namespace lathe;
using namespace lathe::engine;

namespace {

using Tensors = std::vector<at::Tensor>;
/// One tensor out of some.
using Operator = std::function<at::Tensor(const Tensors&)>;

struct Pass {
    at::Tensor output;
    Tensors gradients;
};

Pass passOf(const Operator& run, const Tensors& inputs, at::ScalarType type) {
    Tensors leaves;
    for (const at::Tensor& input : inputs) leaves.push_back(input.is_floating_point() ? input.to(type).clone().set_requires_grad(true) : input);
    Pass pass;
    pass.output = run(leaves);
    (pass.output * engine::made("weights", pass.output.sizes()).to(type)).sum().backward();
    for (const at::Tensor& leaf : leaves)
        if (leaf.requires_grad()) pass.gradients.push_back(leaf.grad());
    return pass;
}

struct Compared {
    Operator own, reference;
    Tensors inputs;
};

std::map<std::string, Compared> operators() {
    std::map<std::string, Compared> all;
    all["rms_norm"] = {[](const Tensors& x) { return rmsNorm(x[0], x[1], 1e-5); },
                       [](const Tensors& x) { return x[0] * (x[0].square().mean(-1, true) + 1e-5).rsqrt() * x[1]; },
                       {engine::made("x", {300, 3, 21}) * 4, engine::made("w", {21}) + 1}};
    all["gated"] = {[](const Tensors& x) { return gated(x[0]); },
                    [](const Tensors& x) { return at::silu(x[0].narrow(1, 0, 37)) * x[0].narrow(1, 37, 37); }, {engine::made("x", {90, 74}) * 20}};
    const at::Tensor targets = (at::arange(600, at::kLong) * 7).remainder(50).masked_fill(at::arange(600, at::kLong).remainder(5) == 2, -100);
    all["cross_entropy"] = {[=](const Tensors& x) { return crossEntropySum(x[0], targets.view({20, 30})); },
                            [=](const Tensors& x) { return at::cross_entropy_loss(x[0].flatten(0, 1), targets, {}, at::Reduction::Sum, -100); },
                            {engine::made("x", {20, 30, 50}) * 30}};
    const auto heads = [](bool own) {
        return [own](const Tensors& x) {
            const RotaryTables tables = rotaryTables(17, 6, 10000, x[0].options().requires_grad(false));
            if (own) {
                const auto [q, k, v] = rotatedHeads(x[0], 5, tables);
                return at::stack({q, k * 2, v * 3});
            }
            const at::Tensor parts = x[0].view({4, 13, 3, 5, 6}).permute({2, 0, 3, 1, 4});
            const at::Tensor a = parts.narrow(4, 0, 3), b = parts.narrow(4, 3, 3), c = tables.cosine.narrow(0, 0, 13), s = tables.sine.narrow(0, 0, 13);
            const at::Tensor turned = at::cat({a * c - b * s, b * c + a * s}, 4);
            return at::stack({turned[0], turned[1] * 2, parts[2] * 3});
        };
    };
    all["rotated_heads"] = {heads(true), heads(false), {engine::made("x", {4, 13, 90})}};
    return all;
}

}  // namespace

class TestTextOperators : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void valuesAndGradientsAreLibTorchs_data() {
        QTest::addColumn<QString>("name");
        for (const auto& [name, compared] : operators()) QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void valuesAndGradientsAreLibTorchs() {
        QFETCH(QString, name);
        const Compared compared = operators().at(name.toStdString());
        for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
            const double tolerance = type == at::kDouble ? 1e-13 : 2e-6;
            const Pass own = passOf(compared.own, compared.inputs, type), reference = passOf(compared.reference, compared.inputs, at::kDouble);
            QCOMPARE(own.output.scalar_type(), type);
            QVERIFY(relativeDifference(own.output, reference.output) < tolerance);
            for (std::size_t i = 0; i < own.gradients.size(); ++i) QVERIFY(relativeDifference(own.gradients[i], reference.gradients[i]) < tolerance);
        }
    }

    void threadsChangeNoBit_data() { valuesAndGradientsAreLibTorchs_data(); }
    void threadsChangeNoBit() {
        QFETCH(QString, name);
        const Compared compared = operators().at(name.toStdString());
        Tensors large;
        for (const at::Tensor& input : compared.inputs) large.push_back(input.dim() > 1 && name != "cross_entropy" && name != "rotated_heads" ? input.repeat_interleave(40, 0) : input);
        const int before = at::get_num_threads();
        at::set_num_threads(1);
        const Pass one = passOf(compared.own, large, at::kFloat);
        at::set_num_threads(3);
        const Pass three = passOf(compared.own, large, at::kFloat);
        at::set_num_threads(before);
        QVERIFY(at::equal(one.output, three.output));
        for (std::size_t i = 0; i < one.gradients.size(); ++i) QVERIFY(at::equal(one.gradients[i], three.gradients[i]));
    }

    void shortFormatsTakeLibTorchsWay() {
        const at::Tensor x = engine::made("x", {6, 8});
        QVERIFY(relativeDifference(gated(x.to(at::kBFloat16)), gated(x)) < 0.01);
        QCOMPARE(gated(x.to(at::kBFloat16)).scalar_type(), at::kBFloat16);
        QVERIFY(relativeDifference(crossEntropySum(x.to(at::kBFloat16), at::arange(6, at::kLong)), crossEntropySum(x, at::arange(6, at::kLong))) < 0.02);
    }

    void extremeScoresGiveExactLosses() {
        const float inf = std::numeric_limits<float>::infinity();
        const at::Tensor logits = at::tensor({1000.f, 0.f, -1000.f, -inf, 3.f, 3.f}).view({2, 3});
        QCOMPARE(crossEntropySum(logits[0].unsqueeze(0), at::tensor({0}, at::kLong)).item<float>(), 0.f);
        QCOMPARE(crossEntropySum(logits[0].unsqueeze(0), at::tensor({2}, at::kLong)).item<float>(), 2000.f);
        QVERIFY(std::abs(crossEntropySum(logits[1].unsqueeze(0), at::tensor({1}, at::kLong)).item<float>() - std::log(2.f)) < 1e-6f);
        QCOMPARE(crossEntropySum(logits[1].unsqueeze(0), at::tensor({0}, at::kLong)).item<float>(), inf);
        QCOMPARE(crossEntropySum(logits, at::tensor({-100, -100}, at::kLong)).item<float>(), 0.f);
    }

    void whatIsNoNumberStaysNone() {
        const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
        const at::Tensor bad = at::tensor({nan, 1.f, 2.f, 3.f}).view({1, 4});
        QVERIFY(std::isnan(crossEntropySum(bad, at::tensor({1}, at::kLong)).item<float>()));
        QVERIFY(rmsNorm(bad, at::ones({4}), 1e-5).isnan().all().item<bool>());
        QVERIFY(std::isnan(gated(bad)[0][0].item<float>()));
        const at::Tensor gates = gated(at::tensor({-inf, inf, -200.f, 200.f, 1.f, 1.f, 1.f, 1.f}).view({1, 8}));
        QCOMPARE(gates[0][3].item<float>(), 200.f);
        QCOMPARE(gates[0][1].item<float>(), inf);
        QVERIFY(std::abs(gates[0][2].item<float>()) < 1e-30f);
    }
};

QTEST_GUILESS_MAIN(TestTextOperators)
#include "tst_text_operators.moc"
