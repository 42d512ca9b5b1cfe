// rowan/rowan.hpp: all of rowan except the parts that need CUDA, Thrust or nanopb; rowan/io.hpp has the rest of io.
#pragma once

#include <rowan/core.hpp>
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/pending.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/fwd.hpp>
#include <rowan/graph.hpp>
#include <rowan/io/dlpack.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/npy_folder.hpp>
#include <rowan/layer.hpp>
#include <rowan/op.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
#include <rowan/version.hpp>
