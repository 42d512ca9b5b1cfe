// rowan/sparse/detail/rounded_rule_inl.hpp: definitions of rowan/sparse/detail/rounded_rule.hpp.
#pragma once

#include <rowan/sparse/detail/rounded_rule.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION FloatRows::FloatRows(Cpu exec, std::size_t width)
    : width_(width), busy_(width <= on_stack ? 0 : static_cast<std::size_t>(thread_count(exec))),
      rows_(busy_.size() * width) {}

ROWAN_FUNCTION FloatRows::~FloatRows() = default;

ROWAN_CALLED_FUNCTION float* FloatRows::take() const noexcept {
    std::size_t k = 0;
    while (busy_[k].exchange(true, std::memory_order_acquire)) k = (k + 1) % busy_.size();
    return rows_.data() + k * width_;
}

ROWAN_CALLED_FUNCTION void FloatRows::give_back(float* row) const noexcept {
    busy_[static_cast<std::size_t>(row - rows_.data()) / width_].store(false, std::memory_order_release);
}

}  // namespace rowan::inline v0::detail

#endif
