// rowan/core/detail/kept_span.hpp: KeptSpan, a span that keeps its elements alive.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// What a temporary returns where a named object returns a span of its elements: the same span, with a share in their
/// memory. It is never moved, only copied, so that no span is left without its share. A std::span made of it has no
/// share: `auto rows = merge(g).rows()` keeps the elements, a std::span so named does not.
template <class T>
class KeptSpan : public std::span<T> {
public:
    KeptSpan(std::span<T> elements, std::shared_ptr<void const> memory) noexcept
        : std::span<T>(elements), memory_(std::move(memory)) {}
    KeptSpan(KeptSpan const&) = default;
    KeptSpan& operator=(KeptSpan const&) = default;
    ~KeptSpan() = default;

private:
    std::shared_ptr<void const> memory_;
};

}  // namespace rowan::inline v0::detail
