// rowan/train/detail/gradient_sums.hpp: GradientSums, how the gradients of a step's parts are weighed and summed.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// x / divisor, or 0 if the divisor is 0, as a mean
struct divide_by {
    double divisor;

    template <class V>
    V operator()(V const& x) const {
        if (divisor == 0) return constant<V>(0.0);
        if constexpr (std::integral<V>) {
            return static_cast<V>(x / static_cast<V>(divisor));
        } else {
            return quotient(x, constant<V>(divisor));
        }
    }
};

/// The functions for gradients of one element type T. Sums are of dtype<T>::sum, in host memory.
struct GradientSums {
    ElementSums type;
    /// The gradient of a part times its weight.
    DensePieces (*dense)(Cpu exec, Value const& gradient, double weight, std::int64_t part);
    RowPieces (*sparse)(Cpu exec, Value const& gradient, double weight, std::int64_t part);
    /// sums /= divisor, or 0 if it is 0
    void (*divide)(Cpu exec, std::size_t n, double divisor, std::byte* sums);
    /// Elements as the value of a variable.
    Value (*dense_value)(AnyExec exec, DensePieces&& elements, Tensor<std::int64_t>::shape_type const& shape);
    Value (*sparse_value)(AnyExec exec, RowPieces&& elements);
};

/// to = from * weight, in type S.
template <class S, class T>
void times_weight(Cpu exec, std::size_t n, T const* from, double weight, std::byte* to) {
    parallel_work(exec, n, n, serial_below, [=](std::size_t begin, std::size_t end) {
        map_lanes<S>(multiply_by<double>{weight}, end - begin, from + begin, reinterpret_cast<S*>(to) + begin);
    });
}

template <class T>
DensePieces weighed_dense(Cpu exec, Value const& gradient, double weight, std::int64_t part) {
    Value const host = gradient.on_host();
    Tensor<T> const& from = host.get<LoDTensor<T>>().value();
    DensePieces out;
    out.elements = from.size();
    out.element_bytes = sizeof(sum_t<T>);
    out.keys = {part};
    out.bytes = Storage<std::byte>(out.piece_bytes());
    times_weight<sum_t<T>>(exec, from.size(), from.data(), weight, out.bytes.data());
    return out;
}

template <class T>
RowPieces weighed_rows(Cpu exec, Value const& gradient, double weight, std::int64_t part) {
    using S = sum_t<T>;
    Value const host = gradient.on_host();
    auto out = part_pieces(exec, host.get<SelectedRows<T>>(), part);
    Storage<std::byte> lent;  // must not change
    if (std::exchange(out.lent, false)) {
        lent = std::move(out.bytes);
        out.bytes = Storage<std::byte>(out.rows.size() * out.row_bytes);
    }
    auto const* const from = reinterpret_cast<S const*>(lent.empty() ? out.bytes.data() : lent.data());
    times_weight<S>(exec, out.rows.size() * (out.row_bytes / sizeof(S)), from, weight, out.bytes.data());
    return out;
}

template <class T>
void divide_sums(Cpu exec, std::size_t n, double divisor, std::byte* sums) {
    auto* const s = reinterpret_cast<sum_t<T>*>(sums);
    parallel_work(exec, n, n, serial_below, [=](std::size_t begin, std::size_t end) {
        map_lanes<sum_t<T>>(divide_by{divisor}, end - begin, s + begin, s + begin);
    });
}

template <class T>
struct CanSumGradients {};

template <class T, class Device>
GradientSums const& gradient_sums() {
    static constexpr GradientSums all{
        element_sums<T>(),
        &weighed_dense<T>,
        &weighed_rows<T>,
        &divide_sums<T>,
        [](AnyExec exec, DensePieces&& elements, Tensor<std::int64_t>::shape_type const& shape) {
            Value value;
            auto tensor = tensor_of_pieces<T>(std::move(elements), shape);
            value.set(LoDTensor<T, Device>(to_device(exec.or_default<Device>(), std::move(tensor))));
            return value;
        },
        [](AnyExec exec, RowPieces&& elements) {
            Value value;
            auto rows = rows_of_pieces<T>(std::move(elements));
            value.set(to_device(exec.or_default<Device>(), rows));
            return value;
        }};
    return all;
}
ROWAN_TEMPLATE(GradientSums const& gradient_sums<float, Cpu>())
ROWAN_TEMPLATE(GradientSums const& gradient_sums<double, Cpu>())
ROWAN_TEMPLATE(GradientSums const& gradient_sums<bfloat16, Cpu>())

}  // namespace rowan::inline v0::detail
