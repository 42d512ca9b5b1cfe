// rowan/io/detail/wire_inl.hpp: definitions of rowan/io/detail/wire.hpp.
#pragma once

#include <rowan/io/detail/wire.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireValue::refuse(std::string const& reason) const {
    throw FormatError(offset, field, reason);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireSeen::refuse(std::string const& field, std::string const& reason) const {
    throw FormatError(offset, {name, ".", field}, reason);
}

ROWAN_FUNCTION ROWAN_RARE void WireCheck::run(WireMessage const& message, std::span<std::byte const> bytes,
                                              std::uint64_t offset, std::int64_t more_memory) {
    if (bytes.size() > max_bytes) {
        throw FormatError(offset, message.name, {"has ", bytes.size(), " bytes, more than ", max_bytes});
    }
    most_ = most_memory(bytes.size(), more_memory);
    walk(message, bytes, offset);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::size_t WireCheck::missing(WireMessage const& message,
                                                                std::span<std::byte const> bytes,
                                                                std::int64_t more_memory) {
    most_ = std::numeric_limits<std::int64_t>::max();
    walk(message, bytes, 0);
    std::int64_t const most = most_memory(bytes.size(), more_memory);
    return memory_ <= most ? 0 : static_cast<std::size_t>((memory_ - most + per_byte - 1) / per_byte);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::int64_t WireCheck::most_memory(std::size_t bytes, std::int64_t more_memory) {
    return per_byte * static_cast<std::int64_t>(bytes) + (std::int64_t{1} << 20) + more_memory;
}

ROWAN_FUNCTION ROWAN_RARE auto WireCheck::count(WireMessage const& message, std::span<std::byte const> bytes)
    -> Counts {
    Counts counts{};
    std::string const none;
    for (ByteReader in(bytes); in.left() != 0;) {
        std::uint64_t const key = number(in, none);
        auto const type = static_cast<std::uint32_t>(key & 7);
        auto const found = std::ranges::find(message.fields, key >> 3, &WireField::tag);
        if (found == message.fields.end() || !found->repeated) {
            skip(in, none, type);
            continue;
        }
        std::size_t& n = counts[static_cast<std::size_t>(found - message.fields.begin())];
        std::uint32_t const want = wire_type(found->kind);
        if (type == want) {
            skip(in, none, type);
            ++n;
        } else {
            auto const list = in.bytes("", number(in, none));
            n += want == varint ? static_cast<std::size_t>(
                                      std::ranges::count_if(list, [](std::byte b) { return b < std::byte{0x80}; }))
                                : list.size() / (want == fixed32 ? 4 : 8);
        }
    }
    return counts;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireCheck::walk(WireMessage const& message, std::span<std::byte const> bytes,
                                                      std::uint64_t offset) {
    ByteReader in(bytes, offset);
    WireSeen seen{offset, message.name};
    std::string const whole(message.name);
    std::string field;
    WireField const* found = nullptr;
    for (std::uint64_t tag = 0; in.left() != 0;) {
        std::uint64_t const at = in.position();
        std::uint64_t const key = number(in, whole);
        if (key >> 3 != tag || tag == 0) {
            tag = key >> 3;
            auto const known = std::ranges::find(message.fields, tag, &WireField::tag);
            found = known == message.fields.end() ? nullptr : &*known;
            field = whole + "." + (found != nullptr ? std::string(found->name) : std::to_string(tag));
        }
        auto const type = static_cast<std::uint32_t>(key & 7);
        if (tag == 0 || key > std::numeric_limits<std::uint32_t>::max()) {
            throw FormatError(at, field, "is not a field number: they are in [1, 2^29)");
        }
        if (type == 3 || type == 4) throw FormatError(at, field, "is a group, which descriptors never contain");
        if (type > fixed32) throw FormatError(at, field, {"has wire type ", type, ", which does not exist"});
        if (found == nullptr) {
            spend(at, field);
            skip(in, field, type);
            continue;
        }
        std::uint32_t const want = wire_type(found->kind);
        auto const i = static_cast<std::size_t>(found - message.fields.data());
        if (++seen.count[i] == 1 && found->repeated) memory_ += block;
        if (type == delimited && want != delimited && found->repeated) {
            std::uint64_t const size = number(in, field);
            std::uint64_t const begin = in.position();
            ByteReader list(in.bytes(field.c_str(), size), begin);
            while (list.left() != 0) value(message, *found, list, field, seen.number[i]);
            continue;
        }
        if (type != want) {
            throw FormatError(at, field, {"has wire type ", type, ", expected ", want});
        }
        if (!found->repeated && seen.count[i] > 1) throw FormatError(at, field, "occurs twice");
        value(message, *found, in, field, seen.number[i]);
    }
    for (std::size_t i = 0; i < message.fields.size(); ++i) {
        if (message.fields[i].required && seen.count[i] == 0)
            seen.refuse(std::string(message.fields[i].name), "is missing");
    }
    message.check_all(seen);
}

ROWAN_FUNCTION ROWAN_RARE void WireCheck::value(WireMessage const& message, WireField const& field, ByteReader& in,
                                                std::string const& name, std::int64_t& last) {
    spend(in.position(), name);
    use_memory(in.position(), name, field.bytes);
    WireValue v{in.position(), name};
    switch (field.kind) {
        case wire_kind::int32:
        case wire_kind::int64:
        case wire_kind::boolean:
            last = v.number = static_cast<std::int64_t>(number(in, name));
            if (field.kind == wire_kind::int32 && v.number != static_cast<std::int32_t>(v.number)) {
                v.refuse("is " + std::to_string(v.number) + ", which does not fit 32 bits");
            }
            if (field.kind == wire_kind::boolean && v.number != 0 && v.number != 1) {
                v.refuse("is " + std::to_string(v.number) + ", neither 0 nor 1");
            }
            break;
        case wire_kind::fixed32:
            in.bytes(name.c_str(), 4);
            break;
        case wire_kind::fixed64:
            in.bytes(name.c_str(), 8);
            break;
        case wire_kind::message: {
            std::uint64_t const size = number(in, name);
            std::uint64_t const begin = in.position();
            return walk(*field.message, in.bytes(name.c_str(), size), begin);
        }
        case wire_kind::text: {
            std::uint64_t const size = number(in, name);
            v.offset = in.position();
            auto const bytes = in.bytes(name.c_str(), size);
            v.text = {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
            if (size > 15) use_memory(v.offset, name, block + std::max<std::uint64_t>(size, 30));
            if (auto const bad = invalid_utf8(v.text); bad != v.text.size()) {
                v.refuse("is not UTF-8 at position " + std::to_string(bad));
            }
            break;
        }
    }
    message.check_value(v, field.tag);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireCheck::skip(ByteReader& in, std::string const& field, std::uint32_t type) {
    if (type == varint) {
        number(in, field);
    } else {
        in.bytes(field.c_str(), type == fixed32 ? 4 : type == fixed64 ? 8 : number(in, field));
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireCheck::use_memory(std::uint64_t at, std::string const& field,
                                                            std::uint64_t bytes) {
    if ((memory_ += static_cast<std::int64_t>(bytes)) <= most_) return;
    throw FormatError(at, field, {"is one value too many: the descriptor needs more than ", most_, " bytes of memory"});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void WireCheck::spend(std::uint64_t at, std::string const& field) {
    if (++elements_ > max_elements) {
        throw FormatError(at, field, {"is one value too many: a descriptor has at most ", max_elements});
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::uint32_t WireCheck::wire_type(wire_kind kind) {
    if (kind == wire_kind::fixed32) return fixed32;
    if (kind == wire_kind::fixed64) return fixed64;
    return kind == wire_kind::text || kind == wire_kind::message ? delimited : varint;
}

ROWAN_FUNCTION ROWAN_RARE std::uint64_t WireCheck::number(ByteReader& in, std::string const& field) {
    std::uint64_t const at = in.position();
    std::uint64_t x = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        std::uint64_t const byte = in.number<std::uint8_t>(field.c_str());
        if (shift == 63 && byte > 1) break;
        x |= (byte & 0x7F) << shift;
        if (byte < 0x80) return x;
    }
    throw FormatError(at, field, "has a number that does not fit 64 bits");
}

}  // namespace rowan::inline v0::detail

#endif
