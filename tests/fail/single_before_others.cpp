// expect: two copies of rowan: include either the single header or the others
#include "../../single_include/rowan/rowan.hpp"
#include <rowan/io/npy.hpp>
