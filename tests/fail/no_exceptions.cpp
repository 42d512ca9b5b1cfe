// expect: rowan reports bad input by exceptions: compile it without -fno-exceptions
// flags: -fno-exceptions
#include <rowan/sparse.hpp>
