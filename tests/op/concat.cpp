// tests/op/concat.cpp: tensors joined along an axis.
#include <rowan/op/shape/concat.hpp>

#include "any_threads.hpp"
#include "refused.hpp"

#include <rowan/op/gradients.hpp>
#include <rowan/sequence/batches.hpp>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace test_concat {

using rowan::bfloat16, rowan::concat, rowan::concat_op, rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::ShapeError, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK, rowan::ValueError, rowan::VarSpec;

namespace {

constexpr std::array<VarSpec, 2> two{tensor_spec<float>({UNK, 2, 7}, 1), tensor_spec<float>({4, 3, UNK})};
constexpr std::array<VarSpec, 2> nested{tensor_spec<float>({4, UNK}, 2), tensor_spec<float>({5, 3}, 2)};
constexpr std::array<VarSpec, 2> open{tensor_spec<float>({UNK, 2}, 1), tensor_spec<float>({4, 2})};
static_assert(concat_op::infer(two, {1}) == tensor_spec<float>({4, 5, 7}, 1));
static_assert(concat_op::infer(two, {-2}) == tensor_spec<float>({4, 5, 7}, 1));
static_assert(concat_op::infer(open, {0}) == tensor_spec<float>({UNK, 2}));
static_assert(concat_op::infer(nested, {0}) == tensor_spec<float>({9, 3}, 2));
static_assert(rowan::gradient_operator<concat_op>::infer(two, tensor_spec<float>({4, 5, 7}))[1] == two[1]);

using Shape = Tensor<float>::shape_type;

template <class T>
Tensor<T> counted(Shape const& shape, T first) {
    auto t = Tensor<T>::from_shape(shape);
    std::iota(t.data(), t.data() + t.size(), first);
    return t;
}

// The reference: each element by its coordinates.
Tensor<double> plain_concat(std::vector<Tensor<double>> const& x, std::size_t axis) {
    Shape shape = x[0].shape();
    shape[axis] = 0;
    for (auto const& part : x) shape[axis] += part.shape(axis);
    auto out = Tensor<double>::from_shape(shape);
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
    for (std::size_t e = 0; e < out.size(); ++e) {
        std::size_t const outer = e / (inner * shape[axis]), rest = e % inner;
        std::size_t at = e / inner % shape[axis], k = 0;
        while (at >= x[k].shape(axis)) at -= x[k++].shape(axis);
        out.data()[e] = x[k].data()[(outer * x[k].shape(axis) + at) * inner + rest];
    }
    return out;
}

// Parts of these dims along the axis, with different elements.
std::vector<Tensor<double>> parts_of(Shape shape, std::size_t axis, std::vector<std::size_t> const& dims) {
    std::vector<Tensor<double>> parts;
    double first = 1;
    for (std::size_t const dim : dims) {
        shape[axis] = dim;
        parts.push_back(counted(shape, first));
        first += static_cast<double>(parts.back().size());
    }
    return parts;
}

template <class T>
std::vector<LoDTensor<T>> as_batches(std::vector<Tensor<T>> const& x) {
    return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("concat joins tensors", "[op][golden]") {
    Tensor<float> const a{{1}, {4}}, b{{2, 3}, {5, 6}}, c{{7}};
    CHECK((concat(std::vector{a, b}, 1) == Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    CHECK((concat(std::vector{b, a, b}, -1) == Tensor<float>{{2, 3, 1, 2, 3}, {5, 6, 4, 5, 6}}));
    CHECK((concat(std::vector{a, c}) == Tensor<float>{{1}, {4}, {7}}));
    CHECK((concat(std::vector{a}) == a));
    CHECK((concat(std::vector{Tensor<bfloat16>{bfloat16(1.F)}, Tensor<bfloat16>{bfloat16(2.F)}})(1) == 2));
    CHECK((concat(std::vector{Tensor<std::int32_t>{1}, Tensor<std::int32_t>{2, 3}}) == Tensor<std::int32_t>{1, 2, 3}));
}

TEST_CASE("concat along the first axis joins the levels of batches, and its gradient cuts them apart", "[op][golden]") {
    LoDTensor<double> const a({1, 2, 3}, Lod{{0, 2, 2, 3}, {0, 1, 1, 3}}), b({4, 5}, Lod{{0, 1}, {0, 2}}), none(Tensor<double>::zeros({0}), Lod{{0}, {0}}), rows(Tensor<double>{7});
    std::vector const x{a, none, b};
    auto const out = concat_op::run(Cpu{}, x, {0});
    CHECK((out == LoDTensor<double>({1, 2, 3, 4, 5}, Lod{{0, 2, 2, 3, 4}, {0, 1, 1, 3, 5}})));
    CHECK(out == rowan::merge_batches(x));
    LoDTensor<double> const out_grad(Tensor<double>{6, 7, 8, 9, 10});  // which may have lost its levels
    auto const [grads] = rowan::gradients<concat_op>(Cpu{}, std::tuple(x), std::tie(out), std::tie(out_grad), {-1});
    CHECK((grads == std::vector<LoDTensor<double>>{{{6, 7, 8}, a.lod()}, none, {{9, 10}, b.lod()}}));
    CHECK((concat_op::run(Cpu{}, std::vector{a, rows}, {0}) == LoDTensor<double>(Tensor<double>{1, 2, 3, 7})));
    CHECK((concat_op::run(Cpu{}, std::vector{rows, a}, {0}) == LoDTensor<double>(Tensor<double>{7, 1, 2, 3})));
    LoDTensor<double> const column({{1}, {2}}, Lod{{0, 1, 2}});
    CHECK((concat_op::run(Cpu{}, std::vector{column, LoDTensor<double>(Tensor<double>{{3}, {4}})}, {1}) == LoDTensor<double>({{1, 3}, {2, 4}}, column.lod())));
}

TEST_CASE("concat along every axis, with parts of no elements, and its gradient", "[op]") {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        for (auto const& dims : std::vector<std::vector<std::size_t>>{{1}, {0}, {2, 3}, {0, 4, 0}, {0, 0}, {5, 0, 0, 1}}) {
            for (std::size_t const other : std::vector<std::size_t>{0, 1, 3}) {
                CAPTURE(axis, dims.size(), other);
                auto const x = parts_of({other, other, other}, axis, dims);
                auto const out = concat(x, static_cast<std::int64_t>(axis));
                CHECK(reference::same(out, plain_concat(x, axis)));
                auto const batches = as_batches(x);
                LoDTensor<double> const whole(out);
                auto const [grad] = rowan::gradients<concat_op>(Cpu{}, std::tuple(batches), std::tie(whole), std::tie(whole), {static_cast<std::int64_t>(axis)});
                CHECK(grad == batches);
            }
        }
    }
}

TEST_CASE("concat has the same bits on any number of threads", "[op]") {
    auto const x = parts_of({300, 1, 7}, 1, {100, 0, 33, 1});
    REQUIRE(300 * 134 * 7 > rowan::detail::serial_below);
    test::check_any_threads([&](Cpu exec) { return concat(exec, x, 1); });
    CHECK(reference::same(concat(Cpu{8}, x, 1), plain_concat(x, 1)));
    auto const flat = parts_of({1}, 0, {100'000, 3, 200'000});
    test::check_any_threads([&](Cpu exec) { return concat(exec, flat); });
    CHECK(reference::same(concat(Cpu{8}, flat), plain_concat(flat, 0)));
}

TEST_CASE("concat throws for shapes that do not match", "[op][bad]") {
    Tensor<float> const a{{1, 2}}, b{{1, 2, 3}}, c{1, 2};
    using List = std::vector<Tensor<float>>;
    CHECK(test::refusal<ShapeError>([](Cpu e) { concat(e, List{}); }) == "x.size() is 0, expected at least 1");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu e) { concat(e, List{a}, -3); }, a) == "axis = -3 is not in [-2, 2)");
    std::vector<rowan::VarSpec> const wide(2, tensor_spec<float>({2, std::int64_t{1} << 62}));
    CHECK(test::refusal<ShapeError>([&] { concat_op::infer(wide, {1}); }) == "concat: x[1].shape(1) is 4611686018427387904, expected at most 4611686018427387903");
}

}  // namespace test_concat
