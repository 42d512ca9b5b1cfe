// rowan/sparse/detail/deferred_checks.hpp: DeferredChecks, the checks of Deferred on all devices.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/deferred_rules.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

template <class Options>
struct DeferredChecks {
    using Rule = typename deferred_rule<Options>::type;

    /// The rule of a step, after the checks of all its arguments.
    template <class D, class G, class... P>
    static Rule step(D const& exec, std::int64_t height, SelectedRows<G, D> const& grad, Options const& options,
                     Tensor<P, D> const&... param) {
        types<G, P...>();
        Rule const rule = deferred_rule<Options>::make(options, param...);
        SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
        check_exec(exec);
        same_height(grad.height(), height);
        check_sparse_targets(grad.value(), height, param...);
        return rule;
    }
    template <class D, class G, class... P>
    static Rule step(D const& exec, std::int64_t height, Tensor<G, D> const& grad, Options const& options,
                     Tensor<P, D> const&... param) {
        types<G, P...>();
        Rule const rule = deferred_rule<Options>::make(options, param...);
        check_exec(exec);
        check_dense_targets(grad, param...);
        same_height(height_of(grad), height);
        return rule;
    }

    /// The checks of the parameter and its states, without a gradient.
    template <class D, class P, class... S>
    static void tensors(std::int64_t height, Tensor<P, D> const& param, Tensor<S, D> const&... state) {
        count<sizeof...(S)>();
        check_height("param", param, height);
        std::size_t i = 0;
        (check_state(state_name(++i).c_str(), param, state), ...);
        check_all_apart(state_name, param, state...);
    }

private:
    static void same_height(std::int64_t rows, std::int64_t height) {
        if (rows != height) throw ShapeError("grad.height()", rows, {height, ", that of this Deferred"});
    }
    template <std::size_t states>
    static constexpr void count() {
        static_assert(deferred_rule<Options>::takes(states),
                      "rowan::Deferred: the tensors are param and the states of the optimizer");
    }
    template <class G, class... P>
    static constexpr void types() {
        count<sizeof...(P) - 1>();
        check_types<G, P...>();
        static_assert(
            std::is_same_v<compute_t<G, P...>, compute_t<P...>>,
            "rowan::Deferred: a gradient of doubles needs a parameter or a state of doubles: missed steps are "
            "computed in the type of these");
    }
};

}  // namespace rowan::inline v0::detail
