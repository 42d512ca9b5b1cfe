// rowan/thrust/rowwise_adagrad.hpp: rowwise_adagrad on a device.
#pragma once

#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/update_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// The rows that a row-wise step updates, and their gradients.
template <class G>
struct RowwiseRows {
    G const* grad;
    std::size_t width;
    std::int64_t const* rows;   // none: row k itself
    std::int64_t const* count;  // of the rows; none: all

    ROWAN_HD bool has(std::size_t k) const { return count == nullptr || static_cast<std::int64_t>(k) < *count; }
    ROWAN_HD std::size_t row(std::size_t k) const { return rows == nullptr ? k : static_cast<std::size_t>(rows[k]); }
};

/// The 16 interleaved sums of the squares of a row, one thread each.
template <class G, class S>
struct RowwiseParts {
    RowwiseRows<G> in;
    S* parts;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!in.has(k / 16)) return;
        G const* const g = in.grad + k / 16 * in.width;
        S sum = constant<S>(0.0);
        for (std::size_t i = k % 16; i < in.width; i += 16) sum = plus(sum, squared{}(load<S>(g + i)));
        parts[k] = sum;
    }
};

/// Their sum, as a binary tree, the new moment and its root, which takes the place of the first part.
template <class G, class S, class M>
struct RowwiseMoment {
    RowwiseRows<G> in;
    rowwise_adagrad_formula formula;
    S* parts;
    M* moments;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!in.has(k)) return;
        S* const part = parts + k * 16;
        for (int half = 8; half != 0; half /= 2) {
            for (int i = 0; i < half; ++i) part[i] = plus(part[i], part[i + half]);
        }
        M* const m = moments + in.row(k);
        S const moment = formula.moment(load<S>(m), part[0], in.width);
        store(moment, m);
        part[0] = formula.root(moment);
    }
};

template <class G, class S, class P>
struct RowwiseStep {
    RowwiseRows<G> in;
    rowwise_adagrad_formula formula;
    S const* parts;
    P* param;
    Divisor width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k);
        if (!in.has(i)) return;
        P* const p = param + in.row(i) * in.width + (k - i * in.width);
        S number = load<S>(p);
        formula(load<S>(in.grad + k), parts[i * 16], number);
        store(number, p);
    }
};

template <>
inline constexpr bool has_device_form<rowwise_adagrad_rule> = true;

/// In three steps, of which each has a thread for what it computes.
template <>
struct DeviceRule<rowwise_adagrad_rule> {
    template <class System, class T, class P, class M>
    static void planned(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                        Tensor<T, ThrustDevice<System>> const& value, rowwise_adagrad_rule const& rule,
                        Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        if (plan.size() == 0) return;
        PlanArrays const arrays = RowPlanAccess::arrays(plan);
        auto const sums = summed_rows(exec, plan, value);
        RowwiseRows<sum_t<T>> const rows{sums.data(), value.row_size(), arrays.rows, arrays.count};
        update<T>(exec, plan.size(), rows, rule, param, moment);
    }

    template <class System, class T, class P, class M>
    static void dense(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& grad,
                      rowwise_adagrad_rule const& rule, Tensor<P, ThrustDevice<System>>& param,
                      Tensor<M, ThrustDevice<System>>& moment) {
        RowwiseRows<T> const rows{grad.data(), grad.row_size(), nullptr, nullptr};
        update<T>(exec, grad.shape()[0], rows, rule, param, moment);
    }

private:
    template <class T, class System, class G, class P, class M>
    static void update(ThrustDevice<System> const& exec, std::size_t n, RowwiseRows<G> const& rows,
                       rowwise_adagrad_rule const& rule, Tensor<P, ThrustDevice<System>>& param,
                       Tensor<M, ThrustDevice<System>>& moment) {
        using S = std::common_type_t<sum_t<T>, sum_t<P>, sum_t<M>>;
        rowwise_adagrad_formula const formula{rule.options};
        check_here(exec, param, moment);
        if (n == 0 || rows.width == 0) return;
        DeviceStorage<S, System> const parts(exec, n * 16);
        launch(exec, n * 16, RowwiseParts<G, S>{rows, parts.data()});
        launch(exec, n, RowwiseMoment<G, S, M>{rows, formula, parts.data(), moment.data()});
        launch(exec, n * rows.width,
               RowwiseStep<G, S, P>{rows, formula, parts.data(), param.data(), Divisor(rows.width)});
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
