// tests/thrust/op_bags.cpp: embedding bags and the operators on sequences on devices have the bits of Cpu.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace op_bags {

using device::filled, device::late_refusal, device::positive, device::refusal, device::same_bits;
using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::SelectedRows, rowan::Tensor, rowan::to_device, rowan::to_host;

template <class T, class D>
bool same_batch(LoDTensor<T, D> const& a, LoDTensor<T> const& b) {
    return a.lod() == b.lod() && same_bits(a.value(), b.value());
}

/// Bags with these numbers of ids; one id is in most of them.
template <class I>
LoDTensor<I> bags(std::vector<std::int64_t> const& lengths, std::int64_t height) {
    auto lod = Lod::from_lengths({lengths});
    auto const rows = device::some_ids(static_cast<std::size_t>(lod.rows()), height, 30, 1);
    auto ids = Tensor<I>::from_shape({rows.size()});
    for (std::size_t i = 0; i < rows.size(); ++i) ids.data()[i] = static_cast<I>(rows[i]);
    return {std::move(ids), std::move(lod)};
}

template <class T, class I, class D>
void lookups() {
    for (auto const& lengths : {std::vector<std::int64_t>{}, {0}, {1}, {3, 0, 1, 2}, {63, 64, 65}, {0, 4097, 5}}) {
        for (std::size_t const width : {0u, 1u, 3u, 16u}) {
            auto const table = filled<T>({40, width}, 1);
            auto const ids = bags<I>(lengths, 40);
            auto weight = filled<T>({ids.value().size()}, 2);
            for (std::size_t i = 0; i < weight.size() && i < 2; ++i) weight.data()[i] = rowan::dtype<T>::narrow(0);
            auto const out_grad = filled<T>({lengths.size(), width}, 3);
            auto const table_on = to_device<D>(table), weight_on = to_device<D>(weight), grad_on = to_device<D>(out_grad);
            auto const ids_on = to_device<D>(ids);
            LoDTensor<T, D> const grads_on(grad_on);
            for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
                CHECK(same_batch(rowan::embedding_bag_op::run(D{}, table_on, ids_on, {pool}), rowan::embedding_bag(Cpu{}, table, ids, {pool})));
                CHECK(same_bits(rowan::embedding_bag_op::backward(D{}, table_on, ids_on, grads_on, {pool}), rowan::embedding_bag_grad(Cpu{}, table, ids, out_grad, {pool})));
                CHECK(same_batch(rowan::weighted_embedding_bag_op::run(D{}, table_on, ids_on, weight_on, {pool}), rowan::embedding_bag(Cpu{}, table, ids, weight, {pool})));
                auto const [rows, weights] = rowan::weighted_embedding_bag_op::backward(D{}, table_on, ids_on, weight_on, grads_on, {pool});
                auto const [rows_want, weights_want] = rowan::embedding_bag_grad(Cpu{}, table, ids, weight, out_grad, {pool});
                CHECK(same_bits(rows, rows_want));
                CHECK(same_bits(weights, weights_want));
            }
        }
    }
}

TEMPLATE_TEST_CASE("bags of ids on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    lookups<float, std::int64_t, TestType>();
    lookups<double, std::int32_t, TestType>();
    lookups<rowan::bfloat16, std::int64_t, TestType>();
}

TEMPLATE_TEST_CASE("bags of ids on a device have the expected values", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const table{{1, 10}, {2, 20}, {4, 5}};
    auto const ids = to_device<D>(LoDTensor<std::int64_t>(Tensor<std::int64_t>{0, 1, 2}, Lod{{0, 1, 2}, {0, 2, 3}}));
    auto const sums = rowan::embedding_bag(D{}, table, ids);
    CHECK(sums.lod() == Lod{{0, 1, 2}});
    CHECK(same_bits(rowan::embedding_bag(D{}, table, to_device<D>(LoDTensor<std::int64_t>(Tensor<std::int64_t>{0, 1, 2}, Lod{{0, 2, 2, 3}}))).value(), Tensor<float>{{3, 30}, {0, 0}, {4, 5}}));
    CHECK(same_bits(rowan::embedding_bag(D{}, table, to_device<D>(LoDTensor<std::int64_t>(Tensor<std::int64_t>{0, 2}, Lod{{0, 2}})), {Pooling::max}).value(), Tensor<float>{{4, 10}}));
}

TEMPLATE_TEST_CASE("ids of no row read that of unknown ones on a device", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float> const table{{1, 10}, {2, 20}, {4, 5}}, grads{{1, 2}, {3, 4}, {5, 6}};
    LoDTensor<std::int32_t> const ids({-1, 2, 3}, Lod{{0, 1, 2, 3}});
    auto const table_on = to_device<D>(table), grads_on = to_device<D>(grads);
    auto const ids_on = to_device<D>(ids);
    CHECK(same_bits(rowan::lookup_table(D{}, table_on, ids_on.value(), {.unknown = 1}), Tensor<float>{{2, 20}, {4, 5}, {2, 20}}));
    CHECK(same_bits(rowan::lookup_table_grad_op::run(D{}, table_on, ids_on.value(), grads_on, {.unknown = 1}), SelectedRows<float>(3, {1, 2, 1}, grads)));
    CHECK(same_bits(rowan::embedding_bag(D{}, table_on, ids_on, {.unknown = 1}).value(), Tensor<float>{{2, 20}, {4, 5}, {2, 20}}));
    CHECK(same_bits(rowan::embedding_bag_grad(D{}, table_on, ids_on, grads_on, {.unknown = 1}), SelectedRows<float>(3, {1, 2, 1}, grads)));
    CHECK(refusal<rowan::IndexError>([&] { rowan::embedding_bag(D{}, table_on, ids_on, {.unknown = 3}); }) == "unknown = 3 is not in [0, 3)");
}

TEMPLATE_TEST_CASE("bags of ids on a device throw like Cpu's", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using rowan::ShapeError, rowan::ValueError;
    Tensor<float, D> const table{{1, 10}, {2, 20}};
    auto const batch = [](Tensor<std::int64_t> ids, Lod lod) { return to_device<D>(LoDTensor<std::int64_t>(std::move(ids), std::move(lod))); };
    auto const ids = batch({0, 1}, Lod{{0, 2}}), bad = batch({0, 2}, Lod{{0, 2}});
    Tensor<float, D> const weight{1, 1}, out_grad{{1, 2}};
    CHECK_THROWS_AS(rowan::embedding_bag(D{}, table, batch({0}, Lod{})), ShapeError);
    CHECK_THROWS_AS(rowan::embedding_bag(D{}, table, ids, {Pooling::first}), ValueError);
    CHECK_THROWS_AS(rowan::embedding_bag(D{}, table, ids, Tensor<float, D>{1}), ShapeError);
    CHECK_THROWS_AS(rowan::embedding_bag_grad(D{}, table, ids, table), ShapeError);
    std::string const text = "ids[1] = 2 is not in [0, 2)";
    static_cast<void>(rowan::embedding_bag(D{}, table, bad));
    CHECK(late_refusal(D{}) == text);
    static_cast<void>(rowan::embedding_bag(D{}, table, bad, weight));
    CHECK(late_refusal(D{}) == text);
    static_cast<void>(rowan::embedding_bag_grad(D{}, table, bad, out_grad));
    CHECK(late_refusal(D{}) == text);
    static_cast<void>(rowan::embedding_bag_grad(D{}, table, bad, weight, out_grad));
    CHECK(late_refusal(D{}) == text);
    for (std::int64_t const far : {std::int64_t{-1}, std::int64_t{1} << 40}) {
        auto const nowhere = batch({0, far}, Lod{{0, 2}});
        for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
            static_cast<void>(rowan::embedding_bag(D{}, table, nowhere, {pool}));
            CHECK(late_refusal(D{}) == "ids[1] = " + std::to_string(far) + " is not in [0, 2)");
            static_cast<void>(rowan::embedding_bag_grad(D{}, table, nowhere, out_grad, {pool}));
            CHECK(late_refusal(D{}) == "ids[1] = " + std::to_string(far) + " is not in [0, 2)");
        }
    }
}

TEMPLATE_TEST_CASE("operators on sequences on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const x(filled<float>({9, 3}, 1), Lod{{0, 2, 2, 9}});
    auto const x_on = to_device<D>(x);
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max, Pooling::min, Pooling::first, Pooling::last}) {
        auto const want = rowan::sequence_pool_op::run(Cpu{}, x, {pool, -1});
        CHECK(same_batch(rowan::sequence_pool_op::run(D{}, x_on, {pool, -1}), want));
        CHECK(same_batch(rowan::sequence_pool_op::backward(D{}, x_on, to_device<D>(want), {pool, -1}), rowan::sequence_pool_op::backward(Cpu{}, x, want, {pool, -1})));
    }
    LoDTensor<float> const rows(filled<float>({3, 4}, 2));
    auto const want = rowan::sequence_expand_op::run(Cpu{}, rows, x, {});
    CHECK(same_batch(rowan::sequence_expand_op::run(D{}, to_device<D>(rows), x_on, {}), want));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_expand_op>::run(D{}, to_device<D>(rows), x_on, to_device<D>(want), rowan::SequenceExpandOptions{}), rowan::gradient_operator<rowan::sequence_expand_op>::run(Cpu{}, rows, x, want, rowan::SequenceExpandOptions{})));
    LoDTensor<std::int64_t> const ids({2, 1, 0, 2});
    auto const picked = rowan::pick_sequences_op::run(Cpu{}, x, ids);
    CHECK(same_batch(rowan::pick_sequences_op::run(D{}, x_on, to_device<D>(ids)), picked));
    CHECK(same_batch(rowan::gradient_operator<rowan::pick_sequences_op>::run(D{}, x_on, to_device<D>(ids), to_device<D>(picked)), rowan::gradient_operator<rowan::pick_sequences_op>::run(Cpu{}, x, ids, picked)));
    auto const padded_ids = bags<std::int64_t>({3, 0, 5}, 9);
    auto const weight = filled<float>({8}, 4), bag_grad = filled<float>({3, 3}, 5);
    rowan::BagOptions const no_padding{Pooling::mean, padded_ids.value()(1)};
    auto const ids_on = to_device<D>(padded_ids);
    auto const weight_on = to_device<D>(weight), bag_grad_on = to_device<D>(bag_grad);
    CHECK(same_batch(rowan::embedding_bag(D{}, x_on.value(), ids_on, no_padding), rowan::embedding_bag(Cpu{}, x.value(), padded_ids, no_padding)));
    CHECK(same_batch(rowan::embedding_bag(D{}, x_on.value(), ids_on, weight_on, no_padding), rowan::embedding_bag(Cpu{}, x.value(), padded_ids, weight, no_padding)));
    auto const [bag_rows_on, slopes_on] = rowan::embedding_bag_grad(D{}, x_on.value(), ids_on, weight_on, bag_grad_on, no_padding);
    auto const [bag_rows, slopes] = rowan::embedding_bag_grad(Cpu{}, x.value(), padded_ids, weight, bag_grad, no_padding);
    CHECK((same_bits(bag_rows_on.value(), bag_rows.value()) && same_bits(slopes_on, slopes)));
    Tensor<std::int32_t> const marks{1, 0, 0, 1, 1, 0, 1, 0, 0};
    auto const marks_on = to_device<D>(LoDTensor<std::int32_t>(Tensor<std::int32_t>(marks))).value().share();
    LoDTensor<float, D> const x_rows(x_on.value().share());
    CHECK(same_bits(rowan::nonzero_rows_op::run(D{}, LoDTensor<std::int32_t, D>(marks_on), x_rows, {0}).value(), Tensor<std::int64_t>{1, 2, 5, 7, 8}));
    auto const [ones, zeros] = rowan::interleave_rows_grad(Cpu{}, marks, x.value());
    auto const [ones_on, zeros_on] = rowan::interleave_rows_grad(D{}, marks_on, x_on.value());
    CHECK((same_bits(ones_on, ones) && same_bits(zeros_on, zeros)));
    CHECK(same_bits(rowan::interleave_rows_op::run(D{}, marks_on, ones_on, zeros_on), x.value()));
    LoDTensor<std::int64_t> const prefixes({0, 5, 0, 1, 0, 3}, Lod{{0, 2, 4, 6}});
    LoDTensor<float> const chances(filled<float>({3, 5}, 6), Lod{{0, 2, 3}}), totals(filled<float>({3}, 7));
    auto const beam = rowan::beam_search_op::run(Cpu{}, prefixes, chances, totals, {.beam_size = 3});
    auto const beam_on = rowan::beam_search_op::run(D{}, to_device<D>(prefixes), to_device<D>(chances), to_device<D>(totals), {.beam_size = 3});
    CHECK((same_batch(std::get<0>(beam_on), std::get<0>(beam)) && same_batch(std::get<1>(beam_on), std::get<1>(beam))));
    CHECK((same_batch(std::get<2>(beam_on), std::get<2>(beam)) && same_batch(std::get<3>(beam_on), std::get<3>(beam))));
    auto const found = rowan::beam_search_decode_op::run(Cpu{}, std::get<0>(beam), std::get<2>(beam));
    auto const found_on = rowan::beam_search_decode_op::run(D{}, std::get<0>(beam_on), std::get<2>(beam_on));
    CHECK((same_batch(std::get<0>(found_on), std::get<0>(found)) && same_batch(std::get<1>(found_on), std::get<1>(found))));
    auto const soft = rowan::sequence_softmax_op::run(Cpu{}, x);
    CHECK(same_batch(rowan::sequence_softmax_op::run(D{}, x_on), soft));
    CHECK(same_batch(rowan::sequence_softmax_op::backward(D{}, to_device<D>(soft), x_on), rowan::sequence_softmax_op::backward(Cpu{}, soft, x)));
    CHECK(same_batch(rowan::sequence_reverse_op::run(D{}, x_on), rowan::sequence_reverse_op::run(Cpu{}, x)));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_reverse_op>::run(D{}, x_on, x_on), rowan::sequence_reverse_op::run(Cpu{}, x)));
    auto const joined = rowan::sequence_concat_op::run(Cpu{}, std::vector{x.share(), soft.share()});
    auto const joined_on = rowan::sequence_concat_op::run(D{}, std::vector{x_on.share(), to_device<D>(soft)});
    CHECK(same_batch(joined_on, joined));
    CHECK(same_batch(rowan::sequence_concat_op::backward(D{}, std::vector{x_on.share(), x_on.share()}, joined_on)[1], soft));
    LoDTensor<float> const nested(x.value(), Lod{{0, 2, 3}, {0, 2, 2, 9}});
    auto const nested_on = to_device<D>(nested);
    auto const paragraphs = rowan::sequence_concat_op::run(Cpu{}, std::vector{nested.share(), nested.share()}, {0});
    CHECK(same_batch(rowan::sequence_concat_op::run(D{}, std::vector{nested_on.share(), nested_on.share()}, {0}), paragraphs));
    CHECK(same_batch(rowan::sequence_concat_op::backward(D{}, std::vector{nested_on.share(), nested_on.share()}, to_device<D>(paragraphs), {0})[1], nested));
    auto const longer = rowan::concat_op::run(D{}, std::vector{nested_on.share(), nested_on.share()}, {0});
    CHECK(same_batch(longer, rowan::concat_op::run(Cpu{}, std::vector{nested.share(), nested.share()}, {0})));
    CHECK(same_batch(rowan::concat_op::backward(D{}, std::vector{nested_on.share(), nested_on.share()}, longer, {0})[0], nested));
    LoDTensor<std::int64_t> const first({1, 0, 3}), count({1, 0, 2});
    auto const first_on = to_device<D>(first), count_on = to_device<D>(count);
    auto const kept = rowan::sequence_slice_op::run(Cpu{}, x, first, count);
    CHECK(same_batch(rowan::sequence_slice_op::run(D{}, x_on, first_on, count_on), kept));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_slice_op>::run(D{}, x_on, first_on, count_on, to_device<D>(kept)), rowan::gradient_operator<rowan::sequence_slice_op>::run(Cpu{}, x, first, count, kept)));
    auto const wide = rowan::sequence_reshape_op::run(Cpu{}, x, {1});
    CHECK(same_batch(rowan::sequence_reshape_op::run(D{}, x_on, {1}), wide));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_reshape_op>::run(D{}, x_on, to_device<D>(wide)), x));
    for (bool const restore : {false, true}) {
        auto const sorted = rowan::reorder_op::run(Cpu{}, x, x, {.restore = restore});
        CHECK(same_batch(rowan::reorder_op::run(D{}, x_on, x_on, {.restore = restore}), sorted));
        CHECK(same_batch(rowan::reorder_op::backward(D{}, x_on, x_on, to_device<D>(sorted), {.restore = restore}), x));
    }
    auto const step = to_device<D>(LoDTensor<std::int64_t>(Tensor<std::int64_t>{1}));
    auto const alive = rowan::shrink_op::run(D{}, x_on, x_on, step);
    CHECK(same_batch(alive, x.slice(0, 2)));
    CHECK(same_batch(rowan::shrink_op::backward(D{}, x_on, alive), rowan::shrink_op::backward(Cpu{}, x, x.slice(0, 2))));
    LoDTensor<std::int32_t> const places({2, 0, 1, 3, 3}, Lod{{0, 3, 3, 4, 5}});  // scatter_add of duplicates has other bits on a device
    LoDTensor<float> const base(filled<float>({4, 4, 2}, 6)), updates(filled<float>({5, 2}, 7));
    auto const scattered = rowan::sequence_scatter_op::run(Cpu{}, base, places, updates);
    CHECK(same_batch(rowan::sequence_scatter_op::run(D{}, to_device<D>(base), to_device<D>(places), to_device<D>(updates)), scattered));
    CHECK(same_batch(rowan::sequence_scatter_op::backward(D{}, to_device<D>(places), to_device<D>(updates), to_device<D>(scattered)), rowan::sequence_scatter_op::backward(Cpu{}, places, updates, scattered)));
    rowan::SequenceTopKMeanOptions const tops{{2, 5, 1}};
    auto const means = rowan::sequence_top_k_mean_op::run(Cpu{}, x, tops);
    CHECK(same_batch(rowan::sequence_top_k_mean_op::run(D{}, x_on, tops), means));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_top_k_mean_op>::run(D{}, x_on, to_device<D>(means), tops), rowan::gradient_operator<rowan::sequence_top_k_mean_op>::run(Cpu{}, x, means, tops)));
    auto const [padded, length] = rowan::sequence_pad_op::run(Cpu{}, x, {.pad_value = 2, .length = 8});
    auto const [padded_on, length_on] = rowan::sequence_pad_op::run(D{}, x_on, {.pad_value = 2, .length = 8});
    CHECK(same_batch(padded_on, padded));
    CHECK(same_batch(length_on, length));
    CHECK(same_batch(rowan::sequence_pad_op::backward(D{}, x_on, padded_on), x));
    rowan::SequencePadOptions columns{.length = 8, .pad_values = {}};
    for (std::size_t k = 0; k < x.value().row_size(); ++k) columns.pad_values.push_back(static_cast<double>(k));
    CHECK(same_batch(std::get<0>(rowan::sequence_pad_op::run(D{}, x_on, columns)), std::get<0>(rowan::sequence_pad_op::run(Cpu{}, x, columns))));
    CHECK(same_batch(rowan::sequence_unpad_op::run(D{}, padded_on, length_on), x));
    CHECK(same_batch(rowan::gradient_operator<rowan::sequence_unpad_op>::run(D{}, padded_on, length_on, x_on), rowan::gradient_operator<rowan::sequence_unpad_op>::run(Cpu{}, padded, length, x)));
    LoDTensor<float> const w(filled<float>({3, 3}, 3));
    rowan::SequenceContextOptions const window{-1, 4, 2};
    auto const windows = rowan::sequence_context_op::run(Cpu{}, x, window);
    auto const windows_on = rowan::sequence_context_op::run(D{}, x_on, window);
    CHECK(same_batch(windows_on, windows));
    CHECK(same_batch(rowan::padded_sequence_context_op::run(D{}, x_on, to_device<D>(w), window), rowan::padded_sequence_context_op::run(Cpu{}, x, w, window)));
    CHECK(same_batch(rowan::sequence_context_op::backward(D{}, x_on, windows_on, window), rowan::sequence_context_op::backward(Cpu{}, x, windows, window)));
    CHECK(same_batch(rowan::sequence_padding_grad_op::run(D{}, x_on, to_device<D>(w), windows_on, window), rowan::sequence_padding_grad_op::run(Cpu{}, x, w, windows, window)));
    CHECK(same_bits(rowan::sequence_mask_op::run(D{}, length_on.value(), {.max_length = 4}), rowan::sequence_mask_op::run(Cpu{}, length.value(), {.max_length = 4})));
    LoDTensor<std::int32_t> const tokens({3, 1, 4, 1, 5}, Lod{{0, 3, 3, 5}}), offset({0, 3, 9});
    CHECK(same_batch(rowan::sequence_erase_op::run(D{}, to_device<D>(tokens), {.tokens = {1}}), rowan::sequence_erase_op::run(Cpu{}, tokens, {.tokens = {1}})));
    CHECK(same_batch(rowan::lod_reset_op::run(D{}, to_device<D>(drop_levels(x)), x_on), x));
    CHECK(rowan::lod_from_offsets_op::run(D{}, x_on, to_device<D>(offset)).lod() == Lod{{0, 3, 9}});
    CHECK(same_batch(rowan::drop_levels_op::run(D{}, x_on), LoDTensor<float>(x.value().share())));
    CHECK(same_batch(rowan::drop_levels_grad_op::run(D{}, x_on, to_device<D>(drop_levels(x))), x));
}

template <class T, class D>
void attend(Lod const& queries, Lod const& keys, rowan::SequenceAttentionOptions const& options) {
    auto const batch = [](std::size_t width, Lod const& lod, unsigned seed) { return LoDTensor<T>(filled<T>({static_cast<std::size_t>(lod.rows()), width}, seed), lod); };
    auto const query = batch(4, queries, 1), key = batch(4, keys, 2), value = batch(6, keys, 3), grad = batch(6, queries, 4);
    auto const query_on = to_device<D>(query), key_on = to_device<D>(key), value_on = to_device<D>(value), grad_on = to_device<D>(grad);
    CHECK(same_batch(rowan::sequence_attention_op::run(D{}, query_on, key_on, value_on, options), rowan::sequence_attention_op::run(Cpu{}, query, key, value, options)));
    auto const grads_on = rowan::sequence_attention_op::backward(D{}, query_on, key_on, value_on, grad_on, options);
    auto const grads = rowan::sequence_attention_op::backward(Cpu{}, query, key, value, grad, options);
    CHECK(same_batch(std::get<0>(grads_on), std::get<0>(grads)));
    CHECK(same_batch(std::get<1>(grads_on), std::get<1>(grads)));
    CHECK(same_batch(std::get<2>(grads_on), std::get<2>(grads)));
}

TEMPLATE_TEST_CASE("attention on a device has the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    for (bool const causal : {false, true}) {
        attend<float, TestType>(Lod::from_lengths({{3, 0, 1, 0, 70, 2}}), Lod::from_lengths({{2, 1, 0, 0, 90, 65}}), {.heads = 2, .causal = causal});
        attend<rowan::bfloat16, TestType>(Lod{{0, 2}, {0, 1, 5}}, Lod{{0, 4, 5}}, {.scale = 2, .causal = causal});
    }
    attend<float, TestType>(Lod{{0}}, Lod{{0}}, {});
}

template <class T, class D>
void crfs() {
    for (auto const& lengths : {std::vector<std::int64_t>{}, {0}, {1}, {3, 0, 1, 2}, {63, 2, 65, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 9}}) {
        for (std::size_t const tags : {1u, 2u, 9u, 17u}) {
            auto const lod = Lod::from_lengths({lengths});
            auto const rows = static_cast<std::size_t>(lod.rows());
            LoDTensor<T> const x(filled<T>({rows, tags}, 1), lod);
            auto const w = filled<T>({tags + 2, tags}, 2), g = filled<T>({lengths.size(), 1}, 3);
            auto label = Tensor<std::int32_t>::from_shape({rows});
            for (std::size_t i = 0; i < rows; ++i) label(i) = static_cast<std::int32_t>(i * i % tags);
            auto const x_on = to_device<D>(x);
            auto const w_on = to_device<D>(w);
            auto const label_on = to_device<D>(label);
            CHECK(same_batch(rowan::linear_chain_crf_op::run(D{}, x_on, w_on, label_on), rowan::linear_chain_crf(Cpu{}, x, w, label)));
            auto const [x_grad, w_grad] = rowan::gradient_operator<rowan::linear_chain_crf_op>::run(D{}, x_on, w_on, label_on, LoDTensor<T, D>(to_device<D>(g)));
            auto const [x_want, w_want] = rowan::linear_chain_crf_grad(Cpu{}, x, w, label, g);
            CHECK(same_batch(x_grad, x_want));
            CHECK(same_bits(w_grad, w_want));
            CHECK(same_batch(rowan::crf_decoding_op::run(D{}, x_on, w_on), rowan::crf_decoding(Cpu{}, x, w)));
            CHECK(same_batch(rowan::crf_matches_op::run(D{}, x_on, w_on, label_on), rowan::crf_decoding(Cpu{}, x, w, label)));
        }
    }
}

TEMPLATE_TEST_CASE("conditional random fields on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    crfs<float, TestType>();
    crfs<double, TestType>();
}

}  // namespace op_bags
