// rowan/detail/config.hpp: the questions asked of the compiler.
#pragma once

#include <rowan/version.hpp>

#if __cplusplus < 202002L
#error "rowan needs C++20: compile with -std=c++20 or newer"
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "rowan promises the same bits everywhere: compile it without -ffast-math and what that stands for"
#endif

#ifndef __cpp_exceptions
#error "rowan reports bad input by exceptions: compile it without -fno-exceptions"
#endif

/// Marks what host and device code may both call.
#ifdef __CUDACC__
#define ROWAN_HD __host__ __device__
#else
#define ROWAN_HD
#endif

/// Marks small functions whose inlining the inner loops depend on.
#define ROWAN_INLINE [[gnu::always_inline]] inline

/// The same of what host and device code may both call.
#define ROWAN_HD_INLINE ROWAN_INLINE ROWAN_HD

/// Before a ROWAN_HD template that some of its arguments make one for the host alone, such as SIMD registers: nvcc does not ask
/// what it calls.
#ifdef __NVCC__
#define ROWAN_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ROWAN_NO_EXEC_CHECK
#endif
