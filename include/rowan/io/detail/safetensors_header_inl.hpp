// rowan/io/detail/safetensors_header_inl.hpp: definitions of rowan/io/detail/safetensors_header.hpp.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/io/detail/json_reader.hpp>
#include <rowan/io/detail/safetensors_header.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace rowan::inline v0::detail {

class SafetensorsParser : JsonReader {
public:
    using Text = JsonText;
    using Record = SafetensorsHeader::Record;

    SafetensorsParser(SafetensorsHeader& header, std::uint64_t data)
        : JsonReader(header.text_, 8, "the header"), header_(header), data_(data) {}

    void parse();

private:
    using JsonReader::fail;
    [[noreturn]] void fail(Record const& r, std::string const& reason) const {
        throw FormatError(8 + r.name.at, {"tensor \"", header_.name(r), "\""}, reason);
    }
    void tensor(Text name);
    void check_size(Record const& r);
    void check_places();
    template <class List, class Key>
    void sort(List& list, Key const& key);

    SafetensorsHeader& header_;
    std::uint64_t data_;
};

ROWAN_FUNCTION void SafetensorsParser::parse() {
    check_utf8();
    if (!text_.starts_with('{')) fail("'{'");
    bool seen = false;
    object([&](Text key) {
        if (header_.view(key) != "__metadata__") return tensor(key);
        once(seen, key);
        object([&](Text name) {
            skip();
            header_.metadata_.push_back({name, string()});
        });
    });
    end();
    check_places();
    sort(header_.metadata_, [](SafetensorsHeader::Pair const& p) { return p.key; });
    sort(header_.records_, [](Record const& r) { return r.name; });
}

ROWAN_FUNCTION void SafetensorsParser::tensor(Text name) {
    Record r{.name = name};
    std::array<bool, 3> seen{};
    object([&](Text key) {
        skip();
        std::size_t const at = at_;
        std::string_view const field = header_.view(key);
        if (field == "dtype") {
            once(seen[0], key);
            std::string const type(header_.view(string()));
            auto const found = std::ranges::find(safetensors_types, type, &SafetensorsType::name);
            if (found == std::end(safetensors_types)) fail(at, "has the dtype \"" + type + "\", which is unknown");
            r.type = static_cast<std::uint32_t>(found - safetensors_types);
        } else if (field == "shape") {
            once(seen[1], key);
            r.shape = static_cast<std::uint32_t>(at);
            list([](std::int64_t) {});
        } else if (field == "data_offsets") {
            once(seen[2], key);
            std::array<std::uint64_t, 2> offsets{};
            std::size_t n = 0;
            list([&](std::int64_t x) {
                if (n < 2) offsets[n] = static_cast<std::uint64_t>(x);
                ++n;
            });
            if (n != 2) fail(at, "has " + std::to_string(n) + " data_offsets, expected 2");
            r.begin = offsets[0];
            r.end = offsets[1];
        } else {
            fail(key.at, "has the key \"" + std::string(field) + "\" of a tensor, which is unknown");
        }
    });
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i]) fail(r, std::string("lacks ") + std::array{"dtype", "shape", "data_offsets"}[i]);
    }
    check_size(r);
    header_.records_.push_back(r);
}

ROWAN_FUNCTION void SafetensorsParser::check_size(Record const& r) {
    auto const place = [&] { return "[" + std::to_string(r.begin) + ", " + std::to_string(r.end) + ")"; };
    if (r.begin > r.end || r.end > data_)
        fail(r, "is at " + place() + " of the data, which has " + std::to_string(data_) + " bytes");
    SafetensorsType const type = safetensors_types[r.type];
    unsigned const bits = type.bits;
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t const limit = most / std::max(bits / 8, 1U);
    std::uint64_t elements = 1;
    std::size_t rank = 0;
    bool empty = false, fits = true;
    std::size_t const after = std::exchange(at_, r.shape);
    list([&](std::int64_t x) {
        auto const dim = static_cast<std::uint64_t>(x);
        ++rank;
        empty = empty || dim == 0;
        if (dim == 0 || !fits) return;
        fits = elements <= limit / dim;
        elements *= dim;
    });
    at_ = after;
    auto const text = [&] {  // short, however long the shape is
        return std::string(type.name) +
               (rank > 16 ? " of " + std::to_string(rank) + " dims" : " " + shape_text(header_.shape(r)));
    };
    if (!fits) fail(r, "is " + text() + ", more than 2^63 - 1 bytes");
    if (empty) elements = 0;
    if (elements % 8 * bits % 8 != 0) fail(r, "is " + text() + ", which ends within a byte");
    std::uint64_t const bytes = elements / 8 * bits + elements % 8 * bits / 8;
    if (bytes != r.end - r.begin) fail(r, "is " + text() + ", " + std::to_string(bytes) + " bytes, but at " + place());
}

/// Each byte of the data belongs to one tensor.
ROWAN_FUNCTION void SafetensorsParser::check_places() {
    auto const place = [](Record const& r) { return std::tuple(r.begin, r.end, r.name.at); };
    std::ranges::sort(header_.records_, {}, place);
    std::uint64_t next = 0;
    for (Record const& r : header_.records_) {
        if (r.begin != next)
            fail(r, "begins at " + std::to_string(r.begin) + " of the data, expected " + std::to_string(next));
        next = r.end;
    }
    if (next != data_) {
        throw FormatError(8 + text_.size() + next, "the data", {"has ", data_, " bytes, but the tensors ", next});
    }
}

template <class List, class Key>
void SafetensorsParser::sort(List& list, Key const& key) {
    std::ranges::sort(list, [&](auto const& a, auto const& b) {
        return std::pair(header_.view(key(a)), key(a).at) < std::pair(header_.view(key(b)), key(b).at);
    });
    bool seen = false;
    auto const same = [&](auto const& a, auto const& b) { return header_.view(key(a)) == header_.view(key(b)); };
    auto const twice = std::ranges::adjacent_find(list, same);
    if (twice == list.end()) return;
    once(seen, key(*twice));
    once(seen, key(*std::next(twice)));
}

ROWAN_CALLED_FUNCTION SafetensorsHeader::SafetensorsHeader(std::string text, std::uint64_t data)
    : text_(std::move(text)) {
    SafetensorsParser(*this, data).parse();
}

ROWAN_CALLED_FUNCTION SafetensorsHeader::Record const* SafetensorsHeader::find(std::string_view name) const {
    auto const place = std::ranges::lower_bound(records_, name, {}, [&](Record const& r) { return this->name(r); });
    return place == records_.end() || this->name(*place) != name ? nullptr : &*place;
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> SafetensorsHeader::shape(Record const& r) const {
    std::string_view const text = std::string_view(text_).substr(r.shape, text_.find(']', r.shape) - r.shape);
    std::vector<std::int64_t> dims;
    dims.reserve(static_cast<std::size_t>(std::ranges::count(text, ',')) + 1);
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
        std::int64_t dim = 0;
        at = static_cast<std::size_t>(std::from_chars(text.data() + at, text.data() + text.size(), dim).ptr -
                                      text.data());
        dims.push_back(dim);
    }
    return dims;
}

ROWAN_CALLED_FUNCTION void check_safetensors_length(std::uint64_t n, std::uint64_t left) {
    if (n > safetensors_header_limit) {
        throw FormatError(0, "the header's length", {"is ", n, ", more than ", safetensors_header_limit});
    }
    if (n > left) {
        throw FormatError(0, "the header's length", {"is ", n, ", but ", left, " bytes follow"});
    }
}

}  // namespace rowan::inline v0::detail

#endif
