// Result<T>: a value or an Error. Every function that the outside world can make fail returns one.
#pragma once

#include "base/error.h"

#include <optional>
#include <utility>
#include <variant>

namespace lathe {

template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { LATHE_ASSERT(ok()); return std::get<0>(m_state); }
    const T& value() const& { LATHE_ASSERT(ok()); return std::get<0>(m_state); }
    T&& value() && { LATHE_ASSERT(ok()); return std::move(std::get<0>(m_state)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    Error& error() & { LATHE_ASSERT(!ok()); return std::get<1>(m_state); }
    const Error& error() const& { LATHE_ASSERT(!ok()); return std::get<1>(m_state); }
    Error&& error() && { LATHE_ASSERT(!ok()); return std::move(std::get<1>(m_state)); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    bool ok() const { return !m_error.has_value(); }
    explicit operator bool() const { return ok(); }
    const Error& error() const& { LATHE_ASSERT(!ok()); return *m_error; }
    Error&& error() && { LATHE_ASSERT(!ok()); return std::move(*m_error); }

private:
    std::optional<Error> m_error;
};

}  // namespace lathe

#define LATHE_JOIN_(a, b) a##b
#define LATHE_JOIN(a, b) LATHE_JOIN_(a, b)

/// Returns the error of `expression` from the calling function, if it has one.
#define LATHE_TRY(expression)                                               \
    do {                                                                    \
        if (auto result_ = (expression); !result_.ok()) return std::move(result_).error(); \
    } while (false)

/// `LATHE_TRY_ASSIGN(auto text, readText(path));`: declares or assigns the value, or returns the error.
#define LATHE_TRY_ASSIGN(target, expression)                                \
    auto LATHE_JOIN(result_, __LINE__) = (expression);                      \
    if (!LATHE_JOIN(result_, __LINE__).ok()) return std::move(LATHE_JOIN(result_, __LINE__)).error(); \
    target = std::move(LATHE_JOIN(result_, __LINE__)).value()
