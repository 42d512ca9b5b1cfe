// tests/consume/two_files/bits.hpp: the computation of both files.
#include <rowan/sparse.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

// The bytes of rowan's results on `threads` threads: sorted, merged, gathered and scattered rows, and a table after
// AdaGrad. There are duplicates, and enough elements for several threads.
std::string bits(int threads) {
    constexpr std::size_t n = 40'000, width = 8, height = 5'000;
    std::uint32_t random = 1;
    auto const next = [&] { return (random = random * 1'664'525 + 1'013'904'223) >> 8; };
    std::vector<std::int64_t> rows(n);
    for (auto& row : rows) row = next() % 2 == 0 ? 7 : next() % height;
    auto value = rowan::Tensor<float>::zeros({n, width});
    for (float& x : value) x = static_cast<float>(next()) * 0x1p-24f - 0.5f;
    rowan::SelectedRows<float> const grad(height, rows, value);
    auto table = rowan::Tensor<float>::zeros({height, width}), moment = table;

    std::string bytes;
    auto const add = [&](auto const& list) {
        bytes.append(reinterpret_cast<char const*>(list.data()), list.size() * sizeof list.data()[0]);
    };
    rowan::Cpu const exec{.threads = threads};
    add(rowan::RowPlan<>(exec, rows, height).positions());
    add(rowan::merge(exec, grad).value());
    rowan::scatter_add(exec, table, grad);
    add(rowan::gather(exec, table, rows));
    rowan::adagrad(exec, table, moment, grad, {.learning_rate = 0.1});
    add(table);
    return bytes;
}

}  // namespace
