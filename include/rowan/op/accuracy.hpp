// rowan/op/accuracy.hpp: accuracy, the fraction of rows whose largest element is at the label.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// Computes the fraction of correct rows on a device. The Thrust specialization is in rowan/thrust/op/accuracy.hpp.
template <class D>
struct CorrectShare {
    static_assert(has_backend<D>, "rowan: accuracy on a Thrust device needs #include <rowan/thrust/op/accuracy.hpp>");
};

template <>
struct CorrectShare<Cpu> {
    template <class T, class I>
    static void share(Cpu exec, std::size_t n, std::size_t classes, T const* x, I const* label, double* out) {
        std::atomic<std::size_t> right{0};
        for_ranges(exec, n, classes, [&](std::size_t begin, std::size_t end) {
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) {
                auto const k = static_cast<std::size_t>(label[i]);
                count += is_first_largest<sum_t<T>>(classes, x + i * classes, k) ? 1 : 0;
            }
            right += count;
        });
        *out = n == 0 ? 0.0 : static_cast<double>(right.load()) / static_cast<double>(n);
    }
};

}  // namespace detail

/// The fraction of the rows of x whose argmax equals the label; ties go to the first of equal elements. 0 if x has no
/// rows. A row that contains a NaN counts as wrong.
/// shapes   x [n, classes], label [n] of int32 or int64 -> [1]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     at most one read of x
template <class T, id_type I, device D>
Tensor<double, D> accuracy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label) {
    detail::check_rank("x", x, 2);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    detail::check_one_per_row("label", label, n);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::ElementLoops<D>::check_ids(exec, "label", label, static_cast<std::int64_t>(classes));
    auto share = detail::new_tensor<double>(exec, {1});
    detail::CorrectShare<D>::share(exec, n, classes, x.data(), label.data(), share.data());
    return share;
}

template <class T, class I, class Device>
Tensor<double, Device> accuracy(Tensor<T, Device> const& x, Tensor<I, Device> const& label) {
    return accuracy(x.device(), x, label);
}

struct accuracy_op {
    static constexpr std::string_view name = "accuracy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out>;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label) {
        spec::matrix("accuracy: x", x);
        spec::dense("accuracy: label", label);
        spec::rank("accuracy: label", label, 1, "1");
        spec::ids("accuracy: label", label);
        spec::same_dim("accuracy: label.shape(0)", label.dims[0], x.dims[0]);
        return tensor_spec<double>({1});
    }

    template <class T, class I, class D>
    static Tensor<double, D> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label) {
        return accuracy(exec, x, label);
    }
};

}  // namespace rowan::inline v0
