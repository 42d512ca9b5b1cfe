// tests/thrust/every_operator_bfloat16.cpp: operators of each kind on elements of bfloat16, on a device.
#include "every_operator.hpp"

TEST_CASE("operators on bfloat16 do on a device what they do on Cpu", "[thrust][op]") {
    using namespace rowan;
    every_operator_on_device::ask<bfloat16>(
        detail::type_list<add_op, batch_norm_op, clip_by_norm_op, clip_op, concat_op, cross_entropy_of_probabilities_op, cross_entropy_op, div_op,
                          dropout_op, embedding_bag_op, gru_unit_op, huber_op, layer_norm_op, less_op, log_softmax_op, lookup_table_op, lstm_unit_op,
                          matmul_op, pick_sequences_op, reduce_max_op, reduce_mean_op, reduce_sum_op, relu_op, scale_op,
                          sequence_attention_op, sequence_expand_op, sequence_pool_op, sequence_softmax_op, sgd_op, sigmoid_op, softmax_op, split_op,
                          sub_op, sum_op, tanh_op, weighted_embedding_bag_op>{});
}
