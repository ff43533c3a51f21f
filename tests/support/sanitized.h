// Whether a sanitizer is compiled in that reserves terabytes of address space: a limit of it ends such a program at its start.
#pragma once

namespace lathe::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kReservesAddressSpace = true;
#else
constexpr bool kReservesAddressSpace = false;
#endif
#else
constexpr bool kReservesAddressSpace = false;
#endif

}  // namespace lathe::test
