// rowan/distributed/model.hpp: models and parameters of which each rank saves its rows of sharded tables. Needs nanopb.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/model_parts.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/train/parameters.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The parameters of a net by names that depend only on the net.
/// errors   GraphError if one is missing; ShapeError if a table does not have this rank's rows
ROWAN_IF_CALLED ShardSave model_save(Variable& predict, Parameters const& parameters, int rank, int ranks);
/// All values by their names, and the number of steps.
/// errors   as above; ShapeError if a state does not have a row for each of its table
ROWAN_IF_CALLED ShardSave parameters_save(Variable& net, Parameters const& parameters, int rank, int ranks);

/// A value of the elements of an entry, from the file at `path`.
using MakeValue = std::function<Value(std::string const& path, CheckpointEntry const& entry)>;

/// The parameters in a save, of which those of sharded tables get their elements when their rows have been dealt.
/// errors   GraphError if the save is of another net; as load_parameter
ROWAN_IF_CALLED std::vector<ShardRows> read_model(Variable& predict, SavedShards const& saved, Parameters& parameters);
/// errors   GraphError if the save is of another net; those of `make`; as load_steps
ROWAN_IF_CALLED std::vector<ShardRows> read_parameters(Variable& net, SavedShards const& saved, Parameters& parameters,
                                                       MakeValue const& make);

/// What the functions below do, with the system calls of Files.
struct ModelFiles {
    template <class Files, class Ops, class C>
    static void save_model(C const& comm, Variable& predict, Parameters const& parameters, std::string const& path) {
        SavePlace const place(path);
        save_shards<Files>(comm, place.folder, place.name, [&] {
            check_saves_model(predict);
            auto save = model_save(predict, parameters, comm.rank(), comm.size());
            save.index.program = to_program<Ops>(predict);
            return save;
        });
    }

    template <class Files, class C>
    static void save_parameters(C const& comm, Variable& net, Parameters const& parameters, std::string const& path,
                                ReplacedSave const& replaced = {}) {
        SavePlace const place(path);
        save_shards<Files>(
            comm, place.folder, place.name, [&] { return parameters_save(net, parameters, comm.rank(), comm.size()); },
            replaced);
    }

    /// Loads what read(saved, parameters) asks for, from files whose names begin as SavedShards says.
    template <class C, class Read>
    static Parameters load(C const& comm, std::string const& path, Read const& read, std::size_t piece = deal_bytes,
                           std::string const& files = {}) {
        Parameters parameters;
        auto const begin = [&](Notice&) { return path; };
        auto const rows = [&](SavedShards const& saved) { return read(saved, parameters); };
        load_shards(GroupOf<C>(comm), std::cref(begin), std::cref(rows), piece, files);
        return parameters;
    }

    template <class C>
    static Parameters load_model(C const& comm, Variable& predict, std::string const& path,
                                 std::size_t piece = deal_bytes) {
        return load(
            comm, path, [&](auto const& saved, auto& all) { return read_model(predict, saved, all); }, piece);
    }

    template <class... T, class C>
    static Parameters load_parameters(C const& comm, Variable& net, std::string const& path,
                                      std::size_t piece = deal_bytes, std::string const& files = {}) {
        auto const make = [](std::string const& file, CheckpointEntry const& entry) {
            auto const get = [&]<class V>(std::type_identity<V>) {
                checkpoint_value<V>::expect(entry.desc, entry.type_name, entry.element_size);
                return checkpoint_value<V>::value(entry);
            };
            if (is_table_part(entry.desc.name, spec_of(entry.desc).dtype))
                return value_of_type<Cpu, std::int64_t, std::uint8_t>(Cpu{}, file, entry.desc, {}, get);
            return value_of_type<Cpu, float, double, T...>(Cpu{}, file, entry.desc, {}, get);
        };
        return load(
            comm, path, [&](auto const& saved, auto& all) { return read_parameters(net, saved, all, make); }, piece,
            files);
    }
};

}  // namespace detail

/// Writes a net, as a program, and its parameters, of sharded tables the rows of each rank: for load_model on any
/// number of ranks, and into nets that place the rows in any other way. `path` is one that all ranks see. Rank r writes
/// `<path>-<number>.<r>.rows`, and when all are complete, rank 0 replaces `path`, which has what is not sharded; until
/// then the old save is whole, and then its files are removed. Folders that do not exist are made. All ranks call it.
///     save_model(comm, predict, parameters, "model.rowan");
/// shapes   any
/// errors   on all ranks: as rowan::save_model; ShapeError if a table does not have this rank's rows, or ranks save
///          different values or steps; IoError if files cannot be written; RemoteError on the other ranks
/// cost     one write of the parameters, of sharded tables of each rank's rows; three agreements
template <class Ops = forward_ops, communicator C, class T>
void save_model(C const& comm, layer::Var<T> const& predict, Parameters const& parameters, std::string const& path) {
    detail::ModelFiles::save_model<detail::PosixFiles, Ops>(comm, *predict, parameters, path);
}

/// Loads the parameters of an existing net, which any number of ranks have saved by save_model: on each rank its rows
/// of sharded tables, for infer. With Self{}, one process has all. All ranks call it.
/// shapes   as in the net
/// errors   on all ranks: FormatError if a file is missing, damaged or of another save; else as rowan::load_model, and
///          RemoteError on the other ranks
/// cost     one read of the files, each by one rank, which sends rows of other ranks to them: none if as many ranks
///          have saved; three agreements. In memory beside this rank's rows a few buffers of 16 MiB
template <communicator C, class T>
Parameters load_model(C const& comm, layer::Var<T> const& predict, std::string const& path) {
    return detail::ModelFiles::load_model(comm, *predict, path);
}

/// Writes all trained values, including states and the number of steps, as save_model does: training can be resumed on
/// any number of ranks. `net` is the cost, or the layer that was trained. All ranks call it.
///     save_parameters(comm, cost, parameters, "parameters.rowan");
/// shapes   any
/// errors   as save_model
/// cost     as save_model, and of the states
template <communicator C, class T>
void save_parameters(C const& comm, layer::Var<T> const& net, Parameters const& parameters, std::string const& path) {
    detail::ModelFiles::save_parameters<detail::PosixFiles>(comm, *net, parameters, path);
}

/// Loads what save_parameters has written on any number of ranks: on each rank its rows of sharded tables and of their
/// states. All ranks call it.
///     auto const before = load_parameters(comm, cost, "parameters.rowan");
///     train(cost, reader, {.comm = comm, .parts = 8, .resume = &before});
/// shapes   as when they were saved
/// errors   as load_model; GraphError if the net lacks a sharded table of the file; ShapeError if a height differs;
///          TypeError if an element type is not float, double or one of T...
/// cost     as load_model, and of the states
template <class... T, communicator C, class E>
Parameters load_parameters(C const& comm, layer::Var<E> const& net, std::string const& path) {
    return detail::ModelFiles::load_parameters<T...>(comm, *net, path);
}

}  // namespace rowan::inline v0

#include <rowan/distributed/model_inl.hpp>
