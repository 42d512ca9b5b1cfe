// rowan/sparse/rowwise_adagrad.hpp: rowwise_adagrad, AdaGrad with one number of state per row.
#pragma once

#include <rowan/detail/optimizer.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <span>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

struct rowwise_adagrad_rule {
    AdagradOptions options;

    template <class G, class P, class M>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> m) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        if (g.empty()) return;
        S const squares = interleaved_sum<S>(g.size(), g.data(), [](auto const& x) { return product(x, x); });
        S const moment = load<S>(m.data()) + squares / static_cast<S>(static_cast<double>(g.size()));
        store(moment, m.data());
        S const root = square_root(moment) + constant<S>(options.epsilon);
        for_lanes<S>(
            [&](auto const& x, auto& to) {
                using V = std::remove_cvref_t<decltype(to)>;
                to = to - product(constant<V>(options.learning_rate), x) / V(root);
            },
            g.size(), g.data(), p.data());
    }
};

template <class P, class M>
rowwise_adagrad_rule make_rowwise_adagrad_rule(Tensor<P> const& param, Tensor<M> const& moment,
                                               AdagradOptions options) {
    check<P, M>(options);
    check_rows("param", param);
    if (moment.dimension() != 1)
        throw ShapeError("moment rank", std::to_string(moment.dimension()), "1: one number per row");
    check_height("moment", moment, height_of(param));
    return {options};
}

}  // namespace detail

/// One step of row-wise AdaGrad on the rows that `grad` names, duplicates summed first:
///     m += mean of g² over the row;  p -= learning_rate · g / (√m + epsilon)
/// The mean's sum has 16 interleaved partial sums, added as a binary tree: its bits do not depend on the instruction set.
/// shapes   param [height, ...], moment [height], grad a SelectedRows of that height and row shape, or a Tensor of param's shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad, with one cache line of state per row
template <class P, class M, detail::gradient G>
void rowwise_adagrad(Cpu exec, Tensor<P>& param, Tensor<M>& moment, G const& grad, AdagradOptions options = {}) {
    detail::check_types<typename G::value_type, P, M>();
    update_rows(exec, grad, detail::make_rowwise_adagrad_rule(param, moment, options), param, moment);
}

/// The same for a plan of the gradient's rows and their value.
template <class P, class M, class G>
void rowwise_adagrad(Cpu exec, RowPlan<> const& plan, Tensor<P>& param, Tensor<M>& moment, Tensor<G> const& value,
                     AdagradOptions options = {}) {
    detail::check_types<G, P, M>();
    update_rows(exec, plan, value, detail::make_rowwise_adagrad_rule(param, moment, options), param, moment);
}

template <class P, class M, detail::gradient G, class Device>
void rowwise_adagrad(Tensor<P, Device>& param, Tensor<M, Device>& moment, G const& grad, AdagradOptions options = {}) {
    rowwise_adagrad(Device{}, param, moment, grad, options);
}

template <class P, class M, class G, class Device>
void rowwise_adagrad(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment,
                     Tensor<G, Device> const& value, AdagradOptions options = {}) {
    rowwise_adagrad(Device{}, plan, param, moment, value, options);
}

}  // namespace rowan::inline v0
