// rowan/thrust/op/detail/matrix_rows.hpp: row-wise matrix operators on a device. 16 threads share the sum of a row.
#pragma once

#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Part k % 16 of row k / 16: the maximum of the first number of the row and every 16th number.
template <class T>
struct LargestPart {
    using S = sum_t<T>;
    T const* x;
    S* parts;
    std::size_t classes;

    ROWAN_HD void operator()(std::size_t k) const {
        T const* const row = x + k / 16 * classes;
        S most = load<S>(row);
        for (std::size_t i = k % 16; i < classes; i += 16) take_larger{}(load<S>(row + i), most);
        parts[k] = most;
    }
};

template <class S>
struct LargestOfParts {
    S const* parts;
    S* greatest;

    ROWAN_HD void operator()(std::size_t row) const {
        S most = parts[row * 16];
        for (std::size_t i = 1; i < 16; ++i) take_larger{}(parts[row * 16 + i], most);
        greatest[row] = most;
    }
};

/// exp(x - the maximum of its row)
template <class T>
struct ExponentialAt {
    T const* x;
    sum_t<T> const* greatest;
    FastDivmod classes;

    ROWAN_HD sum_t<T> operator()(std::size_t i) const {
        using S = sum_t<T>;
        return exponential_of_negative(S(load<S>(x + i) - greatest[classes.quotient(i)]));
    }
};

/// Stores what a rule makes of the sum of a row's exponentials, and calls done(row, maximum, sum).
template <class Rule, class S, class Done>
struct KeepRowNorm {
    S const* greatest;
    S* norms;
    Done done;

    ROWAN_HD void operator()(std::size_t row, S const& total) const {
        norms[row] = Rule::norm(total);
        done(row, greatest[row], total);
    }
};

template <class Rule, class T>
struct ResultElement {
    ExponentialAt<T> e;
    sum_t<T> const* norms;
    T* to;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const row = e.classes.quotient(i);
        store(Rule::result(load<sum_t<T>>(e.x + i), e(i), e.greatest[row], norms[row]), to + i);
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

template <class Rule, class T>
struct TermAt {
    T const *y, *g;
    ROWAN_HD sum_t<T> operator()(std::size_t i) const {
        return Rule::term(load<sum_t<T>>(y + i), load<sum_t<T>>(g + i));
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

    /// cost     the exponentials are computed twice instead of stored
    template <class Rule, class T, class Done>
    static void results(Device const& exec, std::size_t n, std::size_t classes, T const* x, T* to, Done const& done) {
        using S = sum_t<T>;
        DeviceStorage<S, System> const greatest(exec, n), norms(exec, n);
        maxima(exec, n, classes, x, greatest.data());
        ExponentialAt<T> const e{x, greatest.data(), FastDivmod(classes)};
        sum_runs<S>(exec, n * classes, classes, e, KeepRowNorm<Rule, S, Done>{greatest.data(), norms.data(), done});
        launch(exec, n * classes, ResultElement<Rule, T>{e, norms.data(), to});
    }

    template <class Rule, class T>
    static void slopes(Device const& exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        DeviceStorage<S, System> const sums(exec, n);
        sum_runs<S>(exec, n * classes, classes, TermAt<Rule, T>{y, g}, KeepNumber<S>{sums.data()});
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
    /// The maxima of n rows.
    template <class T>
    static void maxima(Device const& exec, std::size_t n, std::size_t classes, T const* x, sum_t<T>* greatest) {
        using S = sum_t<T>;
        DeviceStorage<S, System> const parts(exec, n * 16);
        launch(exec, n * 16, LargestPart<T>{x, parts.data(), classes});
        launch(exec, n, LargestOfParts<S>{parts.data(), greatest});
    }
};

}  // namespace rowan::inline v0::detail
