// tests/core/tensor_borrow.cpp: tensors of memory that belongs to others.
#include <rowan/core/tensor.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/sequence/tensor_array.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/scatter_add.hpp>

#include "catch.hpp"
#include "xtensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_tensor_borrow {

using rowan::SelectedRows;
using rowan::Tensor;
using Shape = Tensor<float>::shape_type;

namespace {

// Memory for copies of tensors, each 4 bytes after a multiple of 64.
struct Misaligned {
    std::vector<std::unique_ptr<std::array<float, 1000>>> blocks;

    Tensor<float> operator()(Tensor<float> const& x) {
        blocks.push_back(std::make_unique<std::array<float, 1000>>());
        float* begin = blocks.back()->data();
        while (reinterpret_cast<std::uintptr_t>(begin) % 64 != 4) ++begin;
        std::copy(x.begin(), x.end(), begin);
        return Tensor<float>::borrow(begin, x.shape());
    }
};

}  // namespace

TEST_CASE("a borrowed tensor is the caller's memory, with the shape of its container", "[tensor][borrow]") {
    std::vector<float> list{1, 2, 3, 4, 5, 6};
    float array[4] = {1, 2, 3, 4};
    xt::xarray<float> x{{1, 2}, {3, 4}};
    auto rows = Tensor<float>::borrow(list, {2, 3});
    CHECK((rows.data() == list.data() && rows == Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    CHECK(Tensor<float>::borrow(list).shape() == Shape{6});
    CHECK(Tensor<float>::borrow(std::span(list).first(4), {2, 2}) == Tensor<float>{{1, 2}, {3, 4}});
    CHECK(Tensor<float>::borrow(array, {2, 2}).data() == array);
    CHECK((Tensor<float>::borrow(x).data() == x.data() && Tensor<float>::borrow(x).shape() == Shape{2, 2}));
    CHECK(Tensor<float>::borrow(xt::view(x, 1, xt::all())) == Tensor<float>{3, 4});
    CHECK(Tensor<float>::borrow(static_cast<float*>(nullptr), {0, 3}).shape() == Shape{0, 3});
    xt::xarray<float> column = xt::ones<float>({2, 1});  // the stride of a dim of 1 does not matter, nor do strides without elements
    CHECK(Tensor<float>::borrow(column).shape() == Shape{2, 1});
    xt::xarray<float, xt::layout_type::column_major> none(xt::xarray<float, xt::layout_type::column_major>::shape_type{2, 0});
    CHECK(Tensor<float>::borrow(none).shape() == Shape{2, 0});
    rows(1, 2) = 60;
    CHECK(list[5] == 60);
    list[0] = 10;
    CHECK(rows(0, 0) == 10);
}

TEST_CASE("assignment and resize give a borrowed tensor memory of its own", "[tensor][borrow]") {
    std::vector<float> list{1, 2};
    auto t = Tensor<float>::borrow(list);
    t = Tensor<float>{3, 4};
    CHECK((list[0] == 1 && t(0) == 3));
    t = Tensor<float>::borrow(list.data(), {2}, std::make_unique<int>());  // the only user of its owner
    Tensor<float> const other{3, 4};
    t = other;
    CHECK((list[0] == 1 && t(0) == 3));
    t = Tensor<float>::borrow(list.data(), {2}, std::make_unique<int>()).share();  // so is an alias that remains
    t = other;
    CHECK((list[0] == 1 && t(0) == 3));
    t = Tensor<float>::borrow(list);
    t.resize(Shape{1});
    t(0) = 9;
    CHECK(list[0] == 1);
    t = Tensor<float>::borrow(list);
    t += 1;
    CHECK(list[0] == 2);
}

TEST_CASE("const memory gives a const tensor", "[tensor][borrow]") {
    std::vector<float> const table{1, 2, 3, 4};
    static_assert(std::is_same_v<decltype(Tensor<float>::borrow(table)), Tensor<float> const>);
    static_assert(std::is_same_v<decltype(Tensor<float>::borrow(std::span(table))), Tensor<float> const>);
    CHECK(rowan::gather(Tensor<float>::borrow(table.data(), {2, 2}), {1, 0}) == Tensor<float>{{3, 4}, {1, 2}});
}

TEST_CASE("an owner lives as long as the last alias", "[tensor][borrow]") {
    auto const list = std::make_shared<std::vector<float>>(4, 1.0F);
    Tensor<float> alias;
    {
        auto const t = Tensor<float>::borrow(*list, {2, 2}, list);
        alias = t.slice(1, 2).reshaped({2});
    }
    CHECK(list.use_count() == 2);
    alias = {};
    CHECK(list.use_count() == 1);

    std::vector<float> values{1, 2, 3, 4};
    float const* const memory = values.data();
    auto const moved = Tensor<float>::borrow(std::move(values), {2, 2}).slice(1, 2);
    CHECK((moved.data() == memory + 2 && moved == Tensor<float>{{3, 4}}));
    auto const pair = [](float x) {
        std::array<float, 2> elements{x, x};  // they move with the array
        return Tensor<float>::borrow(std::move(elements));
    };
    auto const ones = pair(1), twos = pair(2);
    CHECK((ones == Tensor<float>{1, 1} && twos == Tensor<float>{2, 2}));
    auto unique = std::make_unique<float[]>(3);
    float* const three = unique.get();
    CHECK(Tensor<float>::borrow(three, {3}, std::move(unique)).share() == Tensor<float>{0, 0, 0});
}

TEST_CASE("memory that a shape does not describe is refused, and its owner is not moved", "[tensor][borrow][bad_input]") {
    auto owner = std::make_shared<std::vector<float>>(4, 1.0F);
    float* const data = owner->data();
    CHECK_THROWS_WITH(Tensor<float>::borrow(static_cast<float*>(nullptr), {4}), "borrow: data is null, expected 4 elements");
    CHECK_THROWS_WITH(Tensor<float>::borrow(*owner, {5}), "borrow shape is [5], expected 4 elements");
    CHECK_THROWS_AS(Tensor<float>::borrow(data, Shape(9, 1)), rowan::ShapeError);
    CHECK_THROWS_AS(Tensor<float>::borrow(data, {~std::size_t{0}, 3}, std::move(owner)), rowan::ShapeError);
    CHECK(owner != nullptr);
    CHECK_THROWS_WITH(Tensor<float>::borrow(reinterpret_cast<float*>(reinterpret_cast<char*>(data) + 1), {1}),
                      "borrow: data is not at a multiple of 4, the element's alignment");
    xt::xarray<float, xt::layout_type::column_major> columns{{1, 2}, {3, 4}};
    CHECK_THROWS_WITH(Tensor<float>::borrow(columns), "strides[1] is 2, expected 1, as in row-major order: use Tensor<T>(values)");
    CHECK_THROWS_AS(Tensor<float>::borrow(columns, {4}), rowan::ShapeError);
}

TEST_CASE("algorithms compute the same with memory that is aligned to 4 bytes", "[tensor][borrow]") {
    auto const filled = [](Shape const& shape, float first) {
        auto t = Tensor<float>::from_shape(shape);
        for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = first + static_cast<float>(i % 7);
        return t;
    };
    auto const run = [&](auto&& lent) {
        Tensor<float> table = lent(filled({5, 19}, 1)), moment = lent(filled({5, 19}, 2));
        SelectedRows<float> const grad(5, {3, 1, 3}, lent(filled({3, 19}, 0.5F)));
        rowan::scatter_add(table, grad);
        rowan::adagrad(table, moment, grad);
        auto const [steps, map] = rowan::TensorArray<float>::unpack({lent(filled({5, 19}, 3)), rowan::Lod{{0, 2, 5}}});
        return std::tuple(Tensor<float>(table), Tensor<float>(moment), rowan::gather(table, {4, 1, 1}), rowan::merge(grad),
                          Tensor<float>(steps.read(1).value()), rowan::matmul(lent(filled({3, 5}, 1)), lent(filled({5, 19}, 2))));
    };
    Misaligned misaligned;
    CHECK(run(misaligned) == run([](Tensor<float> const& x) { return x; }));
}

}  // namespace test_tensor_borrow
