// rowan/thrust/op/detail/row_folds.hpp: sums and products of rows on a device. 16 threads share a row, or a block of it.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/op/detail/row_folds.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Folds a row of few elements.
template <class S, class Fold, class From, class To>
struct FoldShortRow {
    From const* from;
    To* to;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t row) const { store(interleaved_fold<S, Fold>(n, from + row * n), to + row); }
};

/// An element, converted to `S`.
template <class S, class From>
struct LoadedElement {
    From const* from;
    ROWAN_HD S operator()(std::size_t i) const { return load<S>(from + i); }
};

template <class S, class To>
struct StoreResult {
    To* to;
    ROWAN_HD void operator()(std::size_t i, S const& x) const { store(x, to + i); }
};

template <class System>
struct RowFolds<ThrustDevice<System>> {
    template <class S, class Fold>
    static constexpr bool has = has_start<Fold>;

    template <class S, class Fold, class From, class To>
    static void fold_blocks(ThrustDevice<System> const& exec, std::size_t rows, std::size_t n, From const* from,
                            To* to) {
        if (n <= 16) return launch(exec, rows, FoldShortRow<S, Fold, From, To>{from, to, n});
        fold_runs<S, Fold>(exec, rows, n, sum_block, LoadedElement<S, From>{from}, StoreResult<S, To>{to});
    }
};

}  // namespace rowan::inline v0::detail
