// Memory that a program already has: rowan reads and writes it without a copy, and other libraries those of rowan.
//
//     std::vector<float> weights  1 2 3 4 5 6       borrow(weights, {3, 2})   [1 2]      both see
//                                 the same memory  ------------------------>  [3 4]      each other's writes
//                                                                             [5 6]
#include <rowan/sparse.hpp>

#include <xtensor/xadapt.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

int main() {
    using rowan::Tensor;

    // a vector as a table: what rowan writes is in the vector. A pointer works like this too: borrow(data, {3, 2}),
    // with the data() of an Eigen matrix in row-major order, for example.
    std::vector<float> weights{1, 2, 3, 4, 5, 6};
    auto table = Tensor<float>::borrow(weights, {3, 2});
    rowan::scatter_add(table, {2, 0}, Tensor<float>{{10, 10}, {20, 20}});
    for (float const x : weights) std::printf("%g ", x);

    // const memory: a const tensor, which functions read
    float const fixed[] = {1, 2, 3, 4};
    auto const rows = rowan::gather(Tensor<float>::borrow(fixed, {2, 2}), {1, 1, 0});
    std::printf("\n%g %g, %g %g, %g %g\n", rows(0, 0), rows(0, 1), rows(1, 0), rows(1, 1), rows(2, 0), rows(2, 1));

    // an owner keeps the memory alive for the tensor and its aliases; a temporary is its own owner
    auto const batch = std::make_shared<std::vector<float>>(4, 1.0f);
    auto part = Tensor<float>::borrow(*batch, {2, 2}, batch).slice(1, 2);
    auto moved = Tensor<float>::borrow(std::vector<float>{7, 8, 9});
    std::printf("%ld users of the batch, the last of 3: %g\n", batch.use_count(), moved(2));

    // the other way: a tensor's memory as a span, for standard algorithms
    auto t = Tensor<float>::from_shape({2, 3});
    std::span<float> const all(t.data(), t.size());
    std::iota(all.begin(), all.end(), 1.0f);
    std::ranges::reverse(t.row(1));

    // as an xtensor of fixed rank; for Eigen: Eigen::Map<RowMajorMatrix>(t.data(), rows, cols)
    auto matrix = xt::adapt(t.data(), t.size(), xt::no_ownership(), std::array<std::size_t, 2>{2, 3});
    matrix(0, 0) = 100;

    // by index, and with the index computed as in other matrix libraries: row i begins at i * t.row_size()
    std::printf("%g %g, %g %g\n", t(0, 0), t.data()[0 * t.row_size() + 0], t(1, 2), t.data()[1 * t.row_size() + 2]);
}
