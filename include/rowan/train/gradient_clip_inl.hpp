// rowan/train/gradient_clip_inl.hpp: definitions of rowan/train/gradient_clip.hpp.
#pragma once

#include <rowan/train/gradient_clip.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void AnyGradientClip::add(Scope& scope, std::vector<ParameterGradient>& gradients) const {
    if (!given()) return;
    std::size_t const size = together_ ? gradients.size() : 1;
    for (std::size_t begin = 0; begin < gradients.size(); begin += size) {
        std::int32_t const wire = gradients[begin].gradient->spec().dtype;
        std::vector<Variable*> some;
        Make const* make = nullptr;
        for (std::size_t i = begin; i < begin + size; ++i) {
            std::int32_t const own = gradients[i].gradient->spec().dtype;
            auto const kind = std::ranges::find(kinds_, own, &Kind::wire);
            if (kind == kinds_.end()) refuse(gradients[i], types_);
            if (own != wire && !make_mixed_)
                refuse(gradients[i], dtype_text(wire).append(", that of the other gradients"));
            make = own != wire || make == &make_mixed_ ? &make_mixed_ : &kind->make;
            some.push_back(gradients[i].gradient);
        }
        auto const clipped = (*make)(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

ROWAN_CALLED_FUNCTION void AnyGradientClip::refuse(ParameterGradient const& g, std::string const& expected) const {
    throw TypeError(std::string(name_).append(": the element type of the gradient of ").append(g.parameter->name()),
                    dtype_text(g.gradient->spec().dtype), expected);
}

}  // namespace rowan::inline v0::detail

#endif
