// rowan/train/comm.hpp: layer::Comm, the ranks that train together.
#pragma once

#include <rowan/core/device.hpp>

#include <concepts>
#include <memory>

namespace rowan::inline v0 {

namespace detail {

class Ranks;

/// Makes Ranks of a communicator; rowan/distributed/train.hpp defines it.
template <class C>
struct RanksOf;

template <class C>
concept has_ranks = requires(C const& c) {
    { c.rank() } -> std::same_as<int>;
    { c.size() } -> std::same_as<int>;
};

}  // namespace detail

namespace layer {

/// The ranks that train a net together: a communicator of any type, for programs that include
/// <rowan/distributed/train.hpp>, or none.
///     auto parameters = train(cost, reader, {.optimizer = layer::Adam{}, .comm = comm, .parts = 8});
/// All ranks make the same net and call `train`, or the functions of a Trainer, with the same options. A step is made of
/// options.parts batches of the reader, its parts: see layer::Parts. Of n parts, rank r of P runs
/// [r · n / P, (r + 1) · n / P), and each rank changes its copy of the parameters by the gradient of all. The parts'
/// gradients are summed as a tree over the numbers of the parts, and each part has its own dropout masks: the parameters
/// have the same bits for any number of ranks, those of a training with options.parts on one. A training may be resumed
/// on another number of ranks.
///
///     parts of a step       0  1  2  3  4  5  6  7
///     on 1 rank             0  0  0  0  0  0  0  0
///     on 3 ranks            0  0  1  1  1  2  2  2
///
/// On every rank, the reader gives the batches of all parts, in the same order and number. A rank reads only those of
/// its own parts, so that the others may be `Feeds{}`; but a step of a single part, such as the last of an epoch may be,
/// is run by all ranks. options.metrics, on_batch and on_epoch are called on every rank; if one ends the training on a
/// rank, or throws, it ends on all. Metrics must give the same on all. Progress is printed by rank 0.
///
/// Of a sharded table (layer::sharded_table), each rank has some rows, and so do the parameters that train returns and
/// that options.on_epoch and metrics get. infer, save_model and save_parameters take a communicator, too, also in these, if
/// all ranks call them. In a step, a rank fetches the rows that its parts name, and gets the gradients of its own rows;
/// with options.clip, of all rows.
///
/// A step changes those rows of a sharded table that its batches name, and reads no others: its cost does not depend on the
/// table's height. What would change all rows in each step is a TypeError on all ranks, also where one rank trains: an
/// optimizer with `.lazy = false`, or Lamb, for a sharded table, and options.average for a net that has one. layer::Deferred
/// has the bits of an optimizer that is not lazy: it makes up for the steps that a row has missed when the row is read. An
/// average has no such form, as it follows all values that a row has had, in each step.
///
/// Of a table by keys (layer::Keyed), each rank has all rows. A step begins with one more agreement, and of several parts
/// with the exchange of their keys: all ranks give the keys of all parts the same rows. Ranks compare the kinds of such
/// tables before the first step, with their keys and rows.
///
/// Ranks compare their options before the first step: the seed, the numbers of parts and epochs, stop, the optimizers,
/// rates, clip, average and overlap; of an optimizer of yours, its fields or those of its attributes (rowan::field), or
/// else its learning rate. In each step, they compare the factors of their schedules, and at the end of an epoch the metric
/// that options.stop names. With options.check_every they compare hashes of parameters and states after so many steps,
/// which finds, for example, a machine with bad memory; sharded tables are left out, and those with a deferred optimizer.
///
/// No collective lies within the net. In a step, ranks agree and fetch rows, if there are sharded tables, run their
/// parts, agree that none failed, and exchange costs and gradients, as one if they are few. An error on one rank, also of the
/// reader, is one on all: there as it was thrown, on the others a RemoteError, and no parameter has changed; but an error
/// of options.check_every comes after the step. Memory that fails after the agreement ends all ranks; if it fails while
/// parameters change, other ranks have made the step, and Trainer::step throws there when it is called again.
///
/// A rank that is stuck, such as in its reader, holds all others. One of those says so on standard error each minute: `rowan:
/// rank 2 has not come to step 17's fetch for 60 s; ranks 0, 1 and 3 wait in step 17's fetch`. With options.patience a rank that
/// has waited for so long for one that does not come throws RemoteError, and the communicator then refuses all calls, so that
/// the program can end, as run_mpi does. It must be longer than the slowest batch, callback, metric or save of any rank. Step
/// 17 is the one after which Trainer::steps() is 17. Mpi can throw in agreements, where ranks wait for a stuck reader. In the
/// exchanges between them, or if some are open, as with options.overlap, MPI may still write the caller's memory: there it
/// prints the same, and ends all ranks. So does Nccl, always, and without the number of the rank.
///
/// With options.overlap, `train` exchanges while the net runs, with the same bits and errors. Slow networks gain by it; on
/// one machine it costs time. The first step of an epoch, and the one after a save, get their rows and sums as without it.
/// - `train` reads the batches of the next step before it makes this one. So the reader must not depend on this step, nor
///   write the memory of batches that wait. What the reader throws comes after the steps of what it has read, unless
///   options.on_batch ends the training before.
/// - Ranks ask for the rows of the next step. Rows that this step does not name come at once, the others when it has
///   changed them; with a deferred optimizer, all rows of the table come then. So options.on_batch must not change sharded
///   tables, nor an optimizer of yours rows that its gradient lacks.
/// - In the last part of a rank, gradients travel when they have been computed: dense ones of 256 KiB together, those of
///   sharded tables where the parts of each rank are one node of the tree. After an error, ranks end these exchanges, too.
///   Memory that fails in them ends all ranks.
/// - With MPI_THREAD_MULTIPLE, which run_mpi asks for, another thread of each rank goes on with what travels, every
///   0.25 to 0.5 ms; else exchanges go on between operators.
/// errors   of train and of Trainer, on all ranks: Error if ranks begin with different options, parameters or steps, have
///          different numbers of batches, call functions of different trainers, or options.parts is not given; if
///          options.check_every finds a difference: it names a variable and the first rank that differs from rank 0
/// cost     for each step and rank: the operators of its parts, the optimizers, what dense_allreduce and row_allreduce
///          send for each gradient, in dtype<T>::sum, 8 bytes for each part's cost, its rows and each of its weights, and two
///          agreements of 64 bytes; with sharded tables one more, and for each a sort of the ids, the rows of other
///          ranks that they name, and 8 to 16 bytes for each and up to 4 KiB. Gradients go back
///          without these numbers, with a byte for each row if some have no gradient, where the parts of each rank, and
///          those of the ranks of a node together, are one node of the tree and there is no options.clip. Between nodes
///          rows and their gradients travel as in ShardedTable, in up to six exchanges more of fewer ranks. With
///          options.overlap, memory for the batches of one more step, three exchanges more with a byte for each row, and
///          a thread in each step; the rows for the next step, and their gradients, then travel from rank to rank, also
///          between nodes. Every options.check_every steps, one agreement and one read of parameters and states
template <class Device>
class CommOn {
public:
    CommOn() = default;  ///< this process trains alone
    /// A communicator, which is copied. A group of one rank is none.
    /// errors   std::bad_alloc
    /// cost     two allocations
    template <rowan::detail::has_ranks C>
    CommOn(C const& comm) {
        static_assert(
            requires { sizeof(rowan::detail::RanksOf<C>); },
            "rowan::train: to train on several ranks, include <rowan/distributed/train.hpp>");
        if constexpr (requires { sizeof(rowan::detail::RanksOf<C>); }) {
            if (comm.size() > 1) ranks_ = rowan::detail::RanksOf<C>::make(comm);
        }
    }

    /// The ranks, or nullptr.
    rowan::detail::Ranks const* ranks() const noexcept { return ranks_.get(); }
    /// Those ranks, or nullptr, of which the caller may keep a share.
    std::shared_ptr<rowan::detail::Ranks const> const& shared_ranks() const noexcept { return ranks_; }

private:
    std::shared_ptr<rowan::detail::Ranks const> ranks_;
};

/// The ranks that train a net on the host together.
using Comm = CommOn<Cpu>;

}  // namespace layer

}  // namespace rowan::inline v0
