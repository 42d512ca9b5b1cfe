// rowan/compiled/nets.cpp: of the compiled library what is no operator, needs no nanopb and stands above sparse and sequence.
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/rowan.hpp>
