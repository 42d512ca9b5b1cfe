// rowan/distributed/dense_allreduce.hpp: dense_allreduce, the sum of all ranks' dense gradients.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/pending.hpp>
#include <rowan/sparse/sum_of_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// A dense_allreduce that has begun: see detail/dense_exchange.hpp.
class DenseReduction;

ROWAN_IF_CALLED std::shared_ptr<DenseReduction> begin_dense_reduction(
    std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
    std::function<std::vector<DensePieces>(Notice&, NamedValues& same)> const& parts);
/// As DenseReduction::finish.
ROWAN_IF_CALLED void finish_dense_reduction(DenseReduction& reduction,
                                            std::function<std::span<std::byte>()> const& make);

template <class T>
struct PendingDense final : PendingWork<Tensor<T>> {
    Tensor<T> finish() override {
        Tensor<T> sum;
        finish_dense_reduction(*reduction, [&] {
            sum = Tensor<T>::from_shape(shape);
            return std::as_writable_bytes(std::span(sum.data(), sum.size()));
        });
        return sum;
    }
    std::shared_ptr<DenseReduction> reduction;
    typename Tensor<T>::shape_type shape;
};

}  // namespace detail

/// Begins dense_allreduce: on return, ranks have agreed, and elements travel. get() gives its result.
/// shapes     those of dense_allreduce
/// requires   the parts do not change until then
/// errors     those of dense_allreduce
/// cost       that of dense_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<Tensor<T>> begin_dense_allreduce(Cpu exec, C const& comm, std::span<Tensor<T> const> parts) {
    using namespace detail;
    std::unique_ptr<PendingDense<T>> pending;
    std::unique_ptr<GroupOf<C>> group;
    after_agreement(GroupOf<C>(comm), [&] {  // all memory that is needed besides that of DenseReduction
        pending = std::make_unique<PendingDense<T>>();
        group = std::make_unique<GroupOf<C>>(comm);
    });
    auto const own = [&](Notice& n, NamedValues& same) {
        check_exec(exec);
        check_parts(parts);
        n.same = {dtype<T>::wire, 0, 0};
        same.add("the shape", shape_text(parts[0].shape()));
        pending->shape = parts[0].shape();
        return all_pieces<DensePieces>(exec, parts);
    };
    pending->reduction = begin_dense_reduction(std::move(group), exec, element_sums<T>(), std::cref(own));
    return Pending<Tensor<T>>(std::move(pending));
}

/// The sum of the parts of all ranks, on every rank, with the bits of sum_of_parts on one process; parts are numbered
/// from rank 0's first to the last rank's last. Each rank sums a slice of the elements. Sums are formed, and travel, in
/// dtype<T>::sum and are narrowed once.
/// shapes   tensors of one shape on all ranks
/// errors   on all ranks: ShapeError if a rank has no parts, or shapes or element types differ; nothing has changed
///          then. What fails later on one rank is an error of get() on all; where it fails between two exchanges, it
///          ends all ranks
/// cost     bytes sent by a rank of P: 2 (P - 1) / P of the tensor, as in a ring; the first half is more if a rank's
///          parts do not make one node of the tree, by their number of nodes, at most 2 log2(parts). On several nodes
///          of q ranks or more, ranks of a node first sum among themselves, so that only 1 / q of that leaves the node
template <class T, communicator C>
Tensor<T> dense_allreduce(Cpu exec, C const& comm, std::span<Tensor<T> const> parts) {
    return begin_dense_allreduce(exec, comm, parts).get();
}

/// Begins dense_allreduce of one part on each rank.
/// shapes     those of dense_allreduce
/// requires   the part's values do not change until get()
/// errors     those of dense_allreduce
/// cost       that of dense_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<Tensor<T>> begin_dense_allreduce(Cpu exec, C const& comm, Tensor<T> const& part) {
    return begin_dense_allreduce(exec, comm, std::span(&part, 1));
}
template <class T, communicator C>
Tensor<T> dense_allreduce(Cpu exec, C const& comm, Tensor<T> const& part) {
    return dense_allreduce(exec, comm, std::span(&part, 1));
}

/// Begins dense_allreduce of a vector of parts.
/// shapes     those of dense_allreduce
/// requires   the parts' values do not change until get()
/// errors     those of dense_allreduce
/// cost       that of dense_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<Tensor<T>> begin_dense_allreduce(Cpu exec, C const& comm, std::vector<Tensor<T>> const& parts) {
    return begin_dense_allreduce(exec, comm, std::span(parts));
}
template <class T, communicator C>
Tensor<T> dense_allreduce(Cpu exec, C const& comm, std::vector<Tensor<T>> const& parts) {
    return dense_allreduce(exec, comm, std::span(parts));
}

}  // namespace rowan::inline v0

#include <rowan/distributed/detail/dense_exchange.hpp>
