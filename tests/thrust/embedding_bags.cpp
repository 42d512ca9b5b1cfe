// tests/thrust/embedding_bags.cpp: many tables by one kernel have the bits of the host.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <rowan/op/table/embedding_bags.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace test_thrust_embedding_bags {

namespace {

using namespace rowan;
using device::same_bits;

template <class D, class T, class I>
void check(std::vector<std::size_t> const& widths, std::vector<std::int64_t> const& lengths, Pooling pool, unsigned pruned) {
    CAPTURE(widths, lengths, pool, pruned);
    D const exec{};
    std::vector<Tensor<T>> tables;
    std::vector<Tensor<T, D>> there;
    for (std::size_t t = 0; t < widths.size(); ++t) {
        tables.push_back(device::filled<T>({9 + t, widths[t]}, static_cast<unsigned>(t)));
        there.push_back(to_device(exec, tables.back()));
    }
    auto const lod = Lod::from_lengths({lengths});
    auto numbers = Tensor<I>::from_shape({static_cast<std::size_t>(lod.rows())});
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers(i) = pruned != 0 && i % 11 < pruned ? I{-1} : static_cast<I>(i * i % 9);
    LoDTensor<I> const ids(numbers, lod);
    auto const far = to_device(exec, ids);
    auto const weight = device::filled<T>({numbers.size()}, 7);
    std::span<Tensor<T> const> const here(tables);
    std::span<Tensor<T, D> const> const all(there);
    auto const want = embedding_bags(here, ids, pool);
    CHECK(same_bits(embedding_bags(exec, all, far, pool), want));
    CHECK(same_bits(embedding_bags(exec, all, far, to_device(exec, weight), pool), embedding_bags(here, ids, weight, pool)));
    auto const grad = device::filled<T>(want.shape(), 5);
    auto const got = embedding_bags_grad(exec, all, far, to_device(exec, grad), pool);
    auto const grads = embedding_bags_grad(Cpu{}, here, ids, grad, pool);
    REQUIRE(got.size() == grads.size());
    for (std::size_t t = 0; t < got.size(); ++t) CHECK(same_bits(got[t], grads[t]));
    auto const [weighed, of_weight] = embedding_bags_grad(exec, all, far, to_device(exec, weight), to_device(exec, grad), pool);
    auto const [want_weighed, want_of_weight] = embedding_bags_grad(Cpu{}, here, ids, weight, grad, pool);
    for (std::size_t t = 0; t < got.size(); ++t) CHECK(same_bits(weighed[t], want_weighed[t]));
    CHECK(same_bits(of_weight, want_of_weight));
}

}  // namespace

TEMPLATE_TEST_CASE("many tables on a device have the bits of the host", "[thrust][embedding_bags]", ROWAN_TEST_DEVICES) {
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        for (unsigned const pruned : {0U, 3U, 11U}) {
            check<TestType, float, std::int64_t>({4, 8, 16}, {2, 0, 1, 3, 5, 0}, pool, pruned);
            check<TestType, float, std::int32_t>({4, 3, 0, 5}, {2, 0, 1, 3}, pool, pruned);
            check<TestType, bfloat16, std::int64_t>({8, 4}, {63, 64, 65, 66, 128, 129}, pool, pruned);
            check<TestType, float, std::int64_t>({3}, {4095, 4096, 4097, 9000, 0}, pool, pruned);
            check<TestType, double, std::int64_t>({4, 4}, {1, 270'000}, pool, pruned);
        }
    }
    check<TestType, float, std::int64_t>({4, 4}, {}, Pooling::sum, 0);
    check<TestType, float, std::int64_t>({0, 0}, {1, 2}, Pooling::mean, 0);
}

TEMPLATE_TEST_CASE("bad ids of many tables on a device are refused", "[thrust][embedding_bags][bad_input]", ROWAN_TEST_DEVICES) {
    TestType const exec{};
    std::vector<Tensor<float, TestType>> tables{Tensor<float, TestType>::zeros(exec, {4, 3}), Tensor<float, TestType>::zeros(exec, {2, 5})};
    std::span<Tensor<float, TestType> const> const all(tables);
    auto const refused = [&](LoDTensor<std::int64_t> const& ids) {
        return device::refusal<IndexError>([&] {
            auto const out = embedding_bags(exec, all, to_device(exec, ids));
            synchronize(exec);
        });
    };
    CHECK(refused({{3, 2}, Lod{{0, 1, 2}}}) == "ids[1] = 2 is not in [0, 2)");
    CHECK(refused({{-2, 1}, Lod{{0, 1, 2}}}) == "ids[0] = -2 is not in [0, 4)");
    tables[1] = Tensor<float, TestType>::zeros(exec, {0, 5});
    CHECK(refused({{3, 0}, Lod{{0, 1, 2}}}) == "ids[1] = 0 is not in [0, 0)");
}

}  // namespace test_thrust_embedding_bags
