// tests/thrust/watched_functions.cpp: which functions of rowan/op wait for the device, and that all refuse the tensors of another one.
#include <rowan/op.hpp>
#include <rowan/thrust.hpp>

#include "watched_calls.hpp"

namespace watched_functions {

using namespace watched_calls;
using rowan::Pooling;
using Ids = Tensor<std::int64_t>;
using Rows = LoDTensor<float, Watched>;

namespace {

Watched const d;
Lod const lod = Lod::from_lengths({{3, 0, 2}});
Tensor<float> const x = device::filled<float>({5, 3}, 1), y = device::filled<float>({5, 3}, 2), square = device::filled<float>({3, 3}, 3), row = device::positive<float>({3}, 4),
                    each_row = device::filled<float>({5}, 5), pooled = device::filled<float>({3, 3}, 6), loss = device::filled<float>({1}, 7);
LoDTensor<float> const batch(x, lod);
LoDTensor<std::int64_t> const bags({4, 0, 1, 1, 3}, lod);
SelectedRows<float> const some_rows(9, {4, 0, 1, 3, 7}, x), gradient(5, {4, 0, 4, 1, 3}, x);
Ids const labels{2, 0, 1, 1, 0};

std::vector<Call> const calls{
    {"cast", false, [](Tensors& on) { rowan::cast<double>(d, on(x)); }},
    {"cast to integers", true, [](Tensors& on) { rowan::cast<std::int64_t>(d, on(row)); }},
    {"add", false, [](Tensors& on) { add(d, on(x), on(row)); }},
    {"div", false, [](Tensors& on) { div(d, on(x), on(y)); }},
    {"dropout", false, [](Tensors& on) { dropout(d, on(x), 0.5, 7); }},
    {"dropout_grad", false, [](Tensors& on) { dropout_grad(d, on(Tensor<std::uint8_t>::full({5, 3}, 1)), on(x), 0.5); }},
    {"isnan", false, [](Tensors& on) { isnan(d, on(x)); }},
    {"maximum", false, [](Tensors& on) { maximum(d, on(x), on(y)); }},
    {"mul", false, [](Tensors& on) { mul(d, on(x), on(row)); }},
    {"scale", false, [](Tensors& on) { scale(d, on(x), 2); }},
    {"where", false, [](Tensors& on) { where(d, on(Tensor<bool>::full({5, 3}, true)), on(x), on(y)); }},
    {"sum", false, [](Tensors& on) { sum(d, list_of(on(x), on(y))); }},
    {"sum of SelectedRows", false, [](Tensors& on) { sum(d, list_of(on(gradient), on(gradient))); }},
    {"sum of both", false, [](Tensors& on) { sum(d, list_of(on(x)), list_of(on(gradient))); }},
    {"accuracy", false, [](Tensors& on) { accuracy(d, on(x), on(labels)); }},
    {"cross_entropy", false, [](Tensors& on) { cross_entropy(d, on(x), on(labels)); }},
    {"cross_entropy_grad", false, [](Tensors& on) { cross_entropy_grad(d, on(x), on(labels), on(loss)); }},
    {"cross_entropy_of_probabilities", false, [](Tensors& on) { cross_entropy_of_probabilities(d, on(device::positive<float>({5, 3}, 1)), on(labels)); }},
    {"cross_entropy_of_probabilities_grad", false, [](Tensors& on) { cross_entropy_of_probabilities_grad(d, on(device::positive<float>({5, 3}, 1)), on(labels), on(loss)); }},
    {"crf_decoding", false, [](Tensors& on) { crf_decoding(d, on(batch), on(device::filled<float>({5, 3}, 1))); }},
    {"crf_decoding, label", false, [](Tensors& on) { crf_decoding(d, on(batch), on(device::filled<float>({5, 3}, 1)), on(labels)); }},
    {"linear_chain_crf", false, [](Tensors& on) { linear_chain_crf(d, on(batch), on(device::filled<float>({5, 3}, 1)), on(labels)); }},
    {"linear_chain_crf_grad", false, [](Tensors& on) {
         linear_chain_crf_grad(d, on(batch), on(device::filled<float>({5, 3}, 1)), on(labels), on(device::filled<float>({3, 1}, 1)));
     }},
    {"mse", false, [](Tensors& on) { mse(d, on(x), on(y)); }},
    {"cosine_similarity", false, [](Tensors& on) { cosine_similarity(d, on(x), on(y)); }},
    {"dot_interaction", false, [](Tensors& on) { dot_interaction(d, on(device::filled<float>({2, 4, 3}, 1))); }},
    {"fc", false, [](Tensors& on) { fc(d, on(x), on(square), on(row)); }},
    {"matmul", false, [](Tensors& on) { matmul(d, on(x), on(square)); }},
    {"row_dot", false, [](Tensors& on) { row_dot(d, on(x), on(y)); }},
    {"batch_norm", false, [](Tensors& on) { batch_norm(d, on(x), on(row), on(row), on(row), on(row), {}, true); }},
    {"batch_norm_grad", false, [](Tensors& on) { batch_norm_grad(d, on(x), on(row), on(row), on(row), on(y), {}, true); }},
    {"layer_norm", false, [](Tensors& on) { layer_norm(d, on(x), on(row), on(row)); }},
    {"softmax", false, [](Tensors& on) { softmax(d, on(x)); }},
    {"softmax_grad", false, [](Tensors& on) { softmax_grad(d, on(x), on(y)); }},
    {"log_softmax_grad", false, [](Tensors& on) { log_softmax_grad(d, on(x), on(y)); }},
    {"clip_by_norm", true, [](Tensors& on) { clip_by_norm(d, on(x)); }},
    {"clip_by_norm of a SelectedRows", true, [](Tensors& on) { clip_by_norm(d, on(gradient)); }},
    {"clip_by_global_norm", true, [](Tensors& on) { clip_by_global_norm(d, list_of(on(x)), list_of(on(gradient))); }},
    {"gru_unit", false, [](Tensors& on) { gru_unit(d, on(device::filled<float>({5, 9}, 1)), on(x), on(device::filled<float>({3, 9}, 1)), on(device::filled<float>({9}, 1))); }},
    {"lstm_unit", false, [](Tensors& on) {
         lstm_unit(d, on(device::filled<float>({5, 12}, 1)), on(x), on(y), on(device::filled<float>({3, 12}, 1)), on(device::filled<float>({12}, 1)));
     }},
    {"argmax", false, [](Tensors& on) { argmax(d, on(x)); }},
    {"argsort", false, [](Tensors& on) { argsort(d, on(x)); }},
    {"cumsum", false, [](Tensors& on) { cumsum(d, on(x)); }},
    {"reduce_sum", false, [](Tensors& on) { reduce_sum(d, on(x), {.axes = {0}}); }},
    {"top_k", false, [](Tensors& on) { top_k(d, on(x), {.k = 2}); }},
    {"concat", false, [](Tensors& on) { concat(d, list_of(on(x), on(y)), 1); }},
    {"split", false, [](Tensors& on) { split(d, on(x), {2, 3}); }},
    {"stack", false, [](Tensors& on) { stack(d, list_of(on(x), on(y))); }},
    {"one_hot", false, [](Tensors& on) { one_hot(d, on(labels), {.depth = 3}); }},
    {"transpose", false, [](Tensors& on) { rowan::transpose_op::run(d, on(x), {}); }},
    {"beam_search", true, [](Tensors& on) { beam_search(d, on(LoDTensor<std::int64_t>({1, 2, 3, 0, 1}, Lod::from_lengths({{1, 1, 1, 1, 1}}))), on(LoDTensor<float>(x, Lod::from_lengths({{3, 2}}))), on(each_row)); }},
    {"beam_search_decode", true, [](Tensors& on) { beam_search_decode(d, on(LoDTensor<std::int64_t>({1, 2, 3, 0, 1}, Lod::from_lengths({{1, 1, 1, 1, 1}}))), on(LoDTensor<float>(each_row, Lod::from_lengths({{3, 2}})))); }},
    {"edit_distance", false, [](Tensors& on) { edit_distance(d, on(bags), on(bags)); }},
    {"expand_rows", false, [](Tensors& on) { expand_rows(d, on(row), on(x)); }},
    {"interleave_rows", true, [](Tensors& on) { interleave_rows(d, on(Ids{1, 0, 1, 1, 0}), on(square), on(device::filled<float>({2, 3}, 1))); }},
    {"interleave_rows_grad", true, [](Tensors& on) { interleave_rows_grad(d, on(Ids{1, 0, 1, 1, 0}), on(x)); }},
    {"nonzero_rows", true, [](Tensors& on) { nonzero_rows(d, on(Ids{1, 0, 1, 1, 0}), 1); }},
    {"sequence_attention", false, [](Tensors& on) { sequence_attention(d, on(batch), on(batch), on(x)); }},
    {"sequence_context", false, [](Tensors& on) { sequence_context(d, on(batch), {.start = -1, .length = 3}); }},
    {"sequence_context, padding", false, [](Tensors& on) { sequence_context(d, on(batch), on(device::filled<float>({2, 3}, 1)), {.start = -1, .length = 3}); }},
    {"sequence_context_grad", false, [](Tensors& on) { sequence_context_grad(d, on(device::filled<float>({5, 9}, 1)), on(batch), {.start = -1, .length = 3}); }},
    {"sequence_padding_grad", false, [](Tensors& on) { sequence_padding_grad(d, on(device::filled<float>({5, 9}, 1)), on(batch), {.start = -1, .length = 3}); }},
    {"sequence_scatter", true, [](Tensors& on) { sequence_scatter(d, on(LoDTensor<float>(pooled)), on(LoDTensor<std::int64_t>({0, 2, 1, 1, 0}, lod)), on(each_row)); }},
    {"sequence_top_k_mean", false, [](Tensors& on) { sequence_top_k_mean(d, on(batch), {.ks = {2}}); }},
    {"sequence_top_k_mean_grad", false, [](Tensors& on) { sequence_top_k_mean_grad(d, on(batch), on(pooled), {.ks = {2}}); }},
    {"lookup_table", false, [](Tensors& on) { lookup_table(d, on(x), on(labels)); }},
    {"lookup_table, padding", false, [](Tensors& on) { lookup_table(d, on(x), on(labels), {.padding_id = 1}); }},
    {"lookup_table of some rows", true, [](Tensors& on) { lookup_table(d, on(some_rows), on(Ids{7, 0})); }},
    {"embedding_bag", false, [](Tensors& on) { embedding_bag(d, on(x), on(bags)); }},
    {"embedding_bag, padding", true, [](Tensors& on) { embedding_bag(d, on(x), on(bags), {.padding_id = 1}); }},
    {"embedding_bag of some rows", true, [](Tensors& on) { embedding_bag(d, on(some_rows), on(bags)); }},
    {"embedding_bag_grad", false, [](Tensors& on) { embedding_bag_grad(d, on(x), on(bags), on(pooled)); }},
    {"embedding_bag, weights", false, [](Tensors& on) { embedding_bag(d, on(x), on(bags), on(each_row)); }},
    {"embedding_bag_grad, weights", false, [](Tensors& on) { embedding_bag_grad(d, on(x), on(bags), on(each_row), on(pooled)); }},
    {"embedding_bags", false, [](Tensors& on) { auto const t = list_of(on(x), on(square), on(y)); embedding_bags(d, std::span<Tensor<float, Watched> const>(t), on(LoDTensor<std::int64_t>({0, 1, 2, 1, 1}, lod))); }},
    {"embedding_bags, weights", false, [](Tensors& on) { auto const t = list_of(on(x), on(square), on(y)); embedding_bags(d, std::span<Tensor<float, Watched> const>(t), on(LoDTensor<std::int64_t>({0, 1, 2, 1, 1}, lod)), on(each_row)); }},
    {"embedding_bags_grad", true, [](Tensors& on) {
         auto const t = list_of(on(x), on(square), on(y));
         embedding_bags_grad(d, std::span<Tensor<float, Watched> const>(t), on(LoDTensor<std::int64_t>({0, 1, 2, 1, 1}, lod)), on(device::filled<float>({1, 9}, 1)));
     }},
    {"join_bags", false, [](Tensors& on) { join_bags(list_of(on(batch), on(batch))); }},
};

}  // namespace

TEST_CASE("functions of operators refuse tensors of another device, and wait only where they are said to", "[thrust][watched]") {
    for (Call const& call : calls) watch(call);
}

}  // namespace watched_functions
