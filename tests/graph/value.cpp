// tests/graph/value.cpp
#include <rowan/graph/value.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"

#include <rowan/own_operator.hpp>
#include <rowan/sequence/tensor_array.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace test_value {

namespace {

using namespace rowan;
using test::value;

using Batch = LoDTensor<float>;

Batch const& batch(Value const& v) { return v.get<Batch>(); }

/// Two sentences, of one word and of two.
Value sentences() { return value(Batch({1, 2, 3}, Lod{{0, 1, 3}})); }

}  // namespace

TEST_CASE("a value holds one object of any type, and knows the type", "[graph]") {
    Value v;
    CHECK((v.empty() && v.kind() == "nothing"));
    CHECK((v.share().empty() && v.copy().empty()));
    CHECK_THROWS_WITH(v.get<int>(), "the value is nothing, expected a user-defined type");
    v.set(7);
    CHECK((v.is<int>() && !v.is<long>() && v.get<int>() == 7));
    v.set(SelectedRows<float>(3, {1}, {{2}}));
    CHECK(v.kind() == "SelectedRows<f32>");
    CHECK_THROWS_WITH(v.get<Batch>(), "the value is SelectedRows<f32>, expected LoDTensor<f32>");
    v.clear();
    CHECK(v.empty());
}

TEST_CASE("an alias of a value shares its elements, a copy does not", "[graph]") {
    Value v = sentences();
    Value const alias = v.share(), copy = v.copy();
    v.get<Batch>().value()(0) = 9;
    CHECK(batch(alias) == batch(v));
    CHECK(copy.get<Batch>() == Batch({1, 2, 3}, Lod{{0, 1, 3}}));
    CHECK_THROWS_WITH(value(7).share(), "the value is a user-defined type, expected one that can be shared");
    CHECK_THROWS_WITH(value(TensorArray<float>()).copy(), "the value is TensorArray<f32>, expected a LoDTensor");
}

TEST_CASE("the parts of a value are its sequences, or its rows", "[graph]") {
    Value const rows = value(Batch(Tensor<float>{{1, 2}, {3, 4}, {5, 6}})), texts = sentences();
    CHECK((rows.rows() == 3 && rows.count() == 3 && rows.lod().empty()));
    CHECK((texts.rows() == 3 && texts.count() == 2));
    CHECK(batch(rows.slice(1, 3)) == Batch(Tensor<float>{{3, 4}, {5, 6}}));
    CHECK(batch(texts.slice(1, 2)) == Batch({2, 3}, Lod{{0, 2}}));
    CHECK_THROWS_AS(rows.slice(2, 1), IndexError);
    CHECK_THROWS_AS(texts.slice(0, 3), IndexError);
    CHECK(batch(rows.with_lod(Lod{{0, 3}})) == Batch(Tensor<float>{{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 3}}));
    CHECK_THROWS_AS(rows.with_lod(Lod{{0, 2}}), LodError);
    Value const number = value(Batch(Tensor<float>::full({}, 1)));
    CHECK_THROWS_AS(number.count(), ShapeError);
    CHECK_THROWS_AS(number.with_lod(Lod{{0, 1}}), ShapeError);
}

TEST_CASE("parts of values are gathered, concatenated and scattered", "[graph]") {
    Cpu const device;
    std::array<std::int64_t, 3> const from{1, 0, 1};
    Value texts = sentences(), more = value(Batch({4}, Lod{{0, 1}}));
    CHECK(batch(texts.gather(device, from)) == Batch({2, 3, 1, 2, 3}, Lod{{0, 2, 3, 5}}));
    Value rows = value(Batch(Tensor<float>{1, 2})), row = value(Batch(Tensor<float>{3}));
    CHECK(batch(rows.gather(device, from)) == Batch(Tensor<float>{2, 1, 2}));

    std::array const both{&texts, &more}, flat{&rows, &row};
    CHECK(batch(Value::concat(device, both)) == Batch({1, 2, 3, 4}, Lod{{0, 1, 3, 4}}));
    CHECK(batch(Value::concat(device, flat)) == Batch(Tensor<float>{1, 2, 3}));
    std::array<std::int64_t, 2> const first{2, 0};
    std::array<std::int64_t, 1> const second{1};
    std::array<std::span<std::int64_t const>, 2> const to{first, second};
    CHECK(batch(Value::scatter(device, both, to)) == Batch({2, 3, 4, 1}, Lod{{0, 2, 3, 4}}));
    CHECK(batch(Value::scatter(device, flat, to)) == Batch(Tensor<float>{2, 3, 1}));
    CHECK_THROWS_WITH(Value::concat(device, {}), "values is 0, expected at least 1");
    CHECK_THROWS_WITH(Value::scatter(device, {}, {}), "values is 0, expected at least 1");
    Value wide = value(Batch(Tensor<float>{{1, 2}}));
    CHECK_THROWS_AS(Value::concat(device, std::array{&rows, &wide}), ShapeError);
}

TEST_CASE("the sum of two arrays adds common slots and keeps the others", "[graph]") {
    TensorArray<float> a, b;
    a.write(0, Tensor<float>{1});
    a.write(1, Tensor<float>{2});
    b.write(1, Tensor<float>{3});
    b.write(2, Tensor<float>{4});
    Value const first = value(a.share()), sum = first.add_slots(value(b.share()));
    CHECK(sum.get<TensorArray<float>>().concat() == Tensor<float>{1, 5, 4});
    CHECK(a.read(1).value() == Tensor<float>{2});
    CHECK_THROWS_AS(first.add_slots(sentences()), TypeError);
    CHECK_THROWS_WITH(sentences().add_slots(first), "the value is LoDTensor<f32>, expected a TensorArray");
}

TEST_CASE("elements are described, read and written for any type", "[graph]") {
    Value v = value(Batch(Tensor<float>{{1, 2, 3}}));
    auto const e = v.elements();
    CHECK((e.dtype == dtype<float>::wire && e.type == "f32" && e.element_size == 4 && e.bytes.size() == 12));
    CHECK((e.dims == std::vector<std::int64_t>{1, 3}));
    CHECK(e.bytes.data() == reinterpret_cast<std::byte*>(v.get<Batch>().value().data()));
    CHECK(v.on_host().elements().bytes.data() == e.bytes.data());
    v.write([](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{}); });
    CHECK(batch(v) == Batch(Tensor<float>{{0, 0, 0}}));
}

TEST_CASE("functions that need a tensor throw for other values", "[graph]") {
    Cpu const device;
    Value number = value(7);
    std::array const values{&number};
    std::function<void(Value&)> const uses[] = {
        [](Value& v) { v.rows(); },         [](Value& v) { v.lod(); },
        [](Value& v) { v.count(); },        [](Value& v) { v.with_lod({}); },
        [](Value& v) { v.slice(0, 0); },    [&](Value& v) { v.gather(device, {}); },
        [](Value& v) { v.elements(); },     [&](Value&) { Value::concat(device, values); },
        [](Value& v) { v.on_host(); },      [&](Value&) { Value::scatter(device, values, {}); },
        [](Value& v) { v.write([](auto) {}); },
    };
    for (auto const& use : uses) CHECK_THROWS_WITH(use(number), "the value is a user-defined type, expected a LoDTensor");
    Value empty;
    CHECK_THROWS_WITH(empty.rows(), "the value is nothing, expected a tensor");
}

}  // namespace test_value
