// rowan/version.hpp: the version, stated here and nowhere else. Every header includes this one before anything else.
#pragma once

#ifdef ROWAN_VERSION_MAJOR
#error "two copies of rowan: a program includes the single header or the others, not both, and of one version"
#endif

/// Semantic versioning: another one may break programs.
#define ROWAN_VERSION_MAJOR 0
/// More than before; with major version 0 it may break programs.
#define ROWAN_VERSION_MINOR 1
/// Corrections alone.
#define ROWAN_VERSION_PATCH 0
