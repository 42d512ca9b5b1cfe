// rowan/compiled/containers.cpp: the core, sparse and sequence parts of the compiled library.
#include <rowan/compiled/define.hpp>
#include <rowan/core.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

char const rowan_needs_compiled_o__see_README = 0;
