// rowan/version.hpp: the version number, defined only here. Every header includes this one first.
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
