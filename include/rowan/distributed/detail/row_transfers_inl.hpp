// rowan/distributed/detail/row_transfers_inl.hpp: the functions of row_transfers.hpp.
#pragma once

#include <rowan/distributed/detail/row_transfers.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstring>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void FetchTransfer::begin(ProcessGroup const& group, std::vector<Rows> tables) {
    tables_ = std::move(tables);
    auto const* const route = tables_[0].fetch->route();
    std::vector<ListExchange> lists;
    for (auto const& t : tables_) {
        if (route == nullptr) {
            lists.push_back(t.fetch->request().fetch(t.bytes, t.answers, t.come));
            continue;
        }
        auto const& relay = *t.fetch->relay();
        auto& rows = of_nodes_.emplace_back(relay.met.rows().size() * t.bytes);
        lists.push_back(
            relay.nodes.fetch(t.bytes, t.answers.first(total(relay.nodes.receive) * t.bytes), bytes_of(rows)));
    }
    lists_.begin(route == nullptr ? group : *route->groups->across, std::move(lists));
}

ROWAN_FUNCTION void FetchTransfer::wait() {
    lists_.wait();
    auto const* const route = tables_[0].fetch->route();
    if (route == nullptr) return;
    std::vector<Buffer<std::byte>> answers;
    std::vector<ListExchange> lists;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        auto const& rows = tables_[t];
        auto const& relay = *rows.fetch->relay();
        auto& to = answers.emplace_back(relay.asked.size() * rows.bytes);
        auto const* own = rows.answers.data() + total(relay.nodes.receive) * rows.bytes;
        for (std::size_t i = 0; i < relay.asked.size() && rows.bytes != 0; ++i) {
            bool const remote = relay.remote[i] != 0;
            std::memcpy(to.data() + i * rows.bytes, remote ? of_nodes_[t].data() + relay.places[i] * rows.bytes : own,
                        rows.bytes);
            own += remote ? 0 : rows.bytes;
        }
        lists.push_back(rows.fetch->request().fetch(rows.bytes, bytes_of(std::as_const(to)), rows.come));
    }
    exchange_lists(*route->groups->node, std::move(lists));
    of_nodes_.clear();
}

ROWAN_FUNCTION void GiveTransfer::begin(ProcessGroup const& group, std::vector<Pieces> lookups, bool joins) {
    lookups_ = std::move(lookups);
    if (lookups_.empty()) return;
    auto const* const route = lookups_[0].fetch->route();
    std::vector<ListExchange> lists;
    for (auto const& p : lookups_) {
        auto came = p.came;
        auto which = p.came_which;
        if (route != nullptr) {
            std::size_t const n = p.fetch->relay()->asked.size();
            auto& mine = of_node_.emplace_back(OfNode{Buffer<std::byte>(n * p.bytes), {}, {}, {}});
            mine.came_which.resize(p.all ? 0 : n);
            came = bytes_of(mine.came);
            which = mine.came_which;
        }
        auto const& request = p.fetch->request();
        lists.push_back(request.give(p.bytes, p.send, came));
        if (!p.all) lists.push_back(request.give(1, std::as_bytes(p.send_which), std::as_writable_bytes(which)));
    }
    lists_.begin(route == nullptr ? group : *route->groups->node, std::move(lists), joins);
}

/// Sums the pieces for rows of other nodes.
ROWAN_FUNCTION void GiveTransfer::sum(Cpu exec, Pieces const& pieces, OfNode& mine,
                                      std::span<std::int64_t const> keys) {
    auto const& relay = *pieces.fetch->relay();
    std::size_t const n = relay.met.rows().size(), bytes = pieces.bytes;
    MetRows::Pieces const given{pieces.type, bytes, mine.came.data(), {}, keys};
    if (pieces.all) {
        mine.sums = Buffer<std::byte>(n * bytes);
        return relay.met.sum(exec, given, mine.sums.data());
    }
    mine.sums = Buffer<std::byte>(n * bytes, std::byte{});
    mine.sums_which.resize(n);
    auto which = mine.came_which;
    for (std::size_t i = 0; i < which.size(); ++i) which[i] = which[i] != 0 && relay.remote[i] != 0 ? 1 : 0;
    MetRows const met(relay.lists, {}, which);
    Buffer<std::byte> sums(met.rows().size() * bytes);
    met.sum(exec, given, sums.data());
    for (std::size_t k = 0; k < met.rows().size(); ++k) {
        std::size_t const place = relay.places[met.pieces_of(k)[0]];
        mine.sums_which[place] = 1;
        if (bytes != 0) std::memcpy(mine.sums.data() + place * bytes, sums.data() + k * bytes, bytes);
    }
}

ROWAN_FUNCTION void GiveTransfer::wait(Cpu exec, std::span<std::int64_t const> keys) {
    lists_.wait();
    std::vector<ListExchange> lists;
    for (std::size_t k = 0; k < of_node_.size(); ++k) {
        auto const& p = lookups_[k];
        auto& mine = of_node_[k];
        auto const& relay = *p.fetch->relay();
        sum(exec, p, mine, keys);
        std::size_t at = total(relay.nodes.receive);
        lists.push_back(relay.nodes.give(p.bytes, bytes_of(std::as_const(mine.sums)), p.came.first(at * p.bytes)));
        if (!p.all)
            lists.push_back(relay.nodes.give(1, bytes_of(std::as_const(mine.sums_which)),
                                             std::as_writable_bytes(p.came_which.first(at))));
        for (std::size_t i = 0; i < relay.asked.size(); ++i) {  // those for rows of this rank
            if (relay.remote[i] != 0) continue;
            if (p.bytes != 0) std::memcpy(p.came.data() + at * p.bytes, mine.came.data() + i * p.bytes, p.bytes);
            if (!p.all) p.came_which[at] = mine.came_which[i];
            ++at;
        }
    }
    if (!of_node_.empty()) exchange_lists(*lookups_[0].fetch->route()->groups->across, std::move(lists));
    of_node_.clear();
}

}  // namespace rowan::inline v0::detail

#endif
