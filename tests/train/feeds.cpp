// tests/train/feeds.cpp
#include <rowan/train/feeds.hpp>

#include "catch.hpp"

#include <list>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test_feeds {

using namespace rowan;

namespace {

/// The kind, the shape and the sum of a value.
std::string text(Feed const& feed) {
    auto value = feed.value();
    auto const of = [&]<class... T>(std::type_identity<T>...) {
        double sum = 0;
        auto const add = [&]<class U>(std::type_identity<U>) {
            if (!value.is<LoDTensor<U>>()) return;
            for (U const e : value.get<LoDTensor<U>>().value()) sum += static_cast<double>(e);
        };
        (add(std::type_identity<T>{}), ...);
        return value.kind() + detail::shape_text(value.elements().dims) + std::to_string(static_cast<int>(sum));
    };
    return of(std::type_identity<float>{}, std::type_identity<double>{}, std::type_identity<bool>{}, std::type_identity<std::int32_t>{},
              std::type_identity<std::int64_t>{});
}

}  // namespace

TEST_CASE("a batch takes expressions, ranges and numbers", "[layer][feeds]") {
    Tensor<float> const p{{1, 2}, {3, 4}};
    std::vector<std::int64_t> const labels{1, 2};
    CHECK(text(p + 1.f) == "LoDTensor<f32>[2, 2]14");
    CHECK(text(p.row(1)) == "LoDTensor<f32>[2]7");
    CHECK(text(std::vector<float>{1, 2}) == "LoDTensor<f32>[2]3");
    CHECK(text(std::vector<float>{}) == "LoDTensor<f32>[0]0");
    CHECK(text(std::vector<bool>{true, false, true}) == "LoDTensor<bool>[3]2");
    CHECK(text(std::vector<long long>{5}) == "LoDTensor<i64>[1]5");
    CHECK(text(std::span(labels)) == "LoDTensor<i64>[2]3");
    CHECK(text(std::list<double>{1, 2, 3}) == "LoDTensor<f64>[3]6");
    CHECK(text(std::views::iota(1, 4)) == "LoDTensor<i32>[3]6");
    CHECK(text(2.5) == "LoDTensor<f64>[1]2");
    Feeds const feeds{{"x", p + 1.f}, {"y", labels}, {"rate", 2.5f}};
    CHECK(text(feeds.find("rate")->second) == "LoDTensor<f32>[1]2");
}

TEST_CASE("a name twice in a batch is refused", "[layer][feeds]") {
    Tensor<float> const p{1, 2};
    CHECK_THROWS_AS((Feeds{{"x", p}, {"y", p}, {"x", p}}), GraphError);
    CHECK_THROWS_WITH((Feeds{{"x", p}, {"y", p}, {"x", p}}), "the batch has two values for \"x\"");
    Feeds feeds{{"x", p}};
    CHECK_THROWS_WITH(feeds.emplace("x", 3.f), "the batch has two values for \"x\"");
    CHECK(text(feeds.find("x")->second) == "LoDTensor<f32>[2]3");
    feeds.insert_or_assign("x", 3.f);
    feeds.emplace("y", p);
    CHECK(text(feeds.find("x")->second) == "LoDTensor<f32>[1]3");
    CHECK((feeds.size() == 2 && feeds.contains("y") && feeds.erase("z") == 0));
}

}  // namespace test_feeds
