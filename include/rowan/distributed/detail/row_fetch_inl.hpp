// rowan/distributed/detail/row_fetch_inl.hpp: the functions of row_fetch.hpp.
#pragma once

#include <rowan/distributed/detail/row_fetch.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ListExchange RowRequest::fetch(std::size_t row_bytes, std::span<std::byte const> answers,
                                                     std::span<std::byte> rows) const {
    return {row_bytes, answers, receive, rows.first(total(send) * row_bytes), send};
}

ROWAN_CALLED_FUNCTION ListExchange RowRequest::give(std::size_t row_bytes, std::span<std::byte const> pieces,
                                                    std::span<std::byte> in) const {
    return {row_bytes, pieces.first(total(send) * row_bytes), send, in, receive};
}

ROWAN_CALLED_FUNCTION std::size_t RowFetch::received() const { return total(request_.send); }

ROWAN_CALLED_FUNCTION std::vector<std::size_t> RowMessages::words(std::span<RowRequest* const> tables, bool padded) {
    std::vector<std::size_t> words(tables[0]->send.size());
    std::size_t const number = tables.size() > 1 || padded ? 1 : 0;
    for (auto const* t : tables) {
        for (std::size_t r = 0; r < words.size(); ++r) words[r] += t->send[r] == 0 ? 0 : number + t->send[r];
    }
    return words;
}

ROWAN_CALLED_FUNCTION ListExchange RowMessages::begin(std::span<RowRequest* const> tables,
                                                      std::vector<std::size_t> words, std::vector<std::size_t> come,
                                                      bool padded) {
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

ROWAN_CALLED_FUNCTION void RowMessages::end(std::span<RowRequest* const> tables) {
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

ROWAN_CALLED_FUNCTION std::vector<RowRequest*> RowFetch::requests(std::span<RowFetch> tables) {
    std::vector<RowRequest*> all;
    for (auto& t : tables) all.push_back(&t.next_request());
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

// In each list, slots ascend by nodes.
ROWAN_CALLED_FUNCTION RowRelay::RowRelay(NodeRoute const& route, RowRequest& mates, Slots const& slots, int rank)
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

}  // namespace rowan::inline v0::detail

#endif
