// rowan/distributed/infer.hpp: infer on several ranks, with parameters of which each has a part.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/parameters.hpp>

namespace rowan::inline v0 {

namespace detail {

/// What a rank needs for its batch: the parameters, with those rows of sharded tables that the batch names.
/// errors   on all ranks, as infer
ROWAN_IF_CALLED Parameters fetched_parameters(ProcessGroup const& group, Cpu exec, Variable& predict,
                                              Feeds const& feeds, Parameters const& parameters);

}  // namespace detail

/// rowan::infer on several ranks: each has a batch of its own, and of sharded tables the rows that train, or
/// load_model, has given it. All ranks call it.
///     auto y = infer(comm, predict, {{"x", batch}}, parameters);
/// shapes   as infer
/// errors   on all ranks: as infer; IndexError if an id of a sharded table is not in [0, height); ShapeError if a
///          parameter does not have as many rows as this rank has; RemoteError on the other ranks; Error if ranks have
///          nets with different tables
/// cost     as infer, and of each sharded table a sort of the ids, 8 bytes for each distinct row of other ranks, and
///          these rows back, those of all tables together; two agreements
template <communicator C, class T>
LoDTensor<T> infer(C const& comm, layer::Var<T> const& predict, Feeds const& feeds, Parameters const& parameters,
                   Cpu exec = {}) {
    detail::GroupOf<C> const group(comm);
    auto const mine = detail::fetched_parameters(group, exec, *predict, feeds, parameters);
    LoDTensor<T> out;
    static_cast<void>(detail::agree(group, detail::Collective::infer_end,
                                    [&](detail::Notice&) { out = infer(predict, feeds, mine, exec); }));
    return out;
}

}  // namespace rowan::inline v0

#include <rowan/distributed/infer_inl.hpp>
