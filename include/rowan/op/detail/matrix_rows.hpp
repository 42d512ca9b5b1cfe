// rowan/op/detail/matrix_rows.hpp: row-wise computations on matrices: maxima, exponentials and sums.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/softmax_formulas.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// Checks that the tensor has rank 1 and one element for each row of the matrix.
template <class T, class D>
void check_one_per_row(char const* field, Tensor<T, D> const& x, std::size_t rows) {
    check_rank(field, x, 1);
    if (x.size() == rows) return;
    throw ShapeError(std::string(field).append(".shape(0)"), std::to_string(x.size()),
                     std::to_string(rows).append(", the number of rows"));
}

/// The largest of n > 0 numbers; NaN if the first one is NaN, other NaNs are ignored.
template <class S, class T>
S largest(std::size_t n, T const* x) {
    std::array<S, 16> most;
    most.fill(load<S>(x));
    take_larger const take;
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) for_lanes<S>(take, 16, x + i, most.data());
    for_lanes<S>(take, n - i, x + i, most.data());
    for (S const& m : most) take(m, most[0]);
    return most[0];
}

/// Writes exp(x - greatest) and returns the sum of the results.
template <class S, class T>
S exponentials(std::size_t n, T const* x, S const& greatest, S* e) {
    map_lanes<S>([&]<class V>(V const& a) { return exponential_of_negative(V(a - V(greatest))); }, n, x, e);
    return interleaved_sum<S>(n, static_cast<S const*>(e), [](auto const& a) { return a; });
}

/// to = e / total
template <class S, class T>
void normalise(std::size_t n, S const* e, S const& total, T* to) {
    map_lanes<S>([&]<class V>(V const& a) { return divided{}(a, V(total)); }, n, e, to);
}

/// Passed as the loss of MatrixRows::softmax if only the softmax is needed.
struct NoRowLoss {
    template <class S>
    ROWAN_HD void operator()(std::size_t, S const&, S const&) const {}
};

/// Computes row by row on a device. The Thrust specialization is in rowan/thrust/op/detail/matrix_rows.hpp.
template <class D>
struct MatrixRows {
    static_assert(has_backend<D>, "rowan: softmax on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct MatrixRows<Cpu> {
    /// Writes the softmax of n rows, and calls loss(row, maximum, sum of the exponentials) for each.
    template <class T, class Loss>
    static void softmax(Cpu exec, std::size_t n, std::size_t classes, T const* x, T* to, Loss const& loss) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes);
            for (std::size_t i = begin; i < end; ++i) {
                T const* const row = x + i * classes;
                S const greatest = largest<S>(classes, row);
                S const total = exponentials<S>(classes, row, greatest, e.data());
                normalise<S>(classes, e.data(), total, to + i * classes);
                loss(i, greatest, total);
            }
        });
    }

    /// Writes the softmax along the middle axis of [outer, classes, inner], with the bits of softmax.
    template <class T>
    static void softmax_apart(Cpu exec, std::size_t outer, std::size_t classes, std::size_t inner, T const* x, T* to) {
        using S = sum_t<T>;
        constexpr std::size_t most = 64;  // lanes whose exponentials stay in the cache
        std::size_t const pieces = (inner + most - 1) / most;
        for_ranges(exec, outer * pieces, classes * std::min(inner, most), [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes * most), parts(16 * most), greatest(most);
            for (; begin < end; ++begin) {
                std::size_t const lane = begin % pieces * most, lanes = std::min(most, inner - lane);
                std::size_t const first = begin / pieces * classes * inner + lane;
                auto const row = [&](std::size_t k) { return x + first + k * inner; };
                S const* const g = greatest.data();
                copy_lanes<S>(lanes, row(0), greatest.data());
                for (std::size_t k = 1; k < classes; ++k) for_lanes<S>(take_larger{}, lanes, row(k), greatest.data());
                std::fill(parts.begin(), parts.end(), constant<S>(0.0));
                auto const exponential = []<class V>(V const& a, V const& b) {
                    return exponential_of_negative(V(a - b));
                };
                for (std::size_t k = 0; k < classes; ++k) {
                    zip_lanes<S>(exponential, lanes, e.data() + k * most, row(k), g);
                    for_lanes<S>(add_lanes{}, lanes, std::as_const(e).data() + k * most, parts.data() + k % 16 * most);
                }
                for (std::size_t half = 8; half != 0; half /= 2) {
                    for (std::size_t k = 0; k < half; ++k)
                        for_lanes<S>(add_lanes{}, lanes, std::as_const(parts).data() + (k + half) * most,
                                     parts.data() + k * most);
                }
                for (std::size_t k = 0; k < classes; ++k)
                    zip_lanes<S>(divided{}, lanes, to + first + k * inner, std::as_const(e).data() + k * most,
                                 std::as_const(parts).data());
            }
        });
    }

    /// Writes the log_softmax of n rows.
    template <class T>
    static void log_softmax(Cpu exec, std::size_t n, std::size_t classes, T const* x, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> e(classes);
            for (; begin < end; ++begin) {
                T const* const row = x + begin * classes;
                S const greatest = largest<S>(classes, row);
                S const log_total = logarithm(exponentials<S>(classes, row, greatest, e.data()));
                auto const share = [&]<class V>(V const& a) { return log_share{}(a, V(greatest), V(log_total)); };
                map_lanes<S>(share, classes, row, to + begin * classes);
            }
        });
    }

    /// to = g - exp(y) · Σ g
    template <class T>
    static void log_softmax_grad(Cpu exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) {
                std::size_t const at = begin * classes;
                S const total = interleaved_sum<S>(classes, g + at, [](auto const& a) { return a; });
                auto const slope = [&]<class V>(V const& a, V const& b) { return log_softmax_slope{}(a, b, V(total)); };
                zip_lanes<S>(slope, classes, to + at, y + at, g + at);
            }
        });
    }

    /// to[row] = Σ a · b
    template <class T>
    static void dots(Cpu exec, std::size_t n, std::size_t width, T const* a, T const* b, sum_t<T>* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, width, [&](std::size_t begin, std::size_t end) {
            Buffer<S> products(width);
            for (; begin < end; ++begin) {
                zip_lanes<S>(multiplied{}, width, products.data(), a + begin * width, b + begin * width);
                S const* const p = products.data();
                to[begin] = interleaved_sum<S>(width, p, [](auto const& x) { return x; });
            }
        });
    }

    /// to = y · (g - Σ y · g)
    template <class T>
    static void softmax_grad(Cpu exec, std::size_t n, std::size_t classes, T const* y, T const* g, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> products(classes);
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * classes;
                zip_lanes<S>(multiplied{}, classes, products.data(), y + at, g + at);
                S const* const p = products.data();
                S const dot = interleaved_sum<S>(classes, p, [](auto const& a) { return a; });
                auto const formula = [&]<class V>(V const& a, V const& b) { return softmax_slope{}(a, b, V(dot)); };
                zip_lanes<S>(formula, classes, to + at, y + at, g + at);
            }
        });
    }

    /// to = p · grads(row), except (p - 1) · grads(row) at the label.
    template <class T, class I, class Grads>
    static void label_grad(Cpu exec, std::size_t n, std::size_t classes, T const* p, I const* label, Grads const& grads,
                           T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                T const* const row = p + i * classes;
                if (grads.ignores(i)) {  // whatever its elements are
                    std::fill_n(to + i * classes, classes, dtype<T>::narrow(constant<S>(0.0)));
                    continue;
                }
                S const g = grads(i);
                auto const times = [&]<class V>(V const& a) { return product(a, V(g)); };
                map_lanes<S>(times, classes, row, to + i * classes);
                auto const k = static_cast<std::size_t>(label[i]);
                store(times(S(load<S>(row + k) - constant<S>(1.0))), to + i * classes + k);
            }
        });
    }

    /// losses[row] = Σ soft_label_loss
    template <class T>
    static void soft_losses(Cpu exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                            sum_t<T> const* greatest, sum_t<T> const* logs, sum_t<T>* losses) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> terms(classes);
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * classes;
                auto const term = [&]<class V>(V const& a, V const& share) {
                    return soft_label_loss{}(a, share, V(greatest[i]), V(logs[i]));
                };
                zip_lanes<S>(term, classes, terms.data(), x + at, label + at);
                S const* const t = terms.data();
                losses[i] = interleaved_sum<S>(classes, t, [](auto const& a) { return a; });
            }
        });
    }

    /// to = (p · Σ label - label) · grads(row)
    template <class T, class Grads>
    static void soft_label_grad(Cpu exec, std::size_t n, std::size_t classes, T const* p, sum_t<T> const* label,
                                Grads const& grads, T* to) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * classes;
                S const total = interleaved_sum<S>(classes, label + at, [](auto const& a) { return a; });
                S const g = grads(i);
                auto const slope = [&]<class V>(V const& a, V const& share) {
                    return soft_label_slope{}(a, share, V(total), V(g));
                };
                zip_lanes<S>(slope, classes, to + at, p + at, label + at);
            }
        });
    }

    /// losses[row] = 0 - Σ weighed_logarithm
    template <class T>
    static void soft_probability_losses(Cpu exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                                        sum_t<T>* losses) {
        using S = sum_t<T>;
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            Buffer<S> terms(classes);
            for (std::size_t i = begin; i < end; ++i) {
                zip_lanes<S>(weighed_logarithm{}, classes, terms.data(), x + i * classes, label + i * classes);
                S const* const t = terms.data();
                losses[i] = constant<S>(0.0) - interleaved_sum<S>(classes, t, [](auto const& a) { return a; });
            }
        });
    }
};

}  // namespace rowan::inline v0::detail
