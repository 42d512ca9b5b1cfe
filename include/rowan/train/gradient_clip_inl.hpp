// rowan/train/gradient_clip_inl.hpp: definitions of rowan/train/gradient_clip.hpp.
#pragma once

#include <rowan/train/gradient_clip.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/detail/update_kinds.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_IF_CALLED [[noreturn]] void refuse(ClipKinds const& kinds, ParameterGradient const& g,
                                         std::string const& expected);
ROWAN_CALLED_FUNCTION ROWAN_RARE void refuse(ClipKinds const& kinds, ParameterGradient const& g,
                                             std::string const& expected) {
    throw TypeError({kinds.name, ": the element type of the gradient of ", g.parameter->name()},
                    dtype_text(g.gradient->spec().dtype), expected);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool AnyGradientClip::given() const noexcept {
    return kinds_ != nullptr && !kinds_->of_one.empty();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE NamedValues const& AnyGradientClip::values() const noexcept { return kinds_->values; }

ROWAN_CALLED_FUNCTION ROWAN_RARE void AnyGradientClip::add(Scope& scope,
                                                           std::vector<ParameterGradient>& gradients) const {
    if (!given()) return;
    auto const& kinds = *kinds_;
    std::size_t const size = kinds.together ? gradients.size() : 1;
    for (std::size_t begin = 0; begin < gradients.size(); begin += size) {
        std::int32_t const wire = gradients[begin].gradient->spec().dtype;
        std::vector<Variable*> some;
        ClipKinds::Make const* make = nullptr;
        for (std::size_t i = begin; i < begin + size; ++i) {
            std::int32_t const own = gradients[i].gradient->spec().dtype;
            auto const kind = std::ranges::find(kinds.of_one, own, &ClipKinds::OfType::wire);
            if (kind == kinds.of_one.end()) refuse(kinds, gradients[i], kinds.types);
            if (own != wire && !kinds.mixed)
                refuse(kinds, gradients[i], dtype_text(wire).append(", that of the other gradients"));
            make = own != wire || make == &kinds.mixed ? &kinds.mixed : &kind->make;
            some.push_back(gradients[i].gradient);
        }
        auto const clipped = (*make)(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE AnyGradientClip AnyGradientClip::only_for(std::span<std::int32_t const> wires,
                                                                           std::string types) && {
    auto some = std::make_shared<ClipKinds>(*kinds_);
    std::erase_if(some->of_one,
                  [&](ClipKinds::OfType const& kind) { return std::ranges::find(wires, kind.wire) == wires.end(); });
    some->types = std::move(types);
    return AnyGradientClip(std::move(some));
}

}  // namespace rowan::inline v0::detail

#endif
