// rowan/train/gradient_clip_inl.hpp: definitions of rowan/train/gradient_clip.hpp.
#pragma once

#include <rowan/train/gradient_clip.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
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
        ClipKinds::Make const* make = nullptr;
        for (std::size_t i = begin; i < begin + size; ++i) {
            std::int32_t const own = gradients[i].gradient->spec().dtype;
            auto const kind = std::ranges::find(kinds_.of_one, own, &ClipKinds::OfType::wire);
            if (kind == kinds_.of_one.end()) refuse(gradients[i], types_);
            if (own != wire && !kinds_.mixed)
                refuse(gradients[i], dtype_text(wire).append(", that of the other gradients"));
            make = own != wire || make == &kinds_.mixed ? &kinds_.mixed : &kind->make;
            some.push_back(gradients[i].gradient);
        }
        auto const clipped = (*make)(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

ROWAN_CALLED_FUNCTION AnyGradientClip AnyGradientClip::only_for(std::span<std::int32_t const> wires,
                                                                std::string types) && {
    std::erase_if(kinds_.of_one,
                  [&](ClipKinds::OfType const& kind) { return std::ranges::find(wires, kind.wire) == wires.end(); });
    types_ = std::move(types);
    return std::move(*this);
}

ROWAN_CALLED_FUNCTION void AnyGradientClip::refuse(ParameterGradient const& g, std::string const& expected) const {
    throw TypeError(std::string(name_).append(": the element type of the gradient of ").append(g.parameter->name()),
                    dtype_text(g.gradient->spec().dtype), expected);
}

}  // namespace rowan::inline v0::detail

#endif
