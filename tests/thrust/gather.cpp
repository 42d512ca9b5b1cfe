// tests/thrust/gather.cpp: rows of a table on a device.
#include <rowan/thrust/sparse/gather.hpp>

#include "devices.hpp"

namespace test_gather {

using device::late_refusal, device::refusal, device::same_bits, device::Shape;
using rowan::gather, rowan::gather_into, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T>
void check_gather() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        auto const table = device::filled<T>({500, width}, 1);
        auto const ids = device::some_ids(n, 500, hot, 2);
        auto const want = gather(table, ids);
        auto const on_device = to_device(D{}, table);
        CHECK(same_bits(gather(on_device, ids), want));
        auto out = Tensor<T, D>::from_shape({n, width});
        gather_into(D{}, on_device, ids, out);
        CHECK(same_bits(out, want));
    });
}

}  // namespace

TEMPLATE_TEST_CASE("gather on a device gives the bits of Cpu", "[thrust][gather]", ROWAN_TEST_DEVICES) {
    check_gather<TestType, float>();
    check_gather<TestType, double>();
    check_gather<TestType, rowan::bfloat16>();
}

TEMPLATE_TEST_CASE("gather on a device takes ids and tables of any shape and alignment", "[thrust][gather]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const table = device::filled<std::uint8_t>({9, 3, 2}, 1);
    auto const on_device = to_device(D{}, table);
    Tensor<std::int32_t> const ids{{8, 0, 3}, {3, 3, 1}};
    CHECK(same_bits(gather(on_device, to_device(D{}, ids)), gather(table, ids)));
    CHECK(same_bits(gather(on_device, Tensor<std::int64_t>::full({}, 3)), gather(table, Tensor<std::int64_t>::full({}, 3))));
    CHECK(same_bits(gather(on_device.slice(1, 8), {6, 0}), gather(table.slice(1, 8), {6, 0})));
    auto out = Tensor<std::uint8_t, D>::zeros({3, 3, 2});
    auto middle = out.slice(1, 2);
    gather_into(on_device, {7}, middle);
    auto want = Tensor<std::uint8_t>::zeros({3, 3, 2});
    auto want_middle = want.slice(1, 2);
    gather_into(table, {7}, want_middle);
    CHECK(same_bits(out, want));
}

TEMPLATE_TEST_CASE("gather_into on a device writes nothing if an id is bad", "[thrust][gather][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const table{{1, 2}, {3, 4}};
    auto out = Tensor<float, D>::full({3, 2}, 7);
    gather_into(table, Tensor<std::int32_t, D>{0, 1, 2}, out);
    CHECK(late_refusal(D{}) == "ids[2] = 2 is not in [0, 2)");
    CHECK(same_bits(out, Tensor<float>::full({3, 2}, 7)));
    CHECK_THROWS_AS(gather_into(table, {0, 1, 2}, out), rowan::IndexError);
    CHECK_THROWS_AS(gather_into(table, {0, 1}, out), ShapeError);
    CHECK_THROWS_AS(gather(Tensor<float, D>::full({}, 1), {0}), ShapeError);
    auto alias = table.share();
    CHECK(refusal<rowan::Error>([&] { gather_into(table, {1, 0}, alias); }) == "out shares memory with table");
    auto ids = Tensor<std::int64_t, D>{0, 1};
    auto const numbers = Tensor<std::int64_t, D>{5, 6};
    CHECK(refusal<rowan::Error>([&] { gather_into(numbers, ids, ids); }) == "out shares memory with ids");
    CHECK(same_bits(out, Tensor<float>::full({3, 2}, 7)));
    CHECK(same_bits(table, Tensor<float>{{1, 2}, {3, 4}}));
}

}  // namespace test_gather
