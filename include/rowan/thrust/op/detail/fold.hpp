// rowan/thrust/op/detail/fold.hpp: Fold, a reduction on a device by an operation whose order does not matter.
#pragma once

#include <rowan/detail/block_sum.hpp>
#include <rowan/thrust/core/detail/storage.hpp>

#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// Combines a block of up to 64 terms.
template <class S, class Term, class Combine>
struct FoldBlock {
    Term term;
    Combine combine;
    S* to;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const begin = k * block_size, end = n - begin < block_size ? n : begin + block_size;
        S total = term(begin);
        for (std::size_t i = begin + 1; i < end; ++i) total = combine(total, term(i));
        to[k] = total;
    }
};

template <class S>
struct FoldedAt {
    S const* from;
    ROWAN_HD S operator()(std::size_t i) const { return from[i]; }
};

/// Reduces term(0) … term(n - 1), n > 0, with `combine`: in blocks of 64, their results in blocks of 64, and so on.
template <class S, class System>
class Fold {
public:
    template <class Term, class Combine>
    Fold(ThrustDevice<System> const& exec, std::size_t n, Term const& term, Combine const& combine)
        : some_(exec, blocks_of(n)), others_(exec, blocks_of(blocks_of(n))), result_(some_.data()) {
        launch(exec, blocks_of(n), FoldBlock<S, Term, Combine>{term, combine, result_, n});
        S* to = others_.data();
        for (n = blocks_of(n); n > 1; n = blocks_of(n)) {
            launch(exec, blocks_of(n), FoldBlock<S, FoldedAt<S>, Combine>{{result_}, combine, to, n});
            std::swap(result_, to);
        }
    }
    Fold(Fold const&) = delete;
    Fold& operator=(Fold const&) = delete;

    /// A pointer to device memory.
    S const* result() const noexcept { return result_; }

private:
    static std::size_t blocks_of(std::size_t n) { return (n + block_size - 1) / block_size; }

    DeviceStorage<S, System> some_, others_;
    S* result_;
};

}  // namespace rowan::inline v0::detail
