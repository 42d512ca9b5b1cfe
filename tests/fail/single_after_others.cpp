// expect: two copies of rowan: include either the single header or the others
#include <rowan/io/npy.hpp>
#include "../../single_include/rowan/rowan.hpp"
