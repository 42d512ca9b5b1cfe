// tests/consume/two_files/c.cpp: a file that brings one of rowan's functions and not the others, for the linker to mix with theirs.
#include <rowan/core/parallel.hpp>

int threads_of_c() { return rowan::thread_count({}); }
