// rowan/version.hpp: the version, stated here and nowhere else.
#pragma once

#define ROWAN_VERSION_MAJOR 0
#define ROWAN_VERSION_MINOR 1
#define ROWAN_VERSION_PATCH 0
