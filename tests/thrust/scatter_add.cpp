// tests/thrust/scatter_add.cpp: rows added to a table on a device.
#include <rowan/thrust/sparse/scatter_add.hpp>

#include "devices.hpp"

#include <span>

namespace test_scatter_add {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::dtype, rowan::merge, rowan::scatter_add, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device;

namespace {

struct add_rule {
    template <class G, class P>
    void operator()(std::span<G const> g, std::span<P> p) const {
        for (std::size_t i = 0; i < g.size(); ++i) p[i] = dtype<P>::narrow(dtype<P>::widen(p[i]) + static_cast<typename dtype<P>::sum>(g[i]));
    }
};

template <class D, class T, class U>
void check_scatter_add() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        auto const g = device::gradient<U>(n, 300, width, hot, 5);
        auto want = device::filled<T>({300, width}, 6);
        auto got = to_device(D{}, want);
        rowan::update_rows(g, add_rule{}, want);
        scatter_add(got, to_device(D{}, g));
        CHECK(same_bits(got, want));
        rowan::update_rows(g, add_rule{}, want);
        scatter_add(D{}, got, to_device(D{}, g).rows(), to_device(D{}, g.value()));
        CHECK(same_bits(got, want));
    });
}

}  // namespace

TEMPLATE_TEST_CASE("scatter_add on a device adds rows to a table", "[thrust][scatter_add][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> t{{1, 2}, {3, 4}, {5, 6}};
    scatter_add(t, {2, 0, 2}, Tensor<float, D>{{10, 20}, {30, 40}, {50, 60}});
    CHECK(same_bits(t, Tensor<float>{{31, 42}, {3, 4}, {65, 86}}));
    scatter_add(t, Tensor<std::int32_t, D>{1}, Tensor<float, D>{{1, 1}});
    scatter_add(t, SelectedRows<float, D>(3, {1, 1}, {{1, 0}, {2, 0}}));
    CHECK(same_bits(t, Tensor<float>{{31, 42}, {7, 5}, {65, 86}}));
    scatter_add(t, {}, Tensor<float, D>::from_shape({0, 2}));
    CHECK(same_bits(t, Tensor<float>{{31, 42}, {7, 5}, {65, 86}}));
    Tensor<std::uint8_t, D> counts{250, 0};
    scatter_add(counts, {0, 0}, Tensor<std::uint8_t, D>{4, 5});
    CHECK(same_bits(counts, Tensor<std::uint8_t>{3, 0}));
}

TEMPLATE_TEST_CASE("scatter_add on a device has Cpu's bits if rows are unique", "[thrust][scatter_add]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const g = merge(device::gradient<float>(5000, 4000, 7, 0, 5));
    auto want = device::filled<float>({4000, 7}, 6);
    auto got = to_device(D{}, want);
    scatter_add(want, g);
    scatter_add(got, to_device(D{}, g));
    CHECK(same_bits(got, want));
}

TEMPLATE_TEST_CASE("scatter_add on a device sums duplicates in the order of merge, and then adds", "[thrust][scatter_add]", ROWAN_TEST_DEVICES) {
    check_scatter_add<TestType, float, float>();
    check_scatter_add<TestType, rowan::bfloat16, float>();
}

TEMPLATE_TEST_CASE("scatter_add on a device supports a row with very many lookups", "[thrust][scatter_add]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const g = device::gradient<double>(100'000, 50, 2, 99, 7);
    auto want = device::filled<double>({50, 2}, 6);
    auto got = to_device(D{}, want);
    rowan::update_rows(g, add_rule{}, want);
    scatter_add(got, to_device(D{}, g));
    CHECK(same_bits(got, want));
}

TEMPLATE_TEST_CASE("scatter_add on a device changes nothing if it throws", "[thrust][scatter_add][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float> const before{{1, 2}, {3, 4}};
    auto t = to_device(D{}, before);
    Tensor<float, D> const src{{1, 1}, {2, 2}};
    CHECK(refusal<rowan::IndexError>([&] { scatter_add(t, {0, 2}, src); }) == "ids[1] = 2 is not in [0, 2)");
    CHECK_THROWS_AS(scatter_add(t, {0}, src), ShapeError);
    CHECK_THROWS_AS(scatter_add(t, Tensor<std::int64_t, D>{{0, 1}}, src), ShapeError);
    CHECK_THROWS_AS(scatter_add(t, {0, 1}, Tensor<float, D>{{1}, {2}}), ShapeError);
    CHECK_THROWS_AS(scatter_add(t, SelectedRows<float, D>(3, {1, 1}, src)), ShapeError);
    auto scalar = Tensor<float, D>::full({}, 1);
    CHECK_THROWS_AS(scatter_add(scalar, {0}, src), ShapeError);
    CHECK(refusal<rowan::Error>([&] { scatter_add(t, {0, 1}, t.share()); }) == "dst shares memory with src");
    CHECK(refusal<rowan::Error>([&] { scatter_add(t, SelectedRows<float, D>(2, {0, 1}, t.share())); }) == "dst shares memory with the gradient's value");
    Tensor<std::int64_t, D> numbers{0, 1};
    CHECK(refusal<rowan::Error>([&] { scatter_add(numbers, numbers.share(), Tensor<std::int64_t, D>{1, 1}); }) == "dst shares memory with ids");
    CHECK(late_refusal(D{}) == "nothing was thrown");
    scatter_add(t, Tensor<std::int32_t, D>{1, -1}, src);
    CHECK(late_refusal(D{}) == "ids[1] = -1 is not in [0, 2)");
    CHECK(same_bits(t, before));
}

}  // namespace test_scatter_add
