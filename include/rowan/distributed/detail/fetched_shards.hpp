// rowan/distributed/detail/fetched_shards.hpp: rows of sharded tables of a net, and their gradients, on their way.
#pragma once

#include <rowan/distributed/detail/shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/row_transfers.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/partition.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace rowan::inline v0::detail {

/// Keeps where the rows are. A template, of which the compiler makes nothing for a program that does not train on ranks.
template <class = void>
class FetchedShards final : public FetchedTables {
public:
    FetchedShards(ProcessGroup const& group, std::shared_ptr<NodeRoute const> const& route, Cpu exec,
                  std::span<TableRows const> tables)
        : group_(group), exec_(exec), route_(route) {
        find(tables);
        if (route_ != nullptr) together = static_cast<int>(route_->places);
        for (std::size_t r = 0; r < fetches_[0].wanted_counts().size(); ++r) {
            std::size_t n = 0;
            for (auto const& f : fetches_) n += f.wanted_counts()[r];
            most_of_one = std::max(most_of_one, static_cast<std::int64_t>(n));
            of_others += static_cast<std::int64_t>(n);
        }
    }
    FetchedShards(ProcessGroup const& group, ProcessGroup const& ahead, Cpu exec, std::span<TableRows const> tables,
                  bool told, std::vector<bool> waits, FetchedShards const& now)
        : group_(group), exec_(exec), ahead_(std::make_unique<Ahead>(ahead, std::move(waits), now)) {
        auto& a = *ahead_;
        for (auto const& t : tables) a.own.push_back(t.own->share());
        if (told) find(tables);
        std::size_t const ranks = static_cast<std::size_t>(ahead.size());
        if (told) a.words = RowMessages::words(RowFetch::requests(fetches_));
        a.words.resize(ranks);
        for (auto& n : a.words) n += told ? 1 : 0;  // 0: this rank tells no rows
        a.their_words.resize(ranks);
        a.equal.assign(ranks, 1);
        a.lists.begin(ahead, {{sizeof(std::size_t), bytes_of(std::as_const(a.words)), a.equal, bytes_of(a.their_words),
                               a.equal}});
    }

    void ask(std::vector<std::array<std::int64_t, 3>> const& words) override {
        std::vector<std::size_t> room;
        bool even = !words.empty() && route_ == nullptr;  // whether each rank asks the others for about as many
        for (int r = 0; r < group_.size() && !words.empty(); ++r) {
            auto const& of_rank = words[words.size() == 1 ? 0 : static_cast<std::size_t>(r)];
            room.push_back(static_cast<std::size_t>(of_rank[1]));
            even = even && of_rank[1] * (group_.size() - 1) <= 2 * of_rank[2] + 512;
            most_asked_ = std::max(most_asked_, static_cast<std::size_t>(of_rank[2]));
        }
        if (even) {
            RowFetch::ask(group_, fetches_, room);
        } else {
            RowFetch::ask(group_, fetches_);
        }
    }
    bool progress() override {
        if (back_ != nullptr) static_cast<void>(back_->transfer.test());
        while (ahead_ != nullptr && ahead_->next != nullptr && ahead_->lists.test()) next_stage();
        return ahead_ == nullptr || ahead_->next == nullptr;
    }
    bool reach() override {
        while (ahead_->next != nullptr) next_stage();
        ahead_->own.clear();
        return ahead_->told;
    }
    void begin_rest(std::span<Value const* const> own, BeforeRead const& before) override {
        for (std::size_t t = 0; t < fetches_.size(); ++t) {
            before(t, fetches_[t].asked());
            before(t, fetches_[t].own());
        }
        if (ahead_ == nullptr) return begin_all(own);
        begin_rows(exec_, rest_, group_, own, 0);
    }
    void end_rest(std::span<Value const* const> own) override {
        ahead_ == nullptr ? all_.wait() : take_rows(rest_, 0);
        for (std::size_t t = 0; t < fetches_.size(); ++t) {
            auto const bytes = own[t]->row_values().elements().bytes;
            auto const& come = travelling_[t];
            rows.push_back(with_bytes(exec_, *own[t], numbers[t],
                                      fetches_[t].rows(bytes.data(), come.came.data(), come.row_bytes)));
        }
        travelling_.clear();
    }

    void begin_sum(std::vector<Gradient>&& gradients) override {
        auto back = std::make_unique<Back>();
        back->gradients = std::move(gradients);
        std::size_t width = 0;  // of the widest row, in bytes
        for (auto const& g : back->gradients) {
            back->pieces.push_back(pieces_of(g, fetches_[g.table], numbers[g.table]));
            width = std::max(width, g.node.row_bytes);
        }
        for (std::size_t i = 0; i < back->pieces.size(); ++i) {
            auto const& g = back->gradients[i];
            auto& p = back->pieces[i];
            back->transfer.add({&fetches_[g.table], g.type, g.node.row_bytes, bytes_of(std::as_const(p.send)),
                                bytes_of(p.came), g.all, p.send_which, p.came_which});
        }
        back->transfer.begin(group_, most_asked_ * width <= most_joined);
        back_ = std::move(back);
    }
    std::vector<RowPieces> end_sum(Cpu exec, std::span<std::int64_t const> keys) override {
        auto const back = std::move(back_);
        back->transfer.wait(exec, keys);
        std::vector<RowPieces> sums;
        for (std::size_t i = 0; i < back->pieces.size(); ++i) {
            auto const& g = back->gradients[i];
            auto const& p = back->pieces[i];
            auto const met = fetches_[g.table].met(p.own_which, p.came_which);
            auto& out = sums.emplace_back(g.node.like());
            out.resize(met.rows().size());
            for (std::size_t k = 0; k < out.rows.size(); ++k)
                out.rows[k] = partitions_[g.table].global(group_.rank(), met.rows()[k]);
            met.sum(exec, {g.type, g.node.row_bytes, p.came.data(), [&p](std::size_t k) { return p.own[k]; }, keys},
                    out.bytes.data());
        }
        return sums;
    }

private:
    void find(std::span<TableRows const> tables) {
        for (auto const& t : tables) {
            partitions_.push_back(t.placement.on(t.own->spec().dims[0], group_.size()));
            fetches_.emplace_back(exec_, Slots(partitions_.back(), route_), group_.rank(), "ids", t.rows);
            numbers.emplace_back(t.rows.begin(), t.rows.end());
        }
        travelling_.resize(fetches_.size());
    }

    /// Rows of a table that travel: all, or for the next step first some, and then the others.
    struct Travelling {
        std::vector<std::uint8_t> which;       // of those that others ask for
        std::vector<std::uint8_t> which_come;  // of those of others
        std::vector<std::size_t> counts, come_counts;
        Value sent;
        Buffer<std::byte> part, came;
        std::size_t row_bytes = 0;
    };
    /// The pieces of a gradient, or zeros, for all rows that were asked for: those of other ranks, which travel, and the
    /// addresses of this rank's; and which have a piece, if not all.
    struct Pieces {
        Buffer<std::byte> send, came;
        std::vector<std::byte const*> own;
        std::vector<std::uint8_t> send_which, own_which, came_which;
    };
    static Pieces pieces_of(Gradient const& gradient, RowFetch const& f, std::span<std::int64_t const> named) {
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
    /// Gradients on their way to those that have the rows.
    struct Back {
        std::vector<Gradient> gradients;
        std::vector<Pieces> pieces;
        GiveTransfer transfer;
    };
    /// What goes on while a step runs.
    struct Ahead {
        Ahead(ProcessGroup const& all, std::vector<bool>&& wait, FetchedShards const& step)
            : group(all), waits(std::move(wait)), now(&step) {}
        ProcessGroup const& group;
        std::vector<bool> waits;
        FetchedShards const* now;
        std::vector<Value> own;  // aliases
        std::vector<std::size_t> words, their_words, equal;
        RowMessages messages;
        ListTransfer lists;
        void (FetchedShards::*next)() = &FetchedShards::tell_rows;  // when the lists have come
        bool told = false;
    };
    void next_stage() {
        after_agreement(ahead_->group, [this] {
            ahead_->lists.wait();
            (this->*ahead_->next)();
        });
    }
    void tell_rows() {
        auto& a = *ahead_;
        a.next = nullptr;
        if (std::ranges::count(a.their_words, std::size_t{0}) != 0) return;
        a.told = true;
        for (auto* const words : {&a.words, &a.their_words}) {
            for (auto& n : *words) --n;
        }
        a.lists.begin(a.group, {a.messages.begin(RowFetch::requests(fetches_), a.words, a.their_words)});
        a.next = &FetchedShards::tell_which;
    }
    /// Of the rows that others ask for, those come now that the step does not change.
    void tell_which() {
        auto& a = *ahead_;
        a.messages.end(RowFetch::requests(fetches_));
        std::vector<ListExchange> lists;
        for (std::size_t t = 0; t < fetches_.size(); ++t) {
            auto& f = fetches_[t];
            f.has_been_asked();
            auto& which = travelling_[t].which;
            which.assign(f.asked().size(), 0);
            if (!a.waits[t]) {
                auto const changes = a.now->fetches_[t].met();  // of this rank's rows
                for (std::size_t i = 0; i < which.size(); ++i)
                    which[i] = std::ranges::binary_search(changes.rows(), f.asked()[i]) ? 0 : 1;
            }
            travelling_[t].which_come.resize(f.received());
            lists.push_back(f.request().fetch(1, bytes_of(std::as_const(which)), bytes_of(travelling_[t].which_come)));
        }
        a.lists.begin(a.group, std::move(lists));
        a.next = &FetchedShards::send_rows;
    }
    void send_rows() {
        std::vector<Value const*> own;
        for (auto const& table : ahead_->own) own.push_back(&table);
        begin_rows(Cpu{1}, ahead_->lists, ahead_->group, own, 1);  // beside the threads of the net
        ahead_->next = &FetchedShards::have_rows;
    }
    void have_rows() {
        take_rows(ahead_->lists, 1);
        ahead_->next = nullptr;
    }

    /// How many of the rows of each rank have this number.
    static std::vector<std::size_t> counts_of(std::vector<std::uint8_t> const& which,
                                              std::vector<std::size_t> const& all, std::uint8_t number) {
        std::vector<std::size_t> counts;
        auto from = which.begin();
        for (std::size_t const n : all) {
            auto const end = from + static_cast<std::ptrdiff_t>(n);
            counts.push_back(static_cast<std::size_t>(std::count(from, end, number)));
            from = end;
        }
        return counts;
    }
    /// The rows that others ask for, or some of them, in `sent`.
    static void read(Cpu exec, Value const& own, Buffer<std::int64_t> const& rows, Travelling& to) {
        to.sent = own.row_values().gather(exec, rows);
        auto const dims = to.sent.elements().dims;
        to.row_bytes = to.sent.elements().element_size;
        for (std::size_t i = 1; i < dims.size(); ++i) to.row_bytes *= static_cast<std::size_t>(dims[i]);
    }
    void begin_all(std::span<Value const* const> own) {
        for (std::size_t t = 0; t < fetches_.size(); ++t) {
            auto& r = travelling_[t];
            read(exec_, *own[t], fetches_[t].asked(), r);
            r.came = Buffer<std::byte>(fetches_[t].received() * r.row_bytes);
            all_.add({&fetches_[t], r.row_bytes, r.sent.elements().bytes, bytes_of(r.came)});
        }
        all_.begin(group_);
    }
    /// Sends the rows that others ask for, those with this number in `which`.
    void begin_rows(Cpu exec, ListTransfer& transfer, ProcessGroup const& group, std::span<Value const* const> own,
                    std::uint8_t number) {
        std::vector<ListExchange> lists;
        for (std::size_t t = 0; t < fetches_.size(); ++t) {
            auto const& f = fetches_[t];
            auto& r = travelling_[t];
            r.counts = counts_of(r.which, f.asked_counts(), number);
            r.come_counts = counts_of(r.which_come, f.wanted_counts(), number);
            Buffer<std::int64_t> some;
            for (std::size_t i = 0; i < r.which.size(); ++i) {
                if (r.which[i] == number) some.push_back(f.asked()[i]);
            }
            read(exec, *own[t], some, r);
            r.part = Buffer<std::byte>(total(r.come_counts) * r.row_bytes);
            lists.push_back({r.row_bytes, r.sent.elements().bytes, r.counts, bytes_of(r.part), r.come_counts});
        }
        transfer.begin(group, std::move(lists));
    }
    void take_rows(ListTransfer& transfer, std::uint8_t number) {
        transfer.wait();
        for (auto& r : travelling_) {
            r.sent = {};
            r.came.resize(r.which_come.size() * r.row_bytes);
            auto const* from = r.part.data();
            for (std::size_t i = 0; i < r.which_come.size(); ++i) {
                if (r.which_come[i] != number || r.row_bytes == 0) continue;
                std::memcpy(r.came.data() + i * r.row_bytes, from, r.row_bytes);
                from += r.row_bytes;
            }
            r.part = {};
        }
    }

    ProcessGroup const& group_;
    Cpu exec_;
    std::vector<Partition> partitions_;
    std::vector<RowFetch> fetches_;
    std::vector<Travelling> travelling_;  // until all have come
    std::shared_ptr<NodeRoute const> route_;
    FetchTransfer all_;
    ListTransfer rest_;             // of the next step's rows
    std::size_t most_asked_ = 0;    // the most rows of others that a rank asks for
    std::unique_ptr<Ahead> ahead_;  // of the next step
    std::unique_ptr<Back> back_;
};

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> fetch_rows(ProcessGroup const& group,
                                                                std::shared_ptr<NodeRoute const> const& route, Cpu exec,
                                                                std::span<TableRows const> tables) {
    return std::make_unique<FetchedShards<>>(group, route, exec, tables);
}

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> begin_fetch_rows(ProcessGroup const& group,
                                                                      ProcessGroup const& ahead, Cpu exec,
                                                                      std::span<TableRows const> tables, bool told,
                                                                      std::vector<bool> waits,
                                                                      FetchedTables const& now) {
    return std::make_unique<FetchedShards<>>(group, ahead, exec, tables, told, std::move(waits),
                                             static_cast<FetchedShards<> const&>(now));
}

/// The sums of this rank's rows, narrowed. `nodes` are as those of RowReduction. For ranks that have agreed.
/// cost     every row sent once to the rank that has it
ROWAN_IF_CALLED inline RowPieces sum_own_rows(ProcessGroup const& group, Cpu exec, ElementSums const& type,
                                              RowPieces const& nodes, std::int64_t total, Placement const& placement) {
    int const rank = group.rank();
    Partition const partition = placement.on(nodes.height, group.size());
    Slots const slots(partition);
    std::vector<int> owners;
    owners.reserve(nodes.rows.size());
    for (auto const row : nodes.rows) owners.push_back(partition.owner(row));
    auto const to = slots.of(exec, "rows", nodes.rows);
    auto dealt = nodes.like();  // with slots instead of rows, those of each rank together
    dealt.resize(nodes.rows.size());
    std::size_t const bytes = nodes.row_bytes;
    std::size_t k = 0;
    for (std::size_t const i : ByRank(owners, static_cast<std::size_t>(partition.ranks)).order) {
        dealt.rows[k] = to[i];
        dealt.keys[k] = nodes.keys[i];
        if (bytes != 0) std::memcpy(dealt.bytes.data() + k * bytes, nodes.bytes.data() + i * bytes, bytes);
        ++k;
    }
    auto sums = RowReduction(group, exec, type, std::move(dealt), total, slots.splits()).finish();
    for (auto& row : sums.rows) row = partition.global(rank, row - slots.begin_of(rank));
    return sums;
}

}  // namespace rowan::inline v0::detail

#endif
