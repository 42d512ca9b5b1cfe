// rowan/distributed/together.hpp: together, a call that succeeds on all ranks or throws on all.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>

namespace rowan::inline v0 {

/// Calls f() on every rank. If it throws on some of them, their own exceptions leave this call there, and on the other
/// ranks a RemoteError with the number and the text of the first: `rank 2: rows[1] = 9 is not in [0, 4)`.
///     together(comm, [&] { batch = read(file); });
/// f must not call operations of `comm`: the others would not.
/// errors   those of f; RemoteError if f throws on another rank; Error if the ranks call different operations
/// cost     that of f, and one agreement: an allgather of 64 bytes for each rank, of more than 512 a sum of 3 words
template <communicator C, class F>
void together(C const& comm, F const& f) {
    static_cast<void>(
        detail::agree(detail::GroupOf<C>(comm), detail::Collective::together, [&](detail::Notice&) { f(); }));
}

}  // namespace rowan::inline v0
