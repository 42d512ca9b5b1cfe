// tests/thrust/every_operator_float_2.cpp: the second half of the operators on elements of float, on a device.
#include "watched_operators.hpp"

namespace every_operator_on_device {

TEST_CASE("the second half of the operators on float does on a device what it does on Cpu", "[thrust][op]") {
    ask<float, FloatDevice>(Part<1>{});
}

#ifndef __CUDACC__
TEST_CASE("the second half of the operators refuses tensors of another device, and waits only where it is said to", "[thrust][op][watched]") {
    watch<float>(Part<1>{}, {"clip_by_global_norm", "lamb", "nonzero_rows", "pick_sequences", "pick_sequences_grad", "sequence_erase", "sequence_mask", "sequence_scatter",
           "sequence_scatter_grad", "sequence_slice", "sequence_slice_grad", "sequence_unpad", "sequence_unpad_grad", "shrink",
           "weighted_embedding_bag", "weighted_embedding_bag_grad", "weighted_embedding_bags_grad"});
}
#endif

}  // namespace every_operator_on_device
