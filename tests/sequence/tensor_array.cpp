// tests/sequence/tensor_array.cpp: slots: write, read, share, append, stack, split and concat.
#include <rowan/sequence/tensor_array.hpp>

#include "sequence/batches.hpp"

#include "dtypes/own_types.hpp"

#include <limits>

namespace test_tensor_array {

namespace {

using batches::counted, batches::dot, batches::eighths, batches::refusal, batches::refused, batches::same, batches::Shape;
using rowan::Cpu, rowan::IndexError, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::ShapeError, rowan::Tensor, rowan::TensorArray;

// Three slots of shape [2, 3], [1, 3] and [2, 3].
TensorArray<float> three_slots() {
    TensorArray<float> array;
    array.write(0, counted({2, 3}));
    array.write(1, counted({1, 3}));
    array.write(2, counted({2, 3}));
    return array;
}

// Shapes of rank 1 to 4, some without elements.
std::vector<Shape> const shapes{{5},       {1},       {0},       {3, 2},       {1, 4},       {0, 3},       {3, 0},
                                {4, 2, 3}, {2, 1, 5}, {2, 0, 3}, {2, 3, 4, 2}, {1, 5, 1, 3}, {3, 1, 2, 0}, {0, 2, 3, 1}};

}  // namespace

TEST_CASE("a shared slot sees writes on both sides, a copied one on neither", "[tensor_array]") {
    TensorArray<float> array;
    Tensor<float> shared{{1, 2}}, copied{{3, 4}};
    array.write(0, shared, true);
    array.write(1, copied, false);
    shared(0, 0) = 10;
    copied(0, 0) = 30;
    CHECK(array.read(0).value() == Tensor<float>{{10, 2}});
    CHECK(array.read(1).value() == Tensor<float>{{3, 4}});
    array.read(0).value()(0, 1) = 20;
    array.read(1).value()(0, 1) = 40;
    CHECK(shared == Tensor<float>{{10, 20}});
    CHECK(copied == Tensor<float>{{30, 4}});
    CHECK(array.read(1).value() == Tensor<float>{{3, 40}});
}

TEST_CASE("write shares memory unless it is told to copy", "[tensor_array]") {
    TensorArray<float> array;
    Tensor<float> const value{1, 2};
    LoDTensor<float> const batch({1, 2}, {{0, 2}});
    array.write(0, value);
    CHECK(array.read(0).value().data() == value.data());
    TensorArray<float> batches;
    batches.write(0, batch);
    batches.write(1, batch, false);
    CHECK(batches.read(0).value().data() == batch.value().data());
    CHECK(batches.read(1).value().data() != batch.value().data());
    CHECK((batches.read(0) == batch && batches.read(1) == batch));
}

TEST_CASE("read returns an alias, which outlives the array", "[tensor_array]") {
    LoDTensor<float> slot, step;
    {
        auto array = three_slots();
        slot = array.read(1);
        slot.value()(0, 2) = 9;
        CHECK(array.read(1).value()(0, 2) == 9);
        CHECK(array.read(1).value().data() == slot.value().data());
        LoDTensor<float> const x(counted({3}), {{0, 1, 2}, {0, 1, 3}});
        step = TensorArray<float>::unpack(x).steps.read(0);
    }
    CHECK((slot == LoDTensor<float>(Tensor<float>{{0, 1, 9}})));
    CHECK((step == LoDTensor<float>({0, 1, 2}, {{0, 1, 3}})));
}

TEST_CASE("writing a slot again releases the memory it shared", "[tensor_array]") {
    TensorArray<float> array;
    Tensor<float> first{1, 2}, second{3, 4};
    array.write(0, first);
    array.write(0, second, false);
    CHECK(array.read(0).value() == Tensor<float>{3, 4});
    CHECK(first == Tensor<float>{1, 2});
    array.read(0).value()(0) = 8;
    CHECK(second == Tensor<float>{3, 4});
    array.write(0, first);
    first(1) = 7;
    CHECK(array.read(0).value() == Tensor<float>{1, 7});
    CHECK(second == Tensor<float>{3, 4});
}

TEST_CASE("a copy reuses the slot's memory if it can", "[tensor_array]") {
    TensorArray<float> array;
    array.write(0, counted({4, 2}), false);
    float const* const memory = array.read(0).value().data();
    array.write(0, Tensor<float>::full({4, 2}, 5), false);
    CHECK(array.read(0).value().data() == memory);
    CHECK(array.read(0).value() == Tensor<float>::full({4, 2}, 5));
    auto const seen_elsewhere = array.read(0);
    array.write(0, counted({4, 2}), false);
    CHECK(seen_elsewhere.value() == Tensor<float>::full({4, 2}, 5));
    CHECK(array.read(0).value() == counted({4, 2}));
}

TEST_CASE("a slot may be written with itself", "[tensor_array]") {
    auto array = three_slots();
    array.write(0, array.read(0), false);
    array.write(1, array.read(1));
    array.write(2, array.read(0), false);
    CHECK((array.read(0).value() == counted({2, 3}) && array.read(1).value() == counted({1, 3})));
    CHECK(array.read(2).value() == counted({2, 3}));
    CHECK(array.read(2).value().data() != array.read(0).value().data());
}

TEST_CASE("a write past the end grows the array with unwritten slots", "[tensor_array]") {
    TensorArray<float> array;
    CHECK((array.size() == 0 && !array.written(0)));
    array.write(3, {1, 2});
    CHECK(array.size() == 4);
    for (std::size_t const hole : {0U, 1U, 2U}) CHECK(!array.written(hole));
    CHECK((array.written(3) && !array.written(4)));
    auto const error = refused<IndexError>([&] { array.read(2); }, array);
    CHECK(error.what() == std::string("slots[2] was never written"));
    CHECK((error.field() == "slots" && error.position() == 2));
    array.write(2, {5, 6});
    CHECK(array.read(2).value() == Tensor<float>{5, 6});
    CHECK(array.read(3).value() == Tensor<float>{1, 2});
    CHECK(array.size() == 4);
}

TEST_CASE("L12: functions of all slots name the first unwritten one", "[tensor_array][bad_input]") {
    TensorArray<float> array;
    array.write(3, {1, 2});
    array.write(0, {1, 2});
    std::string const hole = "slots[1] was never written";
    CHECK(refusal<IndexError>([&](Cpu exec) { array.stack(exec); }, array) == hole);
    CHECK(refusal<IndexError>([&](Cpu exec) { array.concat(exec); }, array) == hole);
    CHECK(refusal<IndexError>([&](Cpu exec) { array.gather(exec, {0, 1}); }, array) == hole);
    CHECK(array.gather({0, 3}).shape() == Shape{2, 2});
}

TEST_CASE("an index past the end, or -1, throws", "[tensor_array][bad_input]") {
    auto array = three_slots();
    CHECK(refusal<IndexError>([&] { array.read(3); }, array) == "index = 3 is not in [0, 3)");
    CHECK(refusal<IndexError>([&] { array.read(static_cast<std::size_t>(-1)); }, array) == "index = 18446744073709551615 is not in [0, 3)");
    CHECK(refusal<IndexError>([] { TensorArray<float>().read(0); }) == "index = 0 is not in [0, 0)");
    auto const value = counted({2, 3});
    auto const error = refused<IndexError>([&] { array.write(static_cast<std::size_t>(-1), value); }, array, value);
    CHECK((error.field() == "index" && error.value() == -1 && error.bound() == static_cast<std::int64_t>(array.max_size())));
    CHECK(refused<IndexError>([&] { array.write(array.max_size(), value, false); }, array).field() == "index");
    CHECK(refused<IndexError>([&] { array.resize(static_cast<std::size_t>(-1)); }, array).field() == "size");
    auto const steps = TensorArray<float>::unpack(LoDTensor<float>(counted({3}), {{0, 1, 3}})).steps;
    CHECK(refusal<IndexError>([&] { steps.read(2); }, steps) == "index = 2 is not in [0, 2)");
}

TEST_CASE("L9 L11: the first write fixes rank, width and levels", "[tensor_array][bad_input]") {
    auto array = three_slots();
    auto const refuse = [&](Tensor<float> const& wrong, std::size_t index) {
        return refusal<ShapeError>([&] { array.write(index, wrong); }, array, wrong);
    };
    for (std::size_t const index : {0U, 2U, 3U, 9U}) {
        CHECK(refuse(counted({2, 4}), index) == "value.shape() is [2, 4], expected [2, 3]");
        CHECK(refuse(counted({3}), index) == "value.shape() is [3], expected [2, 3]");
        CHECK(refuse(counted({5, 3, 1}), index) == "value.shape() is [5, 3, 1], expected [2, 3]");
        CHECK(refuse(Tensor<float>::full({}, 1), index) == "value.shape() is [], expected [2, 3]");
    }
    LoDTensor<float> const with_levels(counted({2, 3}), {{0, 2}});
    CHECK(refusal<ShapeError>([&] { array.write(1, with_levels, false); }, array) == "value.lod().levels() is 1, expected 0");
    CHECK_NOTHROW(array.write(1, counted({0, 3})));

    TensorArray<float> batches;
    batches.write(0, with_levels);
    CHECK(refusal<ShapeError>([&] { batches.write(1, counted({2, 3})); }, batches) == "value.lod().levels() is 0, expected 1");
    CHECK_NOTHROW(batches.write(1, LoDTensor<float>(counted({4, 3}), {{0, 1, 4}})));

    TensorArray<float> numbers;
    numbers.write(0, Tensor<float>::full({}, 1));
    CHECK(refusal<ShapeError>([&] { numbers.write(1, {1}); }, numbers) == "value.shape() is [1], expected []");
}

TEST_CASE("write throws for a batch that does not match its Lod", "[tensor_array][bad_input]") {
    TensorArray<float> array;
    LoDTensor<float> x(counted({3, 1}), {{0, 3}});
    x.value().resize(Shape{2, 1});
    CHECK(refusal<LodError>([&] { array.write(0, x); }, array) == "lod[0][1] = 3 is not 2, the number of rows");
    CHECK(array.size() == 0);
    CHECK_NOTHROW(array.write(0, Tensor<float>{1}));  // a write that throws fixes nothing
}

TEST_CASE("steps, parts and pieces are slots like any others once they are written to", "[tensor_array]") {
    LoDTensor<float> const x({{0}, {1}, {2}, {3}}, {{0, 3, 4}});
    auto steps = TensorArray<float>::unpack(x).steps;
    auto const second = steps.read(1);
    steps.write(1, Tensor<float>{{9}});
    CHECK(steps.size() == 3);
    CHECK((steps.read(0) == LoDTensor<float>(Tensor<float>{{0}, {3}})));
    CHECK((steps.read(1) == LoDTensor<float>(Tensor<float>{{9}})));
    CHECK((steps.read(2) == LoDTensor<float>(Tensor<float>{{2}})));
    CHECK((second == LoDTensor<float>(Tensor<float>{{1}})));
    steps.write(5, {{7}, {8}});
    CHECK((steps.size() == 6 && !steps.written(4) && steps.read(5).value()(1, 0) == 8));

    auto parts = TensorArray<float>::unstack({1, 2, 3});
    parts.write(1, Tensor<float>::full({}, 20));
    CHECK(parts.stack() == Tensor<float>{1, 20, 3});
    CHECK(refusal<ShapeError>([&] { parts.write(0, {1}); }, parts) == "value.shape() is [1], expected []");
    parts.resize(2);
    CHECK(parts.stack() == Tensor<float>{1, 20});
}

TEST_CASE("all steps share one block, but a write to one does not change the others", "[tensor_array]") {
    LoDTensor<float> const x(counted({6, 2}), {{0, 3, 6}});
    auto const steps = TensorArray<float>::unpack(x).steps;
    CHECK(steps.read(1).value().data() == steps.read(0).value().data() + 4);
    CHECK(steps.read(2).value().data() == steps.read(0).value().data() + 8);
    steps.read(1).value().fill(-1);
    CHECK(steps.read(0).value() == Tensor<float>{{0, 1}, {6, 7}});
    CHECK(steps.read(1).value() == Tensor<float>{{-1, -1}, {-1, -1}});
    CHECK(steps.read(2).value() == Tensor<float>{{4, 5}, {10, 11}});
    CHECK(x.value() == counted({6, 2}));
}

TEST_CASE("a copy is deep", "[tensor_array]") {
    auto const check = [](TensorArray<float> array) {
        auto const before = batches::seen(array);
        auto copy = array;
        auto assigned = three_slots();
        assigned = array;
        REQUIRE((batches::seen(copy) == before && batches::seen(assigned) == before));
        for (std::size_t i = 0; i < array.size(); ++i) {
            if (array.written(i)) array.read(i).value().fill(77);
        }
        CHECK((batches::seen(copy) == before && batches::seen(assigned) == before));
        CHECK(batches::seen(array) != before);
        copy.resize(0);
        CHECK(batches::seen(assigned) == before);
        auto& self = assigned;
        assigned = self;
        CHECK(batches::seen(assigned) == before);
    };
    check(three_slots());
    check(TensorArray<float>::unstack(counted({3, 2})));
    check(TensorArray<float>::unpack(LoDTensor<float>(counted({4, 2}), {{0, 1, 2}, {0, 3, 4}})).steps);
    TensorArray<float> holes;
    holes.write(2, counted({2}), false);
    check(holes);
}

TEST_CASE("a moved-from array is empty and accepts any shape", "[tensor_array]") {
    auto array = three_slots();
    TensorArray<float> moved = std::move(array);
    CHECK((moved.size() == 3 && moved.read(0).value() == counted({2, 3})));
    CHECK(array.size() == 0);
    array.write(0, LoDTensor<float>({1, 2}, {{0, 2}}));
    CHECK(array.read(0).lod() == Lod{{0, 2}});
    array = std::move(moved);
    CHECK((array.size() == 3 && moved.size() == 0));
    moved.swap(array);
    CHECK((moved.size() == 3 && array.size() == 0));
    auto parts = TensorArray<float>::unstack(counted({3}));
    auto const taken = std::move(parts);
    parts.write(0, Tensor<float>{{1, 2}});
    CHECK((taken.size() == 3 && parts.stack().shape() == Shape{1, 1, 2}));
}

TEST_CASE("slots are appended and removed", "[tensor_array]") {
    auto array = three_slots();
    array.resize(5);
    CHECK((array.size() == 5 && array.written(2) && !array.written(3) && !array.written(4)));
    CHECK(refusal<IndexError>([&] { array.read(4); }, array) == "slots[4] was never written");
    array.resize(2);
    CHECK((array.size() == 2 && array.read(1).value() == counted({1, 3})));
    CHECK(refusal<IndexError>([&] { array.read(2); }, array) == "index = 2 is not in [0, 2)");
    array.resize(3);
    CHECK(!array.written(2));
    array.resize(0);
    CHECK(refusal<ShapeError>([&] { array.write(0, {1}); }, array) == "value.shape() is [1], expected [2, 3]");

    auto steps = TensorArray<float>::unpack(LoDTensor<float>(counted({4}), {{0, 3, 4}})).steps;
    steps.resize(2);
    CHECK((steps.size() == 2 && steps.read(0).value() == Tensor<float>{0, 3} && steps.read(1).value() == Tensor<float>{1}));
}

TEST_CASE("slots are stacked along a new dim", "[tensor_array]") {
    TensorArray<float> array;
    array.write(0, {{1, 2, 3}, {4, 5, 6}});
    array.write(1, {{10, 20, 30}, {40, 50, 60}});
    CHECK(array.stack() == Tensor<float>{{{1, 2, 3}, {4, 5, 6}}, {{10, 20, 30}, {40, 50, 60}}});
    CHECK(array.stack(1) == Tensor<float>{{{1, 2, 3}, {10, 20, 30}}, {{4, 5, 6}, {40, 50, 60}}});
    CHECK(array.stack(2) == Tensor<float>{{{1, 10}, {2, 20}, {3, 30}}, {{4, 40}, {5, 50}, {6, 60}}});
    CHECK(refusal<IndexError>([&](Cpu exec) { array.stack(exec, 3); }, array) == "axis = 3 is not in [0, 3)");
    TensorArray<float> numbers;
    for (std::size_t i = 0; i < 3; ++i) numbers.write(i, Tensor<float>::full({}, static_cast<float>(i)));
    CHECK(numbers.stack() == Tensor<float>{0, 1, 2});
    CHECK(refusal<IndexError>([&] { numbers.stack(1); }, numbers) == "axis = 1 is not in [0, 1)");
}

TEST_CASE("L9: slots of unequal shapes do not stack", "[tensor_array][bad_input]") {
    auto const array = three_slots();
    CHECK(refusal<ShapeError>([&](Cpu exec) { array.stack(exec); }, array) == "slots[1].shape() is [1, 3], expected [2, 3]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { array.gather(exec, {2, 0, 1}); }, array) == "slots[1].shape() is [1, 3], expected [2, 3]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { array.gather(exec, {1, 0}); }, array) == "slots[0].shape() is [2, 3], expected [1, 3]");
    CHECK(array.gather({2, 0}).shape() == Shape{2, 2, 3});
}

TEST_CASE("unstack removes a dim and is inverted by stack", "[tensor_array]") {
    Tensor<float> const t{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
    auto const rows = TensorArray<float>::unstack(t);
    CHECK((rows.size() == 2 && rows.read(1).value() == Tensor<float>{{7, 8, 9}, {10, 11, 12}}));
    auto const middle = TensorArray<float>::unstack(t, 1);
    CHECK((middle.size() == 2 && middle.read(1).value() == Tensor<float>{{4, 5, 6}, {10, 11, 12}}));
    auto const columns = TensorArray<float>::unstack(t, 2);
    CHECK((columns.size() == 3 && columns.read(2).value() == Tensor<float>{{3, 6}, {9, 12}}));
    auto const numbers = TensorArray<float>::unstack({5, 6, 7});
    CHECK((numbers.size() == 3 && numbers.read(1).shape() == Shape{} && numbers.read(1).value()() == 6));
    columns.read(2).value().fill(0);
    CHECK(t(0, 0, 2) == 3);
    for (Shape const& shape : shapes) {
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            CAPTURE(shape, axis);
            auto const x = inputs::wild<float>(shape, 5);
            auto const parts = TensorArray<float>::unstack(x, axis);
            CHECK(parts.size() == shape[axis]);
            CHECK(same(parts.stack(axis), x));
            Shape part = shape;
            part.erase(part.begin() + static_cast<std::ptrdiff_t>(axis));
            for (std::size_t i = 0; i < parts.size(); ++i) CHECK(parts.read(i).shape() == part);
        }
    }
}

TEST_CASE("an axis that a tensor does not have throws", "[tensor_array][bad_input]") {
    auto const x = counted({2, 3});
    CHECK(refusal<IndexError>([&](Cpu exec) { TensorArray<float>::unstack(exec, x, 2); }, x) == "axis = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { TensorArray<float>::unstack(x, static_cast<std::size_t>(-1)); }, x) == "axis = 18446744073709551615 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { TensorArray<float>::unstack(Tensor<float>::full({}, 1)); }) == "axis = 0 is not in [0, 0)");
}

TEST_CASE("stack and unstack are each other's adjoint", "[tensor_array][adjoint]") {
    for (Shape const& shape : shapes) {  // the rank of a slot: stack adds a dim
        for (std::size_t axis = 0; axis <= shape.size(); ++axis) {
            CAPTURE(shape, axis);
            TensorArray<double> array;
            for (std::size_t i = 0; i < 3; ++i) array.write(i, eighths(shape, i));
            auto const stacked = array.stack(axis);
            std::vector<std::size_t> dims(shape.begin(), shape.end());
            dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 3);
            Shape const expected(dims.begin(), dims.end());
            REQUIRE(stacked.shape() == expected);
            auto const y = eighths(stacked.shape(), 9);
            auto const grads = TensorArray<double>::unstack(y, axis);
            double sum = 0;
            for (std::size_t i = 0; i < 3; ++i) sum += dot(grads.read(i).value(), array.read(i).value());
            CHECK(sum == dot(y, stacked));
        }
    }
}

TEST_CASE("stack of no slots or empty slots", "[tensor_array]") {
    TensorArray<float> array;
    CHECK(array.stack().shape() == Shape{0});
    CHECK(array.concat().shape() == Shape{0});
    CHECK(array.gather({}).shape() == Shape{0});
    CHECK(refusal<IndexError>([&] { array.gather({0}); }) == "indices[0] = 0 is not in [0, 0)");
    CHECK(TensorArray<float>::unstack(counted({0, 3})).stack().shape() == Shape{0, 3});
    CHECK(TensorArray<float>::unstack(counted({0, 3})).concat().shape() == Shape{0});
    array.write(0, counted({2, 3}));
    CHECK(array.gather({}).shape() == Shape{0, 2, 3});
    array.resize(0);
    CHECK(array.stack(1).shape() == Shape{2, 0, 3});
    CHECK(array.concat().shape() == Shape{0, 3});
}

TEST_CASE("slots of any height are concatenated", "[tensor_array]") {
    auto array = three_slots();
    CHECK(array.concat() == Tensor<float>{{0, 1, 2}, {3, 4, 5}, {0, 1, 2}, {0, 1, 2}, {3, 4, 5}});
    array.write(1, counted({0, 3}));
    CHECK(array.concat() == Tensor<float>{{0, 1, 2}, {3, 4, 5}, {0, 1, 2}, {3, 4, 5}});
    LoDTensor<float> const x(counted({3}), {{0, 2, 3}});
    TensorArray<float> batches;
    batches.write(0, x);
    batches.write(1, x);
    CHECK(batches.concat() == Tensor<float>{0, 1, 2, 0, 1, 2});
    CHECK(TensorArray<float>::unpack(x).steps.concat() == Tensor<float>{0, 2, 1});
    auto const numbers = TensorArray<float>::unstack({1, 2});
    CHECK(refusal<ShapeError>([&](Cpu exec) { numbers.concat(exec); }, numbers) == "slot rank is 0, expected at least 1");
}

TEST_CASE("concat inverts split and is its adjoint", "[tensor_array][adjoint]") {
    for (Shape const& row : {Shape{}, Shape{3}, Shape{2, 2}, Shape{0}}) {
        Shape shape{6};
        shape.insert(shape.end(), row.begin(), row.end());
        auto const x = eighths(shape, 1);
        auto const parts = TensorArray<double>::split(x, {2, 0, 3, 1});
        REQUIRE(parts.size() == 4);
        CHECK(same(parts.concat(), x));
        CHECK(same(parts.read(2).value(), Tensor<double>(x.slice(2, 5))));
        CHECK(parts.read(1).shape()[0] == 0);
        auto const y = eighths(shape, 2);
        auto const grads = TensorArray<double>::split(y, {2, 0, 3, 1});
        double sum = 0;
        for (std::size_t i = 0; i < 4; ++i) sum += dot(grads.read(i).value(), parts.read(i).value());
        CHECK(sum == dot(y, x));
    }
    Tensor<float> const x{1, 2, 3};
    auto const parts = TensorArray<float>::split(x, std::vector<std::int32_t>{1, 2});
    parts.read(0).value()(0) = 9;
    CHECK(x == Tensor<float>{1, 2, 3});
    CHECK(TensorArray<float>::split(counted({0, 2}), {}).size() == 0);
}

TEST_CASE("L10: lengths of parts are lengths and add up to the rows", "[tensor_array][bad_input]") {
    auto const x = counted({5, 2});
    auto const refuse = [&](rowan::Ids<> lengths) { return refusal<LodError>([&] { TensorArray<float>::split(x, lengths); }, x); };
    CHECK(refuse({-1, -2}) == "lod[0][0] = -1 is negative, expected a length");
    CHECK(refuse({7, -2}) == "lod[0][1] = -2 is negative, expected a length");
    CHECK(refuse({2, 2}) == "lod[0][2] = 4 is not 5, the number of rows");
    CHECK(refuse({5, 1}) == "lod[0][2] = 6 is not 5, the number of rows");
    CHECK(refuse({}) == "lod[0][0] = 0 is not 5, the number of rows");
    CHECK(refuse({5, std::numeric_limits<std::int64_t>::max()}) == "lod[0][1] = 9223372036854775807 is a length that makes the sum overflow");
    CHECK(refusal<ShapeError>([] { TensorArray<float>::split(Tensor<float>::full({}, 1), {1}); }) == "value rank is 0, expected at least 1");
}

TEST_CASE("slots are gathered in any order, also twice", "[tensor_array]") {
    auto const array = TensorArray<float>::unstack({{1, 2}, {3, 4}, {5, 6}});
    CHECK(array.gather({2, 0, 2}) == Tensor<float>{{5, 6}, {1, 2}, {5, 6}});
    CHECK(array.gather(std::vector<std::int32_t>{1}) == Tensor<float>{{3, 4}});
    CHECK(refusal<IndexError>([&](Cpu exec) { array.gather(exec, {0, 3}); }, array) == "indices[1] = 3 is not in [0, 3)");
    CHECK(refusal<IndexError>([&](Cpu exec) { array.gather(exec, {-1}); }, array) == "indices[0] = -1 is not in [0, 3)");
}

TEST_CASE("gather_grad is the adjoint of gather, for repeated and unused slots", "[tensor_array][adjoint]") {
    auto const sums = TensorArray<float>::gather_grad({2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}}, 4);
    CHECK(sums.stack() == Tensor<float>{{3, 4}, {0, 0}, {6, 8}, {0, 0}});
    for (Shape const& shape : shapes) {
        TensorArray<double> array;
        for (std::size_t i = 0; i < 5; ++i) array.write(i, eighths(shape, i));
        for (auto const& indices : {batches::List{4, 0, 3, 1, 2}, batches::List{2, 2, 4, 2, 0, 4}, batches::List{3}, batches::List{}}) {
            auto const out = array.gather(indices);
            auto const y = eighths(out.shape(), 9);
            auto const grads = TensorArray<double>::gather_grad(indices, y, 5);
            REQUIRE(grads.size() == 5);
            double sum = 0;
            for (std::size_t i = 0; i < 5; ++i) sum += dot(grads.read(i).value(), array.read(i).value());
            CHECK(sum == dot(y, out));
        }
    }
    auto value = Tensor<float>::full({128, 3}, 1);
    value.row(0)[1] = 0x1p24F;
    batches::List const all(128, 1);
    for (int const threads : {1, 2, 8}) {
        auto const blocks = TensorArray<float>::gather_grad(Cpu{threads}, all, value, 2).stack();
        CHECK(blocks == Tensor<float>{{0, 0, 0}, {128, 0x1p24F + 64, 128}});
    }
}

TEST_CASE("gather_grad throws for the indices that gather rejects", "[tensor_array][bad_input]") {
    auto const two = counted({2, 3});
    auto const index = [&](rowan::Ids<> indices, std::size_t size) {
        return refusal<IndexError>([&](Cpu exec) { TensorArray<float>::gather_grad(exec, indices, two, size); }, two);
    };
    CHECK(index({0, 3}, 3) == "indices[1] = 3 is not in [0, 3)");
    CHECK(index({-1, 0}, 3) == "indices[0] = -1 is not in [0, 3)");
    CHECK(index({0, 0}, 0) == "indices[0] = 0 is not in [0, 0)");
    auto const shape = [&](rowan::Ids<> indices, std::size_t size) {
        return refusal<ShapeError>([&](Cpu exec) { TensorArray<float>::gather_grad(exec, indices, two, size); }, two);
    };
    CHECK(shape({0}, 3) == "out_grad.shape(0) is 2, expected 1");
    CHECK(shape({0, 1}, static_cast<std::size_t>(-1)) == "height is 18446744073709551615, expected in [0, 2^63 - 1]");
    CHECK(shape({0, 1}, std::size_t{1} << 62).starts_with("size shape is "));
    CHECK(shape(Tensor<std::int64_t>{{0, 1}}, 3) == "indices rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { TensorArray<float>().gather(exec, Tensor<std::int64_t>{{0, 1}}); }) ==
          "indices rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&] { TensorArray<float>().scatter(Tensor<std::int64_t>{{0, 1}}, two); }) == "indices rank is 2, expected 1");
}

TEST_CASE("R22: indices around the number of slots", "[tensor_array][bad_input]") {
    auto const array = three_slots();
    using limits = std::numeric_limits<std::int64_t>;
    CHECK_NOTHROW(array.gather({2}));
    for (std::int64_t const i : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{4}, limits::min(), limits::max()}) {
        auto const error = refused<IndexError>([&](Cpu exec) { array.gather(exec, {0, i}); }, array);
        CHECK((error.field() == "indices" && error.position() == 1 && error.value() == i && error.bound() == 3));
        CHECK_THROWS_AS(array.read(static_cast<std::size_t>(i)), IndexError);
        CHECK_THROWS_AS(TensorArray<float>::gather_grad({0, i}, counted({2, 3}), 3), IndexError);
    }
}

TEST_CASE("more rows than can be counted are not put together", "[tensor_array][bad_input]") {
    TensorArray<std::uint8_t> array;
    auto const half = Tensor<std::uint8_t>::from_shape({std::size_t{1} << 62, 0});
    array.write(0, half);
    CHECK(array.concat().shape() == Shape{std::size_t{1} << 62, 0});
    for (std::size_t i = 1; i < 4; ++i) {
        array.write(i, half);
        CHECK(refusal<ShapeError>([&](Cpu exec) { array.concat(exec); }) ==
              "rows of the slots is 4611686018427387904 + 4611686018427387904, expected at most 2^63 - 1");
    }
    CHECK(refused<ShapeError>([&] { TensorArray<std::uint8_t>::unstack(half); }).field() == "slots shape");
}

TEST_CASE("accumulate refuses a value that overlaps the slot", "[tensor_array][bad_input]") {
    Tensor<float> const memory{1, 2, 3, 4, 5, 6};
    TensorArray<float> array;
    array.write(0, memory.slice(1, 5));
    for (std::size_t const begin : {std::size_t{0}, std::size_t{2}}) {
        auto const value = memory.slice(begin, begin + 4);
        CHECK(refusal<rowan::Error>([&] { array.accumulate(0, value); }, array, memory) == "slots[0] shares memory with value");
    }
    array.accumulate(0, array.read(0));  // itself: doubled
    CHECK(memory == Tensor<float>{1, 4, 6, 8, 10, 6});
    auto steps = TensorArray<float>::unpack(LoDTensor<float>(counted({4}), {{0, 2, 4}})).steps;
    steps.accumulate(0, steps.read(1));  // side by side
    CHECK(steps.read(0).value() == Tensor<float>{1, 5});
}

TEST_CASE("parts are scattered to slots", "[tensor_array]") {
    TensorArray<float> array;
    Tensor<float> value{{1, 2}, {3, 4}};
    array.scatter({3, 1}, value);
    CHECK((array.size() == 4 && !array.written(0) && !array.written(2)));
    CHECK((array.read(3).value() == Tensor<float>{1, 2} && array.read(1).value() == Tensor<float>{3, 4}));
    value.fill(0);
    CHECK(array.read(3).value() == Tensor<float>{1, 2});
    array.scatter(std::vector<std::int32_t>{0, 2}, {{5, 6}, {7, 8}});
    CHECK(array.stack() == Tensor<float>{{5, 6}, {3, 4}, {7, 8}, {1, 2}});
    array.scatter({}, counted({0, 2}));
    CHECK(array.size() == 4);
}

TEST_CASE("scatter and gather are inverse and adjoint", "[tensor_array][adjoint]") {
    auto const x = eighths({4, 3, 2}, 1);
    TensorArray<double> array;
    array.scatter({2, 0, 3, 1}, x);
    CHECK(same(array.gather({2, 0, 3, 1}), x));
    TensorArray<double> y;
    for (std::size_t i = 0; i < 4; ++i) y.write(i, eighths({3, 2}, i));
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += dot(y.read(i).value(), array.read(i).value());
    CHECK(sum == dot(y.gather({2, 0, 3, 1}), x));
}

TEST_CASE("an invalid scatter changes nothing", "[tensor_array][bad_input]") {
    auto array = TensorArray<float>::unstack({{1, 2}, {3, 4}});
    Tensor<float> const two{{5, 6}, {7, 8}};
    auto const refuse = [&](rowan::Ids<> indices) { return refusal<IndexError>([&] { array.scatter(indices, two); }, array, two); };
    CHECK(refuse({1, 1}) == "indices[1] = 1 is a repeated value");
    auto const four = counted({5, 2});
    CHECK(refusal<IndexError>([&] { array.scatter({8, 3, 8, 0, 3}, four); }, array) == "indices[2] = 8 is a repeated value");
    CHECK(refuse({0, -1}).starts_with("indices[1] = -1 is not in [0, "));
    CHECK(refuse({0, std::numeric_limits<std::int64_t>::max()}).starts_with("indices[1] = 9223372036854775807 is not in [0, "));
    CHECK(refusal<ShapeError>([&] { array.scatter({0}, two); }, array) == "value.shape(0) is 2, expected 1");
    CHECK(refusal<ShapeError>([&] { array.scatter({0, 5}, counted({2, 1, 2})); }, array) ==
          "value.shape() is [1, 2], expected [2]");
    CHECK(refusal<ShapeError>([&] { array.scatter({0}, Tensor<float>::full({}, 1)); }, array) == "value rank is 0, expected at least 1");
    array.scatter({1, 0}, two);
    CHECK(array.stack() == Tensor<float>{{7, 8}, {5, 6}});
}

TEST_CASE("accumulate writes a copy first and adds from then on", "[tensor_array]") {
    TensorArray<float> array;
    Tensor<float> const value{{1, 2}, {3, 4}};
    array.accumulate(1, value);
    CHECK((array.size() == 2 && !array.written(0)));
    CHECK(array.read(1).value() == value);
    CHECK(array.read(1).value().data() != value.data());
    array.accumulate(1, value);
    array.accumulate(1, value);
    CHECK(array.read(1).value() == Tensor<float>{{3, 6}, {9, 12}});
    CHECK(value == Tensor<float>{{1, 2}, {3, 4}});
    array.accumulate(1, array.read(1));
    CHECK(array.read(1).value() == Tensor<float>{{6, 12}, {18, 24}});

    auto steps = TensorArray<float>::unpack(LoDTensor<float>({1, 2, 3}, {{0, 2, 3}})).steps;
    steps.accumulate(0, Tensor<float>{10, 20});
    CHECK((steps.read(0).value() == Tensor<float>{11, 23} && steps.read(1).value() == Tensor<float>{2}));
}

TEMPLATE_TEST_CASE("accumulate adds in every element type", "[tensor_array]", float, double, std::int32_t, std::int64_t, std::uint8_t,
                   rowan::bfloat16, rowan::float16, test::fixed) {
    TensorArray<TestType> array;
    auto value = Tensor<TestType>::from_shape({37});
    for (std::size_t i = 0; i < value.size(); ++i) value(i) = inputs::narrow<TestType>(static_cast<double>(i));
    for (int n = 0; n < 3; ++n) array.accumulate(0, value);
    bool good = true;
    for (std::size_t i = 0; i < 37; ++i) good = good && array.read(0).value()(i) == inputs::narrow<TestType>(3.0 * static_cast<double>(i));
    CHECK(good);
}

TEST_CASE("accumulate is the adjoint of reads, however many", "[tensor_array][adjoint]") {
    TensorArray<double> array, grads;
    for (std::size_t i = 0; i < 3; ++i) array.write(i, eighths({2, 5}, i));
    double forward = 0;
    for (std::size_t const i : {2U, 0U, 2U, 2U, 1U}) {  // <y, A x> summed over the reads
        auto const y = eighths({2, 5}, 10 + i);
        forward += dot(y, array.read(i).value());
        grads.accumulate(i, y);
    }
    double backward = 0;
    for (std::size_t i = 0; i < 3; ++i) backward += dot(grads.read(i).value(), array.read(i).value());
    CHECK(forward == backward);
}

TEST_CASE("accumulate refuses another shape or Lod and changes nothing", "[tensor_array][bad_input]") {
    auto array = three_slots();
    CHECK(refusal<ShapeError>([&] { array.accumulate(0, counted({1, 3})); }, array) == "value.shape() is [1, 3], expected [2, 3]");
    CHECK(refusal<ShapeError>([&] { array.accumulate(0, counted({6})); }, array) == "value.shape() is [6], expected [2, 3]");
    CHECK(refusal<ShapeError>([&] { array.accumulate(7, counted({2, 4})); }, array) == "value.shape() is [2, 4], expected [2, 3]");
    LoDTensor<float> const with_levels(counted({2, 3}), {{0, 2}});
    CHECK(refusal<ShapeError>([&] { array.accumulate(0, with_levels); }, array) == "value.lod() is another, expected that of the slot");
    TensorArray<float> batches;
    batches.accumulate(0, with_levels);
    batches.accumulate(0, with_levels);
    CHECK((batches.read(0) == LoDTensor<float>({{0, 2, 4}, {6, 8, 10}}, {{0, 2}})));
    LoDTensor<float> const cut_otherwise(counted({2, 3}), {{0, 1, 2}});
    CHECK(refusal<ShapeError>([&] { batches.accumulate(0, cut_otherwise); }, batches) ==
          "value.lod() is another, expected that of the slot");
}

TEST_CASE("arrays of other element types, also custom ones", "[tensor_array]") {
    auto const flags = TensorArray<bool>::unstack({{true, false}, {false, true}}, 1);
    CHECK(flags.stack() == Tensor<bool>{{true, false}, {false, true}});
    CHECK(flags.concat() == Tensor<bool>{true, false, false, true});
    TensorArray<test::fixed> own;
    own.write(2, Tensor<test::fixed>{0.5, 0.25});
    own.write(0, Tensor<test::fixed>{1, 2}, false);
    CHECK(own.gather({2, 0, 2}) == Tensor<test::fixed>{{0.5, 0.25}, {1, 2}, {0.5, 0.25}});
}

TEST_CASE("large arrays are the same on any number of threads", "[tensor_array]") {
    auto const x = inputs::wild<float>({7, 301, 150}, 1);
    REQUIRE(x.size() > 1 << 18);
    for (int const threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        Cpu const exec{threads};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            auto const parts = TensorArray<float>::unstack(exec, x, axis);
            CHECK(same(parts.stack(exec, axis), x));
            std::size_t const i = x.shape()[axis] - 2;
            bool good = true;
            for (std::size_t a = 0; a < 7; ++a) {
                good = good && (axis == 0 ? parts.read(i).value()(a, a) == x(i, a, a)
                                : axis == 1 ? parts.read(i).value()(a, a) == x(a, i, a)
                                            : parts.read(i).value()(a, a) == x(a, a, i));
            }
            CHECK(good);
        }
        CHECK(same(TensorArray<float>::split(x, {0, 1, 5, 1}).concat(exec), x));
        CHECK(same(TensorArray<float>::unstack(x).gather(exec, {0, 1, 2, 3, 4, 5, 6}), x));
    }
}

TEST_CASE("a tensor in braces may be written", "[tensor_array]") {
    TensorArray<float> array;
    array.write(0, {{1, 2}});
    CHECK(array.read(0).value() == Tensor<float>{{1, 2}});
}

TEST_CASE("an alias of an array shares elements, but not later writes of slots", "[sequence]") {
    TensorArray<float> steps = TensorArray<float>::unstack({{1, 2}, {3, 4}});
    TensorArray<float> const alias = steps.share();
    steps.read(0).value()(1) = 7;
    CHECK(alias.read(0).value() == Tensor<float>{1, 7});
    steps.write(1, Tensor<float>{5, 6});
    steps.write(2, Tensor<float>{8, 9});
    CHECK(alias.size() == 2);
    CHECK(alias.read(1).value() == Tensor<float>{3, 4});
    TensorArray<float> const again = steps.share();
    CHECK(again.stack() == Tensor<float>{{1, 7}, {5, 6}, {8, 9}});
}

TEST_CASE("an erased slot is unwritten", "[sequence]") {
    TensorArray<float> steps = TensorArray<float>::unstack({{1, 2}, {3, 4}});
    steps.erase(0);
    CHECK(steps.size() == 2);
    CHECK(!steps.written(0));
    CHECK(steps.read(1).value() == Tensor<float>{3, 4});
    CHECK_THROWS_WITH(steps.erase(0), "slots[0] was never written");
    CHECK_THROWS_WITH(steps.erase(2), "index = 2 is not in [0, 2)");
    steps.write(0, Tensor<float>{5, 6});
    CHECK(steps.stack() == Tensor<float>{{5, 6}, {3, 4}});
}

}  // namespace test_tensor_array
