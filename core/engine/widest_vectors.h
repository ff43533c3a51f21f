// LATHE_WIDEST before a function: compiled for several vector widths, the widest that the machine has is taken at start.
// For kernels whose results are the same in all of them. Needs an ELF system (ifunc) and GCC or Clang.
#pragma once

#if defined(__x86_64__)
#define LATHE_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LATHE_WIDEST
#endif
