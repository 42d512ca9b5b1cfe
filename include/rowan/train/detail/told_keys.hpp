// rowan/train/detail/told_keys.hpp: append_keys, take_keys: the keys of a batch as bytes, which ranks tell each other.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/strings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class Numbers>
void append_numbers(std::vector<std::byte>& to, Numbers const& numbers) {
    auto const bytes = std::as_bytes(std::span(numbers));
    to.insert(to.end(), bytes.begin(), bytes.end());
}
inline std::int64_t take_number(std::span<std::byte const>& from) {
    std::int64_t number;
    std::memcpy(&number, from.data(), sizeof number);
    from = from.subspan(sizeof number);
    return number;
}

/// Appends the keys of a value to bytes for other ranks: their number, of strings also their lengths, and the keys.
template <class = void>
void append_keys(std::vector<std::byte>& to, Value const& keys) {
    if (!keys.is<Strings>()) {
        auto const& numbers = keys.get<LoDTensor<std::int64_t>>().value();
        append_numbers(to, std::array{static_cast<std::int64_t>(numbers.size())});
        return append_numbers(to, std::span(numbers.data(), numbers.size()));
    }
    auto const& strings = keys.get<Strings>();
    append_numbers(to, std::array{static_cast<std::int64_t>(strings.size())});
    for (std::size_t i = 0; i < strings.size(); ++i)
        append_numbers(to, std::array{static_cast<std::int64_t>(strings[i].size())});
    append_numbers(to, strings.bytes());
}

/// The keys that begin there, without shape and levels.
template <class = void>
Value take_keys(std::span<std::byte const>& from, VarType kind) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(take_number(from)));
    for (auto& number : numbers) number = take_number(from);
    Value keys;
    if (kind != VarType::STRINGS) {
        keys.set(LoDTensor<std::int64_t>(Tensor<std::int64_t>(numbers)));
        return keys;
    }
    auto levels = Lod::from_lengths({numbers});
    auto const bytes = from.first(static_cast<std::size_t>(levels.rows()));
    from = from.subspan(bytes.size());
    keys.set(Strings(std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()), std::move(levels)));
    return keys;
}

}  // namespace rowan::inline v0::detail
