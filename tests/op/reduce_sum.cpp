// tests/op/reduce_sum.cpp: sums along axes, compared with a slow reference.
#include <rowan/op/reduce/reduce_sum.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test_reduce_sum {

using rowan::bfloat16, rowan::Cpu, rowan::IndexError, rowan::reduce_sum, rowan::reduce_sum_op,
    rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK, rowan::VarSpec;

namespace {

using reduce_sum_grad_op = rowan::gradient_operator<reduce_sum_op>;
using Axes = std::vector<std::int64_t>;
using Shape = Tensor<float>::shape_type;

constexpr VarSpec x = tensor_spec<float>({UNK, 3, 4}, 1);
static_assert(reduce_sum_op::infer(x) == tensor_spec<float>({}));
static_assert(reduce_sum_op::infer(x, {{}, true}) == tensor_spec<float>({1, 1, 1}));
static_assert(reduce_sum_op::infer(x, {{0}}) == tensor_spec<float>({3, 4}));
static_assert(reduce_sum_op::infer(x, {{0}, true}) == tensor_spec<float>({1, 3, 4}));
static_assert(reduce_sum_op::infer(x, {{-2}}) == tensor_spec<float>({UNK, 4}, 1));  // rows and levels are kept
static_assert(reduce_sum_op::infer(x, {{2, 1}, true}) == tensor_spec<float>({UNK, 1, 1}, 1));
static_assert(reduce_sum_op::infer(tensor_spec<double>({})) == tensor_spec<double>({}));
static_assert(reduce_sum_grad_op::infer(x, tensor_spec<float>({UNK, 4}))[0] == x);
static_assert(reduce_sum_op::row_wise({{1, 2}}) && !reduce_sum_op::row_wise({{1, 0}}) && !reduce_sum_op::row_wise({}));

bool is_reduced(Axes const& axes, std::size_t i, std::size_t rank) {
    auto const axis = static_cast<std::int64_t>(i);
    return axes.empty() || std::ranges::find(axes, axis) != axes.end() || std::ranges::find(axes, axis - static_cast<std::int64_t>(rank)) != axes.end();
}

// The sum to which each element of x belongs, from its coordinates.
std::vector<std::size_t> places(Shape const& shape, Axes const& axes) {
    std::size_t size = 1;
    for (std::size_t const dim : shape) size *= dim;
    std::vector<std::size_t> to(size);
    for (std::size_t e = 0; e < size; ++e) {
        std::size_t rest = e, step = 1;
        for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) {
            if (is_reduced(axes, i, shape.size())) continue;
            to[e] += rest % shape[i] * step;
            step *= shape[i];
        }
    }
    return to;
}

Shape result_shape(Shape const& shape, Axes const& axes, bool keep_dims) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        bool const reduced = is_reduced(axes, i, shape.size());
        if (!reduced || keep_dims) result.push_back(reduced ? 1 : shape[i]);
    }
    return result;
}

// Lists the contributions to each sum, then sums them in blocks of 64, or in 16 parts if they are adjacent.
template <class T>
Tensor<T> plain_sum(Tensor<T> const& t, Axes const& axes, bool keep_dims) {
    using S = typename rowan::dtype<T>::sum;
    auto out = Tensor<T>::zeros(result_shape(t.shape(), axes, keep_dims));
    std::vector<std::vector<S>> lists(out.size());
    std::vector<std::size_t> first(out.size()), last(out.size());
    auto const to = places(t.shape(), axes);
    for (std::size_t e = 0; e < t.size(); ++e) {
        auto& list = lists[to[e]];
        if (list.empty()) first[to[e]] = e;
        last[to[e]] = e;
        list.push_back(rowan::dtype<T>::widen(t.data()[e]));
    }
    auto const rank = static_cast<std::int64_t>(t.dimension());
    bool const along_last = axes.empty() || std::ranges::any_of(axes, [&](std::int64_t axis) { return axis == -1 || axis == rank - 1; });
    for (std::size_t k = 0; k < lists.size(); ++k) {
        auto const& list = lists[k];
        if (list.empty()) continue;
        bool const adjacent = along_last && last[k] - first[k] + 1 == list.size();
        out.data()[k] = rowan::dtype<T>::narrow(adjacent ? reference::adjacent_sum(list) : reference::block_sum(list));
    }
    return out;
}

// Random axes, in any order, some negative.
Axes some_axes(std::size_t rank, inputs::Random& random) {
    Axes axes;
    for (std::size_t i = 0; i < rank; ++i) {
        if (random.below(2) == 0) continue;
        auto const axis = static_cast<std::int64_t>(i);
        axes.insert(axes.begin() + random.below(static_cast<std::int64_t>(axes.size()) + 1), random.below(2) == 0 ? axis : axis - static_cast<std::int64_t>(rank));
    }
    return axes;
}

template <class T>
void check(Shape const& shape, Axes const& axes) {
    CAPTURE(std::vector<std::size_t>(shape.begin(), shape.end()), axes);
    auto const t = inputs::wild<T>(shape, shape.size() + axes.size());
    for (bool const keep_dims : {false, true})
        CHECK(reference::same(reduce_sum(t, {.axes = axes, .keep_dims = keep_dims}), plain_sum(t, axes, keep_dims)));
}

template <class T>
void check_random() {
    inputs::Random random(5);
    for (int i = 0; i < 150; ++i) {
        Shape shape;
        std::size_t size = 1;
        for (auto rank = random.below(9); rank > 0; --rank) {
            std::size_t const dim = random.below(20) == 0 ? 0 : static_cast<std::size_t>(1 + random.below(random.below(3) == 0 ? 70 : 4));
            if (size * dim > 20'000) break;
            shape.push_back(dim);
            size *= dim;
        }
        check<T>(shape, some_axes(shape.size(), random));
    }
}

}  // namespace

TEST_CASE("reduce_sum equals NumPy's sum", "[op][reduce][golden]") {
    Tensor<float> const t{{{1, 2}, {3, 4}, {5, 6}}, {{10, 20}, {30, 40}, {50, 60}}};
    CHECK((reduce_sum(t, {.axes = {0}}) == Tensor<float>{{11, 22}, {33, 44}, {55, 66}}));
    CHECK((reduce_sum(t, {.axes = {1}}) == Tensor<float>{{9, 12}, {90, 120}}));
    CHECK((reduce_sum(t, {.axes = {-1}}) == Tensor<float>{{3, 7, 11}, {30, 70, 110}}));
    CHECK((reduce_sum(t, {.axes = {2, 0}}) == Tensor<float>{33, 77, 121}));
    CHECK((reduce_sum(t, {.axes = {1, -1}, .keep_dims = true}) == Tensor<float>{{{21}}, {{210}}}));
    CHECK(reference::same(reduce_sum(t), Tensor<float>::full({}, 231)));
    CHECK(reference::same(reduce_sum(t, {.keep_dims = true}), Tensor<float>::full({1, 1, 1}, 231)));
    CHECK(reference::same(reduce_sum(Tensor<float>::full({}, 3)), Tensor<float>::full({}, 3)));
    CHECK(reference::same(reduce_sum(Tensor<float>::zeros({0, 2}), {.axes = {0}}), Tensor<float>::zeros({2})));
    CHECK(reference::same(reduce_sum(Tensor<float>::zeros({2, 0}), {.axes = {0}}), Tensor<float>::zeros({0})));
    CHECK((reduce_sum(Tensor<std::int32_t>{{1, -2}, {3, 4}}, {.axes = {1}}) == Tensor<std::int32_t>{-1, 7}));
    CHECK((reduce_sum(Tensor<bool>{{false, true}, {false, false}}, {.axes = {1}}) == Tensor<bool>{true, false}));
}

TEMPLATE_TEST_CASE("sums along any axes have the bits of a slow reference", "[op][reduce]", float, double, bfloat16, std::int64_t, std::uint8_t) {
    check_random<TestType>();
    for (std::size_t const n : {1u, 2u, 63u, 64u, 65u, 127u, 128u, 129u, 4096u, 4097u}) {
        check<TestType>({n}, {});
        check<TestType>({n, 3}, {0});
        check<TestType>({n, 17}, {0});
        check<TestType>({3, n}, {1});
        check<TestType>({17, n}, {1});
        check<TestType>({2, n, 2}, {0, 2});
        check<TestType>({2, n, 5}, {1});
        if (n < 200) check<TestType>({n, 2, n}, {0, 2});
    }
    for (std::size_t n = 1; n < 40; ++n) check<TestType>({35, n}, {1});
    for (std::size_t const n : {8192u, 8193u, 20'000u}) check<TestType>({3, n}, {1});
    for (std::size_t const width : {16'383u, 16'384u, 16'385u}) check<TestType>({3, width}, {0});
    check<TestType>({2, 3, 2, 3, 2, 3, 2, 3}, {0, 2, 4, 6});
    check<TestType>({2, 3, 2, 3, 2, 3, 2, 3}, {1, 3, 5, 7});
}

TEST_CASE("sums along axes have the same bits for any number of threads", "[op][reduce]") {
    auto const t = inputs::wild<float>({70, 130, 64}, 1);
    auto const narrow = inputs::wild<bfloat16>({300, 30, 70}, 2);
    REQUIRE(t.size() > rowan::detail::serial_below);
    for (Axes const& axes : std::vector<Axes>{{0}, {1}, {2}, {0, 2}, {0, 1}, {1, 2}, {}}) {
        CAPTURE(axes);
        test::check_any_threads([&](Cpu exec) { return reduce_sum(exec, t, {.axes = axes}); });
        test::check_any_threads([&](Cpu exec) { return reduce_sum(exec, narrow, {.axes = axes}); });
        auto const grad = reduce_sum(t, {.axes = axes});
        test::check_any_threads([&](Cpu exec) { return reduce_sum_op::backward(exec, t, grad, {.axes = axes}); });
        CHECK(reference::same(reduce_sum(Cpu{8}, t, {.axes = axes}), plain_sum(t, axes, false)));
    }
}

TEST_CASE("each element gets the gradient of its sum", "[op][reduce]") {
    inputs::Random random(7);
    for (Shape const& shape : std::vector<Shape>{{}, {3}, {4, 3}, {1, 4, 1, 2}, {2, 3, 2, 3}, {0, 2}, {2, 2, 1, 2, 1, 2, 2, 1}}) {
        for (int i = 0; i < 6; ++i) {
            rowan::ReduceOptions const options{some_axes(shape.size(), random), i % 2 == 0};
            CAPTURE(shape.size(), options.axes);
            auto const t = Tensor<double>::zeros(shape);
            auto const grad = test::values(result_shape(shape, options.axes, options.keep_dims), 3);
            auto want = Tensor<double>::from_shape(shape);
            auto const to = places(shape, options.axes);
            for (std::size_t e = 0; e < to.size(); ++e) want.data()[e] = grad.data()[to[e]];
            CHECK(reference::same(reduce_sum_grad_op::run(Cpu{}, t, grad, options), want));
        }
    }
}

TEST_CASE("reduce_sum refuses axes that do not exist, and those named twice", "[op][reduce][bad]") {
    Tensor<float> const t{{1, 2}, {3, 4}}, scalar = Tensor<float>::full({}, 1);
    auto const refusal = [](Tensor<float> const& x, Axes const& axes) {
        return test::refusal<IndexError>([&](Cpu e) { reduce_sum(e, x, {.axes = axes}); }, x);
    };
    CHECK(refusal(t, {0, 2}) == "axes[1] = 2 is not in [-2, 2)");
    CHECK(refusal(t, {1, 0, -1}) == "axes[2] = -1 is the same axis as axes[0]");
    CHECK(refusal(t, {0, 0}) == "axes[1] = 0 is the same axis as axes[0]");
    CHECK(refusal(scalar, {0}) == "axes[0] = 0 is not in [0, 0)");
    CHECK(test::refusal<IndexError>([] { reduce_sum_op::infer(x, {{3}}); }) == "axes[0] = 3 is not in [-3, 3)");
}

}  // namespace test_reduce_sum
