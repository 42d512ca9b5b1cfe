// rowan/layer/detail/part_costs.hpp: what ranks that train together tell each other besides gradients.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/detail/part_exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// `width` numbers of each part of a step, its cost and its weights, where this rank has those of its parts.
inline std::vector<double> numbers_of_parts(PartExchange const* ranks, std::span<double const> own, std::size_t width,
                                            std::int64_t total) {
    if (ranks == nullptr) return {own.begin(), own.end()};
    std::vector<double> all(width * static_cast<std::size_t>(total));
    ranks->must([&] {
        std::vector<std::size_t> bytes;
        for (int r = 0; r < ranks->size(); ++r)
            bytes.push_back(static_cast<std::size_t>(PartRange::of_rank(total, r, ranks->size()).size()) * width *
                            sizeof(double));
        ranks->gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)), bytes);
    });
    return all;
}

/// A number that depends on the names and the bits of variables, and the dims of those that are sharded.
/// cost     one read of them
inline std::uint64_t fingerprint(std::span<Variable* const> variables, std::uint64_t seed) {
    std::uint64_t hash = seed;
    auto const add = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
    };
    auto const add_bytes = [&](std::span<std::byte const> bytes) {
        add(bytes.size());
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            std::size_t const n = bytes.size() < sizeof word ? bytes.size() : sizeof word;
            std::memcpy(&word, bytes.data(), n);
            add(word);
            bytes = bytes.subspan(n);
        }
    };
    for (Variable const* const v : variables) {
        add_bytes(std::as_bytes(std::span(v->name())));
        if (v->sharded()) {
            for (std::int64_t const dim : v->spec().dims) add(static_cast<std::uint64_t>(dim));
            continue;
        }
        Value value = v->value().on_host();
        if (v->spec().type == VarType::SELECTED_ROWS) {
            for (std::int64_t const row : value.row_numbers()) add(static_cast<std::uint64_t>(row));
            value = value.row_values();
        }
        add_bytes(value.elements().bytes);
    }
    return hash;
}

}  // namespace rowan::inline v0::detail
