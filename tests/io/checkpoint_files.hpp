// tests/io/checkpoint_files.hpp: writes checkpoints by the format's description, without the library, with any error.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/io/checkpoint_file.hpp>

#include "files.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test {

/// A custom element type: 16 bits that are not a number.
struct own {
    std::uint16_t bits;
    friend bool operator==(own, own) = default;
};

/// The error text of the call, or "" if it does not throw.
template <class E = rowan::Error, class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (E const& e) {
        return e.what();
    }
    return "";
}

template <class I>
void put(Bytes& to, I x) {
    static_assert(std::is_arithmetic_v<I>);
    auto const bytes = std::as_bytes(std::span(&x, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
}
template <class I>
void put_at(Bytes& to, std::size_t place, I x) {
    std::memcpy(to.data() + place, &x, sizeof x);
}
inline void put_text(Bytes& to, std::span<std::byte const> text) {
    put(to, static_cast<std::uint32_t>(text.size()));
    to.insert(to.end(), text.begin(), text.end());
}
inline void pad(Bytes& to) { to.resize((to.size() + 63) / 64 * 64); }

template <class T>
Bytes raw(std::vector<T> const& list) {
    auto const bytes = std::as_bytes(std::span(list));
    return {bytes.begin(), bytes.end()};
}

/// A variable to write. Members that are not set get valid values.
struct RawSection {
    Bytes bytes{};
    std::optional<std::uint64_t> offset{}, size{};
    std::optional<std::uint32_t> sum{};
};
struct RawVariable {
    rowan::VarDesc desc;
    std::vector<RawSection> sections{};
    std::string type_name = "f32";
    std::uint32_t element_size = 4;
    Bytes desc_bytes{};  // instead of those of `desc`
    Bytes more{};        // at the end of the record
    std::optional<std::uint32_t> record_bytes{}, section_count{};
};

struct RawCheckpoint {
    std::vector<RawVariable> variables{};
    std::optional<Bytes> program{};
    std::uint16_t major = 1, minor = 0;
    std::uint32_t header_bytes = 64, flags = 0, reserved = 0;
    std::uint64_t base = 0;
    std::optional<std::uint64_t> count{}, descriptor_bytes{}, payload_bytes{};

    Bytes bytes() const {
        Bytes file(64);
        if (program) put_text(file, *program);
        std::vector<std::pair<std::size_t, RawSection const*>> places;
        for (auto const& v : variables) {
            Bytes record;
            put_text(record, v.desc_bytes.empty() ? encode(v.desc) : v.desc_bytes);
            put_text(record, bytes_of(v.type_name));
            put(record, v.element_size);
            put(record, v.section_count.value_or(static_cast<std::uint32_t>(v.sections.size())));
            for (auto const& s : v.sections) {
                places.emplace_back(file.size() + 4 + record.size(), &s);
                record.resize(record.size() + 20);
            }
            record.insert(record.end(), v.more.begin(), v.more.end());
            put(file, v.record_bytes.value_or(static_cast<std::uint32_t>(record.size())));
            file.insert(file.end(), record.begin(), record.end());
        }
        std::size_t const described = file.size() - 64;
        pad(file);
        std::size_t const payloads = file.size();
        for (auto const& [place, s] : places) {
            put_at(file, place, s->offset.value_or(file.size()));
            put_at(file, place + 8, s->size.value_or(s->bytes.size()));
            put_at(file, place + 16, s->sum.value_or(slow_crc32c(s->bytes)));
            file.insert(file.end(), s->bytes.begin(), s->bytes.end());
            pad(file);
        }
        std::memcpy(file.data(), "\x89ROWAN\r\n", 8);
        put_at(file, 8, major);
        put_at(file, 10, minor);
        put_at(file, 12, header_bytes);
        put_at(file, 16, descriptor_bytes.value_or(described));
        put_at(file, 24, payload_bytes.value_or(file.size() - payloads));
        put_at(file, 32, count.value_or(variables.size()));
        put_at(file, 40, base);
        put_at(file, 48, flags);
        put_at(file, 52, reserved);
        put_at(file, 56, slow_crc32c(std::span(file).subspan(64, described)));
        put_at(file, 60, slow_crc32c(std::span(file).first(60)));
        return file;
    }
};

inline rowan::VarDesc dense(std::string name, std::vector<std::int64_t> dims, std::int32_t levels = 0, std::int32_t type = 5) {
    return {.name = std::move(name), .lod_desc = rowan::LodTensorDesc{{type, std::move(dims)}, levels}, .persistable = true};
}
inline rowan::VarDesc sparse(std::string name, std::vector<std::int64_t> dims, std::int32_t type = 5) {
    return {.name = std::move(name), .type = rowan::VarType::SELECTED_ROWS, .selected_rows_desc = rowan::TensorDesc{type, std::move(dims)}, .persistable = true};
}

using Longs = std::vector<std::int64_t>;
using Floats = std::vector<float>;

/// One variable of each kind.
inline RawCheckpoint three() {
    return {.variables = {{sparse("g", {85, 2}), {{raw(Longs{73, 84, 73})}, {raw(Floats{1, 2, 3, 4, 5, 6})}}},
                          {dense("s", {3, 1}, 2), {{raw(Longs{0, 1, 2})}, {raw(Longs{0, 2, 3})}, {raw(Floats{7, 8, 9})}}},
                          {dense("w", {2, 2}), {{raw(Floats{1, 2, 3, 4})}}}}};
}

/// The same, written by the library.
inline rowan::Checkpoint three_values() {
    rowan::Checkpoint c;
    c.add("w", rowan::Tensor<float>{{1, 2}, {3, 4}});
    c.add("s", rowan::LoDTensor<float>(rowan::Tensor<float>{{7}, {8}, {9}}, rowan::Lod{{0, 1, 2}, {0, 2, 3}}));
    c.add("g", rowan::SelectedRows<float>(85, {73, 84, 73}, {{1, 2}, {3, 4}, {5, 6}}));
    return c;
}

}  // namespace test

template <>
struct rowan::dtype<test::own> {
    using sum = float;
    static constexpr std::string_view name = "own";
    static constexpr std::int32_t wire = 1007;
    static sum widen(test::own x) { return static_cast<float>(x.bits); }
    static test::own narrow(sum x) { return {static_cast<std::uint16_t>(x)}; }
};
