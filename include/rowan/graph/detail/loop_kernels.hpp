// rowan/graph/detail/loop_kernels.hpp: LoopKernels, what loops need besides the operators of a step.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/full_like.hpp>
#include <rowan/op/sum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct LoopKernels {
    /// `rows` rows of zeros, with the trailing dims of `like`.
    Value (*zeros)(AnyExec exec, std::size_t rows, VarSpec const& like);
    Value (*no_rows)(AnyExec exec, Value const& table);  ///< a row-sparse gradient of `table` without rows
    op_kernel const *sum, *full_like;

    /// The kernels for elements of T.
    template <class T, class Device>
    static LoopKernels of() {
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
        return {.zeros = zeros,
                .no_rows = no_rows,
                .sum = &kernel_of<sum_op, Device, T>::value,
                .full_like = &kernel_of<full_like_op, Device, T>::value};
    }

    Value zero_like(AnyExec exec, Value& x) const;

    /// The sum of dense and row-sparse values. A single summand is moved from.
    Value total(AnyExec exec, std::span<Value* const> summands) const;
};

ROWAN_TEMPLATE(LoopKernels LoopKernels::of<float, Cpu>())
ROWAN_TEMPLATE(LoopKernels LoopKernels::of<double, Cpu>())

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/loop_kernels_inl.hpp>
