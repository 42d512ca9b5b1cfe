// rowan/sequence/batches.hpp: append_lengths, split_batch and merge_batches, to extend, split and concatenate batches.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/row_blocks.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Throws ShapeError unless lod has no levels or so many.
void check_same_levels(Lod const& lod, std::size_t levels);

/// append_lengths, of as many levels.
Lod with_more_lengths(Lod const& lod, std::span<Ids<> const> more);

}  // namespace detail

/// Appends sequences, given by their lengths, to each level. If lod has no levels, the result has only the new ones.
/// errors   ShapeError if the number of levels differs or a list of lengths is a tensor whose rank is not 1; LodError
///          as in Lod::from_lengths
/// cost     O(offsets of the result)
template <detail::id_lists R>
Lod append_lengths(Lod const& lod, R const& more) {
    detail::check_same_levels(lod, std::ranges::size(more));
    detail::LevelLists const lists(more);
    return detail::with_more_lengths(lod, {lists.lists.data(), lists.count});
}
inline Lod append_lengths(Lod const& lod, std::initializer_list<Ids<>> more) {
    detail::check_same_levels(lod, more.size());
    return detail::with_more_lengths(lod, {more.begin(), more.size()});
}

/// Splits x into min(count, x.size()) batches with equal numbers of first-level sequences (of rows if x has no levels);
/// the last batch also takes the remainder. The batches alias the rows of x.
/// shapes   x of m sequences, or rows -> min(count, m) batches
/// errors   ShapeError if count is less than 1
/// cost     O(offsets of x), no rows copied
template <class T, class Device, std::integral N>  // so that a braced list selects the overload with sizes
std::vector<LoDTensor<T, Device>> split_batch(LoDTensor<T, Device> const& x, N count) {
    x.check();
    if (std::cmp_less(count, 1)) throw ShapeError("count", count, "at least 1");
    std::size_t const size = x.size();
    auto const parts = std::cmp_less(count, size) ? static_cast<std::size_t>(count) : size;
    std::vector<LoDTensor<T, Device>> batches;
    batches.reserve(parts);
    for (std::size_t k = 0; k < parts; ++k) {
        std::size_t const begin = size / parts * k;
        std::size_t const end = k + 1 == parts ? size : begin + size / parts;
        batches.push_back(x.slice(begin, end));
    }
    return batches;
}

/// Splits x into batches of sizes[k] first-level sequences (rows if x has no levels), which alias the rows of x. This
/// is the adjoint of merge_batches if the sizes are those of the merged batches. Sizes in device memory are copied to
/// the host, which synchronizes.
/// shapes   sizes [parts] -> as many batches
/// errors   IndexError if a size is negative or exceeds what is left; ShapeError if sizes are not a flat list or do not
///          add up to x.size()
/// cost     O(offsets of x), no rows copied
template <class T, class Device>
std::vector<LoDTensor<T, Device>> split_batch(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> sizes) {
    x.check();
    detail::HostIds<Device> const on_host(x.value().device(), sizes);
    Ids<> const& counts = on_host;
    detail::check_list("sizes", counts);
    std::size_t const size = x.size();
    std::vector<LoDTensor<T, Device>> batches;
    batches.reserve(counts.size());
    std::size_t begin = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        auto const left = static_cast<std::int64_t>(size - begin);
        detail::check_at_most("sizes", counts, k, left);
        std::size_t const end = begin + static_cast<std::size_t>(counts[k]);
        batches.push_back(x.slice(begin, end));
        begin = end;
    }
    if (begin != size) throw ShapeError("the sum of sizes", begin, {size, ", x.size()"});
    return batches;
}

/// Concatenates batches: the sequences of the first, then those of the second, and so on.
/// shapes   batches of n_i rows -> one of Σ n_i
/// errors   ShapeError if there are no batches, the numbers of levels or trailing dims differ, or there are more than
///          2^63 - 1 rows
/// cost     one read and one write of every row
template <class T, device D>
LoDTensor<T, D> merge_batches(D const& exec, std::span<LoDTensor<T, D> const> batches) {
    if (batches.empty()) throw ShapeError("batches.size()", "0", "at least 1");
    std::size_t const levels = batches[0].lod().levels();
    std::vector<Lod> lods;
    detail::RowBlocks rows("rows of the batches", batches.size());
    for (std::size_t k = 0; k < batches.size(); ++k) {
        std::string const name = detail::element_name("batches", k);
        batches[k].check();
        detail::check_usable(exec, batches[k].value());
        if (batches[k].lod().levels() != levels) {
            throw ShapeError({name, ".lod().levels()"}, batches[k].lod().levels(), levels);
        }
        rows.add(name.c_str(), batches[k].shape(), batches[k].value().data());
        lods.push_back(batches[k].lod());
    }
    return {rows.joined<T>(exec), detail::join_lods(lods)};
}

template <class T, class Device>
LoDTensor<T, Device> merge_batches(std::span<LoDTensor<T, Device> const> batches) {
    return merge_batches(detail::device_of_first<LoDTensor<T, Device>>(batches), batches);
}
template <class T, class Device>
LoDTensor<T, Device> merge_batches(std::vector<LoDTensor<T, Device>> const& batches) {
    return merge_batches(std::span<LoDTensor<T, Device> const>(batches));
}
template <class T, device D>
LoDTensor<T, D> merge_batches(D const& exec, std::vector<LoDTensor<T, D>> const& batches) {
    return merge_batches(exec, std::span<LoDTensor<T, D> const>(batches));
}

}  // namespace rowan::inline v0

#include <rowan/sequence/batches_inl.hpp>
