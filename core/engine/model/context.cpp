#include "engine/model/dropout.h"
#include "engine/model/model.h"

namespace lathe::engine {

at::Tensor Context::call(Block& block, const at::Tensor& input) {
    const std::uint32_t outerBlock = m_block, outerCall = m_call;
    m_block = block.index();
    m_call = 0;
    at::Tensor output = block.forward(*this, input);
    m_block = outerBlock;
    m_call = outerCall;
    return output;
}

at::Tensor Context::dropout(const at::Tensor& input, double probability) {
    if (!training || probability == 0)
        return input;
    const DropoutKey key = dropoutKey({seed, attempt, microBatch, role, m_block, m_call++});
    return engine::dropout(input, probability, key);
}

}  // namespace lathe::engine
