// rowan/distributed/detail/row_transfers_inl.hpp: the functions of row_transfers.hpp.
#pragma once

#include <rowan/distributed/detail/row_transfers.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstring>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void FetchTransfer::add(Rows rows) { tables_.push_back(std::move(rows)); }

ROWAN_CALLED_FUNCTION void FetchTransfer::begin(ProcessGroup const& group) {
    auto const* const route = tables_[0].fetch->route();
    std::vector<ListExchange> lists;
    for (auto& t : tables_) {
        if (route == nullptr) {
            lists.push_back(t.fetch->request().fetch(t.bytes, t.answers, t.come));
            continue;
        }
        auto const& relay = *t.fetch->relay();
        t.of_nodes = Buffer<std::byte>(relay.met.rows().size() * t.bytes);
        lists.push_back(
            relay.nodes.fetch(t.bytes, t.answers.first(total(relay.nodes.receive) * t.bytes), bytes_of(t.of_nodes)));
    }
    lists_.begin(route == nullptr ? group : *route->groups->across, std::move(lists));
}

ROWAN_CALLED_FUNCTION void FetchTransfer::wait() {
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
            std::memcpy(t.of_node.data() + i * t.bytes, remote ? t.of_nodes.data() + relay.places[i] * t.bytes : own,
                        t.bytes);
            own += remote ? 0 : t.bytes;
        }
        lists.push_back(t.fetch->request().fetch(t.bytes, bytes_of(std::as_const(t.of_node)), t.come));
    }
    exchange_lists(*route->groups->node, std::move(lists));
}

ROWAN_CALLED_FUNCTION void GiveTransfer::add(Pieces pieces) { lookups_.push_back(std::move(pieces)); }

ROWAN_CALLED_FUNCTION void GiveTransfer::begin(ProcessGroup const& group, bool joins) {
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

/// Sums the pieces for rows of other nodes.
ROWAN_CALLED_FUNCTION void GiveTransfer::sum(Cpu exec, Pieces& pieces, std::span<std::int64_t const> keys) {
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

ROWAN_CALLED_FUNCTION void GiveTransfer::wait(Cpu exec, std::span<std::int64_t const> keys) {
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

}  // namespace rowan::inline v0::detail

#endif
