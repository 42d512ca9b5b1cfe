// tests/dtypes/sequences.cpp: custom element types in batches and arrays, compared with
// the results of their type of sums.
#include "catch.hpp"
#include "own_types.hpp"

#include <rowan/sequence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_sequences {

namespace {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::StepMap, rowan::Tensor, rowan::TensorArray;
using test::counting, test::dual, test::fixed;

template <class T>
using plain_of = std::conditional_t<std::is_same_v<T, counting>, float, double>;

// Small multiples of 1/8, which all types represent exactly.
template <class T>
Tensor<T> numbers(typename Tensor<T>::shape_type const& shape, std::size_t seed) {
    auto t = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) {
        auto const x = static_cast<double>((i * 37 + seed * 11) % 81) / 8 - 5;
        t.data()[i] = rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(x));
    }
    return t;
}

Lod const lod = Lod::from_lengths({{2, 0, 3, 1}, {3, 0, 70, 1, 2, 4}});

template <class T>
LoDTensor<T> batch() {
    return {numbers<T>({80, 3}, 1), lod};
}

template <class T>
double value(T const& x) {
    if constexpr (std::is_same_v<T, dual>) {
        return x.v;
    } else {
        return static_cast<double>(rowan::dtype<T>::widen(x));
    }
}

// f of batches of T must equal f of batches of its plain type, rounded to T; where T has an exp of its own, within an error.
template <class T, class F>
void check(F const& f, double error = 0) {
    using P = plain_of<T>;
    auto const same = [&](Tensor<T> const& got, Tensor<P> const& want) {
        REQUIRE(got.shape() == want.shape());
        return std::equal(got.begin(), got.end(), want.begin(), [&](T const& x, P y) {
            return std::abs(value(x) - value(rowan::dtype<T>::narrow(typename rowan::dtype<T>::sum(y)))) <= error;
        });
    };
    auto const got = f(batch<T>());
    auto const want = f(batch<P>());
    if constexpr (requires { got.lod(); }) {
        CHECK(got.lod() == want.lod());
        CHECK(same(got.value(), want.value()));
    } else {
        CHECK(same(got, want));
    }
}

template <class X>
using element_of = typename std::remove_cvref_t<X>::value_type;

}  // namespace

TEMPLATE_TEST_CASE("batches of a custom element type are unpacked and packed", "[dtypes][sequence]", fixed, dual, counting) {
    using T = TestType;
    for (std::size_t level = 0; level < 2; ++level) {
        for (bool const sorted : {true, false}) {
            CAPTURE(level, sorted);
            StepMap<> const map(lod, level, sorted);
            std::size_t const rows = map.sequences();
            check<T>([&](auto const& x) { return TensorArray<element_of<decltype(x)>>::unpack(x, map).concat(); });
            check<T>([&](auto const& x) {
                using E = element_of<decltype(x)>;
                auto const steps = TensorArray<E>::unpack(x, map);
                TensorArray<E> slots;
                for (std::size_t t = 0; t < steps.size(); ++t) slots.write(t, steps.read(t), t % 2 == 0);
                REQUIRE((steps.pack(level, map) == x));
                return slots.pack(level, map);
            });
            check<T>([&](auto const& x) { return reorder(x.value().slice(0, rows), map); });
            check<T>([&](auto const& x) { return reorder_grad(x.value().slice(0, rows), map); });
            check<T>([&](auto const& x) { return shrink(x.value().slice(0, rows), map, 1); });
            check<T>([&](auto const& x) { return shrink_grad(x.value().slice(0, map.step_size(1)), map, 1, rows); });
        }
    }
    StepMap<> const map(lod, 0, false);
    check<T>([&](auto const& x) { return reorder(x, map); });
    check<T>([&](auto const& x) { return reorder_grad(x, map); });
    check<T>([&](auto const& x) { return shrink(x, map, 1); });
    check<T>([&](auto const& x) { return shrink_grad(shrink(x, map, 1), map, 1, lod); });
}

TEMPLATE_TEST_CASE("TensorArrays hold a custom element type", "[dtypes][sequence]", fixed, dual, counting) {
    using T = TestType;
    check<T>([](auto const& x) { return TensorArray<element_of<decltype(x)>>::unstack(x.value(), 1).stack(); });
    check<T>([](auto const& x) { return TensorArray<element_of<decltype(x)>>::split(x.value(), {30, 0, 50}).concat(); });
    check<T>([](auto const& x) { return TensorArray<element_of<decltype(x)>>::unstack(x.value()).gather({79, 3, 3}); });
    check<T>([](auto const& x) {
        using E = element_of<decltype(x)>;
        std::vector<std::int32_t> indices(80);
        for (std::size_t i = 0; i < 80; ++i) indices[i] = i % 9 == 0 ? 1 : 3;
        return TensorArray<E>::gather_grad(indices, x.value(), 5).stack();
    });
    check<T>([](auto const& x) {
        TensorArray<element_of<decltype(x)>> array;
        array.scatter({1, 0}, x.value().slice(0, 2));
        array.accumulate(1, x.value().slice(7, 8).reshaped({3}));
        array.accumulate(2, x.value().slice(8, 9).reshaped({3}));
        return array.stack();
    });
    check<T>([](auto const& x) {
        auto const array = TensorArray<element_of<decltype(x)>>::unstack(x.value());
        return map_fn([](auto const& slot) { return slot.share(); }, array).stack(1);
    });
}

TEMPLATE_TEST_CASE("batches of a custom element type are created, split and merged", "[dtypes][sequence]", fixed, dual, counting) {
    using T = TestType;
    check<T>([](auto const& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        return X::from_sequences({x.value().slice(0, 2), x.value().slice(2, 2), x.value().slice(5, 9)});
    });
    check<T>([](auto const& x) {
        using E = element_of<decltype(x)>;
        E const* const e = x.value().data();
        return LoDTensor<E>::from_nested({{e[0], e[1]}, {}, {e[2]}});
    });
    check<T>([](auto const& x) { return slice_sequences(x, 1, 2, 5); });
    check<T>([](auto const& x) { return merge_batches(split_batch(x, 3)); });
    check<T>([](auto const& x) { return split_batch(x, {1, 3}).back(); });
    check<T>([](auto const& x) { return to_padded(x, -2).value; });
    check<T>([](auto const& x) { return to_padded(x, 0, {4, 71}).value; });
    check<T>([](auto const& x) { return from_padded(to_padded(x).value, x.lod()); });
}

}  // namespace test_sequences
