// rowan/detail/dense_pieces_inl.hpp: the functions of dense_pieces.hpp.
#pragma once

#include <rowan/detail/dense_pieces.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void sum_dense(Cpu exec, ElementSums const& type, std::size_t elements,
                                     std::span<std::int64_t const> keys, std::span<std::byte const* const> from,
                                     std::byte* out) {
    static constexpr std::size_t grain = 1024;  // sums, with those that wait, in the first cache
    std::size_t const ranges = (elements + grain - 1) / grain;
    parallel_work(exec, elements * keys.size(), ranges, 64, [&](std::size_t first, std::size_t last) {
        std::size_t const rest = elements % grain;
        auto const run = [&](std::size_t begin, std::size_t end, std::size_t n) {
            TreeSum sum(type, n, keys.back());
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t const at = i * grain * type.sum_bytes;
                sum.begin(out + at);
                for (std::size_t k = 0; k < keys.size(); ++k) sum.add(keys[k], from[k] + at);
                sum.end();
            }
        };
        bool const has_rest = last == ranges && rest != 0;
        run(first, has_rest ? last - 1 : last, grain);
        if (has_rest) run(last - 1, last, rest);
    });
}

ROWAN_CALLED_FUNCTION DensePieces sum_pieces(Cpu exec, ElementSums const& type, std::span<DensePieces const> in,
                                             std::span<std::int64_t const> ends) {
    DensePieces out;
    out.elements = in[0].elements;
    out.element_bytes = in[0].element_bytes;
    std::vector<std::int64_t> keys;
    std::vector<std::byte const*> at;
    for (auto const& p : in) {
        for (std::size_t i = 0; i < p.keys.size(); ++i) {
            keys.push_back(p.keys[i]);
            at.push_back(p.bytes.data() + i * p.piece_bytes());
        }
    }
    std::vector<std::size_t> first;  // piece of each piece of the result
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i != 0 && (ends.size() <= 1 || node_of(ends, keys[i]) == node_of(ends, keys[i - 1]))) continue;
        first.push_back(i);
        out.keys.push_back(keys[i]);
    }
    first.push_back(keys.size());
    out.bytes = Storage<std::byte>(out.keys.size() * out.piece_bytes());
    for (std::size_t k = 0; k < out.keys.size(); ++k) {
        std::size_t const n = first[k + 1] - first[k];
        sum_dense(exec, type, out.elements, std::span(keys).subspan(first[k], n), std::span(at).subspan(first[k], n),
                  out.bytes.data() + k * out.piece_bytes());
    }
    return out;
}

ROWAN_CALLED_FUNCTION DensePieces node_pieces(Cpu exec, ElementSums const& type, std::vector<DensePieces>&& parts,
                                              std::int64_t first, std::int64_t total) {
    if (parts.size() == 1) return std::move(parts[0]);
    std::int64_t const end = first + static_cast<std::int64_t>(parts.size());
    return sum_pieces(exec, type, parts, whole_nodes(first, end, total));
}

ROWAN_CALLED_FUNCTION DensePieces narrow_pieces(Cpu exec, ElementSums const& type, DensePieces&& in) {
    if (type.narrow == nullptr && !in.lent) return std::move(in);
    std::size_t const n = in.keys.size() * in.elements;
    Storage<std::byte> bytes(n * type.bytes);
    parallel_work(exec, n, n, serial_below, [&](std::size_t begin, std::size_t end) {
        auto const* const from = in.bytes.data() + begin * type.sum_bytes;
        auto* const to = bytes.data() + begin * type.bytes;
        if (type.narrow != nullptr) {
            type.narrow(end - begin, from, to);
        } else {
            std::memcpy(to, from, (end - begin) * type.bytes);
        }
    });
    in.bytes = std::move(bytes);
    in.element_bytes = type.bytes;
    in.lent = false;
    return std::move(in);
}

}  // namespace rowan::inline v0::detail

#endif
