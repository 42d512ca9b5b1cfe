// tests/static/xtensor_names.cpp: unqualified calls of functions whose names xtensor has too mean rowan's.
#include <rowan/op.hpp>

#if __has_include(<xtensor/core/xmath.hpp>)
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/misc/xsort.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using Cpu = rowan::Cpu;
using T = rowan::Tensor<float>;
using Doubles = rowan::Tensor<double>;
using Ints = rowan::Tensor<std::int64_t>;
using Bools = rowan::Tensor<bool>;
using G = rowan::SelectedRows<float>;
using Plan = rowan::RowPlan<>;
using Ts = std::vector<T>;
using Gs = std::vector<G>;
using Axes = std::vector<std::int64_t>;
using rowan::ClipOptions, rowan::PowOptions, rowan::StackOptions, rowan::TransposeOptions;

template <class X>
X&& a();

#define RETURNS(type, ...) static_assert(std::is_same_v<decltype(__VA_ARGS__), type>, #__VA_ARGS__);
#define BOTH(type, name, ...) RETURNS(type, name(a<Cpu&>(), __VA_ARGS__)) RETURNS(type, name(__VA_ARGS__))
#define ONE(type, name, C) BOTH(type, name, a<T C>())
#define TWO(name, C) BOTH(T, name, a<T C>(), a<T C>()) RETURNS(T, name(a<T C>(), a<T const&>())) RETURNS(T, name(a<T const&>(), a<T C>()))
#define WITH_OPTIONS(name, X, Options, C) \
    BOTH(T, name, a<X C>()) BOTH(T, name, a<X C>(), a<Options C>()) RETURNS(T, name(a<Cpu const&>(), a<X const&>(), a<Options C>()))

// For arguments of one value category.
#define ALL(C)                                                                                                        \
    ONE(T, abs, C) ONE(T, ceil, C) ONE(T, cos, C) ONE(T, exp, C) ONE(T, floor, C) ONE(T, log, C) ONE(T, relu, C)      \
    ONE(T, round, C) ONE(T, sigmoid, C) ONE(T, sign, C) ONE(T, sin, C) ONE(T, sqrt, C) ONE(T, square, C)              \
    ONE(T, tanh, C) ONE(Ints, argmax, C) ONE(Ints, argmin, C) ONE(Ints, argsort, C) ONE(Bools, isfinite, C)           \
    ONE(Bools, isinf, C) ONE(Bools, isnan, C) ONE(Doubles, cast<double>, C) TWO(maximum, C) TWO(minimum, C)           \
    WITH_OPTIONS(pow, T, PowOptions, C) WITH_OPTIONS(stack, Ts, StackOptions, C)                                      \
    WITH_OPTIONS(transpose, T, TransposeOptions, C) RETURNS(T, transpose(a<T C>(), {.perm = {1, 0}}))                 \
    BOTH(T, where, a<Bools C>(), a<T C>(), a<T C>()) RETURNS(Ints, shape(a<T C>()))                                   \
    RETURNS(T, clip(a<Cpu&>(), a<T C>())) RETURNS(T, clip(a<Cpu&>(), a<T C>(), a<ClipOptions C>()))                   \
    RETURNS(G, clip(a<Cpu&>(), a<G C>(), a<ClipOptions C>())) RETURNS(T, reshape(a<T C>(), {1, 2}))                   \
    RETURNS(T, squeeze(a<T C>())) RETURNS(T, squeeze(a<T C>(), {0})) RETURNS(T, squeeze(a<T C>(), a<Axes C>()))       \
    RETURNS(Ts, split(a<Cpu&>(), a<T C>(), {1, 2})) RETURNS(Ts, split(a<T C>(), a<Axes C>()))                         \
    RETURNS(Ts, split(a<T C>(), a<Axes C>(), 0)) RETURNS(Gs, split(a<Cpu&>(), a<G C>(), a<Axes C>()))                 \
    RETURNS(T, sum(a<Cpu&>(), a<Ts C>())) RETURNS(G, sum(a<Cpu&>(), a<Gs C>()))                                       \
    RETURNS(T, sum(a<Cpu&>(), a<Ts C>(), a<Gs C>())) RETURNS(T, sum(a<Cpu&>(), a<Ts const&>(), a<Gs C>()))            \
    RETURNS(T, sum(a<Cpu const&>(), a<Ts C>(), a<Gs const&>())) BOTH(G, merge, a<G C>())                              \
    RETURNS(G, merge(a<Cpu&>(), a<Plan C>(), a<T C>()))

#define EVERY_CATEGORY ALL(&) ALL(const&) ALL(&&) ALL(const&&)

EVERY_CATEGORY  // found through the arguments alone

    namespace with_a_directive {
    using namespace rowan;

    EVERY_CATEGORY

    RETURNS(double, exp(1.0))  // the C library's remain
    RETURNS(double, pow(2.0, 3.0))
    RETURNS(double, round(2.5))

}  // namespace with_a_directive

}  // namespace
