// rowan/distributed/detail/row_transfers.hpp: requests of rows, rows, and pieces for them on their way.
#pragma once

#include <rowan/distributed/detail/row_fetch.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace rowan::inline v0::detail {

/// What the ranks of a node ask this rank for: rows of the ranks at its place in all nodes. It asks each other node once
/// for a row.
struct RowRelay {
    Buffer<std::int64_t> asked;        // slots, the lists of the ranks of the node one after another
    std::vector<RowsOfRank> lists;     // of them
    std::vector<std::uint8_t> remote;  // of each: 1 if it is of another node, and else of this rank
    MetRows met;                       // those of other nodes
    std::vector<std::size_t> places;   // of each of these: in met.rows()
    RowRequest nodes;                  // met.rows(), of the ranks at this place

    // In each list, slots ascend by nodes.
    ROWAN_IF_CALLED RowRelay(NodeRoute const& route, RowRequest& mates, Slots const& slots, int rank)
        : asked(std::move(mates.asked)), remote(asked.size()), places(asked.size()) {
        std::int64_t const begin = slots.begin_of(rank), end = begin + slots.rows_of(rank);
        for (std::size_t i = 0; i < asked.size(); ++i) remote[i] = asked[i] < begin || asked[i] >= end ? 1 : 0;
        for (std::size_t q = 0, at = 0; q < route.places; at += mates.receive[q++])
            lists.push_back({route.rank(route.node, q), std::span(asked).subspan(at, mates.receive[q])});
        met = MetRows(lists, {}, remote);
        auto const& rows = met.rows();
        for (std::size_t k = 0; k < rows.size(); ++k) {
            for (std::size_t const piece : met.pieces_of(k)) places[piece] = k;
        }
        nodes.wanted.assign(rows.begin(), rows.end());
        nodes.send = counts_in(std::span(slots.splits()).subspan(route.place * route.nodes, route.nodes + 1), rows);
    }
    RowRelay(RowRelay const&) = delete;  // `lists` refer to `asked`
    RowRelay& operator=(RowRelay const&) = delete;
    ~RowRelay() = default;
};

/// The rows of several tables that this rank asks each rank for, as one list on its way.
class RowMessages {
public:
    /// The words for each rank: for each table of which it is asked for rows, their number and that of the table, and the
    /// rows. Of a single table, unless `padded`, the rows alone.
    ROWAN_IF_CALLED static std::vector<std::size_t> words(std::span<RowRequest* const> tables, bool padded = false) {
        std::vector<std::size_t> words(tables[0]->send.size());
        std::size_t const number = tables.size() > 1 || padded ? 1 : 0;
        for (auto const* t : tables) {
            for (std::size_t r = 0; r < words.size(); ++r) words[r] += t->send[r] == 0 ? 0 : number + t->send[r];
        }
        return words;
    }

    /// What travels, come[r] words from rank r; of a message that is longer than its words, the rest is zeros.
    ROWAN_IF_CALLED ListExchange begin(std::span<RowRequest* const> tables, std::vector<std::size_t> words,
                                       std::vector<std::size_t> come, bool padded = false) {
        numbered_ = tables.size() > 1 || padded;
        words_ = std::move(words);
        come_ = std::move(come);
        out_.reserve(total(words_));
        std::vector<std::size_t> sent(tables.size());
        for (std::size_t r = 0, end = 0; r < words_.size(); ++r) {
            for (std::size_t k = 0; k < tables.size(); ++k) {
                std::size_t const n = tables[k]->send[r];
                if (n == 0) continue;
                if (numbered_) out_.push_back(static_cast<std::int64_t>(n * tables.size() + k));
                auto const from = tables[k]->wanted.begin() + static_cast<std::ptrdiff_t>(sent[k]);
                out_.insert(out_.end(), from, from + static_cast<std::ptrdiff_t>(n));
                sent[k] += n;
            }
            out_.resize(end += words_[r]);
        }
        in_.resize(total(come_));
        return {sizeof(std::int64_t), bytes_of(std::as_const(out_)), words_, bytes_of(in_), come_};
    }
    /// Reads what has come: `asked` and `receive` of each table.
    ROWAN_IF_CALLED void end(std::span<RowRequest* const> tables) {
        for (auto* t : tables) t->receive.assign(come_.size(), 0);
        auto const* from = in_.data();
        for (std::size_t r = 0; r < come_.size(); ++r) {
            auto const* const last = from + come_[r];
            for (std::size_t n = 0; from != last; from += n) {
                n = static_cast<std::size_t>(last - from);
                std::size_t table = 0;
                if (numbered_) {
                    auto const number = static_cast<std::size_t>(*from++);
                    if (number == 0) break;  // what is left of the room
                    n = number / tables.size();
                    table = number % tables.size();
                }
                tables[table]->receive[r] = n;
                tables[table]->asked.insert(tables[table]->asked.end(), from, from + n);
            }
            from = last;
        }
        out_ = in_ = {};
    }

private:
    bool numbered_ = true;
    std::vector<std::int64_t> out_, in_;
    std::vector<std::size_t> words_, come_;
};

/// Rows of several tables on their way to the ranks that have asked for them; all have the same route.
class FetchTransfer {
public:
    /// Rows of so many bytes: answers[i] is that of fetch->asked()[i], and fetch->received() others come.
    struct Rows {
        RowFetch const* fetch;
        std::size_t bytes;
        std::span<std::byte const> answers;
        std::span<std::byte> come;
        Buffer<std::byte> of_nodes = {},
                          of_node = {};  // by a route: what comes for the ranks of this node, and goes to them
    };
    /// What they refer to must stay until `wait`.
    ROWAN_IF_CALLED void add(Rows rows) { tables_.push_back(std::move(rows)); }
    ROWAN_IF_CALLED void begin(ProcessGroup const& group) {
        auto const* const route = tables_[0].fetch->route();
        std::vector<ListExchange> lists;
        for (auto& t : tables_) {
            if (route == nullptr) {
                lists.push_back(t.fetch->request().fetch(t.bytes, t.answers, t.come));
                continue;
            }
            auto const& relay = *t.fetch->relay();
            t.of_nodes = Buffer<std::byte>(relay.met.rows().size() * t.bytes);
            lists.push_back(relay.nodes.fetch(t.bytes, t.answers.first(total(relay.nodes.receive) * t.bytes),
                                              bytes_of(t.of_nodes)));
        }
        lists_.begin(route == nullptr ? group : *route->groups->across, std::move(lists));
    }
    ROWAN_IF_CALLED void wait() {
        lists_.wait();
        auto const* const route = tables_[0].fetch->route();
        if (route == nullptr) return;
        std::vector<ListExchange> lists;
        for (auto& t : tables_) {
            auto const& relay = *t.fetch->relay();
            t.of_node = Buffer<std::byte>(relay.asked.size() * t.bytes);
            auto const* own = t.answers.data() + total(relay.nodes.receive) * t.bytes;
            for (std::size_t i = 0; i < relay.asked.size() && t.bytes != 0; ++i) {
                bool const remote = relay.remote[i] != 0;
                std::memcpy(t.of_node.data() + i * t.bytes,
                            remote ? t.of_nodes.data() + relay.places[i] * t.bytes : own, t.bytes);
                own += remote ? 0 : t.bytes;
            }
            lists.push_back(t.fetch->request().fetch(t.bytes, bytes_of(std::as_const(t.of_node)), t.come));
        }
        exchange_lists(*route->groups->node, std::move(lists));
    }

private:
    std::vector<Rows> tables_;
    ListTransfer lists_;
};

/// Pieces for the rows of several lookups on their way to the ranks that have the rows. What a node has for a row of
/// another travels as one sum.
class GiveTransfer {
public:
    /// A piece, of so many bytes, for each row that `fetch` has received; came[i] is for row i of fetch->asked(). Unless
    /// `all` have one, on all ranks, there is a nonzero number for those that do.
    struct Pieces {
        RowFetch const* fetch;
        ElementSums type;
        std::size_t bytes;
        std::span<std::byte const> send;
        std::span<std::byte> came;
        bool all = true;
        std::span<std::uint8_t const> send_which = {};
        std::span<std::uint8_t> came_which = {};
        // By a route: those of the ranks of this node, for rows of the ranks at this place.
        Buffer<std::byte> of_node = {}, sums = {};
        std::vector<std::uint8_t> of_node_which = {}, sums_which = {};
    };
    /// What they refer to must stay until `wait`. `joins` as for ListTransfer.
    ROWAN_IF_CALLED void add(Pieces pieces) { lookups_.push_back(std::move(pieces)); }
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, bool joins = true) {
        auto const* const route = lookups_.empty() ? nullptr : lookups_[0].fetch->route();
        std::vector<ListExchange> lists;
        for (auto& p : lookups_) {
            auto came = p.came;
            auto which = p.came_which;
            if (route != nullptr) {
                std::size_t const n = p.fetch->relay()->asked.size();
                p.of_node = Buffer<std::byte>(n * p.bytes);
                p.of_node_which.resize(p.all ? 0 : n);
                came = bytes_of(p.of_node);
                which = p.of_node_which;
            }
            auto const& request = p.fetch->request();
            lists.push_back(request.give(p.bytes, p.send, came));
            if (!p.all) lists.push_back(request.give(1, std::as_bytes(p.send_which), std::as_writable_bytes(which)));
        }
        lists_.begin(route == nullptr ? group : *route->groups->node, std::move(lists), joins);
    }
    bool test() { return lists_.test(); }
    /// Rank r brings the node of parts that begins with keys[r].
    ROWAN_IF_CALLED void wait(Cpu exec, std::span<std::int64_t const> keys) {
        lists_.wait();
        auto const* const route = lookups_.empty() ? nullptr : lookups_[0].fetch->route();
        if (route == nullptr) return;
        std::vector<ListExchange> lists;
        for (auto& p : lookups_) {
            sum(exec, p, keys);
            auto const& relay = *p.fetch->relay();
            std::size_t at = total(relay.nodes.receive);
            lists.push_back(relay.nodes.give(p.bytes, bytes_of(std::as_const(p.sums)), p.came.first(at * p.bytes)));
            if (!p.all)
                lists.push_back(relay.nodes.give(1, bytes_of(std::as_const(p.sums_which)),
                                                 std::as_writable_bytes(p.came_which.first(at))));
            for (std::size_t i = 0; i < relay.asked.size(); ++i) {  // those for rows of this rank
                if (relay.remote[i] != 0) continue;
                if (p.bytes != 0) std::memcpy(p.came.data() + at * p.bytes, p.of_node.data() + i * p.bytes, p.bytes);
                if (!p.all) p.came_which[at] = p.of_node_which[i];
                ++at;
            }
        }
        exchange_lists(*route->groups->across, std::move(lists));
    }

private:
    /// Sums the pieces for rows of other nodes.
    ROWAN_IF_CALLED static void sum(Cpu exec, Pieces& pieces, std::span<std::int64_t const> keys) {
        auto const& relay = *pieces.fetch->relay();
        std::size_t const n = relay.met.rows().size(), bytes = pieces.bytes;
        MetRows::Pieces const given{pieces.type, bytes, pieces.of_node.data(), {}, keys};
        if (pieces.all) {
            pieces.sums = Buffer<std::byte>(n * bytes);
            return relay.met.sum(exec, given, pieces.sums.data());
        }
        pieces.sums = Buffer<std::byte>(n * bytes, std::byte{});
        pieces.sums_which.resize(n);
        auto which = pieces.of_node_which;
        for (std::size_t i = 0; i < which.size(); ++i) which[i] = which[i] != 0 && relay.remote[i] != 0 ? 1 : 0;
        MetRows const met(relay.lists, {}, which);
        Buffer<std::byte> sums(met.rows().size() * bytes);
        met.sum(exec, given, sums.data());
        for (std::size_t k = 0; k < met.rows().size(); ++k) {
            std::size_t const place = relay.places[met.pieces_of(k)[0]];
            pieces.sums_which[place] = 1;
            if (bytes != 0) std::memcpy(pieces.sums.data() + place * bytes, sums.data() + k * bytes, bytes);
        }
    }

    std::vector<Pieces> lookups_;
    ListTransfer lists_;
};

ROWAN_CALLED_FUNCTION ListExchange RowRequest::fetch(std::size_t row_bytes, std::span<std::byte const> answers,
                                                     std::span<std::byte> rows) const {
    return {row_bytes, answers, receive, rows.first(total(send) * row_bytes), send};
}

ROWAN_CALLED_FUNCTION ListExchange RowRequest::give(std::size_t row_bytes, std::span<std::byte const> pieces,
                                                    std::span<std::byte> in) const {
    return {row_bytes, pieces.first(total(send) * row_bytes), send, in, receive};
}

ROWAN_CALLED_FUNCTION std::vector<RowRequest*> RowFetch::requests(std::span<RowFetch> tables) {
    std::vector<RowRequest*> all;
    for (auto& t : tables) all.push_back(t.relay_ == nullptr ? &t.request_ : &t.relay_->nodes);
    return all;
}

ROWAN_CALLED_FUNCTION void RowFetch::tell(ProcessGroup const& group, std::span<RowFetch> tables) {
    auto const all = requests(tables);
    auto words = RowMessages::words(all);
    std::vector<std::size_t> come(words.size());
    group.alltoall(bytes_of(std::as_const(words)), bytes_of(come));
    RowMessages messages;
    exchange_lists(group, {messages.begin(all, std::move(words), std::move(come))});
    messages.end(all);
}

ROWAN_CALLED_FUNCTION RowFetch::RowFetch(Cpu exec, Slots const& slots, int rank, char const* field, Ids<> const& ids)
    : slots_(slots), rank_(rank), plan_(exec, slots.of(exec, field, ids), slots.size() + slots.grows()) {
    auto rows = plan_.rows();
    if (!rows.empty() && rows.back() == slots.size()) rows = rows.first(rows.size() - 1);
    auto& send = request_.send;
    send = counts_in(slots.splits(), rows);
    auto const me = slots.position(static_cast<std::size_t>(rank));
    own_begin_ = total(std::span(send).first(me));
    auto const own = rows.subspan(own_begin_, std::exchange(send[me], 0)),
               after = rows.subspan(own_begin_ + own.size());
    own_.assign(own.begin(), own.end());
    for (auto& row : own_) row -= slots.begin_of(rank);
    request_.wanted.reserve(own_begin_ + after.size());
    request_.wanted.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(own_begin_));
    request_.wanted.insert(request_.wanted.end(), after.begin(), after.end());
    if (auto const* const by = route()) {  // of the ranks at a place, together
        for (std::size_t q = 0; q < by->places; ++q) send[q] = total(std::span(send).subspan(q * by->nodes, by->nodes));
        send.resize(by->places);
    }
    places_ =
        Tensor<std::int64_t>::from_shape(Tensor<std::int64_t>::shape_type(ids.shape().begin(), ids.shape().end()));
    auto* const places = places_.data();
    parallel_work(exec, plan_.size() * 4, plan_.rows().size(), std::size_t{1} << 13,
                  [=, this](std::size_t begin, std::size_t end) {
                      auto const offsets = plan_.offsets(), positions = plan_.positions();
                      for (std::size_t k = begin; k < end; ++k) {
                          std::size_t const at = place(k);
                          std::int64_t const to = at < others() ? ~static_cast<std::int64_t>(at) : own_[at - others()];
                          for (auto i = offsets[k]; i < offsets[k + 1]; ++i)
                              places[positions[static_cast<std::size_t>(i)]] = to;
                      }
                  });
}

ROWAN_CALLED_FUNCTION void RowFetch::has_been_asked() { set_asked(std::move(request_.asked), request_.receive); }

ROWAN_CALLED_FUNCTION void RowFetch::set_asked(Buffer<std::int64_t>&& slots, std::vector<std::size_t> counts) {
    request_.wanted = {};
    asked_ = std::move(slots);
    asked_counts_ = std::move(counts);
    for (auto& row : asked_) row -= slots_.begin_of(rank_);
}

ROWAN_CALLED_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<RowFetch> tables) {
    auto const* const route = tables[0].route();
    tell(route == nullptr ? group : *route->groups->node, tables);
    if (route == nullptr) {
        for (auto& t : tables) t.has_been_asked();
        return;
    }
    for (auto& t : tables) t.relay_ = std::make_shared<RowRelay>(*route, t.request_, t.slots_, t.rank_);
    tell(*route->groups->across, tables);
    for (auto& t : tables) t.has_been_asked_by_nodes();
}

ROWAN_CALLED_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<RowFetch> tables,
                                         std::span<std::size_t const> most) {
    std::size_t const me = static_cast<std::size_t>(group.rank());
    auto const room = [&](std::size_t rank) { return most[rank] + std::min(most[rank], tables.size()); };
    std::vector<std::size_t> words(most.size(), room(me)), come;
    words[me] = 0;
    for (std::size_t r = 0; r < most.size(); ++r) come.push_back(r == me ? 0 : room(r));
    auto const all = requests(tables);
    RowMessages messages;
    exchange_lists(group, {messages.begin(all, std::move(words), std::move(come), true)});
    messages.end(all);
    for (auto& t : tables) t.has_been_asked();
}

ROWAN_CALLED_FUNCTION void RowFetch::has_been_asked_by_nodes() {
    relay_->nodes.wanted = {};
    auto rows = std::move(relay_->nodes.asked);
    auto counts = relay_->nodes.receive;
    std::size_t i = 0;
    for (auto const& mate : relay_->lists) {
        std::size_t const before = rows.size();
        for (std::int64_t const row : mate.rows) {
            if (relay_->remote[i++] == 0) rows.push_back(row);
        }
        counts.push_back(rows.size() - before);
    }
    set_asked(std::move(rows), std::move(counts));
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> RowFetch::rank_keys() const {
    std::vector<std::int64_t> keys(ranks());
    std::iota(keys.begin(), keys.end(), std::int64_t{0});
    return keys;
}

ROWAN_CALLED_FUNCTION MetRows RowFetch::met(std::span<std::uint8_t const> own,
                                            std::span<std::uint8_t const> asked) const {
    std::vector<RowsOfRank> lists;
    auto const* const by = route();
    for (std::size_t c = 0, at = 0; c < asked_counts_.size(); at += asked_counts_[c++]) {
        std::size_t const rank = by == nullptr ? c : c < by->nodes ? by->rank(c, 0) : by->rank(by->node, c - by->nodes);
        lists.push_back({rank, std::span(asked_).subspan(at, asked_counts_[c])});
    }
    return {lists, {static_cast<std::size_t>(rank_), own_}, asked, own};
}

ROWAN_CALLED_FUNCTION void RowFetch::send_rows(ProcessGroup const& group, std::size_t row_bytes,
                                               std::span<std::byte const> answers, std::span<std::byte> come) const {
    FetchTransfer transfer;
    transfer.add({this, row_bytes, answers, come});
    transfer.begin(group);
    transfer.wait();
}

ROWAN_CALLED_FUNCTION void RowFetch::give_rows(Cpu exec, ProcessGroup const& group, ElementSums const& type,
                                               std::size_t row_bytes, std::span<std::byte const> pieces,
                                               std::span<std::byte> came) const {
    GiveTransfer transfer;
    transfer.add({this, type, row_bytes, pieces, came});
    transfer.begin(group);
    transfer.wait(exec, rank_keys());
}

}  // namespace rowan::inline v0::detail

#endif
