// rowan/compiled/define.hpp: makes headers included after it define functions and instantiate templates.
#pragma once

#include <rowan/core/detail/config.hpp>

#undef ROWAN_DEFINES_FUNCTIONS
#undef ROWAN_TEMPLATE
#define ROWAN_DEFINES_FUNCTIONS 1
#define ROWAN_TEMPLATE(...) template __VA_ARGS__;
