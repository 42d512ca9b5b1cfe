// tests/op/class_sampler.cpp: draws of classes against their probabilities, and Huffman trees against the least depth.
#include <rowan/op/loss/class_sampler.hpp>
#include <rowan/op/loss/huffman_tree.hpp>

#include "catch.hpp"
#include "inputs.hpp"
#include "refused.hpp"

#include <rapidcheck/catch.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <set>
#include <string>
#include <vector>

namespace test_class_sampler {

using rowan::ClassSampler, rowan::HuffmanTree, rowan::IndexError, rowan::sample_classes, rowan::ShapeError, rowan::ValueError;

namespace {

template <class E, class Call>
void refuses(Call const& call, std::string const& text) {
    CHECK(test::refusal<E>(call) == text);
}

/// Whether the frequencies of n draws are within five standard deviations of the probabilities, which sum to 1.
void check_draws(ClassSampler const& sampler) {
    std::int64_t const n = 200'000;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(sampler.classes()));
    for (std::int64_t const c : sample_classes(sampler, n, 5).ids) ++seen.at(static_cast<std::size_t>(c));
    double sum = 0;
    for (std::int64_t c = 0; c < sampler.classes(); ++c) {
        double const p = sampler.probability(c), mean = p * static_cast<double>(n);
        CAPTURE(c, p, seen[static_cast<std::size_t>(c)]);
        CHECK(std::abs(static_cast<double>(seen[static_cast<std::size_t>(c)]) - mean) <= 5 * std::sqrt(mean * (1 - p)) + 1e-9);
        sum += p;
    }
    CHECK(std::abs(sum - 1) < 1e-9);
}

}  // namespace

TEST_CASE("classes are drawn as often as their probabilities say", "[class_sampler]") {
    check_draws(ClassSampler::uniform(7));
    check_draws(ClassSampler::log_uniform(50));
    check_draws(ClassSampler::of_weights(std::vector<double>{0, 3, 1e-3, 0, 1, 0.25}));
    check_draws(ClassSampler::of_counts(std::vector<std::int64_t>{1000, 1, 0, 30, 30}, 0.75));
    check_draws(ClassSampler::of_weights(std::vector<double>{1e308, 1e308, 0, 1e300}));
    check_draws(ClassSampler::of_weights(std::vector<double>{1e-300, 2e-300, 0}));
    auto const one = ClassSampler::log_uniform(1);
    CHECK(one.draw(0) == 0);
    CHECK(one.draw(~std::uint64_t{0}) == 0);
    auto const most = ClassSampler::uniform((std::int64_t{1} << 31) - 1);
    CHECK(most.draw(~std::uint64_t{0}) == most.classes() - 1);
}

TEST_CASE("probabilities are those of TensorFlow's samplers and of counts to a power", "[class_sampler]") {
    // of 20 draws from 100 classes, tf.random.log_uniform_candidate_sampler expects these
    auto const sampler = ClassSampler::log_uniform(100);
    CHECK(std::abs(20 * sampler.probability(0) - 3.003809690475464) < 1e-6);
    CHECK(std::abs(20 * sampler.probability(5) - 0.668024480342865) < 1e-6);
    CHECK(std::abs(20 * sampler.probability(90) - 0.04736201465129852) < 1e-7);
    // 20 different classes took 30 draws
    CHECK(std::abs(rowan::expected_count(sampler.probability(0), 20, 30) - 0.9924203753471375) < 1e-6);
    CHECK(std::abs(rowan::expected_count(sampler.probability(5), 20, 30) - 0.6390997171401978) < 1e-6);
    CHECK(rowan::expected_count(0.25, 20, 20) == 5.0);

    auto const counts = ClassSampler::of_counts(std::vector<std::int64_t>{16, 0, 81}, 0.75);  // 8, 0, 27
    CHECK(std::abs(counts.probability(0) - 8.0 / 35) < 1e-9);
    CHECK(counts.probability(1) == 0.0);
    auto const even = ClassSampler::of_counts(std::vector<std::int64_t>{16, 0, 81}, 0.0);
    CHECK(std::abs(even.probability(2) - 0.5) < 1e-9);
}

TEST_CASE("the same seed draws the same classes everywhere", "[class_sampler]") {
    auto const drawn = [](ClassSampler const& sampler, bool unique) { return sample_classes(sampler, 6, 42, unique).ids; };
    using Ids = rowan::Tensor<std::int64_t>;
    CHECK(drawn(ClassSampler::uniform(1000), false) == Ids{596, 160, 166, 48, 980, 235});
    CHECK(drawn(ClassSampler::log_uniform(1000), false) == Ids{60, 2, 2, 0, 875, 4});
    CHECK(drawn(ClassSampler::of_counts(std::vector<std::int64_t>{5, 4, 3, 2, 1, 1, 1, 1}, 0.75), true) == Ids{0, 1, 2, 6, 7, 5});
}

TEST_CASE("unique draws are different classes, and tries count all draws", "[class_sampler]") {
    auto const sampler = ClassSampler::log_uniform(10);
    auto const all = sample_classes(sampler, 10, 3, true);
    CHECK(std::set<std::int64_t>(all.ids.begin(), all.ids.end()).size() == 10);
    CHECK(all.tries > 10);
    CHECK(sample_classes(sampler, 10, 3).tries == 10);
    auto const none = sample_classes(sampler, 0, 3, true);
    CHECK(none.ids.size() == 0);
    rowan::Tensor<std::int64_t> const label{{0, 9}};
    auto const [of_label, of_drawn] = rowan::expected_counts<double>(sampler, all, label);
    CHECK(of_label.shape() == label.shape());
    CHECK(of_label(0, 1) == rowan::expected_count(sampler.probability(9), 10, all.tries));
    CHECK(of_drawn(3) == rowan::expected_count(sampler.probability(all.ids(3)), 10, all.tries));
}

TEST_CASE("bad distributions are refused", "[class_sampler][bad_input]") {
    double const infinity = std::numeric_limits<double>::infinity();
    refuses<ValueError>([] { return ClassSampler::uniform(0); }, "classes is 0, expected in [1, 2^31)");
    refuses<ValueError>([] { return ClassSampler::log_uniform(std::int64_t{1} << 31); }, "classes is 2147483648, expected in [1, 2^31)");
    refuses<ValueError>([] { return ClassSampler::of_weights({}); }, "classes is 0, expected in [1, 2^31)");
    refuses<ValueError>([] { return ClassSampler::of_weights(std::vector<double>{1, -1}); }, "weight[1] is -1, expected finite and at least 0");
    refuses<ValueError>([&] { return ClassSampler::of_weights(std::vector<double>{infinity}); }, "weight[0] is inf, expected finite and at least 0");
    refuses<ValueError>([] { return ClassSampler::of_weights(std::vector<double>{0, 0}); }, "the greatest weight is 0, expected above 0");
    refuses<ValueError>([] { return ClassSampler::of_counts(std::vector<std::int64_t>{3, -2}); }, "counts[1] is -2, expected at least 0");
    auto const two = ClassSampler::of_weights(std::vector<double>{1, 0, 1});
    refuses<ValueError>([&] { return sample_classes(two, 3, 1, true); }, "n is 3, expected in [0, 2], the number of classes that can be drawn");
    refuses<IndexError>([&] { return two.probability(3); }, "class = 3 is not in [0, 3)");
    refuses<IndexError>([&] { return rowan::expected_counts(two, sample_classes(two, 1, 1), {1, 3}); }, "label[1] = 3 is not in [0, 3)");
}

TEST_CASE("trees have the least depth that the counts allow, and codes are paths", "[huffman_tree]") {
    rc::prop("of any counts", [] {
        auto const n = *rc::gen::inRange<std::size_t>(1, 40);
        auto const counts = *rc::gen::container<std::vector<std::int64_t>>(n, rc::gen::inRange<std::int64_t>(0, 1000));
        HuffmanTree const tree(counts);
        RC_ASSERT(tree.classes() == static_cast<std::int64_t>(n));
        std::int64_t depth = 0, least = 0;
        std::set<std::vector<std::uint8_t>> codes;
        std::vector<std::set<std::int64_t>> children(n);  // of each node: its first child's prefix and its second's
        for (std::int64_t c = 0; c < tree.classes(); ++c) {
            auto const path = tree.path(c);
            auto const code = tree.code(c);
            RC_ASSERT(path.size() == code.size());
            if (n > 1) RC_ASSERT(path[0] == 0);
            depth += static_cast<std::int64_t>(path.size()) * counts[static_cast<std::size_t>(c)];
            codes.insert({code.begin(), code.end()});
            for (std::size_t k = 0; k < path.size(); ++k) {
                RC_ASSERT(path[k] >= 0 && path[k] < tree.nodes());
                // two paths through a node with the same bit go on alike: to the same node, or to the same class
                children[static_cast<std::size_t>(path[k])].insert(2 * (k + 1 < path.size() ? path[k + 1] : 1000 + c) + code[k]);
            }
        }
        RC_ASSERT(codes.size() == n);
        for (std::int64_t node = 0; node < tree.nodes(); ++node) RC_ASSERT(children[static_cast<std::size_t>(node)].size() == 2U);
        std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> heap(counts.begin(), counts.end());
        while (heap.size() > 1) {
            std::int64_t sum = heap.top();
            heap.pop();
            sum += heap.top();
            heap.pop();
            least += sum;
            heap.push(sum);
        }
        RC_ASSERT(depth == least);
    });
    HuffmanTree const tree(std::vector<std::int64_t>{5, 2, 1});
    CHECK(std::vector<std::int64_t>(tree.path(2).begin(), tree.path(2).end()) == std::vector<std::int64_t>{0, 1});
    CHECK(std::vector<std::uint8_t>(tree.code(0).begin(), tree.code(0).end()) == std::vector<std::uint8_t>{1});
    refuses<IndexError>([&] { return tree.path(3); }, "class = 3 is not in [0, 3)");
    refuses<ShapeError>([] { return HuffmanTree({}); }, "counts.size() is 0, expected at least 1");
    refuses<ValueError>([] { return HuffmanTree(std::vector<std::int64_t>{1, -1}); }, "counts[1] is -1, expected at least 0, with a sum below 2^63");
}

}  // namespace test_class_sampler
