// rowan/distributed/train_checkpoint.hpp: train_checkpoint of ranks that train together. Needs nanopb.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/model.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/training_files.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace rowan::inline v0 {

namespace detail {

/// The last save of a training on ranks, or the one before where options.previous permits that, or none.
/// errors   on all ranks: FormatError if the last save is missing or damaged; as load_parameters(comm, …)
template <class... T, class C>
std::optional<Parameters> load_training(C const& comm, Variable& cost, TrainingFiles const& files) {
    GroupOf<C> const group(comm);
    files.set_whole(false);
    std::optional<Parameters> saved;
    try {
        auto const notices = agree_on_load(group, files.last(), [&](Notice& n) { n.own[1] = files.found() ? 1 : 0; });
        if (std::ranges::none_of(notices, [](Notice const& n) { return n.own[1] != 0; })) return saved;
        saved = ModelFiles::load_parameters<T...>(comm, cost, files.last());
        files.set_whole(true);
    } catch (FormatError const& e) {  // all ranks have it
        auto const notices =
            agree(group, Collective::load, Told::all, [&](Notice& n) { n.own[1] = files.takes_previous() ? 1 : 0; });
        if (!std::ranges::all_of(notices, [](Notice const& n) { return n.own[1] == 1; })) throw files.damaged(e);
        saved =
            ModelFiles::load_parameters<T...>(comm, cost, files.previous(), deal_bytes, SavePlace(files.last()).name);
    }
    return saved;
}

}  // namespace detail

/// Saves of a training on several ranks in a folder that all of them see, for options.checkpoint: see
/// layer::TrainCheckpoint.
///     train(cost, reader, {.comm = comm, .parts = 8, .checkpoint = train_checkpoint(comm, {.folder = "run"})});
/// Each rank writes its rows of sharded tables. The file `training.rowan` names the files of a save, and is replaced when
/// they are complete; what it replaces becomes `previous.rowan`, whose files remain. Before the first save it is one of
/// step 0, so that ranks that end in that save begin anew, and files of ranks without it are refused. Fewer or more ranks
/// may go on. The communicator is copied.
/// errors   Error if options.folder is empty; when train saves or loads, on all ranks those of
///          save_parameters(comm, …) and load_parameters<T...>(comm, …), and FormatError if the last save is missing
///          although others or files of ranks are there, or damaged and options.previous does not permit to go on from
///          the one before
/// cost     O(1); when train saves, a copy in memory and one write of the parameters and states, and four
///          agreements. The folder has two saves, and three while one is written
template <class... T, communicator C>
layer::TrainCheckpoint train_checkpoint(C const& comm, TrainCheckpointOptions options) {
    detail::TrainingFiles const files(options);
    return {.every = options.every,
            .ranks = comm.size(),
            .save =
                [comm, files](Variable& cost, Parameters const& all) {
                    detail::ModelFiles::save_parameters<detail::PosixFiles>(
                        comm, cost, all, files.last(),
                        {[&] { files.begin(); }, files.previous(), !files.kept_as().empty()});
                    files.set_whole(true);
                },
            .load = [comm, files](Variable& cost) { return detail::load_training<T...>(comm, cost, files); }};
}

}  // namespace rowan::inline v0
