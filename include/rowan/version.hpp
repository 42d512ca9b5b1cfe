// rowan/version.hpp: the version, and what rowan needs: the compiler, the oldest versions of dependencies. Every header includes this one first.
#pragma once

#ifdef ROWAN_VERSION_MAJOR
#error "two copies of rowan: include either the single header or the others, of one version"
#endif

#if __cplusplus < 202002L
#error "rowan needs C++20: compile with -std=c++20 or newer"
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "rowan computes the same bits on every machine: compile it without -ffast-math and the options that it implies"
#endif

#if defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16
#error \
    "rowan needs clang 16 or newer: it is not tested with older ones, and clang 14 does not compile the ranges of libstdc++"
#endif

#ifndef __cpp_exceptions
#error "rowan reports bad input by exceptions: compile it without -fno-exceptions"
#endif

/// Major version (semantic versioning): changes with incompatible changes.
#define ROWAN_VERSION_MAJOR 0
/// Minor version: changes with new features; while the major version is 0, also with incompatible changes.
#define ROWAN_VERSION_MINOR 1
/// Patch version: changes with bug fixes only.
#define ROWAN_VERSION_PATCH 0

/// The oldest versions of other libraries that rowan works with. CMakeLists.txt and conanfile.py read them here.
#define ROWAN_MIN_XTENSOR 0.24
#define ROWAN_MIN_XTENSOR_BLAS 0.20
#define ROWAN_MIN_NANOPB 0.4.7
#define ROWAN_MIN_CUDA 13
