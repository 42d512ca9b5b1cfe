// rowan/sequence.hpp: ragged sequences, tensor arrays of their steps, and the algorithms on both.
#pragma once

#include <rowan/sequence/batches.hpp>
#include <rowan/sequence/drop_levels.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/map_fn.hpp>
#include <rowan/sequence/padded.hpp>
#include <rowan/sequence/pick_sequences.hpp>
#include <rowan/sequence/reorder.hpp>
#include <rowan/sequence/sequence_concat.hpp>
#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/sequence/sequence_expand.hpp>
#include <rowan/sequence/sequence_mask.hpp>
#include <rowan/sequence/sequence_pool.hpp>
#include <rowan/sequence/sequence_reshape.hpp>
#include <rowan/sequence/sequence_reverse.hpp>
#include <rowan/sequence/sequence_slice.hpp>
#include <rowan/sequence/sequence_softmax.hpp>
#include <rowan/sequence/shrink.hpp>
#include <rowan/sequence/slice_sequences.hpp>
#include <rowan/sequence/step_map.hpp>
#include <rowan/sequence/strings.hpp>
#include <rowan/sequence/sub_lod.hpp>
#include <rowan/sequence/tensor_array.hpp>
