// rowan/distributed/detail/returned_gradients.hpp: ReturnedGradients, gradients of rows on their way to those that have
// the rows.
#pragma once

#include <rowan/core/detail/config.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/distributed/detail/list_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/row_transfers.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Gradients of rows that tables of which each rank has some were asked for.
class ReturnedGradients {
    using Gradient = FetchedTables::Gradient;

public:
    /// Begins to send them: numbers[t] are the rows that fetches[t] has asked for. No rank has asked others for more than
    /// `most_asked` rows.
    ROWAN_IF_CALLED ReturnedGradients(ProcessGroup const& group, std::span<RowFetch const> fetches,
                                      std::span<std::vector<std::int64_t> const> numbers, std::size_t most_asked,
                                      std::vector<Gradient>&& gradients)
        : fetches_(fetches), rank_(group.rank()), gradients_(std::move(gradients)) {
        std::size_t width = 0;  // of the widest row, in bytes
        for (auto const& g : gradients_) {
            pieces_.push_back(pieces_of(g, fetches_[g.table], numbers[g.table]));
            width = std::max(width, g.node.row_bytes);
        }
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            auto const& g = gradients_[i];
            auto& p = pieces_[i];
            transfer_.add({&fetches_[g.table], g.type, g.node.row_bytes, bytes_of(std::as_const(p.send)),
                           bytes_of(p.came), g.all, p.send_which, p.came_which});
        }
        transfer_.begin(group, most_asked * width <= most_joined);
    }

    bool test() { return transfer_.test(); }

    /// The sums of this rank's rows, not narrowed, as FetchedTables::end_sum.
    ROWAN_IF_CALLED std::vector<RowPieces> sums(Cpu exec, std::span<Partition const> partitions,
                                                std::span<std::int64_t const> keys) {
        transfer_.wait(exec, keys);
        std::vector<RowPieces> sums;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            auto const& g = gradients_[i];
            auto const& p = pieces_[i];
            auto const met = fetches_[g.table].met(p.own_which, p.came_which);
            auto out = g.node.like();
            out.resize(met.rows().size());
            for (std::size_t k = 0; k < out.rows.size(); ++k)
                out.rows[k] = partitions[g.table].global(rank_, met.rows()[k]);
            met.sum(exec, {g.type, g.node.row_bytes, p.came.data(), [&p](std::size_t k) { return p.own[k]; }, keys},
                    out.bytes.data());
            sums.push_back(std::move(out));
        }
        return sums;
    }

private:
    /// The pieces of a gradient, or zeros, for all rows that were asked for: those of other ranks, which travel, and the
    /// addresses of this rank's; and which have a piece, if not all.
    struct Pieces {
        Buffer<std::byte> send, came;
        std::vector<std::byte const*> own;
        std::vector<std::uint8_t> send_which, own_which, came_which;
    };
    ROWAN_IF_CALLED static Pieces pieces_of(Gradient const& gradient, RowFetch const& f,
                                            std::span<std::int64_t const> named) {
        auto const& node = gradient.node;
        std::size_t const bytes = node.row_bytes, others = f.others();
        Pieces t;
        t.send = gradient.all ? Buffer<std::byte>(others * bytes) : Buffer<std::byte>(others * bytes, std::byte{});
        t.came = Buffer<std::byte>(f.asked().size() * bytes);
        t.own.resize(f.own().size());
        if (!gradient.all) {
            t.send_which.resize(others);
            t.own_which.resize(f.own().size());
            t.came_which.resize(f.asked().size());
        }
        std::vector<std::size_t> place(named.size());  // of each row that was asked for
        for (std::size_t k = 0; k < place.size(); ++k)
            place[static_cast<std::size_t>(f.plan().positions()[k])] = f.place(k);
        for (std::size_t i = 0, piece = 0; i < named.size() && piece < node.rows.size(); ++i) {
            if (named[i] != node.rows[piece]) continue;
            auto const* const from = node.bytes.data() + piece++ * bytes;
            bool const here = place[i] >= others;
            std::size_t const at = here ? place[i] - others : place[i];
            if (here) {
                t.own[at] = from;
            } else if (bytes != 0) {
                std::memcpy(t.send.data() + at * bytes, from, bytes);
            }
            if (!gradient.all) (here ? t.own_which : t.send_which)[at] = 1;
        }
        return t;
    }

    std::span<RowFetch const> fetches_;
    int rank_;
    std::vector<Gradient> gradients_;
    std::vector<Pieces> pieces_;
    GiveTransfer transfer_;
};

}  // namespace rowan::inline v0::detail

#endif
