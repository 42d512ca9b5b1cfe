// tests/thrust/reduce_sum.cpp: sums along axes on devices have the bits of Cpu, and so have their gradients.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace device_reduce_sum {

using device::filled, device::same_bits, device::Shape;
using rowan::Cpu, rowan::Tensor, rowan::to_device;

template <class T, class D>
void check(Shape const& shape, std::vector<std::int64_t> const& axes) {
    CAPTURE(std::vector<std::size_t>(shape.begin(), shape.end()), axes);
    auto const x = filled<T>(shape, static_cast<unsigned>(shape.size() + axes.size()));
    auto const on_device = to_device<D>(x);
    for (bool const keep_dims : {false, true}) {
        rowan::ReduceOptions const options{axes, keep_dims};
        auto const sum = rowan::reduce_sum(x, options);
        CHECK(same_bits(rowan::reduce_sum(on_device, options), sum));
        CHECK(same_bits(rowan::reduce_sum_op::backward(D{}, on_device, to_device<D>(sum), options), rowan::reduce_sum_op::backward(Cpu{}, x, sum, options)));
    }
}

template <class T, class D>
void check_all() {
    for (std::size_t const n : {0u, 1u, 2u, 63u, 64u, 65u, 128u, 129u, 4096u, 4097u, 5000u}) {
        for (std::size_t const width : {0u, 1u, 3u, 4u, 16u}) {
            check<T, D>({n, width}, {0});
            if (n == 65 || n == 4097) check<T, D>({width, n}, {1});
        }
    }
    for (std::vector<std::int64_t> const& axes : std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {-1}, {0, 2}, {0, 1}, {2, 1}}) {
        check<T, D>({70, 3, 4}, axes);
        check<T, D>({3, 130, 5}, axes);
    }
    check<T, D>({2, 3, 2, 3, 2, 3, 2, 4}, {0, 2, 4, 6});
    check<T, D>({2, 3, 2, 3, 2, 3, 2, 3}, {1, 3, 5, 7});
    check<T, D>({}, {});
    CHECK(same_bits(rowan::bias_grad_op::run(D{}, to_device<D>(filled<T>({70, 4}, 1))), rowan::bias_grad_op::run(Cpu{}, filled<T>({70, 4}, 1))));
}

TEMPLATE_TEST_CASE("sums along axes on a device have the bits of Cpu", "[thrust][op][reduce]", ROWAN_TEST_DEVICES) {
    check_all<float, TestType>();
    check_all<double, TestType>();
    check_all<rowan::bfloat16, TestType>();
    check_all<std::int64_t, TestType>();
}

template <class T, class D, class Op>
void check_reduction(Op, Shape const& shape, std::vector<std::int64_t> const& axes) {
    INFO(Op::name);
    rowan::ReduceOptions const options{axes, axes.size() == 1};
    auto const x = filled<T>(shape, static_cast<unsigned>(shape.size() + axes.size()));
    auto const on_device = to_device<D>(x);
    auto const out = Op::run(Cpu{}, x, options);
    auto const out_on = to_device<D>(out);
    CHECK(same_bits(Op::run(D{}, on_device, options), out));
    using Grad = rowan::gradient_operator<Op>;
    if constexpr (Grad::inputs::size == 3) {
        CHECK(same_bits(Grad::run(D{}, on_device, out_on, out_on, options), Grad::run(Cpu{}, x, out, out, options)));
    } else {
        CHECK(same_bits(Grad::run(D{}, on_device, out_on, options), Grad::run(Cpu{}, x, out, options)));
    }
}

TEMPLATE_TEST_CASE("means, extrema and products on a device have the bits of Cpu, forward and backward", "[thrust][op][reduce]", ROWAN_TEST_DEVICES) {
    auto const check_both = [](auto op) {
        for (auto const& [shape, axes] : std::vector<std::pair<Shape, std::vector<std::int64_t>>>{
                 {{70, 3, 4}, {0}}, {{3, 130, 5}, {1}}, {{5, 4097}, {1}}, {{2, 3, 2, 65}, {0, 2}}, {{6, 4}, {}}, {{}, {}}, {{3, 0}, {0}}}) {
            check_reduction<float, TestType>(op, shape, axes);
            check_reduction<rowan::bfloat16, TestType>(op, shape, axes);
        }
    };
    check_both(rowan::reduce_mean_op{});
    check_both(rowan::reduce_max_op{});
    check_both(rowan::reduce_min_op{});
    check_both(rowan::reduce_prod_op{});
}

TEMPLATE_TEST_CASE("sums on a device refuse the axes that Cpu refuses", "[thrust][op][reduce][bad_input]", ROWAN_TEST_DEVICES) {
    Tensor<float, TestType> const x{{1, 2, 3}}, flat{1, 2};
    CHECK_THROWS_AS(rowan::reduce_sum(x, {.axes = {2}}), rowan::IndexError);
    CHECK_THROWS_AS(rowan::reduce_sum(x, {.axes = {0, -2}}), rowan::IndexError);
    CHECK_THROWS_AS(rowan::reduce_sum_op::backward(TestType{}, x, flat, {.axes = {0}}), rowan::ShapeError);
}

}  // namespace device_reduce_sum
