// rowan/op/detail/store_bags.hpp: store_bags, the pooling of bags of ids of a RowStore.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/op/detail/bag_lookups.hpp>
#include <rowan/sparse/row_store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// BagLookups<Cpu>::lookup for a store, with the same bits as for its rows as a tensor. Rows of integers are decoded in
/// registers; of others, some at a time are decoded to memory that stays in the cache.
template <class T, class I>
LoDTensor<T> store_bags(Cpu exec, RowStore<T> const& store, LoDTensor<I> const& ids, T const* weights, Pooling pool) {
    using Lookups = BagLookups<Cpu>;
    check_ids(exec, "ids", ids.value(), store.height());
    std::span<std::int64_t const> const offsets = last_level(ids.lod());
    std::size_t const width = store.width(), most = std::max<std::size_t>(64, 16384 / (width + 1));
    Bags<T, std::int64_t> bags{.table = nullptr,
                               .height = 0,
                               .width = width,
                               .ids = nullptr,
                               .weights = weights,
                               .offsets = offsets.data(),
                               .bags = offsets.size() - 1,
                               .pool = pool};
    auto out = Tensor<T>::from_shape({bags.bags, width});
    if (Lookups::one_each(bags)) {
        RowStoreAccess::copy(exec, store, ids.value(), out.data());
        return {std::move(out), upper_levels(ids.lod())};
    }
    Buffer<std::byte> room;
    StoredRows const& stored = RowStoreAccess::rows(store);
    ListedRows const rows = RowStoreAccess::fetch(exec, store, ids.value(), room);
    if constexpr (std::is_same_v<T, float>) {
        if (stored.sum != nullptr && pool != Pooling::max) {
            Buffer<std::int64_t> positions(rows.wide == nullptr ? ids.value().size() : 0);
            for (std::size_t i = 0; i < positions.size(); ++i)
                positions[i] = rows.narrow == nullptr ? static_cast<std::int64_t>(i) : rows.narrow[i];
            Buffer<float> divisors(pool == Pooling::sum ? 0 : bags.bags);
            for (std::size_t b = 0; b < divisors.size(); ++b) divisors[b] = bags.divisor(b);
            EncodedBags const encoded{stored.format,
                                      width,
                                      stored.bytes,
                                      rows.base,
                                      rows.wide == nullptr ? positions.data() : rows.wide,
                                      offsets,
                                      weights,
                                      divisors.empty() ? nullptr : divisors.data(),
                                      pool == Pooling::mean};
            for_sequences(exec, offsets, width,
                          [&](std::size_t begin, std::size_t end) { stored.sum(encoded, begin, end, out.data()); });
            return {std::move(out), upper_levels(ids.lod())};
        }
    }
    auto const length = [&](std::size_t begin, std::size_t end) {
        return static_cast<std::size_t>(offsets[end] - offsets[begin]);
    };
    for_sequences(exec, offsets, width, [&](std::size_t begin, std::size_t end) {
        Buffer<T> decoded;
        Buffer<std::int64_t> position, from;
        while (begin < end) {
            std::size_t last = begin + 1;
            while (last < end && length(begin, last + 1) <= most) ++last;
            std::size_t const n = length(begin, last), first = bags.begin(begin);
            decoded.resize(n * width);
            stored.copy(
                Cpu{.threads = 1}, n, [&](std::size_t i) { return rows(first + i); }, decoded.data());
            position.resize(n);
            std::iota(position.begin(), position.end(), std::int64_t{0});
            from.assign(offsets.data() + begin, offsets.data() + last + 1);
            for (auto& offset : from) offset -= offsets[begin];
            Bags<T, std::int64_t> some = bags;
            some.table = decoded.data();
            some.height = n;
            some.ids = position.data();
            some.weights = weights == nullptr ? nullptr : weights + first;
            some.offsets = from.data();
            some.bags = last - begin;
            Lookups::pool_range(some, position.data(), n, 0, some.bags, out.data() + begin * width, width);
            begin = last;
        }
    });
    return {std::move(out), upper_levels(ids.lod())};
}

}  // namespace rowan::inline v0::detail
