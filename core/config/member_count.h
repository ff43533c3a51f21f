// How many members an aggregate has, at compile time: with it the build fails when a section gains a member that
// describe() does not name.
#pragma once

#include "base/interval.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe::config {

/// Stands for a value of every type that a section may hold, and of no other. Only used unevaluated.
struct AnyMember {
    operator bool();
    operator std::int64_t();
    operator double();
    operator std::string();
    operator Interval();
    operator std::optional<std::int64_t>();
    operator std::optional<double>();
    operator std::vector<std::int64_t>();
    operator std::vector<std::string>();
};

/// Stands for a whole section. Only used unevaluated.
struct AnySection {
    template <typename T>
    operator T();
};

/// Members of aggregate T, all of which `Any` must convert to.
template <typename T, typename Any, typename... Given>
consteval std::size_t memberCount() {
    if constexpr (requires { T{Given{}..., Any{}}; }) return memberCount<T, Any, Given..., Any>();
    else return sizeof...(Given);
}

}  // namespace lathe::config
