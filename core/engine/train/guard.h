// The one place where exceptions of LibTorch and of memory become Errors.
#pragma once

#include "base/result.h"

#include <string>
#include <type_traits>

namespace lathe::engine {

/// Call inside a catch block: the exception being handled as an Error; "while `doing`" is its context.
Error currentException(const std::string& doing);

/// Runs `function` and returns its Result; an exception becomes an Error.
template <typename Function>
auto guarded(const std::string& doing, Function&& function) -> std::invoke_result_t<Function> {
    try {
        return function();
    } catch (...) {
        return currentException(doing);
    }
}

}  // namespace lathe::engine
