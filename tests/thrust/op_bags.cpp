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
                CHECK(same_bits(rowan::embedding_bag_grad_op::run(D{}, table_on, ids_on, grads_on, {pool}), rowan::embedding_bag_grad(Cpu{}, table, ids, out_grad, {pool})));
                CHECK(same_batch(rowan::weighted_embedding_bag_op::run(D{}, table_on, ids_on, weight_on, {pool}), rowan::embedding_bag(Cpu{}, table, ids, weight, {pool})));
                auto const [rows, weights] = rowan::weighted_embedding_bag_grad_op::run(D{}, table_on, ids_on, weight_on, grads_on, {pool});
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
        CHECK(same_batch(rowan::sequence_pool_grad_op::run(D{}, x_on, to_device<D>(want), {pool, -1}), rowan::sequence_pool_grad_op::run(Cpu{}, x, want, {pool, -1})));
    }
    LoDTensor<float> const rows(filled<float>({3, 4}, 2));
    auto const want = rowan::sequence_expand_op::run(Cpu{}, rows, x, {});
    CHECK(same_batch(rowan::sequence_expand_op::run(D{}, to_device<D>(rows), x_on, {}), want));
    CHECK(same_batch(rowan::sequence_expand_grad_op::run(D{}, to_device<D>(rows), x_on, to_device<D>(want), {}), rowan::sequence_expand_grad_op::run(Cpu{}, rows, x, want, {})));
    LoDTensor<std::int64_t> const ids({2, 1, 0, 2});
    auto const picked = rowan::pick_sequences_op::run(Cpu{}, x, ids);
    CHECK(same_batch(rowan::pick_sequences_op::run(D{}, x_on, to_device<D>(ids)), picked));
    CHECK(same_batch(rowan::pick_sequences_grad_op::run(D{}, x_on, to_device<D>(ids), to_device<D>(picked)), rowan::pick_sequences_grad_op::run(Cpu{}, x, ids, picked)));
    CHECK(same_batch(rowan::drop_levels_op::run(D{}, x_on), LoDTensor<float>(x.value().share())));
    CHECK(same_batch(rowan::drop_levels_grad_op::run(D{}, x_on, to_device<D>(drop_levels(x))), x));
}

}  // namespace op_bags
