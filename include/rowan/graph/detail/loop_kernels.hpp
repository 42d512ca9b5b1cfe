// rowan/graph/detail/loop_kernels.hpp: LoopKernels, what loops need besides the operators of a step.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/elementwise/declared.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct LoopKernels {
    /// `rows` rows of zeros, with the trailing dims of `like`.
    Value (*zeros)(AnyExec exec, std::size_t rows, VarSpec const& like);
    Value (*no_rows)(AnyExec exec, Value const& table);  ///< a row-sparse gradient of `table` without rows
    op_kernel const *sum, *full_like;
    /// Casts to the type in which sums over steps are kept and back, or nullptr if it is T; its sum.
    op_kernel const *widen, *narrow, *sum_of_wide;

    /// The kernels for elements of T.
    template <class T, class Device>
    static LoopKernels of();

    Value zero_like(AnyExec exec, Value& x) const;

    /// The sum of dense and row-sparse values. A single summand is moved from.
    ROWAN_IF_CALLED Value total(AnyExec exec, std::span<Value* const> summands) const;

    /// For sums of dense values over many steps, which would be rounded to T in each: x with elements of dtype<T>::sum,
    /// the sum of two such values, and x with elements of T. Where these types are the same, x is shared.
    ROWAN_IF_CALLED Value widened(AnyExec exec, Value& x) const;
    ROWAN_IF_CALLED Value sum_of_widened(AnyExec exec, Value& x, Value& y) const;
    ROWAN_IF_CALLED Value narrowed(AnyExec exec, Value& x) const;

private:
    ROWAN_IF_CALLED static Value converted(op_kernel const* cast, AnyExec exec, Value& x);
};

template <class T, class Device>
LoopKernels LoopKernels::of() {
    auto const zeros = [](AnyExec exec, std::size_t rows, VarSpec const& like) {
        typename Tensor<T, Device>::shape_type shape;
        shape.push_back(rows);
        for (std::size_t i = 1; i < like.dims.size(); ++i)
            shape.push_back(static_cast<std::size_t>(std::max<std::int64_t>(like.dims[i], 0)));
        Lod lod;
        if (like.lod_level > 0) lod = Lod(std::vector<std::vector<std::int64_t>>(like.lod_level, {0}));
        Value value;
        value.set(LoDTensor<T, Device>(Tensor<T, Device>::zeros(exec.get<Device>(), shape), std::move(lod)));
        return value;
    };
    auto const no_rows = [](AnyExec exec, Value const& table) {
        using Rows = SelectedRows<T, Device>;
        auto shape = table.is<Rows>() ? table.get<Rows>().shape() : table.get<LoDTensor<T, Device>>().shape();
        auto const height = static_cast<std::int64_t>(shape[0]);
        shape[0] = 0;
        Value value;
        auto const& on = exec.get<Device>();
        value.set(SelectedRows<T, Device>(height, new_tensor<std::int64_t>(on, {0}), new_tensor<T>(on, shape)));
        return value;
    };
    constexpr bool widens = castable<kept_t<T>, T> && castable<T, kept_t<T>>;
    using Wide = std::conditional_t<widens, kept_t<T>, T>;
    LoopKernels kernels{.zeros = zeros,
                        .no_rows = no_rows,
                        .sum = &kernel_of<sum_op, Device, T>::value,
                        .full_like = &kernel_of<full_like_op, Device, T>::value,
                        .widen = nullptr,
                        .narrow = nullptr,
                        .sum_of_wide = &kernel_of<sum_op, Device, Wide>::value};
    if constexpr (!std::is_same_v<T, Wide>) {
        kernels.widen = &kernel_of<cast_op<Wide>, Device, T>::value;
        kernels.narrow = &kernel_of<cast_op<T>, Device, Wide>::value;
    }
    return kernels;
}

ROWAN_TEMPLATE(LoopKernels LoopKernels::of<float, Cpu>())
ROWAN_TEMPLATE(LoopKernels LoopKernels::of<double, Cpu>())

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/loop_kernels_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/sum.hpp>
#endif
