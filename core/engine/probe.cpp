#include <torch/types.h>
namespace lathe { int probe() { return at::ones({2}).sum().item<int>(); } }
