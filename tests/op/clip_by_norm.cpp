// tests/op/clip_by_norm.cpp
#include <rowan/op/optimizer/clip_by_norm.hpp>

#include "catch.hpp"
#include "inputs.hpp"
#include "reference.hpp"

#include <cmath>

namespace test_clip_by_norm {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor;

namespace {

SelectedRows<double> const g(4, {2, 0, 2}, {{1, 0}, {0, 2}, {2, 0}});  // stands for rows (0, 2), 0, (3, 0), 0: norm √13

}  // namespace

TEST_CASE("a gradient is scaled to a norm only if its own norm is greater", "[op]") {
    Tensor<double> const x{{3, 4}};
    CHECK((rowan::clip_by_norm(Cpu{}, x, {5}) == x));
    CHECK((rowan::clip_by_norm(Cpu{}, x, {2.5}) == Tensor<double>{{1.5, 2}}));
    CHECK((rowan::clip_by_norm(Cpu{}, x, {0}) == Tensor<double>{{0, 0}}));
}

TEST_CASE("the norm of a row-sparse gradient equals that of the dense gradient", "[op]") {
    SelectedRows<double> const merged(4, {0, 2}, {{0, 2}, {3, 0}});
    double const factor = 1 / std::sqrt(13.0);
    SelectedRows<double> const small(4, {0, 2}, {{0, 2 * factor}, {3 * factor, 0}});
    for (auto const& x : {g, merged}) {
        CHECK((rowan::clip_by_norm(Cpu{}, x, {1}) == small));
        CHECK((rowan::clip_by_norm(Cpu{}, x, {4}) == merged));  // √(1 + 4 + 4) is less, √13 too
        CHECK(!(rowan::clip_by_norm(Cpu{}, x, {3.5}) == merged));  // √9, which ignores duplicates, would be less than 3.5
    }
    CHECK((merged.value() == Tensor<double>{{0, 2}, {3, 0}}));  // which was not scaled in place
}

TEST_CASE("norms are right whose squares do not fit a float", "[op]") {
    for (auto const& [x, max_norm, y] : {std::tuple{3e20F, 5.0, 3.0F}, {3e-24F, 1e-24, 6e-25F}}) {
        Tensor<float> const dense{{x, x / 3 * 4}};
        SelectedRows<float> const sparse(4, {2}, Tensor<float>{{x, x / 3 * 4}});
        CHECK(rowan::clip_by_norm(Cpu{}, dense, {max_norm})(0, 0) == Approx(y).epsilon(1e-6));
        CHECK(rowan::clip_by_norm(Cpu{}, sparse, {max_norm}).value()(0, 0) == Approx(y).epsilon(1e-6));
        auto const [d, s] = rowan::clip_by_global_norm(Cpu{}, std::vector{dense}, std::vector{sparse}, {max_norm * std::sqrt(2.0)});
        CHECK((d[0](0, 0) == Approx(y).epsilon(1e-6) && s[0].value()(0, 0) == Approx(y).epsilon(1e-6)));
    }
}

TEST_CASE("norms and factors are right that do not fit a double", "[op]") {
    using Dense = Tensor<double>;
    auto const clipped = [](double x, double max_norm) {
        Dense const dense{{3 * x, 4 * x}};
        auto const y = rowan::clip_by_norm(Cpu{}, dense, {max_norm});
        CHECK(rowan::clip_by_norm(Cpu{}, SelectedRows<double>(4, {2}, dense), {max_norm}).value() == y);
        CHECK(rowan::clip_by_norm(Cpu{}, SelectedRows<double>(4, {2, 2}, Dense{{x, 4 * x}, {2 * x, 0}}), {max_norm}).value() == y);
        return y;
    };
    CHECK((clipped(0x1p1000, 5) == Dense{{3, 4}}));
    CHECK((clipped(0x1p1000, 0x1p-1000 * 5) == Dense{{0x1p-1000 * 3, 0x1p-1000 * 4}}));  // the factor is 2^-2000
    CHECK((clipped(0x1p-1000, 0x1p-1001 * 5) == Dense{{0x1p-1001 * 3, 0x1p-1001 * 4}}));
    CHECK((clipped(0x1p-1000, 0x1p-997) == Dense{{0x1p-1000 * 3, 0x1p-1000 * 4}}));
    CHECK((clipped(0x1p-1060, 0x1p-1061 * 5) == Dense{{0x1p-1061 * 3, 0x1p-1061 * 4}}));
    CHECK((clipped(0x1p1000, 0) == Dense{{0, 0}}));
    CHECK((rowan::clip_by_norm(Cpu{}, Tensor<double>::full({4}, 0x1p1023), {4}) == Dense{2, 2, 2, 2}));  // nor does the norm
    Tensor<float> const x{{0x1p120F * 3, 0x1p120F * 4}}, y{{0x1p-20F * 3, 0x1p-20F * 4}};
    CHECK(rowan::clip_by_norm(Cpu{}, x, {0x1p-20 * 5}) == y);  // nor the factor 2^-140 a float
    CHECK((rowan::clip_by_norm(Cpu{}, SelectedRows<float>(4, {2, 1, 1}, {{0x1p120F * 3}, {0x1p120F * 3}, {0x1p120F}}), {0x1p-20 * 5}).value() == Tensor<float>{{0x1p-20F * 4}, {0x1p-20F * 3}}));
    CHECK(std::isnan(rowan::clip_by_norm(Cpu{}, Dense{{INFINITY, 1}}, {1})(0, 0)));
    CHECK(std::isnan(rowan::clip_by_norm(Cpu{}, Dense{{NAN, 0x1p1000}}, {1})(0, 1)));
}

TEST_CASE("the global norm is right whose square does not fit a double", "[op]") {
    auto const clipped = [](std::vector<double> const& parts, double max_norm) {
        std::vector<Tensor<double>> dense;
        for (double const x : parts) dense.push_back(Tensor<double>{{x}});
        auto const some = std::get<0>(rowan::clip_by_global_norm(Cpu{}, dense, std::vector<SelectedRows<double>>{}, {max_norm}));
        std::vector<double> y;
        for (auto const& x : some) y.push_back(x(0, 0));
        return y;
    };
    CHECK((clipped({0x1p1000 * 3, 1, 0, 0x1p-1000, 0x1p1000 * 4}, 5) == std::vector<double>{3, 0x1p-1000, 0, 0, 4}));
    CHECK((clipped({0x1p511, 0x1p511, 0x1p511, 0x1p511}, 4) == std::vector<double>{2, 2, 2, 2}));  // each square alone fits
    CHECK((clipped({0x1p-600, 0, 0x1p-600, 0x1p-600, 0x1p-600}, 0x1p-600) == std::vector<double>{0x1p-601, 0, 0x1p-601, 0x1p-601, 0x1p-601}));
    CHECK((clipped({0x1p-600 * 3, 0x1p-400 * 3, 0x1p-400 * 4}, 5) == std::vector<double>{0x1p-600 * 3, 0x1p-400 * 3, 0x1p-400 * 4}));
}

TEST_CASE("the global norm counts dense and row-sparse gradients together", "[op]") {
    std::vector<Tensor<double>> const dense{{{3, 4}}, {1}};
    std::vector<SelectedRows<double>> const sparse{g};
    double const norm = std::sqrt(25.0 + 1 + 13);
    auto const [d, s] = rowan::clip_by_global_norm(Cpu{}, dense, sparse, {norm / 2});
    CHECK(d[0](0, 1) == Approx(2));
    CHECK(d[1](0) == Approx(0.5));
    CHECK(s[0].rows().size() == 2);
    CHECK(s[0].value()(1, 0) == Approx(1.5));
    auto const [same_d, same_s] = rowan::clip_by_global_norm(Cpu{}, dense, sparse, {norm * 1.001});
    CHECK((same_d[0] == dense[0] && same_s[0] == rowan::merge(g)));
}

TEST_CASE("the norm of a dense tensor has the bits of the same rows as SelectedRows, on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({9'000, 37}, 1);
    std::vector<std::int64_t> rows(9'000);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    float const want = rowan::squared_norm(Cpu{1}, SelectedRows<float>(9'000, rows, x));
    for (int const threads : {1, 2, 8}) CHECK(rowan::squared_norm(Cpu{threads}, x) == want);
    CHECK(rowan::squared_norm(Tensor<float>::from_shape({0, 4})) == 0);
}

}  // namespace test_clip_by_norm
