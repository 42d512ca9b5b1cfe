// rowan/distributed/detail/shards_inl.hpp: the functions of shards.hpp.
#pragma once

#include <rowan/distributed/detail/shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shard_exchange.hpp>

#include <cstddef>
#include <cstdint>
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
            partitions_.push_back(t.placement.on(t.own->spec().dims[0], group.size()));
            fetches_.emplace_back(exec, Slots(partitions_.back()), group.rank(), "ids", t.rows);
            numbers.emplace_back(t.rows.begin(), t.rows.end());
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
        std::vector<Travelling> all;
        std::vector<ListExchange> lists;
        for (auto const& gradient : gradients) all.push_back(travelling(gradient));
        for (std::size_t g = 0; g < gradients.size(); ++g) {
            auto const& f = fetches_[gradients[g].table];
            auto& t = all[g];
            lists.push_back(f.give(gradients[g].node.row_bytes, bytes_of(std::as_const(t.send)), bytes_of(t.came)));
            if (!gradients[g].all)
                lists.push_back(f.give(1, bytes_of(std::as_const(t.send_which)), bytes_of(t.came_which)));
        }
        exchange_lists(group_, lists);
        std::vector<RowPieces> sums;
        for (std::size_t g = 0; g < gradients.size(); ++g) {
            auto const& [table, everything, type, node] = gradients[g];
            auto const& t = all[g];
            MetRows const met(exec, fetches_[table], group_.rank(), partitions_[table].rows_of(group_.rank()),
                              t.own_which, t.came_which);
            auto out = node.like();
            out.resize(met.rows().size());
            for (std::size_t k = 0; k < out.rows.size(); ++k)
                out.rows[k] = partitions_[table].global(group_.rank(), met.rows()[k]);
            met.sum(
                exec, type, node.row_bytes, t.came.data(), [&own = t.own](std::size_t i) { return own[i]; }, keys,
                out.bytes.data());
            sums.push_back(std::move(out));
        }
        return sums;
    }

private:
    /// The pieces of a gradient, or zeros, for all rows that were asked for: those of other ranks, which travel, and the
    /// addresses of this rank's; and which have a piece, if not all.
    struct Travelling {
        Buffer<std::byte> send, came;
        std::vector<std::byte const*> own;
        std::vector<std::uint8_t> send_which, own_which, came_which;
    };
    Travelling travelling(Gradient const& gradient) const {
        auto const& node = gradient.node;
        auto const& f = fetches_[gradient.table];
        std::size_t const bytes = node.row_bytes, others = f.others();
        Travelling t;
        t.send = gradient.all ? Buffer<std::byte>(others * bytes) : Buffer<std::byte>(others * bytes, std::byte{});
        t.came = Buffer<std::byte>(f.asked().size() * bytes);
        t.own.resize(f.own().size());
        if (!gradient.all) {
            t.send_which.resize(others);
            t.own_which.resize(f.own().size());
            t.came_which.resize(f.asked().size());
        }
        auto const& named = numbers[gradient.table];
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
                                      RowPieces const& nodes, std::int64_t total, Placement const& placement) {
    int const rank = group->rank();
    Partition const partition = placement.on(nodes.height, group->size());
    Slots const slots(partition);
    auto dealt = dealt_pieces(exec, partition, slots, nodes);
    auto sums = RowReduction(std::move(group), exec, type, std::move(dealt), total, slots.splits()).finish();
    for (auto& row : sums.rows) row = partition.global(rank, row - slots.splits()[static_cast<std::size_t>(rank)]);
    return sums;
}

}  // namespace rowan::inline v0::detail

#endif
