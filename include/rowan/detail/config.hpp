// rowan/detail/config.hpp: the questions asked of the compiler.
#pragma once

#ifdef __FAST_MATH__
#error "rowan promises the same bits everywhere: compile it without -ffast-math"
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
