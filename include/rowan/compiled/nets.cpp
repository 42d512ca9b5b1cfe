// rowan/compiled/nets.cpp: the rest of the compiled library, except operators and what needs nanopb.
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/rowan.hpp>
