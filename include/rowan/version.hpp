// rowan/version.hpp: the version, stated here and nowhere else.
#pragma once

/// Semantic versioning: another one may break programs.
#define ROWAN_VERSION_MAJOR 0
/// More than before; with major version 0 it may break programs.
#define ROWAN_VERSION_MINOR 1
/// Corrections alone.
#define ROWAN_VERSION_PATCH 0
