// rowan/distributed/train_checkpoint.hpp: train_checkpoint of ranks that train together. Needs nanopb.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/model.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace rowan::inline v0 {

/// Saves of a training on several ranks in a folder that all of them see, for options.checkpoint: see
/// layer::TrainCheckpoint.
///     train(cost, reader, {.comm = comm, .parts = 8, .checkpoint = train_checkpoint(comm, {.folder = "run"})});
/// Each rank writes its rows of sharded tables. The file `training.rowan` names the files of a save, and is replaced when
/// they are complete. Fewer or more ranks may go on. The communicator is copied.
/// errors   Error if options.folder is empty; when train saves or loads, on all ranks those of
///          save_parameters(comm, …) and load_parameters<T...>(comm, …)
/// cost     O(1); when train saves, a copy in memory and one write of the parameters and states, and four
///          agreements
template <class... T, communicator C>
layer::TrainCheckpoint train_checkpoint(C const& comm, TrainCheckpointOptions options) {
    std::string const path = detail::training_file(options.folder);
    return {.every = options.every,
            .ranks = comm.size(),
            .save = [comm, path](Variable& cost,
                                 Parameters const& all) { save_parameters(comm, layer::Var<float>(cost), all, path); },
            .load = [comm, path](Variable& cost) -> std::optional<Parameters> {
                auto const found =
                    detail::agree(detail::GroupOf<C>(comm), detail::Collective::load,
                                  [&](detail::Notice& n) { n.own[0] = detail::file_exists(path) ? 1 : 0; });
                if (std::ranges::none_of(found, [](detail::Notice const& n) { return n.own[0] != 0; }))
                    return std::nullopt;
                return load_parameters<T...>(comm, layer::Var<float>(cost), path);
            }};
}

}  // namespace rowan::inline v0
