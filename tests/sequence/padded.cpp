// tests/sequence/padded.cpp: converts between ragged batches with any number of levels and padded tensors.
#include <rowan/sequence/padded.hpp>

#include "../dtypes/own_types.hpp"
#include "ragged.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_padded {

using namespace ragged;
using rowan::bfloat16, rowan::from_padded, rowan::LodError, rowan::Padded, rowan::ShapeError, rowan::to_padded, rowan::ValueError;

namespace {

template <class T>
bool same(Padded<T> const& a, Padded<T> const& b) {
    return reference::same(a.value, b.value) && reference::same(a.mask, b.mask);
}

// Fills the result with padding, then copies rows, from the outermost level in.
template <class T>
Padded<T> plain_padded(LoDTensor<T> const& x, double pad) {
    Lod const& lod = x.lod();
    Shape dims{lod.sequences(0)};
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        std::int64_t longest = 0;
        for (std::int64_t const n : lod.lengths(l)) longest = std::max(longest, n);
        dims.push_back(static_cast<std::size_t>(longest));
    }
    Shape all = dims;
    for (std::size_t i = 1; i < x.shape().size(); ++i) all.push_back(x.shape()[i]);
    Padded<T> result{Tensor<T>::full(all, inputs::narrow<T>(pad)), Tensor<bool>::full(dims, false)};
    std::size_t const width = x.value().row_size();
    auto const place = [&](auto const& self, std::size_t level, std::int64_t e, std::size_t at) -> void {
        if (level == lod.levels()) {
            result.mask.data()[at] = true;
            std::copy_n(x.value().data() + static_cast<std::size_t>(e) * width, width, result.value.data() + at * width);
            return;
        }
        std::int64_t const begin = lod[level][static_cast<std::size_t>(e)];
        for (std::int64_t q = begin; q < lod[level][static_cast<std::size_t>(e) + 1]; ++q)
            self(self, level + 1, q, at * dims[level + 1] + static_cast<std::size_t>(q - begin));
    };
    for (std::size_t s = 0; s < dims[0]; ++s) place(place, 0, static_cast<std::int64_t>(s), s);
    return result;
}

}  // namespace

TEST_CASE("one level is padded to its longest sequence", "[padded][golden]") {
    LoDTensor<float> const x({1, 2, 3}, Lod{{0, 2, 2, 3}});
    auto const padded = to_padded(x, -1);
    CHECK((padded.value == Tensor<float>{{1, 2}, {-1, -1}, {3, -1}}));
    CHECK((padded.mask == Tensor<bool>{{true, true}, {false, false}, {true, false}}));
    CHECK(batches::same(from_padded(padded.value, {2, 0, 1}), x));
    CHECK(batches::same(from_padded(Cpu{2}, padded.value, std::vector<std::int32_t>{2, 0, 1}), x));
    LoDTensor<float> const wide({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 1, 3}});
    CHECK((to_padded(wide).value == Tensor<float>{{{1, 2}, {0, 0}}, {{3, 4}, {5, 6}}}));
}

TEST_CASE("every level becomes a dim", "[padded][golden]") {
    LoDTensor<float> const x({1, 2, 3, 4, 5}, Lod{{0, 2, 2, 3}, {0, 3, 3, 5}});
    auto const padded = to_padded(x);
    CHECK((padded.value == Tensor<float>{{{1, 2, 3}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}, {{4, 5, 0}, {0, 0, 0}}}));
    CHECK((padded.mask == Tensor<bool>{{{true, true, true}, {false, false, false}},
                                       {{false, false, false}, {false, false, false}},
                                       {{true, true, false}, {false, false, false}}}));
    CHECK(batches::same(from_padded(padded.value, x.lod()), x));
}

TEST_CASE("a result of more than 8 MiB equals a plain loop", "[padded][large]") {
    for (std::size_t const width : {64u, 61u}) {  // 61 floats do not fill whole cache lines
        std::vector<std::int64_t> lengths;
        for (std::int64_t s = 0; s < 400; ++s) lengths.push_back(s * 37 % 101);
        Lod const lod = Lod::from_lengths({lengths});
        auto value = Tensor<float>::from_shape({static_cast<std::size_t>(lod.rows()), width});
        for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<float>(i);
        LoDTensor<float> const x(std::move(value), lod);
        auto const want = plain_padded(x, -1);
        for (int const threads : {1, 3}) CHECK(same(to_padded(Cpu{threads}, x, -1), want));
    }
}

TEST_CASE("dims may be longer than the longest sequences", "[padded][golden]") {
    Tensor<float> const padded{{{1, 2, 9}, {3, 9, 9}, {9, 9, 9}}, {{4, 5, 9}, {9, 9, 9}, {9, 9, 9}}};
    CHECK(batches::same(from_padded(padded, Lod{{0, 2, 3}, {0, 2, 3, 5}}), LoDTensor<float>({1, 2, 3, 4, 5}, Lod{{0, 2, 3}, {0, 2, 3, 5}})));
}

TEST_CASE("no sequences and empty sequences have their dims", "[padded]") {
    auto const none = to_padded(LoDTensor<float>(Tensor<float>::from_shape({0, 3}), Lod{{0}}));
    CHECK((none.value.shape() == Shape{0, 0, 3} && none.mask.shape() == Shape{0, 0}));
    auto const empty = to_padded(LoDTensor<float>(Tensor<float>::from_shape({0, 3}), Lod{{0, 2, 2}, {0, 0, 0}}));
    CHECK((empty.value.shape() == Shape{2, 2, 0, 3} && empty.mask.shape() == Shape{2, 2, 0}));
    CHECK(from_padded(empty.value, Lod{{0, 2, 2}, {0, 0, 0}}).shape() == Shape{0, 3});
    CHECK(from_padded(none.value, List{}).lod() == Lod{{0}});
    auto const narrow = to_padded(LoDTensor<float>(Tensor<float>::from_shape({3, 0}), Lod{{0, 1, 3}}));
    CHECK((narrow.value.shape() == Shape{2, 2, 0} && narrow.mask == Tensor<bool>{{true, false}, {true, true}}));
}

TEMPLATE_TEST_CASE("every element type is padded as by the plain loops, and converted back", "[padded]", float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16,
                   test::fixed, test::dual) {
    for_batches<TestType>([](auto const& x) {
        if (x.shape().size() + x.lod().levels() > 8) return;
        double const pad = std::same_as<TestType, bool> || std::same_as<TestType, std::uint8_t> ? 1 : -2;
        auto const padded = to_padded(x, pad);
        CHECK(same(padded, plain_padded(x, pad)));
        CHECK(batches::same(from_padded(padded.value, x.lod()), x));
    });
}

TEST_CASE("padded: any number of threads has the same bits", "[padded]") {
    auto inputs = large_batches();
    inputs.push_back(wild_batch<float>(random_lod(3, 900, 9, 1), {4}, 2));
    for (auto const& x : inputs) {
        auto const want = plain_padded(x, 3);
        check_threads(want.value, [&](Cpu exec) { return to_padded(exec, x, 3).value; });
        check_threads(want.mask, [&](Cpu exec) { return to_padded(exec, x, 3).mask; });
        check_threads(x, [&](Cpu exec) { return from_padded(exec, want.value, x.lod()); });
    }
}

TEST_CASE("a batch with any levels survives to_padded and from_padded", "[padded][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(1, 5));
        auto const x = batches::batch(lod);
        auto const padded = to_padded(x, -1);
        RC_ASSERT(same(padded, plain_padded(x, -1)));
        RC_ASSERT(batches::same(from_padded(padded.value, lod), x));
    }));
}

TEST_CASE("with zeros for padding the two are adjoint", "[padded]") {
    LoDTensor<double> const x(batches::eighths({6, 2}, 1), Lod{{0, 2, 2, 3}, {0, 3, 3, 6}});
    auto const y = batches::eighths({3, 2, 3, 2}, 2);
    CHECK(batches::dot(y, to_padded(x).value) == batches::dot(from_padded(y, x.lod()).value(), x.value()));
}

TEST_CASE("dims have the requested lengths, which must suffice", "[padded]") {
    LoDTensor<float> const x({1, 2, 3}, Lod{{0, 2, 2, 3}});
    auto const padded = to_padded(x, -1, {4});
    CHECK((padded.value == Tensor<float>{{1, 2, -1, -1}, {-1, -1, -1, -1}, {3, -1, -1, -1}}));
    CHECK((padded.mask == Tensor<bool>{{true, true, false, false}, {false, false, false, false}, {true, false, false, false}}));
    CHECK(same(to_padded(x, -1, {2}), to_padded(x, -1)));
    CHECK(same(to_padded(x, 0, {}), to_padded(x)));
    LoDTensor<float> const deep({1, 2, 3, 4, 5}, Lod{{0, 2, 2, 3}, {0, 3, 3, 5}});
    auto const wide = to_padded(Cpu{2}, deep, 0, std::vector<std::int32_t>{3, 4});
    CHECK((wide.value.shape() == Shape{3, 3, 4} && wide.value(0, 0, 2) == 3 && wide.value(2, 0, 1) == 5 && wide.mask(2, 0, 1)));
    CHECK(batches::same(from_padded(wide.value, deep.lod()), deep));
    LoDTensor<float> const none(Tensor<float>::from_shape({0, 2}), Lod{{0, 0, 0}});
    CHECK((to_padded(none, 7, {3}).value == Tensor<float>::full({2, 3, 2}, 7)));
    using batches::refusal;
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, x, 0, {1}); }, x) == "lengths[0] is 1, expected at least 2, the longest sequence of the level");
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, deep, 0, {2, -1}); }, deep) ==
          "lengths[1] is -1, expected at least 3, the longest sequence of the level");
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, deep, 0, {9}); }, deep) == "lengths.size() is 1, expected 2, the number of levels");
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, x, 0, Tensor<std::int64_t>{{2}}); }, x) == "lengths rank is 2, expected 1");
    CHECK_THROWS_AS(to_padded(x, 0, {std::numeric_limits<std::int64_t>::max()}), ShapeError);
}

TEST_CASE("with longer dims, to_padded is the adjoint of from_padded", "[padded]") {
    Lod const lod{{0, 2, 2, 3}, {0, 3, 3, 6}};
    auto const x = batches::eighths({3, 4, 5, 2}, 1);
    LoDTensor<double> const y(batches::eighths({6, 2}, 2), lod);
    CHECK(batches::dot(y.value(), from_padded(x, lod).value()) == batches::dot(to_padded(y, 0, {4, 5}).value, x));
}

TEST_CASE("padding throws for arguments that do not match", "[padded][bad]") {
    using batches::refusal;
    LoDTensor<float> const rows{Tensor<float>{1, 2}};
    LoDTensor<std::int32_t> const ids({1, 2}, Lod{{0, 2}});
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, rows); }, rows) == "x.lod().levels() is 0, expected at least 1");
    CHECK(refusal<ValueError>([&](Cpu e) { to_padded(e, ids, std::numeric_limits<double>::quiet_NaN()); }, ids) ==
          "pad_value is nan, expected a whole number that the element type holds");
    LoDTensor<float> const deep(Tensor<float>::from_shape({1, 1, 1, 1}), Lod{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}});
    CHECK(refusal<ShapeError>([&](Cpu e) { to_padded(e, deep); }, deep) == "rank is 9, expected at most 8");
    Tensor<float> const padded{{1, 2}, {3, 4}};
    auto const refused = [&](Lod const& lod) { return refusal<ShapeError>([&](Cpu e) { from_padded(e, padded, lod); }, padded, lod); };
    CHECK(refused(Lod()) == "lod.levels() is 0, expected at least 1");
    CHECK(refused(Lod{{0, 1}}) == "padded.shape(0) is 2, expected 1");
    CHECK(refused(Lod{{0, 1, 2}, {0, 1, 2}}) == "padded rank is 2, expected at least 3");
    CHECK(refused(Lod{{0, 0, 3}}) == "padded.shape(1) is 2, expected at least 3, the length of sequence 1 of level 0");
    Tensor<float> const cube = Tensor<float>::zeros({1, 1, 2});
    CHECK(refusal<ShapeError>([&](Cpu e) { from_padded(e, cube, Lod{{0, 2}, {0, 1, 1}}); }, cube) ==
          "padded.shape(1) is 1, expected at least 2, the length of sequence 0 of level 0");
    CHECK(refusal<LodError>([&](Cpu e) { from_padded(e, padded, {1, -1}); }, padded) == "lod[0][1] = -1 is negative, expected a length");
    LoDTensor<float> changed({1, 2}, Lod{{0, 2}});
    changed.value() = Tensor<float>{42};
    CHECK(refusal<LodError>([&](Cpu e) { to_padded(e, changed); }, changed) == "lod[0][1] = 2 is not 1, the number of rows");
    CHECK_THROWS_AS(to_padded(Cpu{-1}, LoDTensor<float>(Tensor<float>::from_shape({0}), Lod{{0}})), ValueError);
}

}  // namespace test_padded
