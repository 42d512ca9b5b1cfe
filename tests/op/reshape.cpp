// tests/op/reshape.cpp: shape, reshape, squeeze, unsqueeze, transpose and stack.
#include <rowan/op/shape/reshape.hpp>
#include <rowan/op/shape/shape.hpp>
#include <rowan/op/shape/stack.hpp>
#include <rowan/op/shape/transpose.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"
#include "refused.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_reshape {

using namespace rowan;
using Axes = std::vector<std::int64_t>;
using Shape = Tensor<double>::shape_type;

constexpr VarSpec spec_of_x = tensor_spec<float>({UNK, 3, 4}, 1);

Shape shape_of(Shape const& from, Axes const& to) { return rowan::reshape(Tensor<double>::zeros(from), to).shape(); }

TEST_CASE("shape gives the dims", "[op][golden]") {
    static_assert(shape_op::infer(spec_of_x) == tensor_spec<std::int64_t>({3}));
    CHECK((rowan::shape(Tensor<float>::zeros({2, 0, 7})) == Tensor<std::int64_t>{2, 0, 7}));
    CHECK((rowan::shape(Tensor<bool>::from_shape({3})) == Tensor<std::int64_t>{3}));
    CHECK(rowan::shape(Tensor<bfloat16>::from_shape({})).shape() == Shape{0});
    CHECK((rowan::shape(Tensor<double>::zeros({1, 2, 1, 2, 1, 2, 1, 2})) == Tensor<std::int64_t>{1, 2, 1, 2, 1, 2, 1, 2}));
    CHECK_THROWS_WITH(shape_op::infer(selected_rows_spec<float>({3, 2})), Catch::Contains("shape: x"));
}

TEST_CASE("reshape copies dims of 0 and computes one dim of -1", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}};
    auto alias = rowan::reshape(x, {3, 2});
    CHECK((alias == Tensor<float>{{1, 2}, {3, 4}, {5, 6}}));
    CHECK(alias.data() == x.data());
    CHECK(shape_of({2, 3, 4}, {0, -1}) == Shape{2, 12});
    CHECK(shape_of({2, 3, 4}, {-1, 0, 2}) == Shape{4, 3, 2});
    CHECK(shape_of({2, 3, 4}, {4, 0, -1, 1}) == Shape{4, 3, 2, 1});
    CHECK(shape_of({0, 3, 4}, {0, -1}) == Shape{0, 12});
    CHECK(shape_of({0, 3, 4}, {-1, 12}) == Shape{0, 12});
    CHECK(shape_of({}, {1, 1}) == Shape{1, 1});
    CHECK(shape_of({1}, {}) == Shape{});
    CHECK(shape_of({2, 2, 2, 2, 2, 2, 2, 2}, {-1}) == Shape{256});
}

TEST_CASE("the spec of a reshape has levels if the rows remain", "[op]") {
    auto const infer = [](VarSpec const& x, Axes const& shape) { return reshape_op::infer(x, {shape}); };
    CHECK(infer(spec_of_x, {0, -1}) == tensor_spec<float>({UNK, 12}, 1));
    CHECK(infer(spec_of_x, {-1, 2, 6}) == tensor_spec<float>({UNK, 2, 6}, 1));
    CHECK(infer(spec_of_x, {-1, 6}) == tensor_spec<float>({UNK, 6}));
    CHECK(infer(spec_of_x, {5, -1}) == tensor_spec<float>({5, UNK}));
    CHECK(infer(tensor_spec<float>({UNK, UNK, 4}, 1), {0, 0, 2, -1}) == tensor_spec<float>({UNK, UNK, 2, 2}, 1));
    CHECK(infer(tensor_spec<float>({6, 4}), {-1}) == tensor_spec<float>({24}));
    CHECK((reshape_op::row_wise({{0, -1}}) && !reshape_op::row_wise({{-1}}) && !reshape_op::row_wise({})));
    CHECK(squeeze_op::infer(tensor_spec<float>({UNK, 1, 4}, 1), {{1}}) == tensor_spec<float>({UNK, 4}, 1));
    CHECK(squeeze_op::infer(tensor_spec<float>({UNK, 1, 4}, 1), {{0, -2}}) == tensor_spec<float>({4}));
    CHECK(unsqueeze_op::infer(spec_of_x, {{-1, 1}}) == tensor_spec<float>({UNK, 1, 3, 4, 1}, 1));
    CHECK(unsqueeze_op::infer(spec_of_x, {{-4}}) == tensor_spec<float>({1, UNK, 3, 4}));
    CHECK(transpose_op::infer(spec_of_x, {{0, 2, 1}}) == tensor_spec<float>({UNK, 4, 3}, 1));
    CHECK(transpose_op::infer(spec_of_x) == tensor_spec<float>({4, 3, UNK}));
    CHECK(stack_op::infer(std::vector{spec_of_x, spec_of_x}, {-1}) == tensor_spec<float>({UNK, 3, 4, 2}, 1));
    CHECK(stack_op::infer(std::vector{spec_of_x}, {0}) == tensor_spec<float>({1, UNK, 3, 4}));
}

TEST_CASE("squeeze removes dims of 1, unsqueeze adds them", "[op][golden]") {
    auto const x = test::values({1, 3, 1, 2}, 1);
    CHECK(rowan::squeeze(x).shape() == Shape{3, 2});
    CHECK(rowan::squeeze(x, {-2}).shape() == Shape{1, 3, 2});
    CHECK(rowan::squeeze(Tensor<double>::full({1, 1}, 3), {0, 1}) == Tensor<double>::full({}, 3));
    CHECK(rowan::unsqueeze(x, {0, -1}).shape() == Shape{1, 1, 3, 1, 2, 1});
    CHECK(rowan::unsqueeze(Tensor<double>::zeros({0}), {1}).shape() == Shape{0, 1});
    CHECK(rowan::unsqueeze(x, {}).data() == x.data());
}

TEST_CASE("large transposes copy every element, on any number of threads", "[op]") {
    auto const check = []<class T>(Shape const& shape, std::vector<std::int64_t> const& perm, T) {
        auto x = Tensor<T>::from_shape(shape);
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(i % 127);
        auto const got = rowan::transpose(x, {perm});
        test::check_any_threads([&](Cpu exec) { return rowan::transpose(exec, x, {perm}); });
        CAPTURE(rowan::detail::shape_text(shape), sizeof(T));
        Shape strides = shape;
        for (std::size_t i = 0; i < shape.size(); ++i) strides[i] = detail::product_from(shape, static_cast<std::size_t>(perm[i]) + 1);
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            std::size_t rest = k, from = 0;
            for (std::size_t i = shape.size(); i-- > 0; rest /= got.shape(i)) from += rest % got.shape(i) * strides[i];
            wrong += got.data()[k] != x.data()[from];
        }
        CHECK(wrong == 0);
    };
    check({131, 67}, {1, 0}, float{});
    check({64, 16}, {1, 0}, float{});
    check({3, 70, 33}, {2, 1, 0}, double{});
    check({5, 65, 2, 17}, {1, 3, 0, 2}, std::int32_t{});
    check({7, 130, 66}, {0, 2, 1}, std::uint8_t{});
    check({1025, 1030}, {1, 0}, float{});
}

TEST_CASE("transpose reorders dims as NumPy's", "[op][golden]") {
    Tensor<float> const x{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
    CHECK((rowan::transpose(x) == Tensor<float>{{{1, 7}, {4, 10}}, {{2, 8}, {5, 11}}, {{3, 9}, {6, 12}}}));
    CHECK((rowan::transpose(x, {{0, 2, 1}}) == Tensor<float>{{{1, 4}, {2, 5}, {3, 6}}, {{7, 10}, {8, 11}, {9, 12}}}));
    CHECK((rowan::transpose(x, {{1, 0, -1}}) == Tensor<float>{{{1, 2, 3}, {7, 8, 9}}, {{4, 5, 6}, {10, 11, 12}}}));
    CHECK(rowan::transpose(Tensor<bool>::zeros({0, 3})).shape() == Shape{3, 0});
    CHECK(reference::same(rowan::transpose(Tensor<float>::full({}, 2)), Tensor<float>::full({}, 2)));
}

TEST_CASE("random orders of dims move every element to its place", "[op]") {
    inputs::Random random(11);
    for (int trial = 0; trial < 200; ++trial) {
        Shape shape;
        Axes perm;
        for (auto rank = random.below(9); rank > 0; --rank) {
            perm.insert(perm.begin() + random.below(static_cast<std::int64_t>(perm.size()) + 1), static_cast<std::int64_t>(perm.size()));
            shape.push_back(static_cast<std::size_t>(1 + random.below(3)));
        }
        auto const x = test::values(shape, static_cast<std::uint64_t>(trial));
        auto const got = rowan::transpose(x, {perm});
        CAPTURE(detail::shape_text(shape), perm);
        for (std::size_t e = 0; e < got.size(); ++e) {
            std::vector<std::size_t> at(shape.size());
            std::size_t rest = e, from = 0;
            for (std::size_t i = shape.size(); i-- > 0; rest /= got.shape(i)) at[static_cast<std::size_t>(perm[i])] = rest % got.shape(i);
            for (std::size_t i = 0; i < shape.size(); ++i) from = from * shape[i] + at[i];
            REQUIRE(got.data()[e] == x.data()[from]);
        }
        REQUIRE(transpose_op::backward(Cpu{}, got, {perm}) == x);
    }
}

TEST_CASE("stack joins tensors along a new axis as NumPy's", "[op][golden]") {
    std::vector<Tensor<float>> const x{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
    CHECK((rowan::stack(x) == Tensor<float>{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}));
    CHECK((rowan::stack(x, {1}) == Tensor<float>{{{1, 2, 3}, {7, 8, 9}}, {{4, 5, 6}, {10, 11, 12}}}));
    CHECK((rowan::stack(x, {-1}) == Tensor<float>{{{1, 7}, {2, 8}, {3, 9}}, {{4, 10}, {5, 11}, {6, 12}}}));
    CHECK((rowan::stack(std::vector{Tensor<float>::full({}, 1), Tensor<float>::full({}, 2)}) == Tensor<float>{1, 2}));
    CHECK(rowan::stack(std::vector{Tensor<float>::zeros({0, 2}), Tensor<float>::zeros({0, 2})}, {1}).shape() == Shape{0, 2, 2});
}

TEST_CASE("transpose and stack have the same bits for any number of threads", "[op]") {
    auto const t = inputs::wild<float>({70, 130, 64}, 1);
    test::check_any_threads([&](Cpu exec) { return rowan::transpose(exec, t); });
    test::check_any_threads([&](Cpu exec) { return rowan::transpose(exec, t, {{1, 0, 2}}); });
    test::check_any_threads([&](Cpu exec) { return stack(exec, std::vector{t.share(), t.share()}, {.axis = 2}); });
}

TEST_CASE("shapes, axes and orders that do not fit are refused", "[op][bad]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}}, y{{1, 2}, {3, 4}}, deep = Tensor<float>::zeros({1, 1, 1, 1, 1, 1, 1, 1});
    auto const text = [&](auto const& f) { return test::refusal<ShapeError>([&](Cpu) { f(); }, x, y); };
    CHECK(text([&] { rowan::reshape(x, {5}); }) == "shape is [5], expected a shape for the elements of [2, 3]");
    constexpr std::int64_t much = std::int64_t{1} << 32;
    CHECK(text([&] { rowan::reshape(x, {-1, much, much}); }) == "shape is [-1, 4294967296, 4294967296], expected fewer than 2^63 elements");
    CHECK_THROWS_WITH(rowan::reshape_op::infer(rowan::tensor_spec<float>({rowan::UNK, much, much}), {{0, -1}}), "shape is [0, -1], expected fewer than 2^63 elements");
    CHECK(text([&] { rowan::reshape(x, {-2, 3}); }) == "shape is [-2, 3], expected dims of 0 or more, and at most one -1");
    CHECK(text([&] { rowan::reshape(x, {2, 3, 0}); }) == "shape is [2, 3, 0], expected a 0 only where x has a dim");
    CHECK(text([&] { rowan::unsqueeze(deep, {0}); }) == "the result's rank is 9, expected at most 8");
    CHECK(test::refusal<IndexError>([&](Cpu) { rowan::unsqueeze(x, {3}); }, x) == "axes[0] = 3 is not in [-3, 3)");
    CHECK(text([&] { rowan::transpose(x, {{0}}); }) == "perm is [0], expected each of the 2 axes of x once");
    CHECK(text([&] { rowan::transpose(x, {{0, 2}}); }) == "perm is [0, 2], expected each of the 2 axes of x once");
    CHECK(text([&] { rowan::stack(std::vector<Tensor<float>>{}); }) == "x.size() is 0, expected at least 1");
    CHECK(text([&] { rowan::stack(std::vector{deep}); }) == "x[0] rank is 8, expected at most 7");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu) { rowan::stack(std::vector{x}, {3}); }, x) == "axis = 3 is not in [-3, 3)");
}

}  // namespace test_reshape
