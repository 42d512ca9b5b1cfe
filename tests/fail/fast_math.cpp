// expect: rowan promises the same bits everywhere: compile it without -ffast-math
// flags: -ffast-math
#include <rowan/sparse.hpp>
