// rowan/compiled/containers.cpp: of the compiled library the rooms core, sparse and sequence.
#include <rowan/compiled/define.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
