// A custom optimizer: update_rows sums the duplicates and calls a rule once for every row of the gradient.
//
//     table [1 1]   rows [3 1 3]   value [ 1 0]   summed   1: [ 0 2]   rule(g, p, count) for row 1, then for row 3
//           [1 1]                        [ 0 2]            3: [-2 0]     g: the sum of the row, in the type of sums
//           [1 1]                        [-3 0]                          p, count: the rows of table and state;
//           [1 1]                                                            the state has one counter per row
#include <rowan/sparse.hpp>

#include <iostream>

int main() {
    auto table = rowan::Tensor<float>::full({4, 2}, 1.0f);
    auto counts = rowan::Tensor<std::int32_t>::zeros({4});
    rowan::SelectedRows<float> grad(4, {3, 1, 3}, {{1, 0}, {0, 2}, {-3, 0}});

    // signSGD, and a counter of updates per row
    auto sign_sgd = [](auto g, auto p, auto count) {
        for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.1f * static_cast<float>((g[i] > 0) - (g[i] < 0));
        ++count[0];
    };
    rowan::update_rows(grad, sign_sgd, table, counts);
    rowan::update_rows(grad, sign_sgd, table, counts);

    for (std::size_t i = 0; i < 4; ++i) {
        std::cout << "row " << i << ": " << table(i, 0) << ' ' << table(i, 1) << ", trained " << counts(i) << " times\n";
    }
}
