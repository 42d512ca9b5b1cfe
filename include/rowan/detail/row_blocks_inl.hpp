// rowan/detail/row_blocks_inl.hpp: definitions of rowan/detail/row_blocks.hpp.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/row_blocks.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void RowBlocks::add(char const* field, Shape const& shape, void const* data) {
    if (shape.empty()) throw ShapeError({field, " rank"}, "0", "at least 1");
    if (shape_.empty()) {
        shape_ = shape;
    } else {
        check_trailing_dims(field, shape, shape_);
    }
    starts_.push_back(checked_add(name_, starts_.back(), static_cast<std::int64_t>(shape[0])));
    shape_[0] = static_cast<std::size_t>(starts_.back());
    data_.push_back(data);
}

}  // namespace rowan::inline v0::detail

#endif
