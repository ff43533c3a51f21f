// Dropout: a mask that is a function of its address alone, with the statistics of fair coins.
#include "engine/model/dropout.h"
#include "engine/model/model.h"
#include "plan/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <QTest>

#include <cmath>

using namespace lathe;
using namespace lathe::engine;

namespace {

const DropoutAddress kAddress{77, 3, 5, 0, 2, 1};

at::Tensor maskOf(const DropoutAddress& address, std::int64_t count, double probability = 0.5) {
    return dropout(at::ones({count}), probability, dropoutKey(address)).ne(0);
}

/// The share of equal entries of two masks, in standard deviations from a half.
double agreement(const at::Tensor& a, const at::Tensor& b) {
    const double n = static_cast<double>(a.numel()), same = a.eq(b).sum().item<double>();
    return std::abs(same - n / 2) / std::sqrt(n / 4);
}

std::vector<DropoutAddress> neighbours() {
    std::vector<DropoutAddress> all(9, kAddress);
    all[1].seed += 1;
    all[2].seed += std::uint64_t{1} << 32;
    all[3].attempt += 1;
    all[4].microBatch += 1;
    all[5].role += 1;
    all[6].block += 1;
    all[7].call += 1;
    std::swap(all[8].attempt, all[8].microBatch);
    return all;
}

/// Drops out twice in its forward pass.
class TwiceBlock final : public Block {
public:
    using Block::Block;
    at::Tensor forward(Context& context, const at::Tensor& input) override {
        const at::Tensor first = context.dropout(input, 0.5);
        return at::stack({first, context.dropout(input, 0.5)});
    }
};

}  // namespace

class TestNoise : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void wordsAreThoseOfPhilox() {
        const DropoutKey key = dropoutKey(kAddress);
        constexpr std::uint32_t kThreshold = 0x40000000;  // a quarter
        const std::uint64_t first = (std::uint64_t{1} << 37) + 21;  // block counters beyond 32 bits, from within a group
        std::vector<double> in(300, 1.0), out(300);
        dropoutKernel(in.data(), out.data(), first, 300, key, kThreshold, 4.0 / 3);
        for (std::uint64_t i = 0; i < 300; ++i) {
            const std::uint64_t element = first + i, block = element / 64 * 16 + element % 16;
            const auto words = plan::philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), key.place[0], key.place[1]}, key.key);
            QCOMPARE(out[i], words[element % 64 / 16] >= kThreshold ? 4.0 / 3 : 0.0);
        }
    }

    void partsGiveTheMaskOfTheWhole() {
        const DropoutKey key = dropoutKey(kAddress);
        const at::Tensor whole = dropout(at::ones({1000}), 0.3, key);
        for (const auto& [begin, count] : {std::pair{0, 1}, {0, 64}, {1, 63}, {63, 2}, {64, 500}, {777, 223}})
            QVERIFY(at::equal(dropout(at::ones({count}), 0.3, key, begin), whole.narrow(0, begin, count)));
    }

    void theMaskDoesNotDependOnThreadsTypeShapeOrStrides() {
        const DropoutKey key = dropoutKey(kAddress);
        const int threads = at::get_num_threads();
        at::set_num_threads(1);
        const at::Tensor one = dropout(at::ones({300, 1000}), 0.2, key);
        at::set_num_threads(2);
        const at::Tensor two = dropout(at::ones({300, 1000}), 0.2, key);
        at::set_num_threads(threads);
        QVERIFY(at::equal(one, two));
        QVERIFY(at::equal(one.ne(0), dropout(at::ones({300, 1000}, at::kDouble), 0.2, key).ne(0)));
        QVERIFY(at::equal(one.flatten(), dropout(at::ones({300000}), 0.2, key)));
        QVERIFY(at::equal(one, dropout(at::ones({1000, 300}).t(), 0.2, key)));
    }

    void operatorsGiveTheMaskOfTheKernel() {
        for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
            const at::Tensor input = at::arange(1, 2001, dtype).view({40, 50});
            const at::Tensor kernel = dropout(input, 0.37, dropoutKey(kAddress), 13);
            const at::Tensor operators = dropoutByOperators(input, 0.37, dropoutKey(kAddress), 13);
            QCOMPARE(operators.scalar_type(), dtype);
            QVERIFY(at::equal(kernel.ne(0), operators.ne(0)));
            QVERIFY(at::allclose(kernel, operators));
        }
        QCOMPARE(dropout(at::ones({4}, at::kBFloat16), 0.5, dropoutKey(kAddress)).scalar_type(), at::kBFloat16);
    }

    void shareAndVarianceOfKeptElementsAreRight() {
        constexpr std::int64_t kCount = 1 << 20;
        for (const double p : {0.01, 0.1, 0.5, 0.9, 0.95}) {
            const at::Tensor out = dropout(at::ones({kCount}, at::kDouble), p, dropoutKey(kAddress));
            const double keep = 1 - p, deviation = std::sqrt(p / keep / static_cast<double>(kCount));
            QVERIFY(std::abs(out.mean().item<double>() - 1) < 5 * deviation);
            QVERIFY(std::abs(out.var().item<double>() / (p / keep) - 1) < 0.05);
            QCOMPARE(out.max().item<double>(), 1 / keep);
        }
    }

    void masksOfDifferentAddressesAreIndependent() {
        constexpr std::int64_t kCount = 1 << 18;
        std::vector<at::Tensor> masks;
        for (const DropoutAddress& address : neighbours())
            masks.push_back(maskOf(address, kCount));
        for (std::size_t a = 0; a < masks.size(); ++a)
            for (std::size_t b = 0; b < a; ++b)
                QVERIFY2(agreement(masks[a], masks[b]) < 5, qPrintable(QStringLiteral("addresses %1 and %2").arg(a).arg(b)));
        QVERIFY(at::equal(masks[0], maskOf(kAddress, kCount)));
    }

    void neighbouringElementsAreIndependent() {
        constexpr std::int64_t kCount = 1 << 18;
        const at::Tensor mask = maskOf(kAddress, kCount + 128);
        for (const std::int64_t lag : {1, 2, 4, 15, 16, 17, 32, 63, 64, 128})
            QVERIFY(agreement(mask.narrow(0, 0, kCount), mask.narrow(0, lag, kCount)) < 5);
        const at::Tensor places = maskOf(kAddress, kCount).view({-1, 64}).to(at::kDouble).mean(0);
        QVERIFY((places - 0.5).abs().max().item<double>() < 5 * 0.5 / std::sqrt(kCount / 64.0));
    }

    void gradientsPassWhereTheMaskIsOpen() {
        const at::Tensor input = at::ones({500}, at::kDouble).set_requires_grad(true);
        const at::Tensor out = dropout(input, 0.25, dropoutKey(kAddress));
        (out * at::arange(500, at::kDouble)).sum().backward();
        QVERIFY(at::equal(input.grad(), out.detach() * at::arange(500, at::kDouble)));
    }

    void zeroProbabilityAndEvaluationChangeNothing() {
        const at::Tensor input = at::ones({10});
        QVERIFY(dropout(input, 0, dropoutKey(kAddress)).is_same(input));
        Context context;
        QVERIFY(context.dropout(input, 0.5).is_same(input));
        context.training = true;
        QVERIFY(context.dropout(input, 0).is_same(input));
        QVERIFY(!context.dropout(input, 0.5).is_same(input));
    }

    void anEmptyInputStaysEmpty() { QCOMPARE(dropout(at::ones({0, 5}), 0.5, dropoutKey(kAddress)).numel(), 0); }

    void nonFiniteValuesStayVisible() {
        const at::Tensor out = dropout(at::full({1000}, std::numeric_limits<double>::infinity(), at::kDouble), 0.5, dropoutKey(kAddress));
        QVERIFY(!out.isfinite().any().item<bool>());
    }

    void callsOfOneBlockDifferAndRepeat() {
        TwiceBlock block("block", 4), other("other", 5);
        Context context;
        context.training = true;
        const at::Tensor input = at::ones({4096});
        const at::Tensor first = context.call(block, input);
        QVERIFY(agreement(first[0].ne(0), first[1].ne(0)) < 5);
        QVERIFY(at::equal(context.call(block, input), first));  // as recomputation does
        const at::Tensor second = context.call(block, input, 1);  // a layer that a model shares
        QVERIFY(agreement(second[0].ne(0), first[0].ne(0)) < 5);
        QVERIFY(at::equal(context.call(block, input, 1), second));
        QVERIFY(!at::equal(context.call(other, input), first));
        context.microBatch = 1;
        QVERIFY(!at::equal(context.call(block, input), first));
    }

    void theGlobalGeneratorIsNotTouched() {
        auto generator = at::detail::getDefaultCPUGenerator();
        const at::Tensor before = generator.get_state().clone();
        maskOf(kAddress, 10000);
        QVERIFY(at::equal(before, generator.get_state()));
    }
};

QTEST_GUILESS_MAIN(TestNoise)
#include "tst_noise.moc"
