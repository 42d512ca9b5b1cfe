// rowan/io/gguf_file_inl.hpp: definitions of rowan/io/gguf_file.hpp.
#pragma once

#include <rowan/io/gguf_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/read_parts.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION GgufReader::GgufReader(Cpu e, std::string path) : exec(e), file(std::move(path)) {
    static_cast<void>(thread_count(exec));
    BufferedReader in(file);
    header = GgufHeader(in);
}

ROWAN_FUNCTION GgufHeader::Record const& GgufReader::record(std::string_view name) const {
    auto const* const r = header.find(name);
    if (r == nullptr) throw Error({file.path(), " has no tensor \"", name, "\""});
    return *r;
}

ROWAN_FUNCTION GgufHeader::Pair const& GgufReader::pair(std::string_view key, char const* expected,
                                                        bool (*is)(GgufKind)) const {
    auto const* const p = header.find_pair(key);
    if (p == nullptr) throw Error({file.path(), " has no key \"", key, "\""});
    if (!is(p->kind)) throw TypeError({file.path(), ": ", key}, kind_text(p->kind), expected);
    return *p;
}

ROWAN_FUNCTION void GgufReader::check_type(GgufHeader::Record const& r, std::string_view wanted,
                                           std::string_view other) const {
    auto const type = gguf_types[r.type].name;
    if (type == wanted || type == other) return;
    throw TypeError({file.path(), ": ", header.view(r.name)}, type, {wanted, other.empty() ? "" : " or ", other});
}

ROWAN_FUNCTION Tensor<float>::shape_type GgufReader::shape(GgufHeader::Record const& r) const {
    auto const dims = header.shape(r);
    return {dims.begin(), dims.end()};
}

ROWAN_FUNCTION void GgufReader::read(GgufHeader::Record const& r, std::span<std::byte> to) const {
    read_parts(exec, file, r.offset, to);
}

ROWAN_FUNCTION void GgufReader::dequantize(GgufHeader::Record const& r, float* to) const {
    constexpr std::size_t elements = 32, bytes = 34, grain = 1024;
    std::size_t const blocks = static_cast<std::size_t>(r.bytes) / bytes;
    parallel_for(exec, blocks, grain, [&](std::size_t begin, std::size_t end) {
        Buffer<std::byte> some(grain * bytes);
        for (; begin != end; begin += std::min(grain, end - begin)) {
            auto const part = std::span(some).first(std::min(grain, end - begin) * bytes);
            file.read(r.offset + begin * bytes, part);
            float* out = to + begin * elements;
            for (std::byte const* block = part.data(); block != part.data() + part.size(); block += bytes) {
                std::uint16_t bits = 0;
                std::memcpy(&bits, block, sizeof bits);
                float const scale = float16::from_bits(bits);
                for (std::size_t i = 0; i < elements; ++i)
                    *out++ = static_cast<float>(std::bit_cast<std::int8_t>(block[sizeof bits + i])) * scale;
            }
        }
    });
}

ROWAN_FUNCTION std::string GgufReader::text(std::string_view key) const {
    auto const& p = pair(key, "string", [](GgufKind k) { return k == GgufKind::string; });
    return std::string(header.view({p.key.at + p.key.size, p.bits}));
}

ROWAN_FUNCTION std::int64_t GgufReader::integer(std::string_view key) const {
    auto const& p = pair(key, "an integer",
                         [](GgufKind k) { return k < GgufKind::f32 || k == GgufKind::u64 || k == GgufKind::i64; });
    switch (p.kind) {
        case GgufKind::i8:
            return static_cast<std::int8_t>(p.bits);
        case GgufKind::i16:
            return static_cast<std::int16_t>(p.bits);
        case GgufKind::i32:
            return static_cast<std::int32_t>(p.bits);
        case GgufKind::i64:
            return static_cast<std::int64_t>(p.bits);
        default:
            break;
    }
    if (p.bits > std::numeric_limits<std::int64_t>::max())
        throw ValueError({file.path(), ": ", key}, p.bits, "at most 2^63 - 1");
    return static_cast<std::int64_t>(p.bits);
}

ROWAN_FUNCTION double GgufReader::number(std::string_view key) const {
    auto const& p = pair(key, "f32 or f64", [](GgufKind k) { return k == GgufKind::f32 || k == GgufKind::f64; });
    if (p.kind == GgufKind::f64) return std::bit_cast<double>(p.bits);
    return double{std::bit_cast<float>(static_cast<std::uint32_t>(p.bits))};
}

ROWAN_FUNCTION bool GgufReader::boolean(std::string_view key) const {
    return pair(key, "bool", [](GgufKind k) { return k == GgufKind::boolean; }).bits != 0;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION std::vector<std::string> GgufFile::names() const {
    std::vector<std::string> names;
    names.reserve(size());
    for (auto const& r : state_->header.records()) names.emplace_back(state_->header.view(r.name));
    return names;
}

ROWAN_FUNCTION GgufEntry GgufFile::entry(std::string_view name) const {
    auto const& r = state_->record(name);
    auto const& type = detail::gguf_types[r.type];
    return {std::string(name), type.number, std::string(type.name), state_->header.shape(r), r.offset, r.bytes};
}

ROWAN_FUNCTION Tensor<std::uint8_t> GgufFile::load_bytes(std::string_view name) const {
    auto const& r = state_->record(name);
    auto bytes = Tensor<std::uint8_t>::from_shape({static_cast<std::size_t>(r.bytes)});
    state_->read(r, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
    return bytes;
}

ROWAN_FUNCTION std::vector<std::string> GgufFile::metadata_keys() const {
    std::vector<std::string> keys;
    keys.reserve(state_->header.pairs().size());
    for (auto const& p : state_->header.pairs()) keys.emplace_back(state_->header.view(p.key));
    return keys;
}

}  // namespace rowan::inline v0

#endif
