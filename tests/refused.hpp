// tests/refused.hpp: checks that a call throws and does not change its arguments.
#pragma once

#include "catch.hpp"

#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test {

template <class I>
std::string seen(std::vector<I> const& x) {
    return {reinterpret_cast<char const*>(x.data()), x.size() * sizeof(I)};
}

/// All observable contents of an argument.
template <class T>
std::string seen(rowan::Tensor<T> const& t) {
    std::vector<std::size_t> const dims(t.shape().begin(), t.shape().end());
    return std::to_string(dims.size()) + seen(dims) + std::string(reinterpret_cast<char const*>(t.data()), t.size() * sizeof(T));
}

template <class T>
std::string seen(rowan::SelectedRows<T> const& g) {
    std::vector<std::int64_t> const rows(g.rows().begin(), g.rows().end());
    return std::to_string(g.height()) + (g.merged() ? "m" : "u") + seen(rows) + seen(g.value());
}

inline std::string seen(rowan::RowPlan<> const& plan) {
    std::vector<std::int64_t> all{plan.height(), static_cast<std::int64_t>(plan.size())};
    for (auto const list : {plan.rows(), plan.offsets(), plan.positions()}) all.insert(all.end(), list.begin(), list.end());
    return seen(all);
}

inline std::string seen(rowan::Lod const& lod) {
    std::string text = std::to_string(lod.levels());
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        text.append("|").append(seen(std::vector<std::int64_t>(lod[l].begin(), lod[l].end())));
    }
    return text;
}

template <class T>
std::string seen(rowan::LoDTensor<T> const& x) {
    return seen(x.lod()) + ":" + seen(x.value());
}

template <class T>
std::string seen(rowan::TensorArray<T> const& array) {
    std::string text = std::to_string(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) {
        text += '[';
        if (array.written(i)) text += seen(array.read(i));
        text += ']';
    }
    return text;
}

inline std::string seen(rowan::StepMap<> const& map) {
    std::vector<std::int64_t> all(map.order().begin(), map.order().end());
    all.insert(all.end(), map.starts().begin(), map.starts().end());
    return seen(map.lod()) + std::to_string(map.level()) + seen(all);
}

/// Returns the E that the call throws. It must be the same on 1, 2 and 8 threads, and all `x` must be unchanged.
template <class E, class Call, class... X>
E refused(Call const& call, X const&... x) {
    std::array<std::string, sizeof...(X)> const before{seen(x)...};
    std::optional<E> error;
    for (int const threads : {1, 2, 8}) {
        CAPTURE(threads);
        try {
            if constexpr (std::invocable<Call const&, rowan::Cpu>) {
                call(rowan::Cpu{threads});
            } else {
                call();
            }
            FAIL_CHECK("nothing was thrown");
        } catch (E const& e) {
            if (error) CHECK(std::string(e.what()) == error->what());
            error = e;
        }
        std::array<std::string, sizeof...(X)> const after{seen(x)...};
        CHECK((before == after));
    }
    REQUIRE(error);
    return *error;
}

/// The text of that error.
template <class E, class Call, class... X>
std::string refusal(Call const& call, X const&... x) {
    return refused<E>(call, x...).what();
}

/// 0, 1/8, 2/8 …: sums of a few of them are exact.
template <class T>
rowan::Tensor<T> ramp(typename rowan::Tensor<T>::shape_type const& shape) {
    auto t = rowan::Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<T>(static_cast<float>(i % 64) / 8);
    return t;
}

}  // namespace test
