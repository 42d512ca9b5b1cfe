// rowan/thrust/op/sum.hpp: sum on a device, of many tensors or row-sparse gradients.
#pragma once

#include <rowan/op/sum.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Adds up to 8 arrays, and `before` unless it is null. Stores the total in `out`, or in `sum` (dtype<T>::sum) if out
/// is null.
template <class T, class S>
struct AddSummands {
    static constexpr std::size_t most = 8;
    T const* x[most];
    std::size_t count;
    S const* before;
    S* sum;
    T* out;

    ROWAN_HD void operator()(std::size_t i) const {
        S total = before == nullptr ? load<S>(x[0] + i) : plus(before[i], load<S>(x[0] + i));
        for (std::size_t k = 1; k < count; ++k) total = plus(total, load<S>(x[k] + i));
        if (out != nullptr) {
            store(total, out + i);
        } else {
            sum[i] = total;
        }
    }
};

template <class System>
struct Summands<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    /// cost     one read of each tensor; for more than 8, temporary memory for one number of dtype<T>::sum per element
    template <class T>
    static void add(Device const& exec, std::vector<Tensor<T, Device>> const& x, Tensor<T, Device>& out) {
        using S = sum_t<T>;
        using Add = AddSummands<T, S>;
        DeviceStorage<S, System> const sum(exec, x.size() > Add::most ? out.size() : 0);
        for (std::size_t begin = 0; begin < x.size(); begin += Add::most) {
            std::size_t const left = x.size() - begin;
            Add add{};
            add.count = left < Add::most ? left : Add::most;
            for (std::size_t k = 0; k < add.count; ++k) add.x[k] = x[begin + k].data();
            add.before = begin == 0 ? nullptr : sum.data();
            add.sum = sum.data();
            add.out = left <= Add::most ? out.data() : nullptr;
            launch(exec, out.size(), add);
        }
    }

    template <class T>
    static SelectedRows<T, Device> join(Device const& exec, std::vector<SelectedRows<T, Device>> const& x,
                                        std::size_t n, Tensor<T, Device> value) {
        auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {n});
        T* to = value.data();
        std::int64_t* row = rows.data();
        for (auto const& g : x) {
            check_here(exec, g.rows(), g.value());
            append(exec, g.rows(), row);
            append(exec, g.value(), to);
        }
        return SelectedRowsAccess::adopt(x[0].height(), std::move(rows), std::move(value),
                                         x.size() == 1 && x[0].merged());
    }

    template <class T>
    static SelectedRows<T, Device> with_value(Device const& exec, SelectedRows<T, Device> const& g,
                                              Tensor<T, Device> value) {
        return SelectedRowsAccess::adopt(g.height(), copy_of(exec, g.rows()), std::move(value), g.merged());
    }

private:
    template <class T>
    static void append(Device const& exec, Tensor<T, Device> const& part, T*& to) {
        if (part.size() != 0) ThrustSystem<System>::copy(exec, to, part.data(), part.size() * sizeof(T));
        to += part.size();
    }
};

}  // namespace rowan::inline v0::detail
