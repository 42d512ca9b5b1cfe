// rowan/compiled/nets.cpp: the rest of the compiled library, except operators, optimizers and what needs nanopb.
#include <rowan/core.hpp>
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op.hpp>
#include <rowan/rowan.hpp>
#include <rowan/train/keyed.hpp>
