// tests/thrust/from_dense.cpp: the rows of a device's tensor that are not zero.
#include <rowan/thrust/sparse/from_dense.hpp>
#include <rowan/thrust/sparse/gather.hpp>

#include "devices.hpp"

#include <cmath>
#include <random>

namespace test_from_dense {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::from_dense, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T>
void check_from_dense(double threshold) {
    for (std::size_t const height : std::vector<std::size_t>{0, 1, 64, 65, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 2, 3, 15, 16, 17, 40}) {
            CAPTURE(height, width, threshold);
            auto dense = device::filled<T>({height, width}, 1);
            std::mt19937 random(2);
            for (std::size_t i = 0; i < dense.size(); ++i) {  // half of the rows of width 3 are nonzero
                if (random() % 8 != 0) dense.data()[i] = T{};
            }
            CHECK(same_bits(from_dense(to_device(D{}, dense), threshold), from_dense(dense, threshold)));
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("rows with a large element are kept on a device", "[thrust][from_dense][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const dense{{0, 0}, {0, -2}, {NAN, 0}, {1, 1}, {-0.0F, 0}};
    auto const all = from_dense(dense);
    CHECK(all.merged());
    CHECK(same_bits(all.rows(), Tensor<std::int64_t>{1, 2, 3}));
    CHECK(same_bits(all, from_dense(to_host(dense))));
    CHECK(same_bits(from_dense(D{}, dense, 1.0).rows(), Tensor<std::int64_t>{1, 2}));
    CHECK(to_host(from_dense(Tensor<float, D>::zeros({3, 2, 2}))).shape() == device::Shape{3, 2, 2});
    CHECK(same_bits(from_dense(Tensor<std::int32_t, D>{-3, 2, 0}, 2), SelectedRows<std::int32_t>(3, {0}, {-3})));
    CHECK(from_dense(Tensor<std::int32_t, D>{-3, 2, 0}, 1e300).rows().size() == 0);
}

TEMPLATE_TEST_CASE("from_dense on a device gives the rows of Cpu", "[thrust][from_dense]", ROWAN_TEST_DEVICES) {
    check_from_dense<TestType, float>(0.0);
    check_from_dense<TestType, double>(100.0);
    check_from_dense<TestType, rowan::bfloat16>(7.5);
}

TEMPLATE_TEST_CASE("from_dense on a device throws like the host, and throws earlier errors", "[thrust][from_dense][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const dense{{0, 0}, {0, -2}};
    CHECK_THROWS_AS(from_dense(Tensor<float, D>::full({}, 1)), ShapeError);
    CHECK_THROWS_AS(from_dense(dense, -1.0), rowan::ValueError);
    CHECK_THROWS_AS(from_dense(dense, std::nan("")), rowan::ValueError);
    gather(dense, Tensor<std::int32_t, D>{2});
    CHECK(refusal<rowan::IndexError>([&] { from_dense(dense); }) == "ids[0] = 2 is not in [0, 2)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
    CHECK(same_bits(from_dense(dense), SelectedRows<float>(2, {1}, {{0, -2}})));
}

}  // namespace test_from_dense
