// What nearly every engine file needs of LibTorch, compiled once. Keep torch/torch.h, nn.h and script.h out.
#pragma once

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>
