// rowan/thrust/sequence/tensor_array.hpp: TensorArray<T, ThrustDevice<System>>, and its copies from and to a device.
#pragma once

#include <rowan/sequence/tensor_array.hpp>
#include <rowan/thrust/sequence/detail/sequence_sums.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <rowan/thrust/sequence/step_map.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// to += from
template <class T>
struct AddElement {
    T const* from;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        using S = sum_t<T>;
        store(plus(load<S>(to + k), load<S>(from + k)), to + k);
    }
};

template <class System>
struct Accumulation<ThrustDevice<System>> {
    template <class T>
    static void add(ThrustDevice<System> const& exec, std::size_t n, T const* from, T* to) {
        launch(exec, n, AddElement<T>{from, to});
    }
};

/// Copies element k of the result from the parts stacked along a new dim.
template <class T>
struct StackElement {
    T const* const* parts;
    FastDivmod n, inner;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const r = inner.quotient(k), outer = n.quotient(r);
        to[k] = parts[r - outer * n.by][outer * inner.by + k - r * inner.by];
    }
};

template <class T>
struct UnstackElement {
    T const* from;
    std::size_t n;
    FastDivmod outer, inner;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const r = inner.quotient(k), part = outer.quotient(r);
        to[k] = from[((r - part * outer.by) * n + part) * inner.by + k - r * inner.by];
    }
};

template <class System>
struct Stacking<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void stack(Exec const& exec, std::vector<T const*> const& data, std::size_t outer, std::size_t inner,
                      T* to) {
        std::size_t const n = data.size();
        if (outer * n * inner == 0) return;
        if (outer == 1) {
            return copy_rows(
                exec, n, inner * sizeof(T), [&](std::size_t r) { return data[r]; },
                [=](std::size_t r) { return to + r * inner; });
        }
        OnDevice<T const*, Exec> const parts(exec, data);
        launch(exec, outer * n * inner, StackElement<T>{parts.data(), FastDivmod(n), FastDivmod(inner), to});
    }

    template <class T>
    static void unstack(Exec const& exec, T const* from, std::size_t n, std::size_t outer, std::size_t inner, T* to) {
        if (outer * n * inner == 0) return;
        launch(exec, outer * n * inner, UnstackElement<T>{from, n, FastDivmod(outer), FastDivmod(inner), to});
    }

    template <class T>
    static void sum(Exec const& exec, T const* rows, std::size_t width, std::vector<std::int64_t> const& begins,
                    std::vector<std::int64_t> const& positions, T* to) {
        SumTree tree;
        for (std::size_t i = 0; i + 1 < begins.size(); ++i)
            tree.add(i, begins[i], 1, static_cast<std::size_t>(begins[i + 1] - begins[i]));
        OnDevice<std::int64_t, Exec> const index(exec, positions);
        tree.run(exec, width, AddRows<T>{rows, width, index.data()}, StoreTotal<T>{to, width, zero<T>()},
                 in_chunks(width, rows, static_cast<T const*>(to)));
    }
};

}  // namespace detail

/// Copies the slots of an array to device memory asynchronously. Slots that share one block of memory are copied at
/// once.
/// shapes   slots [...] -> the same
/// errors   those of to_device for a tensor
/// cost     one copy of the elements
template <detail::thrust_device D, class T>
TensorArray<T, D> to_device(D const& exec, TensorArray<T> const& x) {
    return detail::TensorArrayAccess::copied<D>(x, [&](auto const& t) { return to_device(exec, t); });
}
/// Copies the slots of an array to host memory. Slots that share one block of memory are copied at once.
/// shapes   slots [...] -> the same
/// errors   those of to_host for a tensor
/// cost     one copy of the elements; waits for the work enqueued before
template <detail::thrust_device D, class T>
TensorArray<T> to_host(D const& exec, TensorArray<T, D> const& x) {
    return detail::TensorArrayAccess::copied<Cpu>(x, [&](auto const& t) { return to_host(exec, t); });
}
template <class T, detail::thrust_device D>
TensorArray<T> to_host(TensorArray<T, D> const& x) {
    return detail::TensorArrayAccess::copied<Cpu>(x, [&](auto const& t) { return to_host(t); });
}

}  // namespace rowan::inline v0
