// rowan/train/keyed_inl.hpp: definitions of rowan/train/keyed.hpp.
#pragma once

#include <rowan/train/keyed.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/train/detail/keyed_kind.hpp>

#include <memory>
#include <utility>

namespace rowan::inline v0::layer {

ROWAN_CALLED_FUNCTION Keyed::operator TableKind() const {
    static_cast<void>(
        KeyIndex<std::int64_t>({.capacity = capacity, .sightings = sightings, .probability = probability}));
    if (!default_row && sightings != 1)
        throw ValueError("layer::Keyed: sightings", sightings, "1: without a default row each key has its own");
    for (auto const& [field, value] : {std::pair("idle", eviction.idle), {"most", eviction.most}}) {
        if (value < 0) throw ValueError({"layer::Keyed: eviction.", field}, value, "0 or more");
    }
    if (eviction.every < 1) throw ValueError("layer::Keyed: eviction.every", eviction.every, "1 or more");
    return TableKind(std::make_shared<rowan::detail::MakesKeyed<>>(*this));
}

}  // namespace rowan::inline v0::layer

#endif
