// rowan/thrust/sparse/rowwise_adagrad.hpp: rowwise_adagrad on a device.
#pragma once

#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/detail/teams.hpp>
#include <rowan/thrust/sparse/detail/gradient_rows.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// The step of row k: its squares, its moment and its parameters.
template <class Formula, class S, class Rows, class P, class M>
struct RowwiseStep {
    Formula formula;
    Rows rows;
    P* param;
    M* moments;

    template <class Team>
    ROWAN_HD void operator()(std::size_t k, Team const& team) const {
        if (rows.has(k)) rows.visit(k, team, OneStep{*this});
    }

private:
    struct OneStep {
        RowwiseStep const& step;

        template <class Row, class Team>
        ROWAN_HD void operator()(Row const& g, Team const& team) const {
            std::size_t const width = step.rows.width;
            Formula const& rule = step.formula;
            P* const p = step.param + g.row * width;
            M* const m = step.moments + g.row;
            S const old = load<S>(m);
            auto const number = [&](std::size_t i) {
                S const x = static_cast<S>(g(i));
                if constexpr (std::is_same_v<Formula, rowwise_adagrad_formula>) {
                    return x;
                } else {
                    return rule.decayed(x, load<S>(p + i));
                }
            };
            S const squares = team.template sum<S>(width, [&](std::size_t i) { return squared{}(number(i)); });
            S const moment = rule.moment(old, squares, width, [&] {
                return team.template sum<S>(width, [&](std::size_t i) { return small_square{}(number(i)); });
            });
            if (team.leads()) store(moment, m);
            S const root = rule.root(moment);
            auto const stepped = [&](std::size_t i) {
                S number = load<S>(p + i);
                rule(static_cast<S>(g.again(i)), root, number);
                return number;
            };
            team.map(width, stepped, [&](std::size_t i, S const& number) { store(number, p + i); });
        }
    };
};

template <class Formula>
inline constexpr bool has_device_form<rowwise_adagrad_rule<Formula>> = true;

/// Runs one kernel, in which a team takes a row. The team reads the gradient of the row twice, the second time from a
/// cache. The sums of rows of more than 64 lookups are made before.
template <class Formula>
struct DeviceRule<rowwise_adagrad_rule<Formula>> {
    using Rule = rowwise_adagrad_rule<Formula>;

    template <class System, class T, class P, class M>
    static void planned(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                        Tensor<T, ThrustDevice<System>> const& value, Rule const& rule,
                        Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        if (plan.size() == 0) return;
        check_here(exec, param, moment);
        with_summed_rows(exec, plan, value, true,
                         [&](RowsOfPlan<T> const& rows) { update(exec, plan.size(), rows, rule, param, moment); });
    }

    template <class System, class T, class P, class M>
    static void dense(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& grad, Rule const& rule,
                      Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        check_here(exec, grad, param, moment);
        update(exec, grad.shape()[0], DenseRows<T>{grad.data(), grad.row_size()}, rule, param, moment);
    }

private:
    template <class System, class Rows, class P, class M>
    static void update(ThrustDevice<System> const& exec, std::size_t n, Rows const& rows, Rule const& rule,
                       Tensor<P, ThrustDevice<System>>& param, Tensor<M, ThrustDevice<System>>& moment) {
        using S = std::common_type_t<typename Rows::Sum, sum_t<P>, sum_t<M>>;
        if (rows.width != 0)
            launch_teams(exec, n, RowwiseStep<Formula, S, Rows, P, M>{rule.formula, rows, param.data(), moment.data()});
    }
};

}  // namespace rowan::inline v0::detail
