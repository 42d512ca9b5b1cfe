// rowan/train/detail/part_costs.hpp: what ranks that train together tell each other besides gradients.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// `width` numbers of each part of a step, its cost and its weights, where this rank has those of its parts.
inline std::vector<double> numbers_of_parts(Ranks const* ranks, std::span<double const> own, std::size_t width,
                                            std::int64_t total) {
    if (ranks == nullptr) return {own.begin(), own.end()};
    std::vector<double> all;
    ranks->must([&] {
        all.resize(width * static_cast<std::size_t>(total));
        std::vector<std::size_t> bytes;
        for (int r = 0; r < ranks->size(); ++r)
            bytes.push_back(static_cast<std::size_t>(PartRange::of_rank(total, r, ranks->size()).size()) * width *
                            sizeof(double));
        ranks->gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)), bytes);
    });
    return all;
}

/// Adds the kinds, the dims and numbers for the bits of variables; of those that are sharded no bits.
/// cost     one read of them
inline void add_variables(NamedValues& to, std::span<Variable* const> variables) {
    for (Variable const* const v : variables) {
        to.add(v->name(),
               kind_text(v->spec()).append(shape_text(v->sharded() ? v->spec().dims : v->value().spec().dims)));
        if (v->sharded()) continue;
        Value value = v->value().on_host();
        if (v->spec().type == VarType::SELECTED_ROWS) {
            auto const rows = value.row_numbers();
            to.add(std::string("a hash of the first rows of ").append(v->name()),
                   hash_of(std::as_bytes(std::span(rows))));
            value = value.row_values();
        }
        to.add(std::string("a hash of the first value of ").append(v->name()), hash_of(value.elements().bytes));
    }
}

}  // namespace rowan::inline v0::detail
