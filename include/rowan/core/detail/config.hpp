// rowan/core/detail/config.hpp: the questions asked of the compiler.
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

/// The library in two forms. By default it is header-only. Where ROWAN_COMPILED is defined, as the target rowan::compiled does, headers
/// only declare the functions that are no templates and the templates that ROWAN_TEMPLATE lists; the library of that name has them.
///
/// A header x.hpp with such functions declares them and includes x_inl.hpp at its end, which defines them within
/// `#if ROWAN_DEFINES_FUNCTIONS` as `ROWAN_FUNCTION R f() { … }`.
#ifdef ROWAN_COMPILED
#ifdef ROWAN_BLAS
#error "rowan::compiled multiplies matrices itself: a program links rowan::blas or rowan::compiled"
#endif
#define ROWAN_DEFINES_FUNCTIONS 0
#define ROWAN_FUNCTION
#define ROWAN_TEMPLATE(...) extern template __VA_ARGS__;
#else
#define ROWAN_DEFINES_FUNCTIONS 1
#define ROWAN_FUNCTION inline
#define ROWAN_TEMPLATE(...)
#endif

/// A program with files of both forms would have functions of either: its linker refuses it by this name.
namespace rowan {
#ifdef ROWAN_COMPILED
[[gnu::used]] inline thread_local char files_with_and_without_ROWAN_COMPILED = 0;
#else
[[gnu::used]] inline char files_with_and_without_ROWAN_COMPILED = 0;
#endif
}  // namespace rowan
