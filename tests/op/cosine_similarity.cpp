// tests/op/cosine_similarity.cpp: cosines of angles between rows against PyTorch's values, and their gradients.
#include <rowan/op/matrix/cosine_similarity.hpp>
#include <rowan/op/elementwise/scale.hpp>

#include "catch.hpp"

#include <cmath>
#include <tuple>
#include <utility>

namespace test_cosine_similarity {

using rowan::cosine_similarity, rowan::cosine_similarity_op, rowan::Cpu, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(cosine_similarity_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK}), {}) == tensor_spec<float>({4, 1}, 1));

TEST_CASE("cosine_similarity equals PyTorch's, also for short rows", "[op][golden]") {
    // torch.nn.functional.cosine_similarity(x, y, eps=0.5) of PyTorch 2.9.0, in double
    Tensor<double> const x{{3, 4}, {0.125, 0}, {0, 0}, {1e4, -1e4}}, y{{4, -3}, {2, 2}, {1, 0}, {1e4, 1e4}};
    auto const near = [](Tensor<double> const& got, Tensor<double> const& want) {
        REQUIRE(got.shape() == want.shape());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got.data()[i] - want.data()[i]) <= 1e-15 * (1 + std::abs(want.data()[i])));
    };
    near(cosine_similarity(x, y, {.epsilon = 0.5}), Tensor<double>{{0.0}, {0.17677669529663687}, {0.0}, {0.0}});
    auto const [x_grad, y_grad] = rowan::cosine_similarity_op::backward(rowan::Cpu{}, x, y, Tensor<double>::full({4, 1}, 1), {.epsilon = 0.5});
    // for rows shorter than eps, the derivative; PyTorch has 1.06 in place of the first 1.41
    near(x_grad, Tensor<double>{{0.16, -0.12}, {1.414213562373095, 1.414213562373095}, {2.0, 0.0}, {5e-05, 5e-05}});
    near(y_grad, Tensor<double>{{0.12, 0.16}, {0.04419417382415922, -0.04419417382415921}, {0.0, 0.0}, {5e-05, -5e-05}});
    CHECK((cosine_similarity(Tensor<float>::zeros({2, 0}), Tensor<float>::zeros({2, 0})) == Tensor<float>{{0}, {0}}));
    CHECK(cosine_similarity(Tensor<float>::zeros({0, 3}), Tensor<float>::zeros({0, 3})).shape() == Tensor<float>::shape_type{0, 1});
}

TEST_CASE("cosines and their gradients are right where the squares of rows overflow or vanish", "[op]") {
    Tensor<float> const x{{1, -0.75F, 0.5F}, {0, 0, 0}}, y{{0.5F, 0.25F, -1}, {3, 4, 0}}, g{{2}, {2}};
    auto const options = rowan::CosineOptions{.epsilon = 0x1p-100};
    auto const cosine = cosine_similarity(x, y, options);
    auto const [x_grad, y_grad] = rowan::cosine_similarity_op::backward(rowan::Cpu{}, x, y, g, options);
    for (auto const& [f, h] : {std::pair{0x1p100, 0x1p100}, {0x1p120, 0x1p-90}, {0x1p-90, 0x1p-90}, {0x1p-90, 1.0}, {0x1p40, 0x1p40}}) {
        auto const a = rowan::scale(Cpu{}, x, f), b = rowan::scale(Cpu{}, y, h);
        CHECK(cosine_similarity(a, b, options) == cosine);
        auto const [a_grad, b_grad] = rowan::cosine_similarity_op::backward(rowan::Cpu{}, a, b, g, options);
        for (std::size_t i = 0; i < 3; ++i) {  // powers of two change no other bits
            CHECK(static_cast<double>(a_grad(0, i)) * f == x_grad(0, i));
            CHECK(static_cast<double>(b_grad(0, i)) * h == y_grad(0, i));
        }
    }
    // rows shorter than epsilon, also where its square vanishes
    Tensor<double> const small{{0x1p-1000}};
    CHECK(cosine_similarity(small, Tensor<double>{{0x1p1000}}, {.epsilon = 0x1p-990})(0, 0) == 0x1p-10);
    CHECK((std::get<0>(rowan::cosine_similarity_op::backward(rowan::Cpu{}, small, small, Tensor<double>{{1}}, {.epsilon = 0x1p-20})) == Tensor<double>{{0x1p-960}}));
    CHECK(std::isnan(cosine_similarity(Tensor<float>{{INFINITY}}, Tensor<float>{{1e30F}})(0, 0)));
}

TEST_CASE("no cosine is greater than 1 by rounding", "[op]") {
    auto x = Tensor<float>::from_shape({200, 2});
    for (std::size_t i = 0; i < 400; ++i) x.data()[i] = 0.1F * static_cast<float>(i * i % 97) + 0.3F;
    auto const cosine = cosine_similarity(x, x), opposite = cosine_similarity(x, rowan::scale(Cpu{}, x, -1));
    for (std::size_t i = 0; i < 200; ++i) CHECK((std::abs(cosine(i, 0)) <= 1 && std::abs(opposite(i, 0)) <= 1));
}

TEST_CASE("cosine_similarity throws for bad inputs", "[op][bad]") {
    Tensor<float> const x{{1, 2}}, y{{1, 2, 3}}, flat{1};
    CHECK_THROWS_WITH(cosine_similarity(flat, flat), "x rank is 1, expected 2");
    CHECK_THROWS_WITH(cosine_similarity(x, x, {.epsilon = 1e-60}), "epsilon is 1e-60, expected a positive number in the type of computation");
}

}  // namespace test_cosine_similarity
