// Adam on a table whose gradients touch a few rows. Lazy updates leave the other rows alone, so the result differs from
// that of dense gradients; deferred updates give the dense result, bit for bit, and touch as few rows. A closed form of
// the steps that a row has missed gives nearly the same result, in the time of one step.
//
//     step              1   2   3   4   5       row 7 has a gradient, g, in steps 1 and 5
//     dense     row 7   g   0   0   0   g       the moments of all rows decay, and the rows move with them
//     lazy      row 7   g               g       it misses steps 2 to 4
//     deferred  row 7   g            000g       it makes up for them when it is needed
#include <rowan/sparse.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <vector>

struct Table {
    rowan::Tensor<float> param = rowan::Tensor<float>::full({1000, 4}, 1.0f);
    rowan::Tensor<float> mean = rowan::Tensor<float>::zeros({1000, 4}), square = mean;
};

void compare(char const* name, Table const& a, Table const& dense) {
    bool const same = std::memcmp(a.param.data(), dense.param.data(), a.param.size() * sizeof(float)) == 0;
    float most = 0;
    for (std::size_t i = 0; i < a.param.size(); ++i) most = std::max(most, std::abs(a.param.data()[i] - dense.param.data()[i]));
    std::cout << name << ": " << (same ? "the same bits as dense\n" : "differs from dense by up to ");
    if (!same) std::cout << std::setprecision(1) << most << '\n';
}

int main() {
    Table dense, lazy, deferred, closed;
    rowan::Deferred<rowan::AdamOptions> optimizer(1000), fast(1000, {.catch_up = rowan::CatchUp::closed_form});
    for (int t = 1; t <= 300; ++t) {
        double const rate = 0.01 * std::min(1.0, t / 100.0);  // a warm-up
        std::vector<std::int64_t> const rows{t % 7, t * t % 1000};
        auto const value = rowan::Tensor<float>::full({2, 4}, static_cast<float>(t % 3) - 0.5f);
        rowan::SelectedRows<float> const grad(1000, rows, value);

        rowan::AdamOptions const options{.learning_rate = rate, .step = t};
        adam(dense.param, dense.mean, dense.square, to_dense(grad), options);
        adam(lazy.param, lazy.mean, lazy.square, grad, options);
        optimizer.step(grad, options, deferred.param, deferred.mean, deferred.square);
        fast.step(grad, options, closed.param, closed.mean, closed.square);
    }
    std::cout << "row 1 has missed " << optimizer.missed(1) << " steps, row 999 has missed " << optimizer.missed(999) << '\n';
    optimizer.flush(deferred.param, deferred.mean, deferred.square);
    fast.flush(closed.param, closed.mean, closed.square);
    compare("lazy", lazy, dense);
    compare("deferred", deferred, dense);
    compare("by a closed form", closed, dense);
}
