// tests/consume/two_files/c.cpp: defines only one of rowan's functions; the linker may choose this definition.
#include <rowan/core/parallel.hpp>

int threads_of_c() { return rowan::thread_count({}); }
