// rowan/sparse/lane_rule.hpp: LaneRule, a formula of single elements as a rule of update_rows, and its arithmetic.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <concepts>
#include <span>
#include <type_traits>

namespace rowan::inline v0 {

/// A rule of update_rows that computes every element alone, with SIMD registers, as the optimizers of rowan do. The
/// formula is called with `(V const& g, V& p, V&... s)`: the summed gradient, the parameter and the states of one
/// element, or of several in a SIMD register. `V` is a template parameter, a floating-point type or a register of them;
/// elements of other types are converted to the common type of sums.
///
///     namespace lane = rowan::lane;
///     struct signum {  // signSGD with momentum
///         ROWAN_FORMULA void operator()(V const& g, V& p, V& m) const {
///             m = lane::product(lane::constant<V>(0.9), m) + g;
///             V const zero = lane::constant<V>(0), step = lane::constant<V>(0.1);
///             p = p + lane::choose(m > zero, zero - step, lane::choose(m < zero, step, zero));
///         }
///     };
///     rowan::update_rows(grad, rowan::LaneRule{signum{}}, table, moment);
///
/// A formula may use + - and comparisons of V, and the functions of rowan::lane: with these, its bits are the same on
/// all machines and devices. A product or quotient written as `a * b` or `a / b` may be fused with a sum, as the
/// compiler's flags say. ROWAN_FORMULA begins a template over V for the host and GPUs that is inlined into the loops for
/// each processor; on the host, a generic lambda will do, too.
/// requires   the formula neither throws nor reads what it writes for other elements
/// errors   ShapeError from update_rows unless all states have the shape of param
template <class Formula>
struct LaneRule {
    Formula formula;  ///< called concurrently by several threads

    /// Calls f with the formula.
    /// errors   exceptions of f
    /// cost     the cost of f
    ROWAN_NO_EXEC_CHECK
    template <class F>
    ROWAN_HD_INLINE void visit(F const& f) const {
        f(formula);
    }

    /// Applies the formula to the elements of a row.
    template <class G, class... P>
    void operator()(std::span<G const> g, std::span<P>... rows) const {
        using S = std::common_type_t<G, detail::sum_t<P>...>;
        detail::on_lanes<S>(g.size(), [&]<class V>(detail::as<V>) ROWAN_INLINED { with<V>(g, rows...); });
    }

    /// Applies the formula with registers V, for update_rows, which calls this in a function that is compiled for them and
    /// goes over many rows.
    /// errors   none
    /// cost     one evaluation of the formula for each element
    template <class V, class G, class... P>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P>... rows) const {
        using S = std::common_type_t<G, detail::sum_t<P>...>;
        static_assert(
            !std::integral<S> && (!std::integral<P> && ...),
            "rowan::LaneRule: gradient, param and states have floating-point types: for a counter of each row "
            "use a rule of rows");
        static_assert(
            takes<S, P...>(),
            "rowan::LaneRule: the formula is a template over V and takes (V const& g, V& p), then V& for each "
            "state");
        detail::for_with<typename detail::lanes_like<V, S>::type>(formula, g.size(), g.data(), rows.data()...);
    }

private:
    template <class S, class... P>
    static constexpr bool takes() {
        bool const number = std::is_invocable_v<Formula const&, S const&, std::conditional_t<true, S, P>&...>;
        if constexpr (detail::has_register<S>) {
            using V = detail::LaneRegister<S, detail::native_bytes>;
            return number && std::is_invocable_v<Formula const&, V const&, std::conditional_t<true, V, P>&...>;
        } else {
            return number;
        }
    }
};

template <class Formula>
LaneRule(Formula) -> LaneRule<Formula>;

namespace detail {

template <class Formula>
inline constexpr bool is_elementwise<LaneRule<Formula>> = true;

}  // namespace detail

/// The arithmetic of formulas: the same bits for SIMD registers, single numbers and devices.
namespace lane {

/// A number of the formula, such as an option, in the type of its elements.
/// errors   none
/// cost     none
ROWAN_FORMULA V constant(double x) { return detail::constant<V>(x); }

/// a · b, rounded before anything is added to it.
/// errors   none
/// cost     one multiplication
ROWAN_FORMULA V product(V const& a, V const& b) { return detail::product(a, b); }

/// a / b, correctly rounded.
/// errors   none; a division by 0 gives an infinity or NaN
/// cost     one division
ROWAN_FORMULA V quotient(V const& a, V const& b) { return detail::quotient(a, b); }

/// √x, correctly rounded.
/// errors   none; NaN for negative x
/// cost     one square root
ROWAN_FORMULA V square_root(V const& x) { return detail::square_root(x); }

/// yes where mask is true, else no; mask is a comparison, such as `x > y`. Both are computed.
/// errors   none
/// cost     one selection
ROWAN_NO_EXEC_CHECK
template <class Mask, class V>
ROWAN_HD_INLINE V choose(Mask const& mask, V const& yes, V const& no) {
    return detail::choose(mask, yes, no);
}

}  // namespace lane

}  // namespace rowan::inline v0
