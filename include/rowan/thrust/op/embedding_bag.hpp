// rowan/thrust/op/embedding_bag.hpp: embedding_bag on a device, with and without weights.
#pragma once

#include <rowan/op/table/weighted_embedding_bag.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/op/detail/bag_kernels.hpp>
#include <rowan/thrust/sequence/detail/sequence_sums.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

template <class System>
struct BagLookups<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T, class I>
    static LoDTensor<T, Device> lookup(Device const& exec, Tensor<T, Device> const& table,
                                       LoDTensor<I, Device> const& ids, Tensor<T, Device> const* weight, Pooling pool) {
        using S = sum_t<T>;
        check_tensors(exec, table, ids.value(), weight);
        OnDevice<std::int64_t, Device> const offsets(exec, last_level(ids.lod()));
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        auto shape = table.shape();
        shape[0] = bags.bags;
        auto out = Tensor<T, Device>::zeros(exec, shape);
        DeviceStorage<S, System> const divisors(exec, bags.bags);
        launch(exec, bags.bags, BagDivisor<T, I>{bags, divisors.data()});
        auto const sums = sequence_sums(last_level(ids.lod()));
        if (pool == Pooling::max) {
            T const zero = dtype<T>::narrow(S{});
            sums.template run_chunks<1>(exec, bags.width, BagElements<T, I>{bags},
                                        StoreExtreme<T>{out.data(), bags.width, zero});
        } else {
            bool const chunks = in_chunks(bags.width, table.data(), static_cast<T const*>(out.data()));
            sums.run(exec, bags.width, BagRows<T, I>{bags}, StoreBag<T, I>{bags, divisors.data(), out.data()}, chunks);
        }
        return {std::move(out), upper_levels(ids.lod())};
    }

    template <class T, class I>
    static SelectedRows<T, Device> grad(Device const& exec, Tensor<T, Device> const& table,
                                        LoDTensor<I, Device> const& ids, Tensor<T, Device> const* weight,
                                        Tensor<T, Device> const& out_grad, Pooling pool,
                                        Tensor<T, Device>* weight_grad) {
        using S = sum_t<T>;
        std::span<std::int64_t const> const level = last_level(ids.lod());
        check_height("out_grad", out_grad, static_cast<std::int64_t>(level.size() - 1));
        check_trailing("out_grad", out_grad, table.shape());
        check_here(exec, out_grad);
        check_tensors(exec, table, ids.value(), weight);
        OnDevice<std::int64_t, Device> const offsets(exec, level);
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        std::size_t const n = ids.value().size(), width = bags.width;
        auto shape = table.shape();
        shape[0] = n;
        auto value = Tensor<T, Device>::zeros(exec, shape);
        if (width != 0 && pool == Pooling::max) {
            DeviceStorage<std::int64_t, System> const positions(exec, bags.bags * width);
            sequence_sums(level).template run_chunks<1>(
                exec, width, BagElements<T, I>{bags},
                GiveToLargest<T, I>{bags, out_grad.data(), value.data(), positions.data()});
            if (weight_grad != nullptr)
                launch(exec, n,
                       WeightGradOfLargest<T, I>{bags, positions.data(), out_grad.data(), weight_grad->data()});
        } else if (width != 0) {
            DeviceStorage<S, System> const divisors(exec, bags.bags);
            FastDivmod const columns(width);
            launch(exec, bags.bags, BagDivisor<T, I>{bags, divisors.data()});
            launch(exec, n * width, ShareOfBag<T, I>{bags, divisors.data(), out_grad.data(), value.data(), columns});
            if (weight_grad != nullptr) {
                DeviceStorage<S, System> const totals(exec, bags.bags * width);
                launch(exec, bags.bags * width, SumOfBag<T, I>{bags, totals.data(), columns});
                launch(exec, n,
                       WeightGrad<T, I>{bags, divisors.data(), totals.data(), out_grad.data(), weight_grad->data()});
            }
        }
        auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {n});
        IdCheck const check = id_check(exec, "ids", height_of(table));
        launch_always(exec, n, CopyId<I>{check, ids.value().data(), rows.data()});
        return SelectedRowsAccess::adopt(height_of(table), std::move(rows), std::move(value), false);
    }

private:
    template <class T, class I>
    static void check_tensors(Device const& exec, Tensor<T, Device> const& table, Tensor<I, Device> const& ids,
                              Tensor<T, Device> const* weight) {
        check_here(exec, table, ids);
        if (weight != nullptr) check_here(exec, *weight);
        ElementLoops<Device>::check_ids(exec, "ids", ids, height_of(table));
    }
};

}  // namespace rowan::inline v0::detail
