// rowan/sparse/update_rows.hpp: update_rows, applies an update rule to the rows of a gradient.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

template <class Rule, class T, class... P>
inline constexpr bool is_rule = std::is_invocable_v<Rule const&, std::span<sum_t<T> const>, std::span<P>...>;

template <class T>
std::span<T> row_of(Tensor<T>& tensor, std::size_t row, std::size_t width) {
    return {tensor.data() + row * width, width};
}

/// Whether a rule is element-wise and requires tensors of one shape, so that the loop need not respect row boundaries.
template <class Rule>
inline constexpr bool is_elementwise = false;

/// Whether a rule has the member `with` of LaneRule, which is called in its place for the rows of a gradient.
template <class Rule>
inline constexpr bool is_lane_rule = is_elementwise<Rule>;

std::string state_name(std::size_t i);

/// The shape and the memory of a tensor, whose elements may be of any type.
struct ShapedBytes {
    Tensor<float>::shape_type const& shape;
    std::span<std::byte const> bytes;
};

/// Checks the tensors of an update: the parameter, then its states. A dense gradient has no `height` besides its shape.
/// It may be one of the tensors, but must not overlap one partially: a thread could read elements that another has
/// already written. A sparse one must be apart from them: rows are written in another order than it is read.
/// errors   those of update_rows
ROWAN_IF_CALLED void check_targets(ShapedBytes const& grad, std::optional<std::int64_t> height,
                                   std::span<ShapedBytes const> written, bool one_shape);

template <class Rule = void, class D, class T, class... P>
void check_sparse_targets(Tensor<T, D> const& value, std::int64_t height, Tensor<P, D> const&... param) {
    check_targets({value.shape(), detail::bytes_of(value)}, height,
                  std::array{ShapedBytes{param.shape(), detail::bytes_of(param)}...}, is_elementwise<Rule>);
}
template <class Rule = void, class D, class T, class... P>
void check_dense_targets(Tensor<T, D> const& grad, Tensor<P, D> const&... param) {
    check_targets({grad.shape(), detail::bytes_of(grad)}, std::nullopt,
                  std::array{ShapedBytes{param.shape(), detail::bytes_of(param)}...}, is_elementwise<Rule>);
}

/// Checks that a state has the shape of the parameter.
void check_state(char const* field, ShapedBytes const& param, ShapedBytes const& state);
template <class P, class S, class D>
void check_state(char const* field, Tensor<P, D> const& param, Tensor<S, D> const& state) {
    check_state(field, {param.shape(), {}}, {state.shape(), {}});
}

/// Applies rules to rows.
template <class D>
struct RowUpdates {
    static_assert(has_backend<D>,
                  "rowan: update_rows on a Thrust device needs #include <rowan/thrust/sparse/update_rows.hpp>");
};

template <>
struct RowUpdates<Cpu> {
    template <class Rule, class T, class... P>
    static constexpr void check_rule() {
        static_assert(
            is_rule<Rule, T, P...>,
            "rowan::update_rows: the rule must take a span of const sums of the gradient, then a span for param "
            "and each state");
    }

    template <class T, class Rule, class... P>
    static void planned(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, Rule const& rule,
                        Tensor<P>&... param) {
        RowSums<T> sums(exec, plan, value);
        with_sums<T>(plan.rows(), sums, rule, param...);
    }

    template <class T, class Sums, class Rule, class... P>
    static void with_sums(std::span<std::int64_t const> rows, Sums& sums, Rule const& rule, Tensor<P>&... param) {
        std::size_t const width = sums.width();
        auto const prefetch = [&](std::size_t k) {
            (prefetch_row<true>(param.data() + static_cast<std::size_t>(rows[k]) * param.row_size(),
                                param.row_size() * sizeof(P)),
             ...);
        };
        auto const with_row = [&](std::size_t k, sum_t<T> const* sum, auto const& f) ROWAN_INLINED {
            f(std::span<sum_t<T> const>(sum, width),
              row_of(param, static_cast<std::size_t>(rows[k]), param.row_size())...);
        };
        if constexpr (is_lane_rule<Rule>) {
            sums.run(prefetch, [&]<class V>(as<V>, std::size_t k, sum_t<T> const* sum) ROWAN_INLINED {
                with_row(k, sum, [&](auto... row) ROWAN_INLINED { rule.template with<V>(row...); });
            });
        } else {
            sums.run(prefetch, [&](std::size_t k, sum_t<T> const* sum) { with_row(k, sum, rule); });
        }
    }

    template <class T, class Rule, class... P>
    static void dense(Cpu exec, Tensor<T> const& grad, Rule const& rule, Tensor<P>&... param) {
        using S = sum_t<T>;
        constexpr bool flat = is_elementwise<Rule>;
        std::size_t const width = flat ? 1024 : grad.row_size();
        std::size_t const rows = flat ? (grad.size() + width - 1) / width : grad.shape()[0];
        std::size_t const grain = serial_below / 8 / std::max<std::size_t>(width, 1) + 1;
        int const threads = threads_for(exec, grad.size());
        if (rows == 0) return;
        detail::Buffer<detail::Buffer<S>> wide(static_cast<std::size_t>(threads),
                                               detail::Buffer<S>(std::is_same_v<S, T> ? 0 : width));
        std::atomic<std::size_t> next{0};
        team(threads, [&](std::size_t t) {
            auto& buffer = wide[t];
            for (std::size_t begin = next.fetch_add(grain); begin < rows; begin = next.fetch_add(grain)) {
                for (std::size_t i = begin; i < std::min(rows, begin + grain); ++i) {
                    std::size_t const n = flat ? std::min(width, grad.size() - i * width) : width;
                    S const* g = nullptr;
                    if constexpr (std::is_same_v<S, T>) {
                        g = grad.data() + i * width;
                    } else {
                        copy_lanes<S>(n, grad.data() + i * width, buffer.data());
                        g = buffer.data();
                    }
                    if constexpr (flat) {
                        rule(std::span<S const>(g, n), std::span<P>(param.data() + i * width, n)...);
                    } else {
                        rule(std::span<S const>(g, n), row_of(param, i, param.row_size())...);
                    }
                }
            }
        });
    }
};

}  // namespace detail

/// Calls `rule(g, p, s...)` once for each row of `grad`: `g` is a span of the row's summed gradient in dtype<T>::sum,
/// `p` and `s...` are spans of that row of `param` and of each state. Other rows are unchanged. A dense `grad` has all
/// rows.
///
/// On a Thrust device the spans are RowSpans, and nvcc requires the rule to be `__host__ __device__` (ROWAN_HD). One
/// thread calls a user's rule for a whole row, with sums from temporary memory. The optimizers of rowan/sparse use
/// several threads per row and are bit-identical on all devices, except ftrl with an lr_power other than -0.5.
///
///     update_rows(grad, [](auto g, auto p, auto count) { … }, table, counts);
///
/// A rule that computes every element alone is faster as a LaneRule.
/// shapes   grad of height h and row shape [...], param [h, ...], each state [h, any dims]
/// requires   several threads may call the rule concurrently
/// errors   ShapeError if heights or row shapes do not match, or a state of a LaneRule has another shape than param;
///          Error if two of param, the states and a sparse gradient share memory, or if one of param and the states
///          partially overlaps a dense gradient, which may be one of them itself; exceptions of the rule, after which
///          some rows have been updated
/// cost     O(n * width) and a sort of the rows, for a dense gradient no sort; duplicates are summed as in merge,
///          without a merged gradient in memory
template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, SelectedRows<T, D> const& grad, Rule const& rule, Tensor<P, D>& param,
                 Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    SelectedRows<T, D>::check_value(grad.value(), grad.rows().size());
    detail::check_exec(exec);
    detail::check_sparse_targets<Rule>(grad.value(), grad.height(), param, state...);
    if (detail::only_checking()) return;
    detail::RowUpdates<D>::planned(exec, RowPlan<D>(exec, grad), grad.value(), rule, param, state...);
}

template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, Tensor<T, D> const& grad, Rule const& rule, Tensor<P, D>& param,
                 Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    detail::check_exec(exec);
    detail::check_dense_targets<Rule>(grad, param, state...);
    if (detail::only_checking()) return;
    detail::RowUpdates<D>::dense(exec, grad, rule, param, state...);
}

/// Applies a rule to the rows of a plan, which is made once for several gradients or parameters: see update_rows for a
/// SelectedRows. `value` has a row for each lookup of the plan.
/// shapes   plan of n rows, value [n, ...], param [plan.height(), ...], each state [plan.height(), any dims]
/// requires   several threads may call the rule concurrently
/// errors   those for a SelectedRows; ShapeError if value does not have n rows
/// cost     O(n * width), without a sort
template <class T, device D, class Rule, class P, class... S>
void update_rows(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value,
                 Rule const& rule, Tensor<P, D>& param, Tensor<S, D>&... state) {
    detail::RowUpdates<D>::template check_rule<Rule, T, P, S...>();
    SelectedRows<T, D>::check_value(value, plan.value_rows());
    detail::check_exec(exec);
    detail::check_sparse_targets<Rule>(value, plan.height(), param, state...);
    if (detail::only_checking()) return;
    detail::RowUpdates<D>::planned(exec, plan, value, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(SelectedRows<T, Device> const& grad, Rule const& rule, Tensor<P, Device>& param,
                 Tensor<S, Device>&... state) {
    update_rows(grad.device(), grad, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(Tensor<T, Device> const& grad, Rule const& rule, Tensor<P, Device>& param,
                 Tensor<S, Device>&... state) {
    update_rows(grad.device(), grad, rule, param, state...);
}

template <class T, class Device, class Rule, class P, class... S>
void update_rows(RowPlan<Device> const& plan, Tensor<T, Device> const& value, Rule const& rule,
                 Tensor<P, Device>& param, Tensor<S, Device>&... state) {
    update_rows(plan.device(), plan, value, rule, param, state...);
}

}  // namespace rowan::inline v0

#include <rowan/sparse/update_rows_inl.hpp>
