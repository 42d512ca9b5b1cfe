// rowan/distributed/detail/shards_inl.hpp: the functions of shards.hpp.
#pragma once

#include <rowan/distributed/detail/shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shard_exchange.hpp>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Keeps where the rows are.
class FetchedShards final : public FetchedTables {
public:
    FetchedShards(ProcessGroup const& group, Cpu exec, std::span<TableRows const> tables, BeforeRead const& before)
        : group_(group) {
        for (auto const& t : tables) {
            partitions_.push_back(shards_of(t.own->spec().dims[0], group.size()));
            fetches_.emplace_back(exec, Slots(partitions_.back()), group.rank(), "ids", t.rows);
        }
        RowFetch::ask(group, fetches_);
        std::vector<Value> answers(tables.size());
        std::vector<Buffer<std::byte>> came;
        std::vector<ListExchange> lists;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            auto const& f = fetches_[t];
            if (before) {
                before(t, f.asked());
                before(t, f.own());
            }
            answers[t] = tables[t].own->row_values().gather(exec, f.asked());
            auto const e = answers[t].elements();
            std::size_t row_bytes = e.element_size;
            for (std::size_t i = 1; i < e.dims.size(); ++i) row_bytes *= static_cast<std::size_t>(e.dims[i]);
            came.emplace_back(f.others() * row_bytes);
            lists.push_back(f.fetch(row_bytes, e.bytes, bytes_of(came.back())));
        }
        exchange_lists(group, lists);
        for (std::size_t t = 0; t < tables.size(); ++t) {
            auto const own = tables[t].own->row_values().elements().bytes;
            rows.push_back(with_bytes(exec, *tables[t].own, tables[t].rows,
                                      fetches_[t].rows(own.data(), came[t].data(), lists[t].unit)));
        }
    }

    std::vector<RowPieces> sum(Cpu exec, std::span<Gradient const> gradients,
                               std::span<std::int64_t const> keys) const override {
        std::vector<Buffer<std::byte>> send, came;
        std::vector<ListExchange> lists;
        for (auto const& gradient : gradients) {
            auto const& f = fetches_[gradient.table];
            auto const& node = gradient.node;
            send.emplace_back(f.others() * node.row_bytes);
            came.emplace_back(f.asked().size() * node.row_bytes);
            each_piece(f, node, [&](std::size_t at, std::byte const* from) {
                if (at < f.others() && node.row_bytes != 0)
                    std::memcpy(send.back().data() + at * node.row_bytes, from, node.row_bytes);
            });
        }
        for (std::size_t g = 0; g < gradients.size(); ++g)
            lists.push_back(fetches_[gradients[g].table].give(gradients[g].node.row_bytes,
                                                              bytes_of(std::as_const(send[g])), bytes_of(came[g])));
        exchange_lists(group_, lists);
        std::vector<RowPieces> sums;
        for (std::size_t g = 0; g < gradients.size(); ++g) {
            auto const t = gradients[g].table;
            auto const& type = gradients[g].type;
            auto const& node = gradients[g].node;
            auto const& f = fetches_[t];
            std::vector<std::byte const*> own(f.own().size());
            each_piece(f, node, [&](std::size_t at, std::byte const* from) {
                if (at >= f.others()) own[at - f.others()] = from;
            });
            MetRows const met(f, group_.rank());
            auto out = node.like();
            out.resize(met.rows().size());
            for (std::size_t k = 0; k < out.rows.size(); ++k)
                out.rows[k] = partitions_[t].global(group_.rank(), met.rows()[k]);
            met.sum(
                exec, type, node.row_bytes, came[g].data(), [&](std::size_t i) { return own[i]; }, keys,
                out.bytes.data());
            sums.push_back(std::move(out));
        }
        return sums;
    }

private:
    /// Calls f(place, address) for the pieces of a node, which has one for each row that was asked for.
    template <class F>
    static void each_piece(RowFetch const& fetch, RowPieces const& node, F const& f) {
        auto const& plan = fetch.plan();  // of one id a row
        for (std::size_t k = 0; k < plan.rows().size(); ++k)
            f(fetch.place(k), node.bytes.data() + static_cast<std::size_t>(plan.positions()[k]) * node.row_bytes);
    }

    ProcessGroup const& group_;
    std::vector<Partition> partitions_;
    std::vector<RowFetch> fetches_;
};

ROWAN_FUNCTION std::unique_ptr<FetchedTables> fetch_rows(ProcessGroup const& group, Cpu exec,
                                                         std::span<TableRows const> tables, BeforeRead const& before) {
    return std::make_unique<FetchedShards>(group, exec, tables, before);
}

/// The pieces of each rank's rows together, in their order, with slots instead of rows.
inline RowPieces dealt_pieces(Cpu exec, Partition const& partition, Slots const& slots, RowPieces const& in) {
    std::vector<std::size_t> next(static_cast<std::size_t>(partition.ranks) + 1);
    for (auto const row : in.rows) ++next[static_cast<std::size_t>(partition.owner(row)) + 1];
    for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
    auto const to = slots.of(exec, "rows", in.rows);
    auto out = in.like();
    out.resize(in.rows.size());
    for (std::size_t i = 0; i < in.rows.size(); ++i) {
        std::size_t const k = next[static_cast<std::size_t>(partition.owner(in.rows[i]))]++;
        out.rows[k] = to[i];
        out.keys[k] = in.keys[i];
        if (in.row_bytes != 0)
            std::memcpy(out.bytes.data() + k * in.row_bytes, in.bytes.data() + i * in.row_bytes, in.row_bytes);
    }
    return out;
}

ROWAN_FUNCTION RowPieces sum_own_rows(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                                      RowPieces const& nodes, std::int64_t total) {
    int const rank = group->rank();
    Partition const partition = shards_of(nodes.height, group->size());
    Slots const slots(partition);
    auto dealt = dealt_pieces(exec, partition, slots, nodes);
    auto sums = RowReduction(std::move(group), exec, type, std::move(dealt), total, slots.splits()).finish();
    for (auto& row : sums.rows) row = partition.global(rank, row - slots.splits()[static_cast<std::size_t>(rank)]);
    return sums;
}

}  // namespace rowan::inline v0::detail

#endif
