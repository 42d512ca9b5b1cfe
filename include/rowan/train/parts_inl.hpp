// rowan/train/parts_inl.hpp: definitions of rowan/train/parts.hpp.
#pragma once

#include <rowan/train/parts.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION AnyParts::AnyParts(std::int64_t count, std::string types, std::vector<Kind> kinds)
    : count_(count), kinds_(std::move(kinds)), types_(std::move(types)) {
    if (count < 1) throw ValueError("parts", count, "1 or more");
}

ROWAN_CALLED_FUNCTION GradientSums const& AnyParts::sums_of(Variable const& v, std::string const& what) const {
    for (Kind const& kind : kinds_) {
        if (kind.wire == v.spec().dtype) return kind.sums;
    }
    throw TypeError(std::string("parts: the element type of ").append(what), dtype_text(v.spec().dtype), types_);
}

}  // namespace rowan::inline v0::detail

#endif
