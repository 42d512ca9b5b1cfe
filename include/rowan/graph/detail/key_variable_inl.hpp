// rowan/graph/detail/key_variable_inl.hpp: definitions of rowan/graph/detail/key_variable.hpp.
#pragma once

#include <rowan/graph/detail/key_variable.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_key_rank(std::string const& name, std::size_t rank) {
    if (rank != 1) throw ShapeError(name, {"of rank ", rank}, "rank 1");
}

ROWAN_CALLED_FUNCTION LoDTensor<std::uint8_t> KeyVariable<std::string>::of(std::vector<std::string> const& keys) {
    std::vector<std::int64_t> lengths;
    std::vector<std::uint8_t> bytes;
    for (std::string const& key : keys) {
        lengths.push_back(static_cast<std::int64_t>(key.size()));
        bytes.insert(bytes.end(), key.begin(), key.end());
    }
    return {Tensor<std::uint8_t>(bytes), Lod::from_lengths({lengths})};
}

ROWAN_CALLED_FUNCTION std::vector<std::string> KeyVariable<std::string>::keys(std::string const& name,
                                                                              LoDTensor<std::uint8_t> const& bytes) {
    check_key_rank(name, bytes.value().shape().size());
    if (bytes.lod().levels() != 1) throw ShapeError(name, {bytes.lod().levels(), " levels of sequences"}, "1");
    std::vector<std::string> keys;
    auto const at = bytes.lod()[0];
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
        auto const* const first = bytes.value().data();
        keys.emplace_back(first + at[i], first + at[i + 1]);
    }
    return keys;
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> use_variable(std::vector<KeyUses> const& uses) {
    auto numbers = Tensor<std::int64_t>::from_shape({uses.size(), 2});
    for (std::size_t i = 0; i < uses.size(); ++i) {
        numbers.row(i)[0] = uses[i].count;
        numbers.row(i)[1] = uses[i].step;
    }
    return numbers;
}

ROWAN_CALLED_FUNCTION std::vector<KeyUses> uses_of(std::string const& name, Tensor<std::int64_t> const& numbers) {
    auto const& shape = numbers.shape();
    if (shape.size() != 2 || shape[1] != 2) throw ShapeError({name, ".shape()"}, shape_text(shape), "[n, 2]");
    std::vector<KeyUses> uses(shape[0]);
    for (std::size_t i = 0; i < uses.size(); ++i) uses[i] = {numbers.row(i)[0], numbers.row(i)[1]};
    return uses;
}

}  // namespace rowan::inline v0::detail

#endif
