// tests/distributed/dense_allreduce.cpp
#include <rowan/distributed/dense_allreduce.hpp>

#include "../dtypes/own_types.hpp"
#include "on_ranks.hpp"
#include "parts.hpp"

#include <string>

namespace test_dense_allreduce {

using namespace rowan;
using parts::bits, parts::of_rank;

template <class T>
void check(std::vector<Tensor<T>> const& all, std::vector<int> const& sizes, int per_node = 0) {
    auto const want = bits(sum_of_parts(all));
    for (int const n : test::group_sizes(sizes)) {
        auto const sums = test::on_ranks(
            n,
            [&](auto const& comm) {
                return bits(dense_allreduce(Cpu{1}, comm, of_rank(all, comm.rank(), comm.size())));
            },
            per_node);
        CAPTURE(n, per_node, all.size(), all[0].size());
        for (auto const sum : sums) CHECK(sum == want);
    }
}

TEST_CASE("dense parts have the bits of one process, for any number of ranks", "[distributed]") {
    check(parts::make_dense<float>(8, {37, 100}), {1, 2, 3, 4, 5, 6, 7, 8});
    for (std::size_t const n : {3U, 5U, 13U, 64U}) check(parts::make_dense<float>(n, {3, 5}), {1, 2, 3});
}

TEST_CASE("dense parts have the bits of one process on several nodes, of as many ranks or not", "[distributed]") {
    for (int const per_node : {1, 2, 3, 4}) {
        check(parts::make_dense<float>(8, {37, 100}), {3, 4, 5, 6, 7, 8}, per_node);
        for (std::size_t const n : {7U, 13U, 64U}) check(parts::make_dense<float>(n, {3, 5}), {4, 5, 7}, per_node);
        check(parts::make_dense<float>(8, {1}), {4, 8}, per_node);
        check(parts::make_dense<float>(5, {0, 5}), {5}, per_node);
    }
    check(parts::make_dense<double>(5, {70}), {4, 5}, 2);
    check(parts::make_dense<bfloat16>(5, {70}), {4, 5}, 2);
}

TEST_CASE("tensors of few elements, and of none", "[distributed]") {
    check(parts::make_dense<float>(4, {}), {1, 2, 4});
    check(parts::make_dense<float>(4, {1}), {1, 3, 4});
    check(parts::make_dense<float>(4, {0, 5}), {1, 3});
}

TEST_CASE("dense parts of double, bfloat16 and an own type", "[distributed]") {
    check(parts::make_dense<double>(5, {70}), {1, 3});
    check(parts::make_dense<bfloat16>(5, {70}), {1, 2, 3});
    std::vector<Tensor<test::dual>> own;
    for (int p = 0; p < 5; ++p) own.push_back(Tensor<test::dual>::full({70}, {0.1 * p, 1e9 / (p + 1)}));
    check(own, {1, 3});
}

TEST_CASE("dense sums that are added rank by rank differ", "[distributed]") {
    auto const all = parts::make_dense<float>(8, {1000});
    auto const serial = [&](std::size_t begin, std::size_t end) {
        auto sum = all[begin];
        for (std::size_t p = begin + 1; p < end; ++p) sum += all[p];
        return sum;
    };
    CHECK(bits(serial(0, 8)) != bits(sum_of_parts(all)));
    CHECK(bits(Tensor<float>(serial(0, 4) + serial(4, 8))) != bits(sum_of_parts(all)));
}

TEST_CASE("the sum of dense parts is in memory of its own", "[distributed]") {
    for (int const n : {1, 2}) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            Tensor<float> const t{1, 2};
            auto sum = dense_allreduce(Cpu{1}, comm, t);
            sum(0) += 1;
            return t(0) == 1 && sum(0) == static_cast<float>(n + 1) ? 1 : 0;
        });
        for (int const r : right) CHECK(r == 1);
    }
}

TEST_CASE("dense parts that are wrong on one rank are an error on all, and work goes on", "[distributed][errors]") {
    using Parts = std::vector<Tensor<float>>;
    auto const refused = [&](std::string const& text, auto const& call) {
        auto const right = test::on_ranks(3, [&](auto const& comm) {
            int thrown = 0;
            try {
                call(comm);
            } catch (Error const& e) {
                thrown = std::string(e.what()).find(text) != std::string::npos ? 1 : 0;
            }
            return thrown + (dense_allreduce(Cpu{1}, comm, Tensor<float>{1})(0) == 3 ? 2 : 0);
        });
        CAPTURE(text);
        for (int const r : right) CHECK(r == 3);
    };
    refused("parts", [](auto const& comm) { dense_allreduce(Cpu{1}, comm, comm.rank() == 1 ? Parts{} : Parts{{1}}); });
    refused("parts", [](auto const& comm) {
        dense_allreduce(Cpu{1}, comm, comm.rank() == 1 ? Parts{{1}, {1, 2}} : Parts{{1}});
    });
    refused("the shape on rank 2 is [2], expected [1], as on rank 0", [](auto const& comm) {
        dense_allreduce(Cpu{1}, comm, comm.rank() == 2 ? Tensor<float>{1, 2} : Tensor<float>{1});
    });
    refused("shape", [](auto const& comm) {
        dense_allreduce(Cpu{1}, comm, comm.rank() == 2 ? Tensor<float>{{1, 2}} : Tensor<float>{{1}, {2}});
    });
    refused("the element type on rank 1 is f64, expected f32, as on rank 0", [](auto const& comm) {
        if (comm.rank() == 1) {
            dense_allreduce(Cpu{1}, comm, Tensor<double>{1});
        } else {
            dense_allreduce(Cpu{1}, comm, Tensor<float>{1});
        }
    });
}

}  // namespace test_dense_allreduce
