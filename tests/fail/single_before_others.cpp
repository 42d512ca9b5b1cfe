// expect: two copies of rowan: a program includes the single header or the others, not both
#include "../../single_include/rowan/rowan.hpp"
#ifndef ROWAN_VALID_TWIN
#include <rowan/io/npy.hpp>
#endif
