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

}  // namespace lathe::engine
