// tests/thrust/op_products.cpp: matrix products, repeated rows and recurrent cells on devices have the bits of Cpu,
// except products on Cuda, which are cuBLAS's.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#ifdef __CUDACC__
#include <rowan/thrust/cublas.hpp>
#endif

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace op_products {

using device::filled, device::positive, device::same_bits, device::Shape;
using rowan::Cpu, rowan::Tensor, rowan::to_device, rowan::to_host;

template <class T>
constexpr double tolerance() {
    return sizeof(T) == 8 ? 1e-12 : sizeof(T) == 4 ? 1e-5 : 2e-2;
}

/// Whether `a` equals a product on Cpu: bit for bit on the host's systems.
template <class T, class D>
bool same_product(Tensor<T, D> const& a, Tensor<T> const& b) {
#ifdef __CUDACC__
    auto const host = to_host(a);
    if (host.shape() != b.shape()) return false;
    for (std::size_t i = 0; i < b.size(); ++i) {
        auto const x = static_cast<double>(rowan::dtype<T>::widen(host.data()[i])), y = static_cast<double>(rowan::dtype<T>::widen(b.data()[i]));
        if (!(std::abs(x - y) <= tolerance<T>() * (1 + std::abs(y)))) return false;
    }
    return true;
#else
    return same_bits(a, b);
#endif
}

template <class D, class... T>
bool same_products(std::tuple<Tensor<T, D>...> const& a, std::tuple<Tensor<T>...> const& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return (same_product(std::get<i>(a), std::get<i>(b)) && ...);
    }(std::index_sequence_for<T...>{});
}

template <class T, class D>
void products() {
    for (auto const& [n, k, m] : {std::tuple<std::size_t, std::size_t, std::size_t>{3, 4, 5}, {1, 1, 1}, {0, 3, 2}, {2, 0, 3}, {3, 2, 0}, {65, 33, 17}, {16, 64, 128}}) {
        auto const x = positive<T>({n, k}, 1), y = positive<T>({k, m}, 2), xt = positive<T>({k, n}, 3), yt = positive<T>({m, k}, 4), b = positive<T>({m}, 5);
        auto const on = [](auto const& t) { return to_device<D>(t); };
        CHECK(same_product(rowan::matmul_nn_op::run(D{}, on(x), on(y)), rowan::matmul_nn_op::run(Cpu{}, x, y)));
        CHECK(same_product(rowan::matmul_nt_op::run(D{}, on(x), on(yt)), rowan::matmul_nt_op::run(Cpu{}, x, yt)));
        CHECK(same_product(rowan::matmul_tn_op::run(D{}, on(xt), on(y)), rowan::matmul_tn_op::run(Cpu{}, xt, y)));
        CHECK(same_product(rowan::fc_op::run(D{}, on(x), on(y), on(b)), rowan::fc_op::run(Cpu{}, x, y, b)));
    }
}

template <class T, class D>
void cells() {
    for (std::size_t const n : {0u, 1u, 3u, 65u}) {
        for (std::size_t const size : {0u, 1u, 5u, 16u}) {
            auto const on = [](auto const& t) { return to_device<D>(t); };
            auto const h = positive<T>({n, size}, 1), c = positive<T>({n, size}, 2), h_grad = positive<T>({n, size}, 3), c_grad = positive<T>({n, size}, 4);
            {
                auto const x = positive<T>({n, 3 * size}, 5), w = positive<T>({size, 3 * size}, 6), b = positive<T>({3 * size}, 7);
                auto const want = rowan::gru_unit_op::run(Cpu{}, x, h, w, b);
                CHECK(same_products(rowan::gru_unit_op::run(D{}, on(x), on(h), on(w), on(b)), want));
                auto const saved = std::get<1>(want);
                CHECK(same_products(rowan::gru_unit_op::backward(D{}, on(saved), on(h), on(w), on(h_grad)), rowan::gru_unit_op::backward(Cpu{}, saved, h, w, h_grad)));
            }
            auto const x = positive<T>({n, 4 * size}, 5), w = positive<T>({size, 4 * size}, 6), b = positive<T>({4 * size}, 7);
            auto const want = rowan::lstm_unit_op::run(Cpu{}, x, h, c, w, b);
            CHECK(same_products(rowan::lstm_unit_op::run(D{}, on(x), on(h), on(c), on(w), on(b)), want));
            auto const saved = std::get<2>(want);
            CHECK(same_products(rowan::lstm_unit_op::backward(D{}, on(saved), on(c), on(h_grad), on(c_grad)), rowan::lstm_unit_op::backward(Cpu{}, saved, c, h_grad, c_grad)));
        }
    }
}

TEMPLATE_TEST_CASE("products on a device equal Cpu's", "[thrust][op]", ROWAN_TEST_DEVICES) {
    products<float, TestType>();
    products<double, TestType>();
    products<rowan::bfloat16, TestType>();
    products<std::int32_t, TestType>();
}

TEMPLATE_TEST_CASE("products on a device have the expected values", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const x{{1, 2, 3}, {4, 5, 6}}, y{{1, 0}, {0, 1}, {2, 2}}, b{10, 20};
    CHECK(same_bits(rowan::matmul(x, y), Tensor<float>{{7, 8}, {16, 17}}));
    CHECK(same_bits(rowan::fc(x, y, b), Tensor<float>{{17, 28}, {26, 37}}));
    CHECK(same_bits(rowan::matmul(x, x, false, true), Tensor<float>{{14, 32}, {32, 77}}));
    CHECK(same_bits(rowan::matmul(x, x, true, false), Tensor<float>{{17, 22, 27}, {22, 29, 36}, {27, 36, 45}}));
    CHECK(same_bits(rowan::matmul(y, x, true, true), Tensor<float>{{7, 16}, {8, 17}}));
}

TEMPLATE_TEST_CASE("a row is repeated on a device", "[thrust][op]", ROWAN_TEST_DEVICES) {
    auto const x = filled<float>({70, 2, 4}, 1), row = filled<float>({2, 4}, 2);
    CHECK(same_bits(rowan::expand_rows_op::run(TestType{}, to_device<TestType>(row), to_device<TestType>(x)), rowan::expand_rows(Cpu{}, row, x)));
}

TEMPLATE_TEST_CASE("recurrent cells on a device equal Cpu's", "[thrust][op]", ROWAN_TEST_DEVICES) {
    cells<float, TestType>();
    cells<double, TestType>();
    cells<rowan::bfloat16, TestType>();
}

TEMPLATE_TEST_CASE("products and cells on a device throw like Cpu's", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using rowan::ShapeError;
    Tensor<float, D> const x{{1, 2, 3}}, w{{1, 2}, {3, 4}}, b{1, 2}, flat{1, 2, 3};
    CHECK_THROWS_AS(rowan::matmul(x, w), ShapeError);
    CHECK_THROWS_AS(rowan::matmul(flat, w), ShapeError);
    CHECK_THROWS_AS(rowan::fc(x, w, b), ShapeError);
    CHECK_THROWS_AS(rowan::fc(w, w, flat), ShapeError);
    CHECK_THROWS_AS(rowan::expand_rows(D{}, flat, w), ShapeError);
    CHECK_THROWS_AS(rowan::gru_unit(D{}, x, w, w, b), ShapeError);
    CHECK_THROWS_AS(rowan::gru_unit_op::backward(D{}, x, w, w, w), ShapeError);
    CHECK_THROWS_AS(rowan::lstm_unit(D{}, x, w, w, w, b), ShapeError);
    CHECK_THROWS_AS(rowan::lstm_unit_op::backward(D{}, x, w, w, w), ShapeError);
}

TEMPLATE_TEST_CASE("products of batches of matrices on a device, and their gradients", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (auto const& [a, b] : std::vector<std::pair<Shape, Shape>>{{{3, 4, 5}, {3, 5, 2}}, {{2, 1, 4, 5}, {3, 5, 2}}, {{3, 4, 5}, {5, 2}}, {{0, 4, 5}, {1, 5, 2}}}) {
        auto const x = filled<float>(a, 1), y = filled<float>(b, 2), out = rowan::matmul(x, y);
        auto const x_on = to_device<D>(x), y_on = to_device<D>(y), g_on = to_device<D>(out);
        CHECK(same_product(rowan::matmul(x_on, y_on), out));
        CHECK(same_product(rowan::matmul(x_on, g_on, true), rowan::matmul(x, out, true)));
        CHECK(same_product(rowan::matmul_grad_op<true>::run(D{}, x_on, y_on, g_on), rowan::matmul_grad_op<true>::run(Cpu{}, x, y, out)));
        CHECK(same_product(rowan::matmul_grad_op<false>::run(D{}, x_on, y_on, g_on), rowan::matmul_grad_op<false>::run(Cpu{}, x, y, out)));
    }
}

}  // namespace op_products
