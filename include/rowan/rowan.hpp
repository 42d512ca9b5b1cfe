// rowan/rowan.hpp: all of rowan but CUDA and nanopb.
#pragma once

#include <rowan/core.hpp>
#include <rowan/fwd.hpp>
#include <rowan/graph.hpp>
#include <rowan/io.hpp>
#include <rowan/layer.hpp>
#include <rowan/op.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
#include <rowan/version.hpp>
