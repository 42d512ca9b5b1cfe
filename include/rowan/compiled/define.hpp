// rowan/compiled/define.hpp: from here on a source of the compiled library defines what headers declare.
#pragma once

#include <rowan/core/detail/config.hpp>

#undef ROWAN_DEFINES_FUNCTIONS
#undef ROWAN_TEMPLATE
#define ROWAN_DEFINES_FUNCTIONS 1
#define ROWAN_TEMPLATE(...) template __VA_ARGS__;
