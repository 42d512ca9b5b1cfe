// tests/thrust/sequences.hpp: batches of sequences for the tests of devices.
#pragma once

#include "devices.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/sequence.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <rowan/thrust/sequence/padded.hpp>
#include <rowan/thrust/sequence/sequence_erase.hpp>
#include <rowan/thrust/sequence/sequence_expand.hpp>
#include <rowan/thrust/sequence/sequence_mask.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>
#include <rowan/thrust/sequence/sequence_reverse.hpp>
#include <rowan/thrust/sequence/sequence_softmax.hpp>
#include <rowan/thrust/sequence/step_map.hpp>
#include <rowan/thrust/sequence/tensor_array.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace device {

using Lengths = std::vector<std::int64_t>;

template <class T>
bool same_bits(rowan::LoDTensor<T> const& a, rowan::LoDTensor<T> const& b) {
    return a.lod() == b.lod() && same_bits(a.value(), b.value());
}
template <class T, class D>
bool same_bits(rowan::LoDTensor<T, D> const& a, rowan::LoDTensor<T> const& b) {
    return same_bits(rowan::to_host(a), b);
}
template <class T>
bool same_bits(rowan::TensorArray<T> const& a, rowan::TensorArray<T> const& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a.written(i) != b.written(i) || (a.written(i) && !same_bits(a.read(i), b.read(i)))) return false;
    }
    return true;
}
template <class T, class D>
bool same_bits(rowan::TensorArray<T, D> const& a, rowan::TensorArray<T> const& b) {
    return same_bits(rowan::to_host(a), b);
}

inline Lengths some_lengths(std::size_t n, std::int64_t most, unsigned seed) {
    std::mt19937_64 random(seed);
    Lengths lengths(n);
    for (auto& length : lengths) length = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    return lengths;
}

/// No sequences, empty, short and long sequences, at the limits of blocks, at several levels.
inline std::vector<rowan::Lod> some_lods() {
    using rowan::Lod;
    auto const many = some_lengths(257, 3, 1);
    std::int64_t below = 0;
    for (auto const n : many) below += n;
    return {Lod::from_lengths({Lengths{}}),
            Lod::from_lengths({Lengths{0}}),
            Lod::from_lengths({Lengths{0, 0, 0}}),
            Lod::from_lengths({Lengths{1}}),
            Lod::from_lengths({Lengths{3, 6, 0, 1}}),
            Lod::from_lengths({Lengths{63, 0, 64, 65, 1, 129, 128}}),
            Lod::from_lengths({Lengths{4096, 0, 4097, 1}}),
            Lod::from_lengths({some_lengths(300, 9, 2)}),
            Lod::from_lengths({Lengths{2, 0, 1}, Lengths{3, 0, 2}}),
            Lod::from_lengths({Lengths{0, 0}, Lengths{}}),
            Lod::from_lengths({many, some_lengths(static_cast<std::size_t>(below), 5, 3)}),
            Lod::from_lengths({Lengths{2, 0, 1}, Lengths{1, 2, 0}, Lengths{2, 0, 3}})};
}

/// Rows of numbers of many magnitudes.
template <class T>
rowan::LoDTensor<T> some_batch(rowan::Lod const& lod, std::size_t width, unsigned seed) {
    return {filled<T>({static_cast<std::size_t>(lod.rows()), width}, seed), lod};
}

/// Calls f(T(), lod, width) with the tested types, levels and widths.
template <class F>
void for_batches(F const& f) {
    for (auto const& lod : some_lods()) {
        for (std::size_t const width : {0U, 1U, 3U, 4U, 16U}) {
            f(float(), lod, width);
            f(double(), lod, width);
            f(rowan::bfloat16(), lod, width);
        }
    }
}

/// Whether a call throws the same text on device and host.
template <class Host, class Device>
bool refused_alike(Host const& host, Device const& device) {
    std::string const text = refusal<rowan::Error>(host);
    INFO(text);
    return text != "nothing was thrown" && refusal<rowan::Error>(device) == text;
}

}  // namespace device
