// tests/thrust/row_plan.cpp: which lookups belong to which row, found on a device.
#include <rowan/sparse/adagrad.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include "devices.hpp"

#include <algorithm>
#include <span>

namespace test_row_plan {

using device::late_refusal, device::refusal, device::Rows, device::same_bits;
using rowan::RowPlan, rowan::SelectedRows, rowan::Tensor, rowan::to_device;

namespace {

Tensor<std::int64_t> list(std::span<std::int64_t const> numbers) {
    auto tensor = Tensor<std::int64_t>::from_shape({numbers.size()});
    std::copy(numbers.begin(), numbers.end(), tensor.data());
    return tensor;
}

template <class D>
void check_plan(RowPlan<D> const& plan, RowPlan<> const& want) {
    CHECK((plan.size() == want.size() && plan.height() == want.height() && plan.value_rows() == want.value_rows()));
    CHECK(same_bits(plan.rows(), list(want.rows())));
    CHECK(same_bits(plan.offsets(), list(want.offsets())));
    CHECK(same_bits(plan.positions(), list(want.positions())));
}

}  // namespace

TEMPLATE_TEST_CASE("a plan on a device equals the host's", "[thrust][row_plan]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    check_plan(RowPlan<D>({4, 1, 4, 0}, 5), RowPlan<>({4, 1, 4, 0}, 5));
    check_plan(RowPlan<D>(D{}, Tensor<std::int32_t, D>{4, 1, 4, 0}, 5), RowPlan<>({4, 1, 4, 0}, 5));
    check_plan(RowPlan<D>(), RowPlan<>());
    check_plan(RowPlan<D>({}, 7), RowPlan<>({}, 7));
    check_plan(RowPlan<D>({0, 0, 0}, 1), RowPlan<>({0, 0, 0}, 1));
    for (std::size_t const n : std::vector<std::size_t>{1, 2, 63, 64, 65, 4096, 4097, 100'000}) {
        for (unsigned const hot : std::vector<unsigned>{0, 50, 100}) {
            CAPTURE(n, hot);
            auto const ids = device::some_ids(n, 1000, hot, 3);
            check_plan(RowPlan<D>(ids, 1000), RowPlan<>(ids, 1000));
        }
    }
}

TEMPLATE_TEST_CASE("a plan of bags on a device equals the host's", "[thrust][row_plan]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Rows const ids{4, 1, 4, 0, 4}, bags{0, 0, 2, 2, 5, 5};
    check_plan(RowPlan<D>(ids, bags, 5), RowPlan<>(ids, bags, 5));
    check_plan(RowPlan<D>(D{}, Tensor<std::int32_t, D>{4, 1, 4, 0, 4}, bags, 5), RowPlan<>(ids, bags, 5));
    check_plan(RowPlan<D>(Rows(), Rows{0, 0}, 5), RowPlan<>(Rows(), Rows{0, 0}, 5));
    check_plan(RowPlan<D>(Rows(), Rows{0}, 5), RowPlan<>(Rows(), Rows{0}, 5));
    auto const many = device::some_ids(100'000, 1000, 50, 3);
    Rows ends{0};
    while (ends.back() < 100'000) ends.push_back(std::min<std::int64_t>(100'000, ends.back() + static_cast<std::int64_t>(ends.size() % 7)));
    check_plan(RowPlan<D>(many, ends, 1000), RowPlan<>(many, ends, 1000));
    CHECK(refusal<rowan::IndexError>([&] { RowPlan<D>(ids, Rows{0, 3}, 5); }) == "bags[1] = 3 is not the end, 5");
    CHECK(refusal<rowan::ShapeError>([&] { RowPlan<D>(ids, Rows(), 5); }) == "bags.size() is 0, expected 1 or more");
    // a step with the gradient of bags
    auto const grad = device::filled<float>({ends.size() - 1, 6}, 4);
    auto want = device::filled<float>({1000, 6}, 5), want_moment = device::positive<float>({1000, 6}, 6);
    auto got = to_device(D{}, want), moment = to_device(D{}, want_moment);
    rowan::adagrad(RowPlan<>(many, ends, 1000), want, want_moment, grad);
    rowan::adagrad(D{}, RowPlan<D>(many, ends, 1000), got, moment, to_device(D{}, grad));
    CHECK((same_bits(got, want) && same_bits(moment, want_moment)));
}

TEMPLATE_TEST_CASE("a plan on a device serves tables of any height", "[thrust][row_plan]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (int const bits : std::vector<int>{31, 32, 33, 45, 62}) {
        for (std::int64_t const more : std::vector<std::int64_t>{-1, 0, 1}) {
            CAPTURE(bits, more);
            std::int64_t const height = (std::int64_t{1} << bits) + more;
            auto ids = device::some_ids(200, height, 30, 4);
            ids[7] = ids[190] = height - 1;
            ids[8] = 0;
            check_plan(RowPlan<D>(ids, height), RowPlan<>(ids, height));
        }
    }
}

TEMPLATE_TEST_CASE("the plan of a device's gradient is the host's, also of a merged one", "[thrust][row_plan]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float> const g(9, {4, 1, 4}, {{1}, {2}, {3}});
    check_plan(RowPlan<D>(to_device(D{}, g)), RowPlan<>(g));
    SelectedRows<float> const merged(9, {1, 4, 8}, {{1}, {2}, {3}});
    check_plan(RowPlan<D>(D{}, to_device(D{}, merged)), RowPlan<>(merged));
    check_plan(RowPlan<D>(SelectedRows<float, D>()), RowPlan<>());
}

TEMPLATE_TEST_CASE("a plan on a device throws like the host's", "[thrust][row_plan][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK(refusal<rowan::IndexError>([] { RowPlan<D>({0, 5}, 5); }) == "rows[1] = 5 is not in [0, 5)");
    CHECK_THROWS_AS(RowPlan<D>(Tensor<std::int64_t, D>{{0, 1}}, 5), rowan::ShapeError);
    CHECK_THROWS_AS(RowPlan<D>({}, -1), rowan::ShapeError);
    CHECK_THROWS_AS(RowPlan<D>(Tensor<std::int64_t, D>{0}, 0), rowan::IndexError);
    RowPlan<D> const plan(Tensor<std::int64_t, D>{0, 5, 9}, 5);
    CHECK(refusal<rowan::IndexError>([&] { plan.rows(); }) == "rows[1] = 5 is not in [0, 5)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_row_plan
