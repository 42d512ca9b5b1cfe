// rowan/sparse/bag_rows.hpp: BagRows, the gradient of weighted bags by their rows, which are not in memory.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Row i of the gradient: weight[i] · the row of its bag.
template <class T>
struct WeightedRowsOfBags {
    using S = sum_t<T>;
    struct Row {
        T const* row;
        S weight;
    };

    T const* value;
    std::size_t width;
    std::int64_t const* bag;
    T const* weight;

    std::size_t bytes() const { return width * sizeof(T); }
    ROWAN_INLINE T const* address(std::int64_t i) const { return value + static_cast<std::size_t>(bag[i]) * width; }
    ROWAN_INLINE Row at(std::int64_t i, std::size_t column) const {
        return {address(i) + column, detail::load<S>(weight + i)};
    }
    template <class V>
    ROWAN_INLINE static V load(Row const& row, std::size_t column) {
        return product(V(row.weight), detail::load<V>(row.row + column));
    }
};

}  // namespace detail

/// The gradient of the sums of weighted table rows over bags, with a row for each lookup: row i is weight[i] · value[b],
/// where i is in bag b. `update_rows` computes the rows when it adds them, so that they need no memory:
///     auto x = embedding_bag(table, ids, weight);                                                // [bags, width]
///     update_rows(RowPlan(ids.value(), height), BagRows(x_grad, ids.lod()[0], weight), rule, table);
/// They are rows of the weighted embedding_bag_grad with Pooling::sum, but not rounded to T before they are added.
template <class T>
class BagRows {
public:
    /// Bag b has the lookups from bags[b] up to bags[b + 1].
    /// shapes   value [bags, ...], bags [bags + 1], weight [lookups]
    /// errors   ShapeError if the shapes do not match, or bags is empty; IndexError unless bags begins with 0, does not
    ///          descend, and ends with the number of weights
    /// cost     one number for each lookup; value and weight are shared
    BagRows(Tensor<T> const& value, std::span<std::int64_t const> bags, Tensor<T> const& weight)
        : value_(value.share()), weight_(weight.share()) {
        static_assert(!std::integral<T>, "rowan::BagRows: gradients have a floating-point type");
        detail::check_rows("value", value);
        detail::check_rank("weight", weight, 1);
        bag_ = detail::bag_of_rows(bags, weight.size());
        if (value.shape(0) != bags.size() - 1)
            throw ShapeError("value.shape(0)", value.shape(0), {bags.size() - 1, ", the number of bags"});
    }

    Tensor<T> const& value() const noexcept { return value_; }    ///< a row for each bag
    Tensor<T> const& weight() const noexcept { return weight_; }  ///< a number for each lookup
    std::size_t size() const noexcept { return bag_.size(); }     ///< the number of lookups
    /// The bag of each lookup.
    std::span<std::int64_t const> bags() const noexcept { return bag_; }

private:
    Tensor<T> value_, weight_;
    detail::Buffer<std::int64_t> bag_;
};

/// Applies a rule to the rows of a plan, as update_rows does for a value that has them in memory.
/// shapes   plan of grad.size() rows, param [plan.height(), ...], each state [plan.height(), any dims]
/// requires   several threads may call the rule concurrently
/// errors   those of update_rows for a plan; ShapeError if grad has not as many rows as the plan has lookups
/// cost     one read of the row of its bag for each lookup, which stays in a cache where bags are few, and O(n · width)
template <class T, class Rule, class P, class... S>
void update_rows(Cpu const& exec, std::type_identity_t<RowPlan<>> const& plan, BagRows<T> const& grad, Rule const& rule,
                 Tensor<P>& param, Tensor<S>&... state) {
    using Rows = detail::WeightedRowsOfBags<T>;
    detail::RowUpdates<Cpu>::check_rule<Rule, T, P, S...>();
    detail::check_exec(exec);
    if (plan.value_rows() != grad.size())
        throw ShapeError("grad.size()", grad.size(), {plan.value_rows(), ", the rows of the plan"});
    detail::check_sparse_targets<Rule>(grad.value(), plan.height(), param, state...);
    detail::check_all_apart(
        [](std::size_t i) { return i == sizeof...(S) + 1 ? std::string("the weights") : detail::state_name(i); }, param,
        state..., grad.weight());
    if (detail::only_checking()) return;
    Rows const rows{grad.value().data(), plan.size() == 0 ? 0 : grad.value().row_size(), grad.bags().data(),
                    grad.weight().data()};
    detail::RowSums<T, Rows> sums(exec, plan, rows);
    detail::RowUpdates<Cpu>::with_sums<T>(plan.rows(), sums, rule, param, state...);
}

template <class T, class Rule, class P, class... S>
void update_rows(RowPlan<> const& plan, BagRows<T> const& grad, Rule const& rule, Tensor<P>& param,
                 Tensor<S>&... state) {
    update_rows(plan.device(), plan, grad, rule, param, state...);
}

}  // namespace rowan::inline v0
