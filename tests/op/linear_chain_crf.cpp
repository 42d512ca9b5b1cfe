// tests/op/linear_chain_crf.cpp: conditional random fields against all paths.
#include <rowan/op/loss/linear_chain_crf.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_linear_chain_crf {

using rowan::Cpu, rowan::linear_chain_crf, rowan::linear_chain_crf_grad, rowan::linear_chain_crf_op, rowan::Lod, rowan::LoDTensor, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK;
using Labels = Tensor<std::int64_t>;

static_assert(linear_chain_crf_op::infer(tensor_spec<float>({UNK, 3}, 2), tensor_spec<float>({5, 3}), tensor_spec<std::int64_t>({UNK}, 2)) == tensor_spec<float>({UNK, 1}, 1));

namespace {

Labels labels(std::size_t n, std::size_t tags) {
    auto label = Labels::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) label(i) = static_cast<std::int64_t>(i * i % tags);
    return label;
}

/// The loss of a sequence: its score compared with those of all tags^length paths.
long double loss_of(Tensor<double> const& x, Tensor<double> const& w, Labels const& label) {
    std::size_t const n = x.shape(0), tags = x.shape(1);
    auto const score = [&](auto const& tag) {
        long double sum = n == 0 ? 0.0L : w(0, tag(0)) + w(1, tag(n - 1));
        for (std::size_t t = 0; t < n; ++t) sum += x(t, tag(t)) + (t == 0 ? 0 : w(2 + tag(t - 1), tag(t)));
        return sum;
    };
    std::size_t paths = 1;
    for (std::size_t t = 0; t < n; ++t) paths *= tags;
    long double total = 0;
    for (std::size_t path = 0; path < paths; ++path) {
        total += std::exp(score([&](std::size_t t) {
            std::size_t rest = path;
            for (; t != 0; --t) rest /= tags;
            return rest % tags;
        }));
    }
    return n == 0 ? 0 : std::log(total) - score([&](std::size_t t) { return static_cast<std::size_t>(label(t)); });
}

}  // namespace

TEST_CASE("linear_chain_crf is the negative log-likelihood of the labels among all paths", "[op][golden]") {
    Lod const lod{{0, 1, 3, 4}, {0, 5, 5, 6, 9}};
    for (std::size_t const tags : {1u, 2u, 5u, 9u}) {
        LoDTensor<double> const x(test::values({9, tags}, 1), lod);
        auto const w = test::values({tags + 2, tags}, 2);
        auto const label = labels(9, tags);
        auto const loss = linear_chain_crf(x, w, label);
        CHECK((loss.shape() == Tensor<double>::shape_type{4, 1} && loss.lod() == Lod{{0, 1, 3, 4}}));
        for (std::size_t s = 0; s < 4; ++s) {
            auto const begin = static_cast<std::size_t>(lod[1][s]), end = static_cast<std::size_t>(lod[1][s + 1]);
            auto const want = loss_of(x.value().slice(begin, end), w, label.slice(begin, end));
            CHECK(std::abs(loss.value()(s, 0) - want) <= 1e-14L * (1 + want));
        }
        auto const column = label.reshaped({9, 1});
        CHECK((linear_chain_crf(x, w, column) == loss));
    }
}

TEST_CASE("linear_chain_crf of long sequences and large scores neither overflows nor loses precision", "[op]") {
    std::size_t const n = 3000;
    auto x = Tensor<float>::zeros({n, 2});
    auto const label = Labels::zeros({n});
    for (std::size_t i = 0; i < n; ++i) x(i, 0) = 1e4F;
    auto w = Tensor<float>::zeros({4, 2});
    LoDTensor<float> const sure(x, Lod{{0, static_cast<std::int64_t>(n)}});
    CHECK((linear_chain_crf(sure, w, label).value() == Tensor<float>{{0}}));
    for (std::size_t i = 0; i < n; ++i) x(i, 0) = x(i, 1) = -1e4F;
    LoDTensor<float> const even(x, Lod{{0, static_cast<std::int64_t>(n)}});
    CHECK(std::abs(linear_chain_crf(even, w, label).value()(0, 0) / (static_cast<float>(n) * std::log(2.0F)) - 1) < 1e-4F);
    // a forbidden transition
    w(3, 0) = -std::numeric_limits<float>::infinity();
    auto const [x_grad, w_grad] = linear_chain_crf_grad(even, w, label, Tensor<float>{{1}});
    CHECK(std::abs(linear_chain_crf(even, w, label).value()(0, 0) / std::log(static_cast<float>(n) + 1) - 1) < 1e-4F);
    CHECK(w_grad(3, 0) == 0);
    CHECK(std::abs(x_grad.value()(0, 1) - 1.0F / (static_cast<float>(n) + 1)) < 1e-6F);
}

TEST_CASE("linear_chain_crf throws for bad inputs", "[op][bad]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}}, Lod{{0, 2}});
    auto const w = Tensor<float>::zeros({4, 2});
    Labels const label{0, 1};
    CHECK_THROWS_WITH(linear_chain_crf(x, w, Labels{0}), "label.shape() is [1], expected [2] or the same with a dim of 1");
    CHECK_THROWS_WITH(linear_chain_crf(LoDTensor<float>(Tensor<float>::zeros({2, 0}), Lod{{0, 2}}), w, label), "emission.shape(1) is 0, expected at least 1");
    CHECK_THROWS_WITH(linear_chain_crf_op::infer(tensor_spec<float>({UNK, std::numeric_limits<std::int64_t>::max()}, 1), tensor_spec<float>({UNK, UNK}), tensor_spec<std::int64_t>({UNK})),
                      "crf: x.shape(1) is 9223372036854775807, expected at most 9223372036854775805");
}

}  // namespace test_linear_chain_crf
