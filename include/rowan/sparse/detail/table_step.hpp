// rowan/sparse/detail/table_step.hpp: step_on_table, the steps of optimizers on tables and views.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/table.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// A table in memory or in a file whose names are its row numbers.
template <class X>
concept table_of_ids = row_table<X> && requires(X& x, Ids<> rows) {
    { x.rows() } -> std::same_as<Tensor<typename X::value_type>&>;
    x.change(Cpu{}, rows);
};

/// The view of a table whose names are its row numbers, and whose `change(exec, rows)` comes before they are written.
template <class X>
class ViewOfIds {
public:
    using value_type = typename X::value_type;

    ViewOfIds(X& table, Tensor<std::int64_t> at) : table_(table), at_(std::move(at)) {}
    Tensor<value_type>& rows() noexcept { return table_.rows(); }
    Tensor<std::int64_t> const& at() const noexcept { return at_; }
    template <class S>
    Tensor<S>& state(std::string_view name) {
        return table_.template state<S>(name);
    }
    template <class S>
    bool has_state(std::string_view name) const {
        return table_.template has_state<S>(name);
    }
    void write(Cpu exec) { table_.change(exec, at_); }
    void commit() noexcept {}

private:
    X& table_;
    Tensor<std::int64_t> at_;
};

/// The element type of a state beside others of S.
template <class State, class S>
using state_type = std::conditional_t<std::same_as<State, slot::last_step>, std::int64_t, S>;

/// Calls f with the states of an optimizer: of the type of sums, or, if one of them is of doubles, all of doubles. Numbers of
/// steps are integers.
template <class View, class... State, class F>
void with_states(state_list<State...>, View& view, F const& f) {
    using S = typename dtype<typename View::value_type>::sum;
    if constexpr (std::same_as<S, float>) {
        if ((view.template has_state<double>(State::name) || ...))
            return f(view.template state<state_type<State, double>>(State::name)...);
    }
    f(view.template state<state_type<State, S>>(State::name)...);
}

/// Calls step(), first without changes, so that it refuses its arguments before before(), and then the view's write.
template <class View, class Before, class Step>
void write_and(Cpu exec, View& view, Before const& before, Step const& step) {
    {
        OnlyChecking const checking(true);
        step();
    }
    if (only_checking()) return;
    before();
    view.write(exec);
    step();
    view.commit();
}

/// The gradient of the rows of a view, from one with a row for each name: names without a row take no part.
template <class View, class G>
SelectedRows<G> gradient_of(Cpu exec, View& view, Tensor<G> const& value) {
    Tensor<std::int64_t> const& at = view.at();
    check_row_for_each("the names", at.shape(), "grad", value);
    auto rows = at.reshaped({at.size()});
    auto all = looked_up_rows(at.shape(), value.share());
    if (auto const known = RowGather<Cpu>::where(exec, at.size(), IsNotPadding{at.data(), -1});
        known.size() < at.size()) {
        rows = rows_at(exec, rows, known);
        all = rows_at(exec, all, known);
    }
    return SelectedRowsAccess::adopt(height_of(view.rows()), std::move(rows), std::move(all));
}

template <class O, class View, class G, class... Rounding>
void step_on_view(Cpu exec, View& view, typename O::options const& options, SelectedRows<G> const& grad,
                  Rounding const&... rounding) {
    static_assert(
        !requires { O::changes_all_rows; },
        "rowan: an optimizer that changes all rows, such as lamb, is for tensors: a table changes the rows of "
        "a gradient");
    if constexpr (requires { typename O::with_more_states; }) {
        using S = typename dtype<typename View::value_type>::sum;
        if (view.template has_state<S>("mean_grad") || view.template has_state<double>("mean_grad"))
            return step_on_view<typename O::with_more_states>(exec, view, options, grad, rounding...);
    }
    with_states(typename O::states{}, view, [&](auto&... state) {
        write_and(
            exec, view, [] {}, [&] { StepsOf<O>::step(exec, grad, rounding..., options, view.rows(), state...); });
    });
}

template <class O, class X, class G, class... Rounding>
void step_on_table(Cpu exec, X& x, typename O::options const& options, G const& grad, Rounding const&... rounding) {
    static_assert(!std::is_const_v<X>, "rowan: a table that is updated must not be const");
    if constexpr (requires { typename X::deferred; }) {  // a view of a DeferredTable
        using Own = typename X::deferred;
        static_assert(
            std::same_as<O, Own> || requires { requires std::same_as<typename O::with_more_states, Own>; },
            "rowan: the optimizer of this DeferredTable is another one");
        return x.step(exec, grad, options);
    } else if constexpr (row_view<X> && requires { gradient_of(exec, x, grad); }) {
        step_on_view<O>(exec, x, options, gradient_of(exec, x, grad), rounding...);
    } else if constexpr (table_of_ids<X> && requires { SelectedRowsAccess::rows(grad); }) {
        ViewOfIds<X> view(x, SelectedRowsAccess::rows(grad).share());
        step_on_view<O>(exec, view, options, grad, rounding...);
    } else {
        static_assert(std::is_const_v<X>,
                      "rowan: a gradient of a view is a tensor with a row for each name, that of a "
                      "table in a file also a SelectedRows");
    }
}

}  // namespace detail

/// update_rows on the rows of a table in a file: the same bits. The states are those of the table.
///     update_rows(Cpu{}, table, gradient, rule, table.state<float>("moment"));
/// shapes   as update_rows for tensors
/// errors   those of update_rows; Error if a state is not of the table; those of its `change`; the table is unchanged,
///          unless the rule throws
/// cost     that of `change` and of update_rows
template <detail::table_of_ids X, class G, class Rule, class... S>
void update_rows(Cpu exec, X& x, SelectedRows<G> const& grad, Rule const& rule, Tensor<S>&... state) {
    if (!(x.holds(state) && ...)) throw Error("a state is not one of the table: table.state<S>(name)");
    detail::ViewOfIds<X> view(x, detail::SelectedRowsAccess::rows(grad).share());
    detail::write_and(
        exec, view, [] {}, [&] { update_rows(exec, grad, rule, view.rows(), state...); });
}
template <detail::table_of_ids X, class G, class Rule, class... S>
void update_rows(X& x, SelectedRows<G> const& grad, Rule const& rule, Tensor<S>&... state) {
    update_rows(Cpu{}, x, grad, rule, state...);
}

}  // namespace rowan::inline v0
