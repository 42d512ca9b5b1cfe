// rowan/sequence/strings_inl.hpp: definitions of rowan/sequence/strings.hpp.
#pragma once

#include <rowan/sequence/strings.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION Strings::Strings() : Strings(std::string(), Lod{{0}}) {}

ROWAN_CALLED_FUNCTION Strings::Strings(std::string bytes, Lod levels)
    : memory_(std::make_shared<std::string const>(std::move(bytes))), bytes_(*memory_), levels_(std::move(levels)) {
    if (levels_.empty()) throw ShapeError("levels.levels()", 0, "at least 1: where strings begin");
    levels_.check_rows(bytes_.size());
}

ROWAN_CALLED_FUNCTION std::span<std::int64_t const> Strings::begins() const noexcept {
    static constexpr std::int64_t none = 0;
    if (levels_.empty()) return {&none, 1};
    return levels_[levels_.levels() - 1];
}

ROWAN_CALLED_FUNCTION std::size_t Strings::size() const noexcept { return begins().size() - 1; }

ROWAN_CALLED_FUNCTION std::string_view Strings::operator[](std::size_t i) const noexcept {
    auto const at = begins();
    return bytes_.substr(static_cast<std::size_t>(at[i]), static_cast<std::size_t>(at[i + 1] - at[i]));
}

ROWAN_CALLED_FUNCTION Lod Strings::lod() const {
    std::vector<std::span<std::int64_t const>> outer;
    for (std::size_t l = 0; l + 1 < levels_.levels(); ++l) outer.push_back(levels_[l]);
    return outer.empty() ? Lod() : Lod(outer);
}

ROWAN_CALLED_FUNCTION Strings Strings::part(std::size_t begin, std::size_t end, Lod levels) const {
    Strings some = *this;
    some.bytes_ = bytes_.substr(begin, end - begin);
    some.levels_ = std::move(levels);
    some.levels_.check_rows(some.bytes_.size());
    return some;
}

}  // namespace rowan::inline v0

#endif
