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
using rowan::ClipOptions, rowan::CumprodOptions, rowan::CumsumOptions, rowan::PowOptions, rowan::StackOptions, rowan::TransposeOptions;

template <class X>
X&& a();

#define RETURNS(type, ...) static_assert(std::is_same_v<decltype(__VA_ARGS__), type>, #__VA_ARGS__);
#define UNARY(name, C) RETURNS(T, name(a<Cpu&>(), a<T C>())) RETURNS(T, name(a<T C>()))
#define BINARY(name, C)                             \
    RETURNS(T, name(a<Cpu&>(), a<T C>(), a<T C>())) \
    RETURNS(T, name(a<T C>(), a<T C>()))            \
    RETURNS(T, name(a<T C>(), a<T const&>()))       \
    RETURNS(T, name(a<T const&>(), a<T C>()))
#define WITH_OPTIONS(name, X, Options, C)                 \
    RETURNS(T, name(a<Cpu&>(), a<X C>()))                 \
    RETURNS(T, name(a<X C>()))                            \
    RETURNS(T, name(a<Cpu&>(), a<X C>(), a<Options C>())) \
    RETURNS(T, name(a<X C>(), a<Options C>()))            \
    RETURNS(T, name(a<Cpu const&>(), a<X const&>(), a<Options C>()))

// For arguments of one value category.
#define ALL(C)                                                                                                         \
    UNARY(abs, C)                                                                                                      \
    UNARY(sin, C) UNARY(cos, C) UNARY(sign, C) UNARY(floor, C) UNARY(ceil, C) UNARY(round, C)                          \
    UNARY(exp, C)                                                                                                      \
    UNARY(log, C) UNARY(sqrt, C) UNARY(square, C) UNARY(tanh, C) UNARY(sigmoid, C) UNARY(relu, C) BINARY(maximum, C)   \
        BINARY(minimum, C) WITH_OPTIONS(cumsum, T, CumsumOptions, C) WITH_OPTIONS(cumprod, T, CumprodOptions, C) WITH_OPTIONS(pow, T, PowOptions, C) WITH_OPTIONS( \
            stack, Ts, StackOptions, C) WITH_OPTIONS(transpose, T, TransposeOptions, C)                                \
            RETURNS(T, transpose(a<T C>(), {.perm = {1, 0}})) RETURNS(Ints, argmax(a<Cpu&>(), a<T C>()))                       \
            RETURNS(T, where(a<Bools C>(), a<T C>(), a<T C>())) RETURNS(T, where(a<Cpu&>(), a<Bools C>(), a<T C>(), a<T C>()))            \
            RETURNS(Ints, argsort(a<Cpu&>(), a<T C>())) RETURNS(Ints, argsort(a<T C>())) RETURNS(Ints, shape(a<T C>()))                                                  \
            RETURNS(Bools, isnan(a<Cpu&>(), a<T C>())) RETURNS(Bools, isnan(a<T C>())) RETURNS(Bools, isinf(a<T C>()))                    \
            RETURNS(Bools, isfinite(a<Cpu&>(), a<T C>())) RETURNS(Bools, isfinite(a<T C>())) RETURNS(      \
                Ints, argmax(a<T C>())) RETURNS(Ints, argmin(a<Cpu&>(), a<T C>())) RETURNS(Ints, argmin(a<T C>()))     \
                RETURNS(Doubles, cast<double>(a<Cpu&>(), a<T C>())) RETURNS(Doubles, cast<double>(a<T C>())) RETURNS(  \
                    T, clip(a<Cpu&>(), a<T C>())) RETURNS(T, clip(a<Cpu&>(), a<T C>(), a<ClipOptions C>()))            \
                    RETURNS(G, clip(a<Cpu&>(), a<G C>(), a<ClipOptions C>())) RETURNS(T, reshape(a<T C>(), {1, 2}))    \
                        RETURNS(T, squeeze(a<T C>())) RETURNS(T, squeeze(a<T C>(), {0}))                               \
                            RETURNS(T, squeeze(a<T C>(), a<Axes C>())) RETURNS(Ts, split(a<Cpu&>(), a<T C>(), {1, 2})) \
                                RETURNS(Ts, split(a<T C>(), a<Axes C>())) RETURNS(Ts, split(a<T C>(), a<Axes C>(), 0)) \
                                    RETURNS(Gs, split(a<Cpu&>(), a<G C>(), a<Axes C>()))                               \
                                        RETURNS(T, sum(a<Cpu&>(), a<Ts C>())) RETURNS(G, sum(a<Cpu&>(), a<Gs C>()))    \
                                            RETURNS(T, sum(a<Cpu&>(), a<Ts C>(), a<Gs C>()))                           \
                                                RETURNS(T, sum(a<Cpu&>(), a<Ts const&>(), a<Gs C>()))                  \
                                                    RETURNS(T, sum(a<Cpu const&>(), a<Ts C>(), a<Gs const&>()))        \
                                                        RETURNS(G, merge(a<Cpu&>(), a<G C>()))                         \
                                                            RETURNS(G, merge(a<G C>()))                                \
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
