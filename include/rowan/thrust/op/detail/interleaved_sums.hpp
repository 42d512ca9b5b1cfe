// rowan/thrust/op/detail/interleaved_sums.hpp: sums and products of runs on a device, in 16 interleaved parts as on the
// host.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/core/detail/storage.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/row_squares.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Part k % 16 of run k / 16: every 16th term of the run, folded. Runs have `length` terms, but the last one of each row ends
/// with it.
template <class S, class Fold, class Term>
struct FoldParts {
    Term term;
    S* parts;
    std::size_t n, length;  // terms of a row and of a run
    FastDivmod runs;        // of a row

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = runs.quotient(k / 16), begin = (k / 16 - row * runs.by) * length;
        std::size_t const end = n - begin < length ? n : begin + length;
        S result = constant<S>(Fold::start);
        for (std::size_t i = begin + k % 16; i < end; i += 16) Fold{}(term(row * n + i), result);
        parts[k] = result;
    }
};

/// Folds the parts of a run in place and calls done(run, result).
template <class S, class Fold, class Done>
struct FoldOfParts {
    S* parts;
    Done done;

    ROWAN_HD void operator()(std::size_t k) const { done(k, fold_tree(parts + k * 16, Fold{})); }
};

/// Cuts each row of n terms into runs of `length` > 0 terms, of which the last may be shorter, and calls
/// done(run, result) for each, where runs count on from row to row. `term` and `done` are called on the device.
/// cost     temporary memory for 16 numbers per run
template <class S, class Fold, class System, class Term, class Done>
void fold_runs(ThrustDevice<System> const& exec, std::size_t rows, std::size_t n, std::size_t length, Term const& term,
               Done const& done) {
    FastDivmod const runs(n / length + (n % length != 0 ? 1 : 0));
    DeviceStorage<S, System> const parts(exec, rows * runs.by * 16);
    launch(exec, rows * runs.by * 16, FoldParts<S, Fold, Term>{term, parts.data(), n, length, runs});
    launch(exec, rows * runs.by, FoldOfParts<S, Fold, Done>{parts.data(), done});
}

/// The sums of runs of one row.
template <class S, class System, class Term, class Done>
void sum_runs(ThrustDevice<System> const& exec, std::size_t n, std::size_t length, Term const& term, Done const& done) {
    if (n % length == 0) return fold_runs<S, add_lanes>(exec, n / length, length, length, term, done);
    fold_runs<S, add_lanes>(exec, 1, n, length, term, done);
}

/// numbers[i]
template <class S>
struct NumberAt {
    S const* numbers;
    ROWAN_HD S operator()(std::size_t i) const { return numbers[i]; }
};

template <class S>
struct KeepNumber {
    S* numbers;
    ROWAN_HD void operator()(std::size_t i, S const& x) const { numbers[i] = x; }
};

}  // namespace rowan::inline v0::detail
