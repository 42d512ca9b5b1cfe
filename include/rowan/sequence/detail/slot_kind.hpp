// rowan/sequence/detail/slot_kind.hpp: SlotKind, the properties that all slots of a TensorArray share.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Rank, trailing dims and number of levels, fixed by the first write.
template <class T>
struct SlotKind {
    typename Tensor<T>::shape_type shape{};  // the first dim may vary
    std::size_t levels = 0;
    bool known = false;

    /// Throws ShapeError if `value` differs in rank, trailing dims or number of levels.
    template <class D>
    void check(LoDTensor<T, D> const& value) const {
        if (!known) return;
        auto like = shape;
        if (!like.empty() && value.shape().size() == like.size()) like[0] = value.shape()[0];
        if (value.shape() != like) throw ShapeError("value.shape()", shape_text(value.shape()), shape_text(like));
        if (value.lod().levels() == levels) return;
        throw ShapeError("value.lod().levels()", value.lod().levels(), levels);
    }

    void know(typename Tensor<T>::shape_type const& of_one, std::size_t its_levels) {
        if (!known) *this = {of_one, its_levels, true};
    }
};

}  // namespace rowan::inline v0::detail
