// tests/thrust/every_operator_float_1.cpp: the first half of the operators on elements of float, on a device.
#include "watched_operators.hpp"

namespace every_operator_on_device {

TEST_CASE("the first half of the operators on float does on a device what it does on Cpu", "[thrust][op]") {
    ask<float, FloatDevice>(Part<0>{});
}

#ifndef __CUDACC__
TEST_CASE("the first half of the operators refuses tensors of another device, and waits only where it is said to", "[thrust][op][watched]") {
    watch<float>(Part<0>{}, {"beam_search", "beam_search_decode", "clip", "clip_by_norm", "embedding_bag", "embedding_bag_grad", "embedding_bags_grad", "interleave_rows",
           "interleave_rows_grad", "lod_from_offsets", "lookup_table_grad"});
}
#endif

}  // namespace every_operator_on_device
