// tests/core/tensor.cpp: Tensor as an xtensor container.
#include <rowan/core/tensor.hpp>

#include "catch.hpp"
#include "xtensor.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_tensor {

using rowan::Tensor;
using Shape = Tensor<float>::shape_type;

template <class T, class Device>
constexpr std::type_identity<T> element_of(Tensor<T, Device>&) {
    return {};
}

TEST_CASE("braces throw if the integer type cannot represent a number", "[tensor]") {
    CHECK_THROWS_AS(Tensor<std::int64_t>({1.5}), rowan::ValueError);
    CHECK_THROWS_AS(Tensor<std::uint8_t>({1, 256}), rowan::ValueError);
    CHECK_THROWS_AS(Tensor<std::uint8_t>({-1}), rowan::ValueError);
    CHECK_THROWS_AS(Tensor<std::int32_t>({1e20}), rowan::ValueError);
    CHECK_THROWS_AS(Tensor<std::int64_t>({0x1p63}), rowan::ValueError);
    CHECK_THROWS_AS(Tensor<std::int32_t>({std::numeric_limits<double>::quiet_NaN()}), rowan::ValueError);
    CHECK(Tensor<std::int64_t>({-0x1p63, 2.0})(0) == std::numeric_limits<std::int64_t>::min());
    CHECK(Tensor<std::uint8_t>({255, 0})(0) == 255);
}

TEST_CASE("the nesting of braces is the rank, also with width 1", "[tensor]") {
    CHECK(Tensor<float>{1, 2, 3}.shape() == Shape{3});
    CHECK(Tensor<float>{{1, 2}, {3, 4}, {5, 6}}.shape() == Shape{3, 2});
    CHECK(Tensor<float>{{1}, {2}}.shape() == Shape{2, 1});
    CHECK(Tensor<float>{{1}}.shape() == Shape{1, 1});
    CHECK(Tensor<float>{{{1, 2, 3}}, {{4, 5, 6}}}.shape() == Shape{2, 1, 3});
    CHECK(Tensor<float>{{{{1}, {2}}}, {{{3}, {4}}}}.shape() == Shape{2, 1, 2, 1});
    CHECK(Tensor<float>{{{{1}}}}.shape() == Shape{1, 1, 1, 1});
    Tensor<float> const t{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    for (std::size_t i = 0; i < 8; ++i) CHECK(t.data()[i] == static_cast<float>(i + 1));
    CHECK(t(1, 0, 1) == 6);
}

TEST_CASE("braces take numbers of other types, each converted once", "[tensor]") {
    CHECK(Tensor<rowan::bfloat16>{0.1, 1}(0).bits() == rowan::bfloat16(0.1F).bits());
    CHECK(Tensor<double>{1, 2.5F, 0.1}(2) == 0.1);
    CHECK(Tensor<std::int64_t>{1, std::int64_t{1} << 62}(1) == std::int64_t{1} << 62);
    CHECK(Tensor<bool>{{true, false}, {false, true}}(1, 1));
}

TEST_CASE("a vector of numbers gives rank 1, and from_values any shape", "[tensor]") {
    std::vector<float> const values{1, 2, 3, 4};
    CHECK(Tensor<float>(values) == Tensor<float>{1, 2, 3, 4});
    CHECK(Tensor<float>{values}.shape() == Shape{4});
    CHECK(Tensor<float>(std::vector<int>{7, 8}) == Tensor<float>{7, 8});
    CHECK(Tensor<bool>(std::vector<bool>{true, false}) == Tensor<bool>{true, false});
    CHECK(Tensor<rowan::bfloat16>(std::vector<double>{0.1})(0).bits() == rowan::bfloat16(0.1F).bits());
    CHECK(Tensor<float>(std::vector<float>{}).shape() == Shape{0});
    CHECK(Tensor<float>::from_values({2, 2}, values) == Tensor<float>{{1, 2}, {3, 4}});
    CHECK(Tensor<float>({2, 2}, values) == Tensor<float>{{1, 2}, {3, 4}});
    CHECK(!std::is_convertible_v<std::vector<float>, Tensor<float>>);  // a copy is asked for
    CHECK_THROWS_WITH(Tensor<float>::from_values({3, 2}, values), "from_values shape is [3, 2], expected 4 elements");
    CHECK_THROWS_AS(Tensor<std::int32_t>(std::vector<std::size_t>{1, ~std::size_t{0}}), rowan::ValueError);
}

TEST_CASE("from_shape allocates, zeros and full fill", "[tensor]") {
    CHECK(Tensor<float>::from_shape({3, 2}).shape() == Shape{3, 2});
    CHECK((Tensor<float>::zeros({2, 2}) == Tensor<float>{{0, 0}, {0, 0}}));
    CHECK((Tensor<float>::full({2, 1}, 0.5F) == Tensor<float>{{0.5F}, {0.5F}}));
    Tensor<float> t = Tensor<float>::from_shape({4});
    float const* const before = t.data();
    t.resize(Shape{2, 2});
    CHECK((t.data() == before && t.shape() == Shape{2, 2}));
}

TEST_CASE("a tensor without dims has one element, with a dim of 0 none, and a default tensor has shape [0]", "[tensor]") {
    auto const scalar = Tensor<float>::full({}, 7);
    CHECK((scalar.dimension() == 0 && scalar.size() == 1 && scalar() == 7));
    auto const empty = Tensor<float>::from_shape({3, 0, 2});
    CHECK((empty.size() == 0 && empty.row_size() == 0 && empty.row(2).empty()));
    CHECK(Tensor<float>().shape() == Shape{0});
    CHECK(Tensor<float>().row_size() == 1);
    CHECK(Tensor<float>(empty + 1).shape() == Shape{3, 0, 2});
    CHECK(Tensor<float>{}.shape() == Shape{0});
}

TEST_CASE("tensors work in xtensor expressions, on both sides of an assignment", "[tensor]") {
    Tensor<float> const p{{1, 2}, {3, 4}};
    Tensor<float> q = p + 1;
    CHECK((q == Tensor<float>{{2, 3}, {4, 5}}));
    q = 2 * q - p;
    CHECK((q == Tensor<float>{{3, 4}, {5, 6}}));
    q *= 2;
    CHECK((q == Tensor<float>{{6, 8}, {10, 12}}));
    q -= p * p;
    CHECK((q == Tensor<float>{{5, 4}, {1, -4}}));
    CHECK(Tensor<float>(xt::exp(p))(1, 0) == std::exp(3.0F));
    CHECK((Tensor<float>(xt::sum(p, {0})) == Tensor<float>{4, 6}));
    CHECK((Tensor<float>(xt::view(p, 1, xt::all())) == Tensor<float>{3, 4}));
    CHECK(Tensor<double>(p / 4.0)(0, 0) == 0.25);
    CHECK((Tensor<float>(p + Tensor<float>{10, 20}) == Tensor<float>{{11, 22}, {13, 24}}));  // broadcast
}

TEST_CASE("integers and truth values have their compound assignments", "[tensor]") {
    Tensor<std::int64_t> t{7, 12};
    t %= Tensor<std::int64_t>{4, 5};
    t |= Tensor<std::int64_t>{8, 1};
    t ^= Tensor<std::int64_t>{1, 1};
    t &= Tensor<std::int64_t>{14, 14};
    CHECK((t == Tensor<std::int64_t>{10, 2}));
}

TEST_CASE("functions deduce the element type and the device", "[tensor]") {
    Tensor<float> t;
    static_assert(std::is_same_v<decltype(element_of(t))::type, float>);
    CHECK(t.size() == 0);
}

TEST_CASE("row gives all elements of one row", "[tensor]") {
    Tensor<std::int32_t> t{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    CHECK(t.row_size() == 4);
    CHECK((t.row(1).size() == 4 && t.row(1)[0] == 5 && t.row(1)[3] == 8));
    t.row(0)[2] = 30;
    CHECK(t(0, 1, 0) == 30);
    CHECK((std::as_const(t).row(0).data() == t.data()));
}

TEST_CASE("a moved-from tensor has the shape [0] and can be used again", "[tensor]") {
    Tensor<float> t{{1, 2}, {3, 4}};
    float const* const memory = t.data();
    Tensor<float> const moved = std::move(t);
    CHECK((moved.data() == memory && moved.shape() == Shape{2, 2}));
    CHECK((t.shape() == Shape{0} && t.size() == 0));
    t = {5, 6};
    CHECK(t(1) == 6);
    Tensor<float> other{1};
    other = std::move(t);
    CHECK((other(1) == 6 && t.size() == 0));
    t.swap(other);
    CHECK((t(0) == 5 && other.size() == 0));
}

TEMPLATE_TEST_CASE("elements begin at multiples of 64 bytes, large blocks at multiples of 2 MiB", "[tensor]", std::uint8_t, float, double) {
    auto const address = [](std::size_t n) { return reinterpret_cast<std::uintptr_t>(Tensor<TestType>::from_shape({n}).data()); };
    for (std::size_t n : std::vector<std::size_t>{1, 2, 15, 16, 17, 1000}) CHECK(address(n) % 64 == 0);
    CHECK(address((std::size_t{5} << 20) / sizeof(TestType)) % (std::size_t{2} << 20) == 0);
}

TEST_CASE("a tensor throws for shapes that exceed memory and lists of unequal length", "[tensor][bad_input]") {
    constexpr std::size_t huge = std::size_t{1} << 62;
    Tensor<float> t{{1, 2}, {3, 4}};
    auto const before = t;
    for (Shape const& shape : {Shape{huge, 4}, {huge}, {~std::size_t{0}, 2}, {huge + 1, 4}, {0, huge, huge}}) {
        CHECK_THROWS_AS(Tensor<float>::from_shape(shape), rowan::ShapeError);
        CHECK_THROWS_AS(t.resize(shape), rowan::ShapeError);
        CHECK_THROWS_AS(t.reshape(shape), rowan::ShapeError);
        CHECK_THROWS_AS(t.reshaped(shape), rowan::ShapeError);
    }
    CHECK_THROWS_WITH(t.reshaped({3}), "reshaped shape is [3], expected 4 elements");
    CHECK_THROWS_WITH(t.reshape({-1, 3}), "reshape shape is [1, 3], expected 4 elements");
    CHECK_THROWS_WITH(t.reshape({-1, 0}), "reshape shape is [0, 0], expected 4 elements");
    CHECK(t == before);
    CHECK(t.reshape({-1, 1}).shape() == Shape{4, 1});
    CHECK_THROWS_AS(t += Tensor<float>::full({2, 4, 1}, 1), rowan::ShapeError);
    CHECK_THROWS_WITH(t += 2 * Tensor<float>({1, 2, 3}), "operand of compound assignment is [3], expected a shape that broadcasts to [4, 1]");
    CHECK_THROWS_AS(t -= Tensor<float>({1, 2, 3}) * Tensor<float>({1, 2}), rowan::ShapeError);
    CHECK_THROWS_WITH(t.reshape({-2, 3}), "reshape shape is [-2, 3], expected dims of 0 or more, or one -1");
    CHECK(t == before.reshaped({4, 1}));
    CHECK_THROWS_AS((Tensor<float>{{1, 2}, {3}}), rowan::ShapeError);
    CHECK_THROWS_AS((Tensor<float>{{{1}}, {{2, 3}}}), rowan::ShapeError);
    CHECK_THROWS_AS((Tensor<float>{{1, 2}, 3}), rowan::ShapeError);
}

TEST_CASE("a tensor throws for a rank above the maximum", "[tensor][bad_input]") {
    Tensor<float> t{{1, 2}, {3, 4}};
    Shape const too_many(Tensor<float>::max_rank + 1, 1);
    CHECK_THROWS_AS(Tensor<float>::from_shape(too_many), rowan::ShapeError);
    CHECK_THROWS_WITH(t.resize(too_many), "rank is 9, expected at most 8");
    CHECK(t == Tensor<float>{{1, 2}, {3, 4}});
    auto most = Tensor<float>::zeros(Shape(Tensor<float>::max_rank, 1));
    CHECK_THROWS_WITH(most.reshaped(too_many), "rank is 9, expected at most 8");
    CHECK_THROWS_WITH(most.slice(0, 0).reshaped(Shape(20, 0)), "rank is 20, expected at most 8");
    CHECK(most.reshaped({}).dimension() == 0);
    most = std::move(t);
    CHECK(most == Tensor<float>{{1, 2}, {3, 4}});
}

TEST_CASE("fewer indices than dims are refused, more are those of an expression", "[tensor][bad_input]") {
    Tensor<float> column{{1}, {2}, {3}}, matrix{{1, 2, 3}, {4, 5, 6}}, cube = Tensor<float>::full({2, 2, 2}, 7);
    Tensor<float> const row{10, 20, 30};
    auto const one = "operator(): number of indices is 1, expected at least 2, the number of dims";
    CHECK_THROWS_WITH(column(1), one);
    CHECK_THROWS_WITH(std::as_const(column)(1), one);
    CHECK_THROWS_WITH(column[1], one);
    CHECK_THROWS_WITH(std::as_const(column)[1], one);
    CHECK_THROWS_WITH((column[{1}]), one);
    CHECK_THROWS_WITH(column.element(row.shape().begin(), row.shape().end()), one);
    CHECK_THROWS_WITH(column.periodic(-1), one);
    CHECK_THROWS_WITH((column + column)(1), one);
    CHECK_THROWS_WITH(column(), "operator(): number of indices is 0, expected at least 2, the number of dims");
    CHECK_THROWS_WITH(row(), "operator(): number of indices is 0, expected at least 1, the number of dims");
    CHECK_THROWS_WITH(cube(1, 1), "operator(): number of indices is 2, expected at least 3, the number of dims");
    CHECK_THROWS_AS(cube(1), rowan::ShapeError);
    CHECK((column(1, 0) == 2 && row(1) == 20 && row[1] == 20 && (matrix[{1, 2}]) == 6 && matrix.periodic(-1, -1) == 6));
    CHECK((matrix + row)(1, 2) == 36);
    CHECK((row(5, 2) == 30 && row(0, 0, 1) == 20));  // the last ones count
    CHECK((Tensor<float>::full({}, 4)() == 4 && Tensor<float>::full({}, 4)(1, 2) == 4));
    CHECK(xt::sum(matrix)() == 21);
    CHECK((xt::eval(xt::view(matrix, 1, xt::all()))(2) == 6 && xt::view(matrix, xt::all(), 1)(1) == 5));
    CHECK((xt::transpose(matrix)(2, 1) == 6 && xt::broadcast(row, {4, 3})(3, 1) == 20));
    matrix(0, 1) = 8;
    matrix[{0, 2}] = 9;
    CHECK(matrix == Tensor<float>{{1, 8, 9}, {4, 5, 6}});
}

TEST_CASE("rows, slices and elements outside a tensor throw", "[tensor][bad_input]") {
    Tensor<float> t{{1, 2}, {3, 4}};
    CHECK_THROWS_WITH(t.row(2), "row = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(t.slice(0, 3), "slice[1] = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(t.slice(2, 1), "slice[0] = 2 is not in [0, 2)");
    CHECK_THROWS_AS(t.row(2), rowan::IndexError);
    CHECK_THROWS_WITH(t.row(~std::size_t{0}), "row = 18446744073709551615 is not in [0, 2)");
    CHECK_THROWS_WITH(t.at(0, 2), "at[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(std::as_const(t).at(-1, 0), "at[0] = -1 is not in [0, 2)");
    CHECK_THROWS_WITH(t.at(1), "at: number of indices is 1, expected 2");
    t.at(1, 0) = 7;
    CHECK(std::as_const(t).at(1, 0) == 7);
    CHECK(t.slice(2, 2).shape() == Shape{0, 2});
    CHECK_THROWS_AS(Tensor<float>::full({}, 1).row(0), rowan::ShapeError);
    CHECK_THROWS_AS(Tensor<float>::full({}, 1).slice(0, 0), rowan::ShapeError);
}

}  // namespace test_tensor
