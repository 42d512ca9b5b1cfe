// rowan/graph/detail/key_variable.hpp: what an index of keys holds, as tensors.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/key_index_contents.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_IF_CALLED void check_key_rank(std::string const& name, std::size_t rank);

/// Keys as a variable: numbers as std::int64_t, strings as sequences of bytes.
template <class Key>
struct KeyVariable {
    using type = Tensor<std::int64_t>;

    static type of(std::vector<Key> const& keys) {
        auto numbers = type::from_shape({keys.size()});
        for (std::size_t i = 0; i < keys.size(); ++i) numbers.data()[i] = static_cast<std::int64_t>(keys[i]);
        return numbers;
    }
    static std::vector<Key> keys(std::string const& name, type const& numbers) {
        check_key_rank(name, numbers.shape().size());
        std::vector<Key> keys(numbers.size());
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(numbers.data()[i]);
        return keys;
    }
};

template <>
struct KeyVariable<std::string> {
    using type = LoDTensor<std::uint8_t>;

    ROWAN_IF_CALLED static type of(std::vector<std::string> const& keys);
    ROWAN_IF_CALLED static std::vector<std::string> keys(std::string const& name, type const& bytes);
};

/// Uses as a variable: count and step of each.
ROWAN_IF_CALLED Tensor<std::int64_t> use_variable(std::vector<KeyUses> const& uses);
ROWAN_IF_CALLED std::vector<KeyUses> uses_of(std::string const& name, Tensor<std::int64_t> const& numbers);

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/key_variable_inl.hpp>
