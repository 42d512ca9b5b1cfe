// rowan/sequence.hpp: ragged sequences, arrays of their steps and the algorithms on them.
#pragma once

#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/map_fn.hpp>
#include <rowan/sequence/reorder.hpp>
#include <rowan/sequence/shrink.hpp>
#include <rowan/sequence/step_map.hpp>
#include <rowan/sequence/tensor_array.hpp>
