// rowan/op/loss/accuracy.hpp: accuracy, the fraction of rows whose largest element, or one of the k largest, is at the label.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <atomic>
#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// Whether a, element j of a row, leaves element k, of value `most`, the first maximum; false if a is NaN.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE bool leaves_first(std::size_t j, S const& a, std::size_t k, S const& most) {
    return j < k ? a < most : a <= most;
}

/// Whether element k is the first maximum of n elements; false if any element is NaN.
template <class S, class T>
bool is_first_largest(std::size_t n, T const* x, std::size_t k) {
    auto const most = load<S>(x + k);
    bool yes = true;
    for (std::size_t j = 0; j < k; ++j) yes = yes && leaves_first(j, load<S>(x + j), k, most);
    for (std::size_t j = k; j < n; ++j) yes = yes && leaves_first(j, load<S>(x + j), k, most);
    return yes;
}

/// The number of elements begin, begin + step, … that are ahead of element k in descending order, where the first of
/// equal ones is ahead; at least `most` if one of them is NaN.
ROWAN_NO_EXEC_CHECK
template <class S, class T>
ROWAN_HD std::int64_t count_ahead(std::size_t begin, std::size_t step, std::size_t n, T const* x, std::size_t k,
                                  std::int64_t most) {
    auto const at_label = load<S>(x + k);
    std::int64_t ahead = 0;
    for (std::size_t j = begin; j < n; j += step) {
        auto const a = load<S>(x + j);
        if (!leaves_first(j, a, k, at_label))
            ahead += a <= a && at_label <= at_label ? 1 : most;  // else there is a NaN
    }
    return ahead;
}

/// Computes the fraction of correct rows on a device. The Thrust specialization is in rowan/thrust/op/accuracy.hpp.
template <class D>
struct CorrectShare {
    static_assert(has_backend<D>, "rowan: accuracy on a Thrust device needs #include <rowan/thrust/op/accuracy.hpp>");
};

template <>
struct CorrectShare<Cpu> {
    template <class T, class I>
    static void share(Cpu exec, std::size_t n, std::size_t classes, T const* x, I const* label, std::int64_t most,
                      double* out) {
        std::atomic<std::size_t> right{0};
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) {
                auto const k = static_cast<std::size_t>(label[i]);
                T const* const row = x + i * classes;
                bool const yes = most == 1 ? is_first_largest<sum_t<T>>(classes, row, k)
                                           : count_ahead<sum_t<T>>(0, 1, classes, row, k, most) < most;
                count += yes ? 1 : 0;
            }
            right += count;
        });
        *out = n == 0 ? 0.0 : static_cast<double>(right.load()) / static_cast<double>(n);
    }
};

constexpr void check_places(std::int64_t k) {
    if (k < 1) throw ValueError("accuracy: k", k, "at least 1");
}

}  // namespace detail

template <>
struct detail::function_of<accuracy_op> {
    template <class T, id_type I, class D>
    static Tensor<double, D> run(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label, std::int64_t k) {
        check_places(k);
        check_rank("x", x, 2);
        std::size_t const n = x.shape(0), classes = x.shape(1);
        check_one_per_row("label", label, n);
        ElementLoops<D>::check(exec, x, label);
        ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(classes));
        auto share = new_tensor<double>(exec, {1});
        std::int64_t const most = std::min(k, std::max<std::int64_t>(static_cast<std::int64_t>(classes), 1));
        CorrectShare<D>::share(exec, n, classes, x.data(), label.data(), most, share.data());
        return share;
    }
};

/// See accuracy.
struct accuracy_op : detail::declared<accuracy_op> {
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a = {}) {
        detail::check_places(a.k.value_or(1));
        spec::matrix("accuracy: x", x);
        spec::dense("accuracy: label", label);
        spec::rank("accuracy: label", label, 1, "1");
        spec::ids("accuracy: label", label);
        spec::same_dim("accuracy: label.shape(0)", label.dims[0], x.dims[0]);
        return tensor_spec<double>({1});
    }

    template <class T, class I, class D>
    static Tensor<double, D> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label, attributes const& a = {}) {
        return accuracy(exec, x, label, a.k.value_or(1));
    }
};

}  // namespace rowan::inline v0
