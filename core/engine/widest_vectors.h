// LATHE_WIDEST before a function: compiled for several vector widths, the widest that the machine has is taken at start.
// For kernels whose results are the same in all of them. Needs an ELF system (ifunc) and GCC or Clang. Not under the thread
// sanitizer, which would watch the choice before it is set up itself.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define LATHE_WATCHES_THREADS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LATHE_WATCHES_THREADS
#endif
#endif

#if defined(__x86_64__) && !defined(LATHE_WATCHES_THREADS)
#define LATHE_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LATHE_WIDEST
#endif
