// rowan/detail/named_values_inl.hpp: the functions of named_values.hpp.
#pragma once

#include <rowan/detail/named_values.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::int64_t hash_of(std::span<std::byte const> bytes) {
    std::uint64_t hash = bytes.size();
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        std::size_t const n = bytes.size() < sizeof word ? bytes.size() : sizeof word;
        std::memcpy(&word, bytes.data(), n);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
        bytes = bytes.subspan(n);
    }
    return static_cast<std::int64_t>(hash);
}

ROWAN_CALLED_FUNCTION void NamedValues::add(std::string_view name, std::string_view value) {
    for (auto const part : {name, std::string_view("\t"), value, std::string_view("\n")}) text_.append(part);
}

ROWAN_CALLED_FUNCTION void NamedValues::add(std::string_view name, double value) {
    std::array<char, 32> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    add(name, std::string_view(digits.data(), end));
}

ROWAN_CALLED_FUNCTION void NamedValues::add(std::string_view name, bool value) {
    add(name, std::string_view(value ? "true" : "false"));
}

ROWAN_CALLED_FUNCTION void NamedValues::add(std::string_view name, std::int64_t value) {
    add(name, std::string_view(std::to_string(value)));
}

/// Takes the first line off a text of NamedValues: its name and value.
ROWAN_IF_CALLED inline std::pair<std::string_view, std::string_view> next_value(std::string_view& text) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    auto const tab = line.find('\t');
    if (tab == std::string_view::npos) return {line, {}};
    return {line.substr(0, tab), line.substr(tab + 1)};
}

ROWAN_CALLED_FUNCTION void NamedValues::add(std::string_view name, NamedValues const& values) {
    for (std::string_view rest = values.text_; !rest.empty();) {
        auto const [inner, value] = next_value(rest);
        add(std::string(name).append(inner), value);
    }
}

ROWAN_CALLED_FUNCTION std::int64_t NamedValues::hash() const {
    return hash_of(std::as_bytes(std::span(text_)));
}

/// The value of a name in a text of NamedValues, or "missing".
inline constexpr std::string_view missing_value = "missing";
ROWAN_IF_CALLED inline std::string_view value_of(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        auto const [found, value] = next_value(text);
        if (found == name) return value;
    }
    return missing_value;
}

ROWAN_CALLED_FUNCTION Difference first_difference(std::string_view first, std::string_view other) {
    for (auto a = first, b = other; !a.empty() || !b.empty();) {
        bool const a_ends = a.empty(), b_ends = b.empty();
        auto const [name, value] = next_value(a);
        auto const [other_name, other_value] = next_value(b);
        if (name == other_name && value == other_value) continue;
        bool const in_first_alone = !a_ends && value_of(other, name) == missing_value;
        std::string_view const which = in_first_alone || b_ends ? name : other_name;
        return {std::string(which), std::string(value_of(first, which)), std::string(value_of(other, which))};
    }
    return {};
}

}  // namespace rowan::inline v0::detail

#endif
