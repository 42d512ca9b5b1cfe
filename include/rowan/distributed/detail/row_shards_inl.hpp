// rowan/distributed/detail/row_shards_inl.hpp: the functions of row_shards.hpp.
#pragma once

#include <rowan/distributed/detail/row_shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/distributed/detail/row_transfers.hpp>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void send_rows(ProcessGroup const& group, RowFetch const& fetch, std::size_t row_bytes,
                                     std::span<std::byte const> answers, std::span<std::byte> come) {
    FetchTransfer transfer;
    transfer.add({&fetch, row_bytes, answers, come});
    transfer.begin(group);
    transfer.wait();
}

ROWAN_CALLED_FUNCTION void give_rows(Cpu exec, ProcessGroup const& group, RowFetch const& fetch,
                                     ElementSums const& type, std::size_t row_bytes, std::span<std::byte const> pieces,
                                     std::span<std::byte> came) {
    GiveTransfer transfer;
    transfer.add({&fetch, type, row_bytes, pieces, came});
    transfer.begin(group);
    transfer.wait(exec, fetch.rank_keys());
}

}  // namespace rowan::inline v0::detail

#endif
