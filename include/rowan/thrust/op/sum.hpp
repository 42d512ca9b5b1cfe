// rowan/thrust/op/sum.hpp: sum on a device, of many tensors or row-sparse gradients.
#pragma once

#include <rowan/op/elementwise/sum.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Adds up to 8 arrays, and `before` unless it is null. Stores the total in `out` and in `sum` (dtype<T>::sum), unless
/// they are null.
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
        if (out != nullptr) store(total, out + i);
        if (sum != nullptr) sum[i] = total;
    }
};

/// out[row] = dense[row] + the sum of the row's contributions
template <class T, class S, int N>
struct AddToSummands {
    S const* dense;
    std::int64_t const* rows;
    T* out;
    std::size_t width;

    ROWAN_HD void operator()(std::int64_t run, std::size_t column, Chunk<S, N> const& sum) const {
        std::size_t const at = static_cast<std::size_t>(rows[run]) * width + column;
        S const* const before = dense + at;
        T* const to = out + at;
        for (int e = 0; e < N; ++e) store(plus(before[e], sum.x[e]), to + e);
    }
};

template <class System>
struct Summands<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    /// cost     one read of each tensor; for more than 8, temporary memory for one number of dtype<T>::sum per element
    template <class T>
    static void add(Device const& exec, std::vector<Tensor<T, Device>> const& x, Tensor<T, Device>& out) {
        using S = sum_t<T>;
        DeviceStorage<S, System> const sum(exec, x.size() > AddSummands<T, S>::most ? out.size() : 0);
        add(exec, x, out, sum.data(), false);
    }

    /// out = the sum of dense tensors and of the rows of g, of which each element is narrowed once.
    /// cost     one read of each tensor and of g, temporary memory for one number of dtype<T>::sum per element, a sort
    template <class T>
    static void add(Device const& exec, std::vector<Tensor<T, Device>> const& x, SelectedRows<T, Device> const& g,
                    Tensor<T, Device>& out) {
        using S = sum_t<T>;
        DeviceStorage<S, System> const sum(exec, out.size());
        add(exec, x, out, sum.data(), true);
        RowPlan<Device> const plan(exec, g);
        if (plan.size() == 0) return;
        std::int64_t const* const rows = RowPlanAccess::arrays(plan).rows;
        std::size_t const width = out.row_size();
        sum_rows(exec, plan, g.value(), true, AddToSummands<T, S, 1>{sum.data(), rows, out.data(), width},
                 AddToSummands<T, S, chunk_size>{sum.data(), rows, out.data(), width});
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
    /// `sum` is for the sums of more than 8 tensors and, if `keep`, for those of all.
    template <class T>
    static void add(Device const& exec, std::vector<Tensor<T, Device>> const& x, Tensor<T, Device>& out, sum_t<T>* sum,
                    bool keep) {
        using Add = AddSummands<T, sum_t<T>>;
        for (std::size_t begin = 0; begin < x.size(); begin += Add::most) {
            std::size_t const left = x.size() - begin;
            Add next{};
            next.count = left < Add::most ? left : Add::most;
            for (std::size_t k = 0; k < next.count; ++k) next.x[k] = x[begin + k].data();
            next.before = begin == 0 ? nullptr : sum;
            next.sum = keep || left > Add::most ? sum : nullptr;
            next.out = left <= Add::most ? out.data() : nullptr;
            launch(exec, out.size(), next);
        }
    }

    template <class T>
    static void append(Device const& exec, Tensor<T, Device> const& part, T*& to) {
        if (part.size() != 0) ThrustSystem<System>::copy(exec, to, part.data(), part.size() * sizeof(T));
        to += part.size();
    }
};

}  // namespace rowan::inline v0::detail
