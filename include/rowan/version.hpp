// rowan/version.hpp: the version and the oldest versions of dependencies. Every header includes this one first.
#pragma once

#ifdef ROWAN_VERSION_MAJOR
#error "two copies of rowan: include either the single header or the others, of one version"
#endif

/// Major version (semantic versioning): changes with incompatible changes.
#define ROWAN_VERSION_MAJOR 0
/// Minor version: changes with new features; while the major version is 0, also with incompatible changes.
#define ROWAN_VERSION_MINOR 1
/// Patch version: changes with bug fixes only.
#define ROWAN_VERSION_PATCH 0

/// The oldest versions of other libraries that rowan works with. CMakeLists.txt and conanfile.py read them here.
#define ROWAN_MIN_XTENSOR 0.24
#define ROWAN_MIN_XSIMD 8
#define ROWAN_MIN_XTENSOR_BLAS 0.20
#define ROWAN_MIN_NANOPB 0.4.7
#define ROWAN_MIN_CUDA 13
