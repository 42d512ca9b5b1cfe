// rowan/sparse/optimizer.hpp: Optimizer, the function of an optimizer, which follows from its declaration.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/table.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

struct StochasticRounding;

namespace detail {

template <class O>
struct StepsOf;

template <class O, class P, class S, class D>
void check_state_of(std::string_view name, Tensor<P, D> const& param, Tensor<S, D> const& state) {
    if constexpr (requires { requires O::one_state_per_row; }) {
        check_rows("param", param);
        if (state.dimension() != 1) throw ShapeError({name, " rank"}, state.dimension(), "1: one number per row");
        check_height(name.data(), state, height_of(param));
    } else {
        check_state(name.data(), param, state);
    }
}

/// The rule of a step, after the checks of options and states.
template <class O, class D, class P, class... S, class... State>
auto checked_rule(state_list<State...>, typename O::options const& options, Tensor<P, D> const& param,
                  Tensor<S, D> const&... state) {
    auto const rule = StepsOf<O>::template rule<P, S...>(options);
    (check_state_of<O>(State::name, param, state), ...);
    return rule;
}

/// Calls f with a rule; with the one for these options of what has several and `with_one(f)`.
template <class Rule, class F>
void with_rule(Rule const& rule, F const& f) {
    if constexpr (requires { rule.with_one(f); }) {
        rule.with_one(f);
    } else {
        f(rule);
    }
}

/// The steps of an optimizer whose `StepsOf<O>::rule<P, S...>(options)` checks the options for elements of these types, and
/// returns a rule of update_rows.
template <class O>
struct StepsByRule {
    using options = typename O::options;

    template <class D, class G, class P, class... S>
    static void step(D const& exec, G const& grad, options const& chosen, Tensor<P, D>& param, Tensor<S, D>&... state) {
        check_types<typename G::value_type, P, S...>();
        with_rule(checked_rule<O>(typename O::states{}, chosen, param, state...),
                  [&](auto const& rule) { update_rows(exec, grad, rule, param, state...); });
    }
    template <class D, class G, class P, class... S>
    static void step(D const& exec, RowPlan<D> const& plan, Tensor<G, D> const& value, options const& chosen,
                     Tensor<P, D>& param, Tensor<S, D>&... state) {
        check_types<G, P, S...>();
        with_rule(checked_rule<O>(typename O::states{}, chosen, param, state...),
                  [&](auto const& rule) { update_rows(exec, plan, value, rule, param, state...); });
    }
    template <class G, class P, class... S>
    static void step(Cpu exec, G const& grad, StochasticRounding const& rounding, options const& chosen,
                     Tensor<P>& param, Tensor<S>&... state) {
        check_types<typename G::value_type, P, S...>();
        with_rule(checked_rule<O>(typename O::states{}, chosen, param, state...),
                  [&](auto const& rule) { update_rows(exec, grad, rounding, rule, param, state...); });
    }
};

/// How an optimizer makes a step. Those of rowan specialize it where their formulas stand; a user's has `rule` itself.
template <class O>
struct StepsOf : StepsByRule<O> {
    template <class... P>
    static auto rule(typename O::options const& options) {
        return O::template rule<P...>(options);
    }
};

/// A step on a table, by a gradient of its rows, or on a view, by one with a row for each name: see detail/table_step.hpp.
template <class O, class X, class G, class... Rounding>
void step_on_table(Cpu exec, X& x, typename O::options const& options, G const& grad, Rounding const&... rounding);

/// Whether the last argument of a call is none of its options.
template <class Options, class Last>
inline constexpr bool are_before_options = !std::is_same_v<std::remove_cvref_t<Last>, Options>;

/// Whether a number stands among the arguments, where options have names.
template <class... A>
inline constexpr bool has_numbers = (std::is_arithmetic_v<A> || ...);

}  // namespace detail

/// What stands in a macro's argument as one.
#define ROWAN_LIST(...) __VA_ARGS__

/// The functions of an optimizer O with these tensors, of element types `types`: with and without an execution, by a
/// gradient and by a plan.
#define ROWAN_OPTIMIZER_TENSORS(name, O, types, tensors, arguments)                                            \
    template <device D, types, class G>                                                                        \
    requires detail::gradient_on<G, D>                                                                         \
    void name(D const& exec, tensors, G const& grad, typename O::options const& o = {}) {                      \
        detail::StepsOf<O>::step(exec, grad, o, arguments);                                                    \
    }                                                                                                          \
    template <types, class D, class G>                                                                         \
    requires detail::gradient_on<G, D>                                                                         \
    void name(tensors, G const& grad, typename O::options const& o = {}) {                                     \
        detail::StepsOf<O>::step(param.device(), grad, o, arguments);                                          \
    }                                                                                                          \
    template <device D, types, class G>                                                                        \
    void name(D const& exec, RowPlan<D> const& plan, tensors, Tensor<G, D> const& value,                       \
              typename O::options const& o = {}) {                                                             \
        detail::StepsOf<O>::step(exec, plan, value, o, arguments);                                             \
    }                                                                                                          \
    template <types, class D, class G>                                                                         \
    void name(RowPlan<D> const& plan, tensors, Tensor<G, D> const& value, typename O::options const& o = {}) { \
        detail::StepsOf<O>::step(plan.device(), plan, value, o, arguments);                                    \
    }
/// Those of tables and views.
#define ROWAN_OPTIMIZER_TABLES(name, O)                                            \
    template <named_rows X, class G>                                               \
    void name(Cpu exec, X&& x, G const& grad, typename O::options const& o = {}) { \
        detail::step_on_table<O>(exec, x, o, grad);                                \
    }                                                                              \
    template <named_rows X, class G>                                               \
    void name(X&& x, G const& grad, typename O::options const& o = {}) {           \
        detail::step_on_table<O>(Cpu{}, x, o, grad);                               \
    }

// By the number of states.
#define ROWAN_OPTIMIZER_0(name, O) ROWAN_OPTIMIZER_TENSORS(name, O, class P, ROWAN_LIST(Tensor<P, D>& param), param)
#define ROWAN_OPTIMIZER_1(name, O)                                 \
    ROWAN_OPTIMIZER_TENSORS(name, O, ROWAN_LIST(class P, class S), \
                            ROWAN_LIST(Tensor<P, D>& param, Tensor<S, D>& state), ROWAN_LIST(param, state))
#define ROWAN_OPTIMIZER_2(name, O)                                                                       \
    ROWAN_OPTIMIZER_TENSORS(name, O, ROWAN_LIST(class P, class S, class S2),                             \
                            ROWAN_LIST(Tensor<P, D>& param, Tensor<S, D>& state, Tensor<S2, D>& state2), \
                            ROWAN_LIST(param, state, state2))
#define ROWAN_OPTIMIZER_3(name, O)                                                                          \
    ROWAN_OPTIMIZER_TENSORS(                                                                                \
        name, O, ROWAN_LIST(class P, class S, class S2, class S3),                                          \
        ROWAN_LIST(Tensor<P, D>& param, Tensor<S, D>& state, Tensor<S2, D>& state2, Tensor<S3, D>& state3), \
        ROWAN_LIST(param, state, state2, state3))

/// The function of one of rowan's optimizers, which has so many states; and mistakes, which do not compile.
#define ROWAN_OPTIMIZER_FUNCTION(name, states)                                                                    \
    ROWAN_OPTIMIZER_##states(name, optim::name)                                                                   \
        ROWAN_OPTIMIZER_TABLES(name, optim::name) template <class P, class D, class... A>                         \
    requires(states > 0 && detail::has_numbers<A...>) void name(Tensor<P, D>&, A const&...) {                     \
        static_assert(!element<P>, "rowan::" #name ": options have names: (..., grad, {.learning_rate = 0.1})");  \
    }                                                                                                             \
    template <class P, class D, class G>                                                                          \
    requires(states > 0 && detail::gradient_on<G, D>) void name(Tensor<P, D>&, G const&,                          \
                                                                optim::name::options const& = {}) {               \
        static_assert(!element<P>, "rowan::" #name                                                                \
                                   ": its states are yours: each begins as "                                      \
                                   "Tensor<T>::zeros(param.shape()), and stands between param and the gradient"); \
    }

/// The function of an optimizer, such as adagrad, which changes a parameter and its states in place by a gradient:
///     adagrad(param, moment, grad, options);                a SelectedRows, whose duplicates are summed, or a Tensor
///     adagrad(plan, param, moment, value, options);         rows of a plan, made once for several gradients or
///                                                           parameters; value has a row for each of its lookups
///     adagrad(param, moment, grad, rounding, options);      see StochasticRounding
///     adagrad(table, grad, options);                        states by name: see row_table
///     adagrad(view, x_grad, options);
///     adagrad(exec, …);                                     on this device, with so many threads
/// `O` is its declaration. That of your own is a struct, which then works wherever those of rowan do:
///     struct signum_options {
///         double learning_rate = 0.01, momentum = 0.9;
///         ROWAN_OPTIONS(signum_options, learning_rate, momentum)
///     };
///     struct signum {
///         using options = signum_options;
///         using states = rowan::state_list<rowan::slot::moment>;
///         template <class... P>                             // element types of param and the states
///         static rowan::LaneRule<signum_formula> rule(signum_options const& o) { return {{o}}; }
///     };
///     inline constexpr rowan::Optimizer<signum> signum_step;
/// `rule` may throw for wrong options; `static constexpr bool one_state_per_row = true` gives states the shape [height].
template <class O>
struct Optimizer {
    using options = typename O::options;

    /// One step: the arguments stand above.
    /// errors   those of the optimizer; nothing has changed
    /// cost     that of update_rows
    template <class A, class B>
    void operator()(A&& a, B&& b, options const& o = {}) const {
        call(o, a, b);
    }
    template <class A, class B, class C>
    requires detail::are_before_options<options, C>
    void operator()(A&& a, B&& b, C&& c, options const& o = {}) const { call(o, a, b, c); }
    template <class A, class B, class C, class D>
    requires detail::are_before_options<options, D>
    void operator()(A&& a, B&& b, C&& c, D&& d, options const& o = {}) const { call(o, a, b, c, d); }
    template <class A, class B, class C, class D, class E>
    requires detail::are_before_options<options, E>
    void operator()(A&& a, B&& b, C&& c, D&& d, E&& e, options const& o = {}) const { call(o, a, b, c, d, e); }
    template <class A, class B, class C, class D, class E, class F>
    requires detail::are_before_options<options, F>
    void operator()(A&& a, B&& b, C&& c, D&& d, E&& e, F&& f, options const& o = {}) const {
        call(o, a, b, c, d, e, f);
    }
    template <class A, class B, class C, class D, class E, class F, class G>
    requires detail::are_before_options<options, G>
    void operator()(A&& a, B&& b, C&& c, D&& d, E&& e, F&& f, G&& g, options const& o = {}) const {
        call(o, a, b, c, d, e, f, g);
    }

private:
    using Targets = std::make_index_sequence<O::states::size + 1>;  // param and the states

    template <class First, class Second, class... A>
    static void call(options const& o, First& first, Second& second, A&... a) {
        if constexpr (named_rows<First>) {
            detail::step_on_table<O>(Cpu{}, first, o, second, a...);
        } else if constexpr (device<std::remove_const_t<First>> && named_rows<Second>) {
            detail::step_on_table<O>(first, second, o, a...);
        } else if constexpr (device<std::remove_const_t<First>>) {
            step(Targets{}, o, first, std::tie(second, a...));
        } else {
            step(Targets{}, o, first.device(), std::tie(first, second, a...));
        }
    }
    template <std::size_t... i, class D, class... A>
    static void step(std::index_sequence<i...>, options const& o, D const& exec, std::tuple<A&...> const& a) {
        constexpr std::size_t n = sizeof...(i);
        using First = std::remove_const_t<std::tuple_element_t<0, std::tuple<A...>>>;
        if constexpr (std::is_same_v<First, RowPlan<D>>) {
            detail::StepsOf<O>::step(exec, std::get<0>(a), std::get<n + 1>(a), o, std::get<i + 1>(a)...);
        } else if constexpr (sizeof...(A) == n + 1) {
            detail::StepsOf<O>::step(exec, std::get<n>(a), o, std::get<i>(a)...);
        } else {
            detail::StepsOf<O>::step(exec, std::get<n>(a), std::get<n + 1>(a), o, std::get<i>(a)...);
        }
    }
};

}  // namespace rowan::inline v0

/// The steps of an optimizer in the compiled library, for elements of T; then the types of param and its states.
#define ROWAN_OPTIMIZER(Steps, T, ...)                                                                                 \
    ROWAN_TEMPLATE(                                                                                                    \
        void detail::Steps::step(Cpu const&, SelectedRows<T> const&, detail::Steps::options const&, __VA_ARGS__))      \
    ROWAN_TEMPLATE(void detail::Steps::step(Cpu const&, Tensor<T> const&, detail::Steps::options const&, __VA_ARGS__)) \
    ROWAN_TEMPLATE(void detail::Steps::step(Cpu const&, RowPlan<Cpu> const&, Tensor<T> const&,                         \
                                            detail::Steps::options const&, __VA_ARGS__))
