// tests/op/negative_sampling.cpp: negative sampling and hierarchical softmax against sums in double, on any number of threads.
#include <rowan/op/loss/hierarchical_softmax.hpp>
#include <rowan/op/loss/negative_sampling.hpp>

#include "inputs.hpp"
#include "op/check_gradients.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace test_negative_sampling {

using rowan::bfloat16, rowan::Cpu, rowan::HuffmanTree, rowan::IndexError, rowan::Lod, rowan::LoDTensor, rowan::negative_sampling_op, rowan::Reduction,
    rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(negative_sampling_op::infer(tensor_spec<float>({UNK, 8}, 1), tensor_spec<float>({9, 8}), tensor_spec<std::int64_t>({UNK, 6}), {})[0] == tensor_spec<float>({1}));

namespace {

template <class E, class Call>
void refuses(Call const& call, std::string const& text) {
    CHECK(test::refusal<E>(call) == text);
}

double number(bfloat16 x) { return static_cast<double>(static_cast<float>(x)); }
double number(double x) { return x; }

template <class T>
Tensor<T> numbers(std::size_t n, std::size_t width, std::uint64_t seed) {
    auto const from = test::values({n, width}, seed);
    auto x = Tensor<T>::from_shape({n, width});
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = inputs::narrow<T>(from.data()[i]);
    return x;
}

template <class T>
double score(Tensor<T> const& x, std::size_t i, Tensor<T> const& w, std::int64_t row) {
    double sum = 0;
    for (std::size_t c = 0; c < x.shape(1); ++c) sum += number(x(i, c)) * number(w(static_cast<std::size_t>(row), c));
    return sum;
}

/// Losses of groups of 0 to 9 rows with `targets` ids, by the formula in double.
template <class T>
void check_losses(std::size_t width, std::size_t targets) {
    CAPTURE(width, targets);
    std::vector<std::int64_t> const cuts{0, 3, 3, 4, 13};
    LoDTensor<T> const x(numbers<T>(13, width, 1), Lod{cuts});
    auto const w = numbers<T>(7, width, 2);
    auto ids = Tensor<std::int32_t>::from_shape({4, targets});
    for (std::size_t k = 0; k < ids.size(); ++k) ids.data()[k] = static_cast<std::int32_t>(k * k % 7);
    auto const losses = std::get<0>(rowan::negative_sampling(x, w, ids, {.reduction = Reduction::none}));
    double const unit = std::is_same_v<T, bfloat16> ? 0x1p-8 : std::is_same_v<T, float> ? 0x1p-20 : 0x1p-46;
    for (std::size_t g = 0; g < 4; ++g) {
        for (auto i = static_cast<std::size_t>(cuts[g]); i < static_cast<std::size_t>(cuts[g + 1]); ++i) {
            double loss = 0;
            for (std::size_t k = 0; k < targets; ++k) {
                if (k != 0 && ids(g, k) == ids(g, 0)) continue;
                double const s = score(x.value(), i, w, ids(g, k));
                loss += std::log1p(std::exp(k == 0 ? -s : s));
            }
            CHECK(std::abs(number(losses(i)) - loss) <= unit * (1 + loss));
        }
    }
}

/// Whether all tensors have the same bits.
template <class... X>
bool same(std::tuple<X...> const& a, std::tuple<X...> const& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return (reference::same(std::get<i>(a), std::get<i>(b)) && ...); }(std::index_sequence_for<X...>{});
}

}  // namespace

TEST_CASE("losses are those of the formula, for all widths and numbers of targets", "[negative_sampling]") {
    for (auto const width : std::vector<std::size_t>{0, 1, 16, 37}) check_losses<float>(width, 6);
    for (auto const targets : std::vector<std::size_t>{1, 2, 17}) check_losses<float>(20, targets);
    check_losses<double>(100, 5);
    check_losses<bfloat16>(20, 3);
}

TEST_CASE("scores do not depend on the rows that follow, nor on whether any does", "[negative_sampling]") {
    auto const test_width = [](std::size_t width) {
        auto w = inputs::wild<float>({9, width}, 2), x = inputs::wild<float>({4, width}, 1);
        auto const scores = [&](Tensor<float> const& table, Tensor<float> const& rows) {
            return rowan::negative_sampling(LoDTensor<float>(rows.share()), table, Tensor<std::int64_t>{{3, 1}, {1, 3}}, {.reduction = Reduction::none});
        };
        auto const last = scores(w.slice(0, 4), x.slice(0, 2));
        CHECK(same(scores(w, x.slice(0, 2)), last));
        for (auto row : {w.row(0), w.row(2), w.row(4), w.row(5), x.row(2), x.row(3)}) std::ranges::fill(row, std::numeric_limits<float>::quiet_NaN());
        CHECK(same(scores(w, x.slice(0, 2)), last));
    };
    for (auto const width : std::vector<std::size_t>{1, 5, 20, 31, 100}) test_width(width);
}

TEST_CASE("gradients of negative sampling are slopes of the loss", "[negative_sampling]") {
    auto const reduction = GENERATE(Reduction::none, Reduction::mean, Reduction::sum);
    LoDTensor<double> const groups(test::values({9, 19}, 1), Lod{{0, 2, 2, 9}});
    Tensor<std::int64_t> const ids{{1, 2, 1, 0}, {2, 2, 2, 2}, {0, 3, 3, 1}};
    test::check_gradients<negative_sampling_op>(std::tuple(groups, test::values({4, 19}, 2), ids), {.reduction = reduction});
    test::check_gradients<negative_sampling_op>(std::tuple(LoDTensor<double>(test::values({3, 5}, 1)), test::values({4, 5}, 2), ids), {.reduction = reduction});
}

TEST_CASE("losses and gradients have the same bits for any number of threads", "[negative_sampling]") {
    std::size_t const groups = 600, rows = 4 * groups, width = 100;
    auto const x_rows = inputs::wild<float>({rows, width}, 1), w = inputs::wild<float>({50, width}, 2);
    std::vector<std::int64_t> cuts, label;
    for (std::size_t g = 0; g <= groups; ++g) cuts.push_back(static_cast<std::int64_t>(4 * g));
    LoDTensor<float> const x(x_rows.share(), Lod{cuts});
    auto ids = Tensor<std::int64_t>::from_shape({groups, 6});
    for (std::size_t k = 0; k < ids.size(); ++k) ids.data()[k] = static_cast<std::int64_t>(k * k % 50);
    std::vector<std::int64_t> counts;
    for (std::int64_t c = 0; c < 51; ++c) counts.push_back(1 + c * c);
    HuffmanTree const tree(counts);
    for (std::size_t g = 0; g < groups; ++g) label.push_back(ids(g, 0));
    auto const all = [&](Cpu exec) {
        auto [loss, saved] = rowan::negative_sampling(exec, x, w, ids);
        auto [x_grad, w_grad] = rowan::negative_sampling_grad(exec, x, w, ids, saved, loss);
        auto [tree_loss, slopes] = rowan::hierarchical_softmax(exec, x, w, tree, label);
        auto [h_grad, node_grad] = rowan::hierarchical_softmax_grad(exec, x, w, tree, label, slopes, tree_loss);
        return std::tuple(std::move(loss), std::move(x_grad), w_grad.value(), std::move(tree_loss), std::move(h_grad), node_grad.value());
    };
    auto const one = all(Cpu{1});
    for (int const threads : {2, 3, 8}) {
        auto const many = all(Cpu{threads});
        CHECK(same(one, many));
    }
}

TEST_CASE("hierarchical softmax is -log of probabilities that sum to 1", "[hierarchical_softmax]") {
    HuffmanTree const tree(std::vector<std::int64_t>{5, 1, 1, 7, 2, 2});
    LoDTensor<double> const x(test::values({1, 9}, 1));
    auto const w = test::values({5, 9}, 2);
    double sum = 0;
    for (std::int64_t c = 0; c < 6; ++c) sum += std::exp(-std::get<0>(rowan::hierarchical_softmax(Cpu{}, x, w, tree, {c}))(0));
    CHECK(std::abs(sum - 1) < 1e-12);

    HuffmanTree const one(std::vector<std::int64_t>{3});  // whose class is certain
    auto const [loss, slopes] = rowan::hierarchical_softmax(Cpu{}, x, Tensor<double>::zeros({0, 9}), one, {0});
    CHECK(loss(0) == 0.0);
    CHECK(slopes.size() == 0);
}

TEST_CASE("gradients of hierarchical softmax are slopes of the loss", "[hierarchical_softmax]") {
    HuffmanTree const tree(std::vector<std::int64_t>{5, 1, 1, 7, 2, 2});
    LoDTensor<double> x(test::values({5, 9}, 1), Lod{{0, 2, 2, 5}});
    auto w = test::values({5, 9}, 2);
    std::vector<std::int64_t> const label{1, 3, 2};
    auto const saved = std::get<1>(rowan::hierarchical_softmax(Cpu{}, x, w, tree, label));
    auto const [x_grad, w_grad] = rowan::hierarchical_softmax_grad(Cpu{}, x, w, tree, label, saved, Tensor<double>{1.0});
    auto const loss = [&] { return std::get<0>(rowan::hierarchical_softmax(Cpu{}, x, w, tree, label))(0); };
    test::check_input(x.value(), x_grad, loss, 1e-7);
    test::check_input(w, w_grad, loss, 1e-7);
}

TEST_CASE("infinite and huge scores give infinite or 0 losses, not NaN", "[negative_sampling]") {
    Tensor<float> const w{{1.0F}, {-1.0F}};
    LoDTensor<float> const x(Tensor<float>{{3e38F}});
    auto const loss = [&](std::int64_t positive, std::int64_t negative) {
        return std::get<0>(rowan::negative_sampling(x, w, Tensor<std::int64_t>{{positive, negative}}))(0);
    };
    CHECK(loss(0, 1) == 0.0F);
    CHECK(loss(1, 0) >= 3e38F);
}

TEST_CASE("targets that do not fit are refused", "[negative_sampling][bad_input]") {
    LoDTensor<float> const x(Tensor<float>::zeros({3, 4}), Lod{{0, 1, 3}});
    auto const w = Tensor<float>::zeros({5, 4});
    using Ids = Tensor<std::int64_t>;
    refuses<ShapeError>([&] { return rowan::negative_sampling(x, w, Ids{{1}}); }, "ids.shape() is [1, 1], expected [2, at least 1], a row for each sequence of x");
    refuses<ShapeError>([&] { return rowan::negative_sampling(x, Tensor<float>::zeros({5, 3}), Ids{{1}, {2}}); }, "w.shape() is [5, 3], expected [any, 4], the width of x");
    refuses<IndexError>([&] { return rowan::negative_sampling(x, w, Ids{{1, 2}, {5, 0}}); }, "ids[2] = 5 is not in [0, 5)");
    HuffmanTree const tree(std::vector<std::int64_t>{5, 1, 1, 7, 2, 2});
    refuses<IndexError>([&] { return rowan::hierarchical_softmax(Cpu{}, x, w, tree, {1, 6}); }, "label[1] = 6 is not in [0, 6)");
    refuses<ShapeError>([&] { return rowan::hierarchical_softmax(Cpu{}, x, w, tree, {1}); }, "label.size() is 1, expected 2, one for each sequence of x");
    refuses<ShapeError>([&] { return rowan::hierarchical_softmax(Cpu{}, x, Tensor<float>::zeros({6, 4}), tree, {1, 2}); },
                              "w.shape(0) is 6, expected 5, the nodes of the tree");
}

}  // namespace test_negative_sampling
