// expect: two copies of rowan: a program includes the single header or the others, not both
#include "../../single_include/rowan/rowan.hpp"
#include <rowan/io/npy.hpp>
