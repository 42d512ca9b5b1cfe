// rowan/io/detail/gguf_header_inl.hpp: definitions of rowan/io/detail/gguf_header.hpp.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/io/detail/gguf_header.hpp>
#include <rowan/io/detail/utf8.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace rowan::inline v0::detail {

/// The size of a number of this type; 0 for the others.
ROWAN_FUNCTION unsigned gguf_number_bytes(GgufKind kind) {
    constexpr std::array<unsigned, 13> sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return sizes[static_cast<std::size_t>(kind)];
}

ROWAN_CALLED_FUNCTION std::string_view kind_text(GgufKind kind) {
    constexpr std::array<std::string_view, 13> names{"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                     "bool", "string", "array", "u64", "i64", "f64"};
    return names[static_cast<std::size_t>(kind)];
}

ROWAN_FUNCTION GgufKind read_gguf_kind(BufferedReader& in) {
    std::uint64_t const place = in.position();
    auto const kind = in.number<std::uint32_t>("the type of a value");
    if (kind > 12) throw FormatError(place, "the type of a value", {"is ", kind, ", which is unknown"});
    return static_cast<GgufKind>(kind);
}

/// errors   FormatError if n things of at least `least` bytes each are more than are left
ROWAN_FUNCTION void check_gguf_count(char const* field, std::uint64_t n, std::uint64_t least, std::uint64_t place,
                                     std::uint64_t left) {
    if (n <= left / least) return;
    throw FormatError(place, field, {"is ", n, ", more than the ", left, " bytes that follow have"});
}

/// Ascending by name; throws FormatError if there is one twice.
template <class List, class Name>
void sort_gguf(List& list, char const* field, Name const& name) {
    std::ranges::sort(
        list, [&](auto const& a, auto const& b) { return std::pair(name(a), a.place) < std::pair(name(b), b.place); });
    auto const same = [&](auto const& a, auto const& b) { return name(a) == name(b); };
    auto const twice = std::ranges::adjacent_find(list, same);
    if (twice == list.end()) return;
    throw FormatError(std::next(twice)->place, field, {"\"", name(*twice), "\" is there twice"});
}

ROWAN_CALLED_FUNCTION GgufHeader::GgufHeader(BufferedReader& in) {
    std::array<char, 4> magic;
    in.read("the magic number", std::as_writable_bytes(std::span(magic)));
    if (std::string_view(magic.data(), magic.size()) != "GGUF")
        throw FormatError(0, "the magic number", "is not that of a GGUF file");
    version_ = in.number<std::uint32_t>("the version");
    if (version_ != 0 && version_ % (1 << 16) == 0)
        throw FormatError(4, "the version", "is that of a big-endian file, supported are little-endian ones");
    if (version_ != 2 && version_ != 3)
        throw FormatError(4, "the version", {"is ", version_, ", supported are 2 and 3"});
    std::uint64_t const tensors = read_count(in, "the number of tensors", 24);
    std::uint64_t const pairs = read_count(in, "the number of key-value pairs", 13);
    for (std::uint64_t i = 0; i < pairs; ++i) read_pair(in);
    sort_gguf(pairs_, "the key", [&](Pair const& p) { return view(p.key); });
    for (std::uint64_t i = 0; i < tensors; ++i) read_record(in);
    std::uint64_t const align = alignment();
    check_places((in.position() + align - 1) / align * align, in.position() + in.left(), align);
    sort_gguf(records_, "the tensor", [&](Record const& r) { return view(r.name); });
}

ROWAN_CALLED_FUNCTION std::uint64_t GgufHeader::read_count(BufferedReader& in, char const* field, std::uint64_t least) {
    std::uint64_t const place = in.position();
    auto const n = in.number<std::uint64_t>(field);
    check_gguf_count(field, n, least, place, in.left());
    return n;
}

ROWAN_CALLED_FUNCTION GgufHeader::Text GgufHeader::read_text(BufferedReader& in, char const* field) {
    std::uint64_t const place = in.position();
    auto const n = in.number<std::uint64_t>(field);
    check_left(field, n, in.left(), place);
    Text const text{strings_.size(), n};
    strings_.resize(static_cast<std::size_t>(text.at + n));
    in.read(field, std::as_writable_bytes(std::span(strings_).subspan(static_cast<std::size_t>(text.at))));
    return text;
}

ROWAN_CALLED_FUNCTION void GgufHeader::read_pair(BufferedReader& in) {
    Pair pair{.place = in.position()};
    pair.key = read_text(in, "a key");
    std::string_view const key = view(pair.key);
    if (key.empty()) throw FormatError(pair.place, "a key", "is empty");
    if (invalid_utf8(key) != key.size()) throw FormatError(pair.place, "a key", "is not UTF-8");
    pair.kind = read_gguf_kind(in);
    if (pair.kind == GgufKind::string) {
        pair.bits = read_text(in, "a string").size;
    } else if (pair.kind == GgufKind::array) {
        skip_array(in);
    } else {
        std::uint64_t const place = in.position();
        in.read("a value", std::as_writable_bytes(std::span(&pair.bits, 1)).first(gguf_number_bytes(pair.kind)));
        if (pair.kind == GgufKind::boolean && pair.bits > 1)
            throw FormatError(place, "a bool", {"is ", pair.bits, ", which is neither 0 nor 1"});
    }
    pairs_.push_back(pair);
}

ROWAN_CALLED_FUNCTION void GgufHeader::skip_array(BufferedReader& in) {
    std::vector<std::uint64_t> open{1};  // the number of arrays that remain at each depth
    while (!open.empty()) {
        if (open.back() == 0) {
            open.pop_back();
            continue;
        }
        --open.back();
        GgufKind const kind = read_gguf_kind(in);
        bool const nested = kind == GgufKind::array, strings = kind == GgufKind::string;
        std::uint64_t const least = nested ? 12 : strings ? 8 : gguf_number_bytes(kind);
        std::uint64_t const n = read_count(in, "the size of an array", least);
        if (nested) {
            open.push_back(n);
        } else if (strings) {
            for (std::uint64_t i = 0; i < n; ++i) in.skip("a string", in.number<std::uint64_t>("a string"));
        } else {
            in.skip("an array", n * least);
        }
    }
}

ROWAN_CALLED_FUNCTION void GgufHeader::read_record(BufferedReader& in) {
    Record r{.place = in.position()};
    r.name = read_text(in, "the name of a tensor");
    std::string const name(view(r.name));
    if (invalid_utf8(name) != name.size()) throw FormatError(r.place, "the name of a tensor", "is not UTF-8");
    auto const fail = [&](std::string const& reason) { throw FormatError(r.place, {"tensor \"", name, "\""}, reason); };
    r.rank = in.number<std::uint32_t>("the number of dims");
    if (r.rank > max_tensor_rank)
        fail("has " + std::to_string(r.rank) + " dims, more than " + std::to_string(max_tensor_rank));
    r.dims = dims_.size();
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t i = 0; i < r.rank; ++i) {
        auto const dim = in.number<std::uint64_t>("a dim");
        if (dim > most) fail("has a dim of " + std::to_string(dim) + ", more than 2^63 - 1");
        dims_.push_back(static_cast<std::int64_t>(dim));
    }
    auto const number = in.number<std::uint32_t>("the type of a tensor");
    GgufType const* const type = find_gguf_type(number);
    if (type == nullptr) fail("has the type " + std::to_string(number) + ", which is unknown");
    r.type = static_cast<std::uint32_t>(type - gguf_types);
    r.offset = in.number<std::uint64_t>("the offset of a tensor");
    auto const text = [&] { return std::string(type->name) + " " + shape_text(shape(r)); };
    auto const elements = shape_size(shape(r), 8);  // no type has more bytes per element
    if (!elements) fail("is " + text() + ", more than 2^63 - 1 bytes");
    std::int64_t const row = r.rank == 0 ? 1 : dims_[static_cast<std::size_t>(r.dims)];
    if (row % type->elements != 0)
        fail("is " + text() + ", whose rows are not blocks of " + std::to_string(type->elements));
    r.bytes = *elements / type->elements * type->bytes;
    records_.push_back(r);
}

ROWAN_CALLED_FUNCTION std::uint64_t GgufHeader::alignment() const {
    Pair const* const pair = find_pair("general.alignment");
    if (pair == nullptr) return 32;
    bool const power = pair->bits != 0 && (pair->bits & (pair->bits - 1)) == 0;
    if (pair->kind == GgufKind::u32 && power) return pair->bits;
    std::string const value = pair->kind == GgufKind::u32 ? " " + std::to_string(pair->bits) : "";
    throw FormatError(pair->place, "general.alignment",
                      {"is ", kind_text(pair->kind), value, ", expected u32, a power of 2"});
}

/// Tensors are aligned, within the data, and do not overlap.
ROWAN_CALLED_FUNCTION void GgufHeader::check_places(std::uint64_t begin, std::uint64_t end, std::uint64_t alignment) {
    auto const fail = [&](Record const& r, std::string const& reason) {
        throw FormatError(r.place, {"tensor \"", view(r.name), "\""}, {"is at ", r.offset, " of the data, ", reason});
    };
    if (records_.empty()) return;
    if (begin > end) throw FormatError(end, "the file", {"ends here, but its data begins at ", begin});
    std::uint64_t const size = end - begin;
    std::ranges::sort(records_, {}, [](Record const& r) { return std::tuple(r.offset, r.bytes, r.place); });
    std::uint64_t next = 0;
    for (Record const& r : records_) {
        if (r.offset % alignment != 0) fail(r, "which is no multiple of " + std::to_string(alignment));
        if (r.offset > size || r.bytes > size - r.offset)
            fail(r,
                 "where its " + std::to_string(r.bytes) + " bytes exceed the " + std::to_string(size) + " that follow");
        if (r.bytes == 0) continue;
        if (r.offset < next) fail(r, "in the elements of another tensor, which end at " + std::to_string(next));
        next = r.offset + r.bytes;
    }
    for (Record& r : records_) r.offset += begin;
}

ROWAN_FUNCTION GgufHeader::Record const* GgufHeader::find(std::string_view name) const {
    auto const place = std::ranges::lower_bound(records_, name, {}, [&](Record const& r) { return view(r.name); });
    return place == records_.end() || view(place->name) != name ? nullptr : &*place;
}

ROWAN_CALLED_FUNCTION GgufHeader::Pair const* GgufHeader::find_pair(std::string_view key) const {
    auto const place = std::ranges::lower_bound(pairs_, key, {}, [&](Pair const& p) { return view(p.key); });
    return place == pairs_.end() || view(place->key) != key ? nullptr : &*place;
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> GgufHeader::shape(Record const& r) const {
    auto const dims = std::span(dims_).subspan(static_cast<std::size_t>(r.dims), r.rank);
    return {dims.rbegin(), dims.rend()};
}

}  // namespace rowan::inline v0::detail

#endif
