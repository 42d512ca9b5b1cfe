// rowan/thrust/op/detail/matrix_rows.hpp: row-wise matrix operators on a device. 16 threads share the sum of a row.
#pragma once

#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// The result of a number of a row, from the row's maximum and what a rule makes of the sum of its exponentials.
template <class Rule, class S>
ROWAN_HD S result_in_row(S const& x, S const& greatest, S const& norm) {
    return Rule::result(x, exponential_of_negative(S(x - greatest)), greatest, norm);
}

/// Computes the maximum of row k and the sum of its exponentials, calls done(row, maximum, sum), and stores the row's
/// results, or keeps the maximum and the norm for ResultElement.
template <class Rule, class T, class Done>
struct RowResults {
    using S = sum_t<T>;
    T const* x;
    T* to;
    std::size_t classes;
    Done done;
    S *greatest, *norms;  // nullptr: stores the results

    template <class Team>
    ROWAN_HD void operator()(std::size_t k, Team const& team) const {
        T const* const row = x + k * classes;
        S const most =
            team.template fold<take_larger>(load<S>(row), classes, [&](std::size_t i) { return load<S>(row + i); });
        S const total = team.template sum<S>(
            classes, [&](std::size_t i) { return exponential_of_negative(S(load<S>(row + i) - most)); });
        S const norm = Rule::norm(total);
        if (team.leads()) done(k, most, total);
        if (greatest == nullptr) {
            T* const results = to + k * classes;
            team.map(
                classes, [&](std::size_t i) { return load<S>(row + i); },
                [&](std::size_t i, S const& number) { store(result_in_row<Rule>(number, most, norm), results + i); });
        } else if (team.leads()) {
            greatest[k] = most;
            norms[k] = norm;
        }
    }
};

template <class Rule, class T>
struct ResultElement {
    using S = sum_t<T>;
    T const* x;
    S const *greatest, *norms;
    T* to;
    FastDivmod classes;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const row = classes.quotient(i);
        store(result_in_row<Rule>(load<S>(x + i), greatest[row], norms[row]), to + i);
    }
};

/// a[i] · b[i]
template <class T>
struct ProductAt {
    T const *a, *b;
    ROWAN_HD sum_t<T> operator()(std::size_t i) const {
        return multiplied{}(load<sum_t<T>>(a + i), load<sum_t<T>>(b + i));
    }
};

/// Sums the terms of row k, and stores the slopes of the row, or keeps the sum for SlopeElement.
template <class Rule, class T>
struct RowSlopes {
    using S = sum_t<T>;
    T const *y, *g;
    T* to;
    std::size_t classes;
    S* sums;  // nullptr: stores the slopes

    template <class Team>
    ROWAN_HD void operator()(std::size_t k, Team const& team) const {
        std::size_t const begin = k * classes;
        S const sum = team.template sum<S>(
            classes, [&](std::size_t i) { return Rule::term(load<S>(y + begin + i), load<S>(g + begin + i)); });
        if (sums == nullptr) {
            team.map(
                classes,
                [&](std::size_t i) { return Rule::slope(load<S>(y + begin + i), load<S>(g + begin + i), sum); },
                [&](std::size_t i, S const& slope) { store(slope, to + begin + i); });
        } else if (team.leads()) {
            sums[k] = sum;
        }
    }
};

template <class Rule, class T>
struct SlopeElement {
    using S = sum_t<T>;
    T const *y, *g;
    S const* sums;
    T* to;
    FastDivmod classes;

    ROWAN_HD void operator()(std::size_t i) const {
        store(Rule::slope(load<S>(y + i), load<S>(g + i), sums[classes.quotient(i)]), to + i);
    }
};

template <class T, class I, class Grads>
struct LabelGradElement {
    using S = sum_t<T>;
    T const* p;
    I const* label;
    Grads grads;
    T* to;
    FastDivmod classes;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const row = classes.quotient(i);
        if (grads.ignores(row)) return store(constant<S>(0.0), to + i);
        S x = load<S>(p + i);
        if (i - row * classes.by == static_cast<std::size_t>(label[row])) x = x - constant<S>(1.0);
        store(product(x, grads(row)), to + i);
    }
};

template <class T>
struct SoftLossAt {
    using S = sum_t<T>;
    T const* x;
    S const *label, *greatest, *logs;
    FastDivmod classes;

    ROWAN_HD S operator()(std::size_t i) const {
        std::size_t const row = classes.quotient(i);
        return soft_label_loss{}(load<S>(x + i), label[i], greatest[row], logs[row]);
    }
};

template <class T>
struct WeighedLogarithmAt {
    T const* x;
    sum_t<T> const* label;
    ROWAN_HD sum_t<T> operator()(std::size_t i) const { return weighed_logarithm{}(load<sum_t<T>>(x + i), label[i]); }
};

template <class T, class Grads>
struct SoftGradElement {
    using S = sum_t<T>;
    T const* p;
    S const *label, *totals;
    Grads grads;
    T* to;
    FastDivmod classes;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const row = classes.quotient(i);
        store(soft_label_slope{}(load<S>(p + i), label[i], totals[row], grads(row)), to + i);
    }
};

/// Stores 0 - x.
template <class S>
struct KeepNegative {
    S* numbers;
    ROWAN_HD void operator()(std::size_t i, S const& x) const { numbers[i] = constant<S>(0.0) - x; }
};

template <class System>
struct MatrixRows<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class Rule, class Rows, class T>
    static Tensor<T, Device> along(Device const& exec, Rows const& c, Tensor<T, Device> const& x) {
        auto const write = [&](T const* from, T* to) { results<Rule>(exec, c.n, c.classes, from, to, NothingMore{}); };
        return c.map(exec, write, x);
    }

    /// cost     one read of x from memory for short rows, two for long ones; the exponentials are computed twice
    template <class Rule, class T, class Done>
    static void results(Device const& exec, std::size_t n, std::size_t classes, T const* x, T* to, Done const& done) {
        using S = sum_t<T>;
        using Rows = RowResults<Rule, T, Done>;
        if (classes <= most_of_team) return launch_teams(exec, n, Rows{x, to, classes, done, nullptr, nullptr});
        DeviceStorage<S, System> const greatest(exec, n), norms(exec, n);
        launch_teams(exec, n, Rows{x, to, classes, done, greatest.data(), norms.data()});
        launch(exec, n * classes, ResultElement<Rule, T>{x, greatest.data(), norms.data(), to, FastDivmod(classes)});
    }

    template <class Rule, class T>
    static void slopes(Device const& exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        if (classes <= most_of_team) return launch_teams(exec, n, RowSlopes<Rule, T>{y, g, to, classes, nullptr});
        DeviceStorage<S, System> const sums(exec, n);
        launch_teams(exec, n, RowSlopes<Rule, T>{y, g, to, classes, sums.data()});
        launch(exec, n * classes, SlopeElement<Rule, T>{y, g, sums.data(), to, FastDivmod(classes)});
    }

    template <class T>
    static void dots(Device const& exec, std::size_t n, std::size_t width, T const* a, T const* b, sum_t<T>* to) {
        using S = sum_t<T>;
        if (width == 0) return launch(exec, n, FillWith<S>{to, constant<S>(0.0)});
        sum_runs<S>(exec, n * width, width, ProductAt<T>{a, b}, KeepNumber<S>{to});
    }

    template <class T, class I, class Grads>
    static void label_grad(Device const& exec, std::size_t n, std::size_t classes, T const* p, I const* label,
                           Grads const& grads, T* to) {
        if (classes != 0)
            launch(exec, n * classes, LabelGradElement<T, I, Grads>{p, label, grads, to, FastDivmod(classes)});
    }

    template <class T>
    static void soft_losses(Device const& exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                            sum_t<T> const* greatest, sum_t<T> const* logs, sum_t<T>* losses) {
        using S = sum_t<T>;
        if (classes == 0) return launch(exec, n, FillWith<S>{losses, constant<S>(0.0)});
        SoftLossAt<T> const term{x, label, greatest, logs, FastDivmod(classes)};
        sum_runs<S>(exec, n * classes, classes, term, KeepNumber<S>{losses});
    }

    template <class T, class Grads>
    static void soft_label_grad(Device const& exec, std::size_t n, std::size_t classes, T const* p,
                                sum_t<T> const* label, Grads const& grads, T* to) {
        using S = sum_t<T>;
        if (classes == 0) return;
        DeviceStorage<S, System> const totals(exec, n);
        sum_runs<S>(exec, n * classes, classes, NumberAt<S>{label}, KeepNumber<S>{totals.data()});
        launch(exec, n * classes, SoftGradElement<T, Grads>{p, label, totals.data(), grads, to, FastDivmod(classes)});
    }

    template <class T>
    static void soft_probability_losses(Device const& exec, std::size_t n, std::size_t classes, T const* x,
                                        sum_t<T> const* label, sum_t<T>* losses) {
        using S = sum_t<T>;
        if (classes == 0) return launch(exec, n, FillWith<S>{losses, constant<S>(0.0) - constant<S>(0.0)});
        sum_runs<S>(exec, n * classes, classes, WeighedLogarithmAt<T>{x, label}, KeepNegative<S>{losses});
    }

private:
    /// The elements of a row that a team writes: 64 by each thread. Those of longer rows get a thread each.
    static constexpr std::size_t most_of_team = 64 * team_size;
};

}  // namespace rowan::inline v0::detail
