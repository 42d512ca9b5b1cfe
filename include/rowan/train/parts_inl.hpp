// rowan/train/parts_inl.hpp: definitions of rowan/train/parts.hpp.
#pragma once

#include <rowan/train/parts.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/detail/gradient_sums.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct AnyParts::Kinds {
    std::string types;  // their names
    std::vector<Kind> all;
};

ROWAN_CALLED_FUNCTION AnyParts::AnyParts(std::int64_t count, std::string types, std::initializer_list<Kind> kinds)
    : count_(count), functions_(&parts_functions()),
      kinds_(std::make_shared<Kinds>(std::move(types), std::vector<Kind>(kinds))) {
    if (count < 1) throw ValueError("parts", count, "1 or more");
}

ROWAN_CALLED_FUNCTION GradientSums const& AnyParts::sums_of(Variable const& v, std::string const& what) const {
    if (kinds_ != nullptr) {
        for (Kind const& kind : kinds_->all) {
            if (kind.wire == v.spec().dtype) return *kind.sums;
        }
    }
    throw TypeError({"parts: the element type of ", what}, dtype_text(v.spec().dtype),
                    kinds_ == nullptr ? std::string() : kinds_->types);
}

}  // namespace rowan::inline v0::detail

#endif
