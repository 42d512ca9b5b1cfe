// rowan/thrust/sparse/rowwise_adagrad.hpp: rowwise_adagrad on a device.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/detail/row_squares.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Computes the new moment of row k from the partial sums of its squares, and its root, which replaces the first
/// partial sum.
template <class G, class S, class M>
struct RowwiseMoment {
    SomeRows<G> in;
    rowwise_adagrad_formula formula;
    S* parts;
    M* moments;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!in.has(k)) return;
        S* const part = parts + k * 16;
        M* const m = moments + in.row(k);
        S const moment = formula.moment(load<S>(m), tree_sum(part), in.width);
        store(moment, m);
        part[0] = formula.root(moment);
    }
};

/// SquareParts of gradients with a weight decay.
template <class G, class S, class P>
struct DecayedSquareParts {
    SomeRows<G> in;
    rowwise_adagrad_decay_formula formula;
    P const* param;
    S* parts;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!in.has(k / 16)) return;
        G const* const g = in.value + k / 16 * in.width;
        P const* const p = param + in.row(k / 16) * in.width;
        S sum = constant<S>(0.0);
        for (std::size_t i = k % 16; i < in.width; i += 16)
            sum = plus(sum, formula.square(load<S>(g + i), load<S>(p + i)));
        parts[k] = sum;
    }
};

template <class Formula, class G, class S, class P>
struct RowwiseStep {
    SomeRows<G> in;
    Formula formula;
    S const* parts;
    P* param;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k);
        if (!in.has(i)) return;
        P* const p = param + in.row(i) * in.width + (k - i * in.width);
        S number = load<S>(p);
        formula(load<S>(in.value + k), parts[i * 16], number);
        store(number, p);
    }
};

template <class Formula>
inline constexpr bool has_device_form<rowwise_adagrad_rule<Formula>> = true;

/// Runs three kernels: 16 threads per row for the sums of squares, one per row for the moment, one per element for
/// param.
template <class Formula>
struct DeviceRule<rowwise_adagrad_rule<Formula>> {
    using Rule = rowwise_adagrad_rule<Formula>;

    template <class System, class T, class P, class M>
    static void planned(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                        Tensor<T, ThrustDevice<System>> const& value, Rule const& rule,
                        Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        if (plan.size() == 0) return;
        PlanArrays const arrays = RowPlanAccess::arrays(plan);
        auto const sums = summed_rows(exec, plan, value);
        SomeRows<sum_t<T>> const rows{sums.data(), value.row_size(), arrays.rows, arrays.count};
        update<T>(exec, plan.size(), rows, rule, param, moment);
    }

    template <class System, class T, class P, class M>
    static void dense(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& grad, Rule const& rule,
                      Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        check_here(exec, grad);
        SomeRows<T> const rows{grad.data(), grad.row_size(), nullptr, nullptr};
        update<T>(exec, grad.shape()[0], rows, rule, param, moment);
    }

private:
    template <class T, class System, class G, class P, class M>
    static void update(ThrustDevice<System> const& exec, std::size_t n, SomeRows<G> const& rows, Rule const& rule,
                       Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        using S = std::common_type_t<sum_t<T>, sum_t<P>, sum_t<M>>;
        check_here(exec, param, moment);
        if (n == 0 || rows.width == 0) return;
        DeviceStorage<S, System> const parts(exec, n * 16);
        if constexpr (std::is_same_v<Formula, rowwise_adagrad_formula>) {
            launch(exec, n * 16, SquareParts<G, S>{rows, parts.data()});
        } else {
            launch(exec, n * 16, DecayedSquareParts<G, S, P>{rows, rule.formula, param.data(), parts.data()});
        }
        launch(exec, n, RowwiseMoment<G, S, M>{rows, {rule.formula.options}, parts.data(), moment.data()});
        launch(exec, n * rows.width,
               RowwiseStep<Formula, G, S, P>{rows, rule.formula, parts.data(), param.data(), FastDivmod(rows.width)});
    }
};

}  // namespace rowan::inline v0::detail
