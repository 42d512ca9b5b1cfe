// rowan/compiled/containers.cpp: the core, sparse and sequence parts of the compiled library.
#include <rowan/compiled/define.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
