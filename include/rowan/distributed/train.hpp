// rowan/distributed/train.hpp: train on several ranks: layer::Comm from a communicator.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/train.hpp>

#include <memory>

namespace rowan::inline v0::detail {

/// The ranks of a group, which train together.
ROWAN_IF_CALLED std::shared_ptr<Ranks const> ranks_of(std::unique_ptr<ProcessGroup const> group);

/// What makes layer::CommOn take a communicator.
template <communicator C>
struct RanksOf<C> {
    static std::shared_ptr<Ranks const> make(C const& comm) { return ranks_of(std::make_unique<GroupOf<C>>(comm)); }
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/train_inl.hpp>
