// rowan/thrust/sequence.hpp: everything about ragged sequences on a device.
#pragma once

#include <rowan/sequence.hpp>
#include <rowan/thrust/lod_tensor.hpp>
#include <rowan/thrust/padded.hpp>
#include <rowan/thrust/sequence_erase.hpp>
#include <rowan/thrust/sequence_expand.hpp>
#include <rowan/thrust/sequence_mask.hpp>
#include <rowan/thrust/sequence_pool.hpp>
#include <rowan/thrust/sequence_reverse.hpp>
#include <rowan/thrust/sequence_softmax.hpp>
#include <rowan/thrust/step_map.hpp>
#include <rowan/thrust/tensor_array.hpp>
