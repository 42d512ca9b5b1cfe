// tests/sparse/add.cpp: sums of gradients and tables.
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>

namespace test_add {

using inputs::Rows, inputs::Shape;
using rowan::add, rowan::Cpu, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("the sum of two gradients is their concatenation", "[add][golden]") {
    SelectedRows<float> const a(10, {0, 4, 7}, Tensor<float>::full({3, 1}, 1));
    SelectedRows<float> const b(10, {0, 5, 7, 9}, Tensor<float>::full({4, 1}, 2));
    SelectedRows<float> const want(10, {0, 4, 7, 0, 5, 7, 9}, {{1}, {1}, {1}, {2}, {2}, {2}, {2}});
    CHECK(add(a, b) == want);
    CHECK(add(Cpu{.threads = 2}, a, b) == want);
    Tensor<float> const dense{{6}, {3}, {3}, {3}, {4}, {5}, {3}, {6}, {3}, {5}};
    CHECK((add(add(a, b), Tensor<float>::full({10, 1}, 3)) == dense));
    CHECK((add(Cpu{.threads = 2}, Tensor<float>::full({10, 1}, 3), add(a, b)) == dense));
}

TEST_CASE("a dense sum does not change its arguments, in either order", "[add]") {
    Tensor<float> const dense{{1, 2}, {3, 4}};
    SelectedRows<float> const g(2, {1}, {{10, 20}});
    CHECK((add(dense, g) == Tensor<float>{{1, 2}, {13, 24}}));
    CHECK((add(g, dense) == Tensor<float>{{1, 2}, {13, 24}}));
    CHECK((add(Cpu{}, g, dense) == Tensor<float>{{1, 2}, {13, 24}}));
    CHECK((dense == Tensor<float>{{1, 2}, {3, 4}}));
}

TEST_CASE("a sum of two ascending parts is marked as merged", "[add]") {
    SelectedRows<float> const low(9, {1, 2}, {{1}, {2}});
    SelectedRows<float> const high(9, {3}, {{3}});
    CHECK(add(low, high).merged());
    CHECK(!add(high, low).merged());
    CHECK(!add(low, low).merged());
}

TEST_CASE("gradients without rows add nothing", "[add]") {
    SelectedRows<float> const none(9, {}, Tensor<float>::from_shape({0, 2}));
    SelectedRows<float> const g(9, {3}, {{1, 2}});
    CHECK((add(none, g) == g && add(g, none) == g));
    CHECK(add(none, none).shape() == Shape{9, 2});
    CHECK(reference::same(add(Tensor<float>::full({9, 2}, 5), none), Tensor<float>::full({9, 2}, 5)));
}

TEST_CASE("a dense sum is scatter_add to a copy, of the sums of duplicates if the elements are narrower than sums", "[add]") {
    inputs::for_sizes<float>([](auto const& g) {
        auto const check = [&](auto const& dense, auto const& terms) {
            auto want = dense;
            reference::scatter_add(want, terms.rows(), terms.value());
            CHECK(reference::same(add(dense, g), want));
            CHECK(reference::same(add(Cpu{.threads = 2}, g, dense), want));
        };
        check(inputs::wild<rowan::bfloat16>(g.shape(), 3), reference::merge(g));
        check(inputs::wild<float>(g.shape(), 3), g);
    });
    SelectedRows<rowan::bfloat16> const ones(1, std::vector<std::int64_t>(1000), Tensor<rowan::bfloat16>::full({1000, 1}, rowan::bfloat16(1.0F)));
    CHECK((add(Tensor<rowan::bfloat16>{{24}}, ones) == Tensor<rowan::bfloat16>{{1024}}));
}

TEST_CASE("the sum equals the sum of the dense tensors", "[add][property]") {
    CHECK(rc::check([] {
        auto const a = inputs::arbitrary_gradient<float>(6, 2);
        auto const b = inputs::arbitrary_gradient<float>(6, 2);
        Tensor<float> const want = rowan::to_dense(a) + rowan::to_dense(b);
        RC_ASSERT(rowan::to_dense(add(a, b)) == want);
        RC_ASSERT(add(rowan::to_dense(a), b) == want);
    }));
}

TEST_CASE("terms that do not match throw", "[add][bad_input]") {
    SelectedRows<float> const g(4, {0}, {{1, 2}}), taller(5, {0}, {{1, 2}}), wider(4, {0}, {{1, 2, 3}});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { add(exec, g, taller); }, g, taller) == "b.height() is 5, expected 4");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { add(exec, g, wider); }, g, wider) == "b.value().shape() is [1, 3], expected [1, 2]");
    auto const short_table = test::ramp<float>({3, 2});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { add(exec, short_table, g); }, short_table) == "dense.shape(0) is 3, expected 4");
}

}  // namespace test_add
