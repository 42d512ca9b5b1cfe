// expect: two copies of rowan: a program includes the single header or the others, not both
#include <rowan/io/npy.hpp>
#include "../../single_include/rowan/rowan.hpp"
