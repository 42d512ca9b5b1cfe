// rowan/io/safetensors_file_inl.hpp: definitions of rowan/io/safetensors_file.hpp.
#pragma once

#include <rowan/io/safetensors_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/read_parts.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION SafetensorsReader::SafetensorsReader(Cpu e, std::string path) : exec(e), file(std::move(path)) {
    static_cast<void>(thread_count(exec));
    FileReader in(file);
    header = read_safetensors_header(in);
}

ROWAN_FUNCTION SafetensorsHeader::Record const& SafetensorsReader::record(std::string_view name) const {
    auto const* const r = header.find(name);
    if (r == nullptr) throw Error({file.path(), " has no tensor \"", name, "\""});
    return *r;
}

ROWAN_FUNCTION SafetensorsEntry SafetensorsReader::entry(SafetensorsHeader::Record const& r) const {
    return {std::string(header.name(r)), std::string(safetensors_types[r.type].name), header.shape(r), offset(r),
            r.end - r.begin};
}

ROWAN_FUNCTION Tensor<float>::shape_type SafetensorsReader::shape(SafetensorsHeader::Record const& r,
                                                                  std::string_view wanted, std::size_t bytes) const {
    auto dims = header.shape(r);
    auto const type = safetensors_types[r.type].name;
    if (type != wanted || (bytes != 0 && (dims.empty() || !std::cmp_equal(dims.back(), bytes)))) {
        auto const own = bytes == 0 ? "" : " [..., " + std::to_string(bytes) + "]";
        throw TypeError({file.path(), ": ", header.name(r)}, {type, bytes == 0 ? "" : " " + shape_text(dims)},
                        {wanted, own});
    }
    if (bytes != 0) dims.pop_back();
    if (dims.size() > max_tensor_rank) {
        throw FormatError(8 + r.name.at, header.name(r), {"has ", dims.size(), " dims, more than ", max_tensor_rank});
    }
    return {dims.begin(), dims.end()};
}

ROWAN_FUNCTION void SafetensorsReader::read(SafetensorsHeader::Record const& r, std::uint64_t begin,
                                            std::span<std::byte> to) const {
    read_parts(exec, file, offset(r) + begin, to);
    if (safetensors_types[r.type].name != "BOOL") return;
    auto const bad = std::ranges::find_if(to, [](std::byte b) { return b > std::byte{1}; });
    if (bad == to.end()) return;
    throw FormatError(offset(r) + begin + static_cast<std::uint64_t>(bad - to.begin()), header.name(r),
                      {"has the truth value ", std::to_integer<int>(*bad), ", which is neither 0 nor 1"});
}

ROWAN_FUNCTION void SafetensorsReader::read_rows(SafetensorsHeader::Record const& r, Ids<> const& ids,
                                                 std::size_t bytes, std::byte* to) const {
    if (bytes == 0) return;
    Buffer<std::size_t> order(ids.size()), firsts;  // positions in ids, by row; those where a row occurs first
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(ids[i], i); });
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k == 0 || ids[order[k]] != ids[order[k - 1]]) firsts.push_back(order[k]);
    }
    parallel_for(exec, firsts.size(), 16, [&](std::size_t begin, std::size_t end) {
        while (begin != end) {
            std::size_t const first = firsts[begin];
            std::size_t n = 1;  // rows that are consecutive in the file and in the result
            while (begin + n != end && firsts[begin + n] == first + n && std::cmp_equal(ids[first + n] - ids[first], n))
                ++n;
            read(r, static_cast<std::uint64_t>(ids[first]) * bytes, {to + first * bytes, n * bytes});
            begin += n;
        }
    });
    for (std::size_t k = 1; k < order.size(); ++k) {
        if (ids[order[k]] == ids[order[k - 1]]) std::memcpy(to + order[k] * bytes, to + order[k - 1] * bytes, bytes);
    }
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION std::vector<std::string> SafetensorsFile::names() const {
    std::vector<std::string> names;
    names.reserve(size());
    for (Record const& r : state_->header.records()) names.emplace_back(state_->header.name(r));
    return names;
}

ROWAN_FUNCTION std::map<std::string, std::string> SafetensorsFile::metadata() const {
    auto const& header = state_->header;
    std::map<std::string, std::string> all;
    for (auto const& [key, value] : header.metadata())
        all.emplace_hint(all.end(), header.view(key), header.view(value));
    return all;
}

ROWAN_FUNCTION Tensor<std::uint8_t> SafetensorsFile::load_bytes(std::string_view name) const {
    Record const& r = state_->record(name);
    auto bytes = Tensor<std::uint8_t>::from_shape({static_cast<std::size_t>(r.end - r.begin)});
    detail::read_parts(state_->exec, state_->file, state_->offset(r),
                       std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
    return bytes;
}

}  // namespace rowan::inline v0

#endif
