// rowan/layer/initializer_inl.hpp: definitions of rowan/layer/initializer.hpp.
#pragma once

#include <rowan/layer/initializer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/op/detail/sine.hpp>

#include <algorithm>
#include <cmath>

namespace rowan::inline v0::layer {

ROWAN_FUNCTION Initializer Initializer::of(Dims const& dims) const {
    rowan::detail::check_finite(normal_ ? "mean" : "low", a_);
    rowan::detail::check_finite(normal_ ? "stddev" : "high", b_);
    if (normal_ && b_ < 0) throw ValueError("stddev", b_, "0 or more");
    Initializer result = *this;
    if (scale_ == Scale::none) return result;
    std::size_t const rank = dims.size();
    double outer = 1, inputs = 1, outputs = 1;
    for (std::size_t i = 0; i + 2 < rank; ++i) outer *= static_cast<double>(dims[i]);
    if (rank > 0) inputs = outputs = outer * static_cast<double>(dims[rank - 1]);
    if (rank > 1) inputs = outer * static_cast<double>(dims[rank - 2]);
    double const width = scale_ == Scale::both ? std::sqrt((normal_ ? 2.0 : 6.0) / std::max(inputs + outputs, 1.0))
                                               : std::sqrt((normal_ ? 1.0 : 3.0) / std::max(inputs, 1.0));
    result.scale_ = Scale::none;
    result.a_ *= width;
    result.b_ *= width;
    return result;
}

ROWAN_FUNCTION double Initializer::at(std::uint64_t seed, std::size_t i) const {
    using rowan::detail::logarithm, rowan::detail::product, rowan::detail::sine, rowan::detail::uniform_at;
    if (!normal_) return a_ + product(b_ - a_, uniform_at(seed, i));
    double const radius = std::sqrt(-2 * logarithm(1 - uniform_at(seed, 2 * i)));  // 1 - u is in (0, 1]
    double const angle = 2 * std::numbers::pi * uniform_at(seed, 2 * i + 1);
    return a_ + product(product(b_, radius), sine<true>(angle));
}

}  // namespace rowan::inline v0::layer

#endif
