#include "engine/model/model.h"

#include "config/plugin_list.h"
#include "engine/model/dropout.h"
#include "engine/model/model_kinds.h"

namespace lathe::engine {

at::Tensor Context::call(Block& block, const at::Tensor& input, std::uint32_t use) {
    const std::uint32_t outerBlock = m_block, outerCall = m_call;
    m_block = block.index();
    m_call = use << 16;  // a block draws noise less often than that in one use
    at::Tensor output = block.forward(*this, input);
    m_block = outerBlock;
    m_call = outerCall;
    return output;
}

at::Tensor Context::dropout(const at::Tensor& input, double probability) {
    if (!training || probability == 0)
        return input;
    const DropoutKey key = dropoutKey({.seed = seed, .attempt = attempt, .microBatch = microBatch, .block = m_block, .call = m_call++});
    return engine::dropout(input, probability, key);
}

at::Tensor Model::forward(Context& context, at::Tensor input) {
    for (const auto& block : m_blocks)
        input = context.call(*block, input);
    return input;
}

std::vector<NamedTensor> Model::parameters() const {
    std::vector<NamedTensor> all;
    for (const auto& block : m_blocks)
        all.insert(all.end(), block->parameters().begin(), block->parameters().end());
    return all;
}

std::vector<NamedTensor> Model::buffers() const {
    std::vector<NamedTensor> all;
    for (const auto& block : m_blocks)
        all.insert(all.end(), block->buffers().begin(), block->buffers().end());
    return all;
}

bool Model::hasBatchNorm() const {
    for (const NamedTensor& buffer : buffers())
        if (buffer.name.ends_with("running_mean"))
            return true;
    return false;
}

Kinds<ModelMaker>& modelKinds() {
    using Made = Result<std::unique_ptr<Model>>;
    using Section = config::ModelSection;
    static Kinds<ModelMaker> kinds = [] {
        Kinds<ModelMaker> builtIn{{
            {"linear", [](const Section&, const ModelShape& shape, const WeightSource& source) -> Made { return makeLinear(shape, source); }},
            {"mlp", [](const Section& section, const ModelShape& shape, const WeightSource& source) -> Made { return makeMlp(section, shape, source); }},
            {"convnet", [](const Section& section, const ModelShape& shape, const WeightSource& source) -> Made { return makeConvnet(section, shape, source); }},
            {"gpt", [](const Section& section, const ModelShape& shape, const WeightSource& source) -> Made { return makeGpt(section, shape, source); }},
        }};
        for (const char* name : {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152"})
            builtIn.add(name, [](const Section& section, const ModelShape& shape, const WeightSource& source) -> Made { return makeResnet(section, shape, source); });
        return builtIn;
    }();
    return kinds;
}

Result<std::unique_ptr<Model>> makeModel(const config::ModelSection& section, const ModelShape& shape, std::uint64_t seed,
                                         at::ScalarType dtype, at::Device device) {
    LATHE_ASSERT(shape.features > 0 && shape.outputs > 0);
    const WeightSource source(seed, dtype, device);
    const bool convolutions = section.name == "convnet" || section.name.starts_with("resnet");
    if (convolutions && (shape.channels < 1 || shape.height < 1 || shape.width < 1))
        return Error{ErrorCode::Config,
                     section.name + " needs images, but the data are rows of " + std::to_string(shape.features) + " features; choose mlp or linear",
                     "model.name", {}};
    const bool isOurs = config::pluginOf(section.name).empty();
    if (isOurs && (section.name == "gpt") != (shape.context > 0))
        return Error{ErrorCode::Config, shape.context > 0 ? "A text is learned by gpt, not by " + section.name + "; choose gpt" : "gpt learns from a text, and the data are none; choose another model",
                     "model.name", {}};
    const ModelMaker* maker = modelKinds().find(section.name);
    if (!maker) return Error{ErrorCode::Config, "There is no model \"" + section.name + "\"; known are " + modelKinds().names(), "model.name", {}};
    try {
        return (*maker)(section, shape, source);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::OutOfMemory, "No memory for the model; choose a smaller one", "model.name", {}};
    } catch (const c10::Error& e) {
        return Error{ErrorCode::OutOfMemory, std::string("The model cannot be made; choose a smaller one: ") + e.what_without_backtrace(),
                     "model.name", {}};
    }
}

}  // namespace lathe::engine
