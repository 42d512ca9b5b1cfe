// rowan/op/elementwise/dropout.hpp: dropout, which sets random elements to 0 in training.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

#include <cmath>
#include <cstdint>

namespace rowan::inline v0 {

namespace detail {

/// A seed in a tensor.
struct SeedAt {
    std::int64_t const* seed;
    ROWAN_HD std::uint64_t operator()() const { return static_cast<std::uint64_t>(*seed); }
};

inline constexpr std::uint64_t golden_steps[8] = {0,
                                                  golden_step,
                                                  2 * golden_step,
                                                  3 * golden_step,
                                                  4 * golden_step,
                                                  5 * golden_step,
                                                  6 * golden_step,
                                                  7 * golden_step};

/// The mask: whether uniform_at(seed, i) is not less than the probability. As integers: no conversion, no comparison.
template <class Seed>
struct DropMask {
    std::uint8_t* mask;
    Seed seed;
    std::uint64_t least;  // the probability times 2^53, rounded up

    ROWAN_HD std::uint64_t of_row(std::size_t) const { return mix_bits(seed()); }

    ROWAN_FORMULA void at(std::uint64_t mixed, std::size_t i) const {
        if constexpr (is_register<V>) {
            using Bits = typename V::template of<std::uint64_t>;
            Bits const first(mixed + (i + 1) * golden_step);
            Bits const number = mix_bits(Bits(first + Bits::load(golden_steps))) >> 11;
            Bits const less = (number - Bits(least)) >> 63;  // both are below 2^53
            (less ^ Bits(1)).store_bytes(mask + i);
        } else {
            mask[i] = mix_bits(mixed + (i + 1) * golden_step) >> 11 >= least ? 1 : 0;
        }
    }
};

/// x · factor where the mask is not 0, else 0
template <class S>
struct KeptLanes {
    S factor;
    ROWAN_FORMULA V operator()(V const& mask, V const& x) const {
        V const zero = constant<V>(0.0);
        return choose(mask > zero, product(x, V(factor)), zero);
    }
};
/// The same for own types, which need no comparison.
template <class T>
struct KeptElement {
    std::uint8_t const* mask;
    T const* x;
    sum_t<T> factor;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        store(mask[i] != 0 ? product(load<sum_t<T>>(x + i), factor) : constant<sum_t<T>>(0.0), to + i);
    }
};

template <class T, class D>
void keep_elements(D const& exec, Tensor<std::uint8_t, D> const& mask, Tensor<T, D> const& x, double probability,
                   Tensor<T, D>& to) {
    using S = sum_t<T>;
    S const factor = constant<S>(1 / (1 - probability));
    if constexpr (is_machine_float<S>) {
        ElementLoops<D>::template zip<S>(exec, x.size(), KeptLanes<S>{factor}, to.data(), mask.data(), x.data());
    } else {
        ElementLoops<D>::each(exec, x.size(), 1, KeptElement<T>{mask.data(), x.data(), factor, to.data()});
    }
}

template <class T, class D, class Seed>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> drop_elements(D const& exec, Tensor<T, D> const& x,
                                                                double probability, Seed const& seed) {
    static_assert(floating_element<T>, "rowan::dropout: x must have a floating-point type: convert it");
    check_dropout(probability);
    ElementLoops<D>::check(exec, x);
    auto out = new_tensor<T>(exec, x.shape());
    auto mask = new_tensor<std::uint8_t>(exec, x.shape());
    auto const least = static_cast<std::uint64_t>(std::ceil(probability * 0x1p53));
    ElementLoops<D>::template each_in_rows<double>(exec, 1, x.size(), DropMask<Seed>{mask.data(), seed, least});
    keep_elements(exec, mask, x, probability, out);
    return {std::move(out), std::move(mask)};
}

template <class T, class D>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> drop_nothing(D const& exec, Tensor<T, D> const& x,
                                                               double probability) {
    check_dropout(probability);
    ElementLoops<D>::check(exec, x);
    return {ElementLoops<D>::copy(exec, x), Tensor<std::uint8_t, D>::full(exec, x.shape(), 1)};
}

/// Checks that the seed is an int64 tensor of rank 1. It has one element in training, else none.
constexpr void check_seed(char const* field, VarSpec const& seed) {
    spec::dense(field, seed);
    spec::rank(field, seed, 1, "1");
    if (seed.dtype != rowan::dtype<std::int64_t>::wire)
        spec::the_element_types_do_not_match(field, seed.dtype, rowan::dtype<std::int64_t>::wire);
}

template <class D>
bool has_seed(Tensor<std::int64_t, D> const& seed) {
    if (seed.size() > 1) throw ShapeError("seed.size()", seed.size(), "0 or 1");
    return seed.size() == 1;
}

}  // namespace detail

template <>
struct detail::function_of<dropout_op> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> run(D const& exec, Tensor<T, D> const& x,
                                                                 double probability, std::uint64_t seed,
                                                                 bool training) {
        if (!training) return drop_nothing(exec, x, probability);
        return drop_elements(exec, x, probability, GivenValue<std::uint64_t>{seed});
    }
};

template <>
struct detail::function_of<detail::backward_of<dropout_op>> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<std::uint8_t, D> const& mask, Tensor<T, D> const& out_grad,
                            double probability, bool training) {
        check_dropout(probability);
        check_same_shape("out_grad", out_grad, mask);
        ElementLoops<D>::check(exec, mask, out_grad);
        if (!training) return ElementLoops<D>::copy(exec, out_grad);
        auto x_grad = new_tensor<T>(exec, out_grad.shape());
        keep_elements(exec, mask, out_grad, probability, x_grad);
        return x_grad;
    }
};

/// See dropout. The slot `seed` holds the seed in training and is empty otherwise; `saved` holds the mask.
/// shapes   x [...], seed [1] or [0] of int64 -> [...] and the mask [...]
struct dropout_op : detail::declared<dropout_op> {
    using grad = gradient<dropout_op, uses<slot::saved, slot::seed, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& seed, attributes const& a) {
        VarSpec mask = spec::elementwise("dropout: x", x);
        detail::check_seed("dropout: seed", seed);
        detail::check_dropout(a.probability);
        mask.dtype = rowan::dtype<std::uint8_t>::wire;
        return {x, mask};
    }

    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> run(D exec, Tensor<T, D> const& x,
                                                                 Tensor<std::int64_t, D> const& seed,
                                                                 attributes const& a) {
        if (!detail::has_seed(seed)) return detail::drop_nothing(exec, x, a.probability);
        detail::ElementLoops<D>::check(exec, seed);
        auto const value = detail::ElementLoops<D>::value_of(detail::SeedAt{seed.data()});
        return detail::drop_elements(exec, x, a.probability, value);
    }

    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<std::uint8_t, D> const& mask, Tensor<std::int64_t, D> const& seed,
                                 Tensor<T, D> const& out_grad, attributes const& a) {
        return dropout_grad(exec, mask, out_grad, a.probability, detail::has_seed(seed));
    }
};

}  // namespace rowan::inline v0
