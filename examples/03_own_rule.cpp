// Custom optimizers: update_rows sums the duplicates and calls a rule once for every row of the gradient.
//
//     table [1 1]   rows [3 1 3]   value [ 1 0]   summed   1: [ 0 2]   rule(g, p, count) for row 1, then for row 3
//           [1 1]                        [ 0 2]            3: [-2 0]     g: the sum of the row, in the type of sums
//           [1 1]                        [-3 0]                          p, count: the rows of table and state;
//           [1 1]                                                            the state has one counter per row
#include <rowan/sparse.hpp>

#include <iostream>

// signSGD with momentum. Its elements do not depend on each other, so it is a formula over V, which is a SIMD register
// or a number: as a LaneRule, it has the speed of rowan's own optimizers.
struct signum {
    ROWAN_FORMULA void operator()(V const& g, V& p, V& moment) const {
        namespace lane = rowan::lane;
        V const zero = lane::constant<V>(0), step = lane::constant<V>(0.1);
        moment = lane::product(lane::constant<V>(0.9), moment) + lane::product(lane::constant<V>(0.1), g);
        p = p - lane::choose(moment > zero, step, lane::choose(moment < zero, zero - step, zero));
    }
};

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

    auto moment = rowan::Tensor<float>::zeros({4, 2});
    rowan::update_rows(grad, rowan::LaneRule{signum{}}, table, moment);
    std::cout << "with momentum: row 3 is " << table(3, 0) << ' ' << table(3, 1) << ", its moment " << moment(3, 0) << '\n';
}
