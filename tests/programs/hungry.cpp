// A plug-in whose model runs out of memory, or sleeps, where a test says so: really (a limit on the address space and much
// memory for each sample), or with the exception that a GPU's allocator throws.
#include "engine/plugin/plugin.h"

#include <c10/util/Exception.h>

#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace lathe;
using namespace lathe::engine;

namespace {

struct Appetite {
    std::int64_t mostSamples = 0;       ///< in a micro-batch that is trained on, 0: any number; more look to a GPU's allocator like too much
    std::int64_t mostEvaluated = 0;     ///< the same in an evaluation
    std::int64_t fromAttempt = 0;       ///< update attempts before it (from 0) have room enough, and do not sleep
    std::int64_t mibPerSample = 0;      ///< really taken from main memory in a forward pass
    std::int64_t sleepAt = -1;          ///< update attempt (from 0) at which it never comes back
    std::int64_t onRank = -1;           ///< only there; -1: everywhere
};

/// Of this process, by its command line.
std::int64_t ownRank() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string word, before;
    while (std::getline(file, word, '\0')) {
        if (before == "--rank") return std::stoll(word);
        before = word;
    }
    return 0;
}

/// Output = input · weight.
class Product final : public Block {
public:
    Product(const ModelShape& shape, const WeightSource& source, const Appetite& appetite) : Block("product", 0), m_appetite(appetite) {
        m_parameters.push_back({"weight", source.uniform("weight", {shape.outputs, shape.features}, 0.1).requires_grad_(true)});
    }
    at::Tensor forward(Context& context, const at::Tensor& input) override {
        const bool here = m_appetite.onRank < 0 || m_appetite.onRank == ownRank();
        if (!context.training) refuse(m_appetite.mostEvaluated, input.size(0));
        if (here && context.training && context.attempt >= m_appetite.fromAttempt) eat(context, input.size(0));
        return at::linear(input.flatten(1), m_parameters[0].tensor);
    }

private:
    void eat(const Context& context, std::int64_t samples) const {
        refuse(m_appetite.mostSamples, samples);
        if (m_appetite.mibPerSample > 0) at::empty({samples, m_appetite.mibPerSample << 18}, at::kFloat).zero_();
        while (m_appetite.sleepAt == context.attempt) ::pause();   // a signal is no reason to go on
    }

    static void refuse(std::int64_t most, std::int64_t samples) {
        TORCH_CHECK_WITH(OutOfMemoryError, most == 0 || samples <= most,
                         "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.75 GiB of which 120.50 MiB is free. "
                         "Of the allocated memory 14.50 GiB is allocated by PyTorch, and 1 GiB is reserved.");
    }

    const Appetite m_appetite;
};

class ProductModel final : public Model {
public:
    ProductModel(const ModelShape& shape, const WeightSource& source, const Appetite& appetite) { m_blocks.push_back(std::make_unique<Product>(shape, source, appetite)); }
};

/// From here on only so much more address space than is mapped now.
void limitMemory(std::int64_t mib) {
    rlim_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) throw std::runtime_error("cannot read /proc/self/statm");
    const rlim_t most = pages * 4096 + (static_cast<rlim_t>(mib) << 20);
    const rlimit limit{most, most};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("cannot limit the memory");
}

}  // namespace

LATHE_PLUGIN("hungry", "1", registry) {
    Appetite appetite;
    appetite.mostSamples = registry.integer("most_samples", 0, 0);
    appetite.mostEvaluated = registry.integer("most_evaluated", 0, 0);
    appetite.fromAttempt = registry.integer("from_attempt", 0, 0);
    appetite.mibPerSample = registry.integer("mib_per_sample", 0, 0, 1 << 20);
    appetite.sleepAt = registry.integer("sleep_at", -1, -1);
    appetite.onRank = registry.integer("on_rank", -1, -1);
    if (const std::int64_t mib = registry.integer("memory_mib", 0, 0, 1 << 20); mib > 0) limitMemory(mib);
    registry.addModel("product", [appetite](const config::ModelSection&, const ModelShape& shape, const WeightSource& source) {
        return Result<std::unique_ptr<Model>>(std::make_unique<ProductModel>(shape, source, appetite));
    });
}
