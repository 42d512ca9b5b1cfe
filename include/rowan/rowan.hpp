// rowan/rowan.hpp: all of rowan but what needs CUDA, Thrust, MPI or nanopb, and files other than NumPy's and DLPack.
#pragma once

#include <rowan/core.hpp>
#include <rowan/distributed.hpp>
#include <rowan/fwd.hpp>
#include <rowan/graph.hpp>
#include <rowan/io/dlpack.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/npy_folder.hpp>
#include <rowan/layer.hpp>
#include <rowan/op/functions.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
#include <rowan/train.hpp>
#include <rowan/version.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op.hpp>
#endif
