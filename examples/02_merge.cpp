// A word that occurs twice in a batch has two rows in the gradient. merge() sums such rows, always in the same order.
//
//     rows [5 0 5]     value [1 2]     merge ->     rows [0 5]     value [3 4]
//                            [3 4]                                       [6 8]
//                            [5 6]
#include <rowan/sparse.hpp>

#include <iostream>

void print(char const* name, rowan::SelectedRows<float> const& g) {
    std::cout << name << (g.merged() ? " (merged)\n" : "\n");
    for (std::size_t i = 0; i < g.rows().size(); ++i) {
        std::cout << "  row " << g.rows()[i] << ":";
        for (float x : g.value().row(i)) std::cout << ' ' << x;
        std::cout << '\n';
    }
}

int main() {
    rowan::SelectedRows<float> g(8, {5, 0, 5}, {{1, 2}, {3, 4}, {5, 6}});
    print("as it came", g);
    print("merged", rowan::merge(g));

    // A RowPlan keeps the sort of a merge for several values and optimizers.
    rowan::RowPlan plan(g);
    std::cout << "plan: " << plan.size() << " lookups of " << plan.rows().size() << " rows\n";
    print("twice the value", rowan::merge(plan, rowan::scale(g, 2).value()));

    // Nonlinear functions need the sum first: norms and AdaGrad read 6 and 8, not 1, 2, 5 and 6.
    std::cout << "squared norm " << rowan::squared_norm(g) << '\n';
    auto param = rowan::Tensor<float>::zeros({8, 2});
    auto moment = rowan::Tensor<float>::zeros({8, 2});
    rowan::adagrad(plan, param, moment, g.value(), {.learning_rate = 1.0, .epsilon = 0.0});
    std::cout << "adagrad: moment of row 5 is " << moment(5, 0) << ' ' << moment(5, 1) << ", it moved to " << param(5, 0) << '\n';
}
