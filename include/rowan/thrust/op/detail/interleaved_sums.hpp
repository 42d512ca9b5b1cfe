// rowan/thrust/op/detail/interleaved_sums.hpp: sums and products of runs on a device, in 16 interleaved parts as on the
// host.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/teams.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Folds run k and calls done(k, result). Runs have `length` terms, but the last one of each row ends with it.
template <class S, class Fold, class Term, class Done>
struct FoldRun {
    Term term;
    Done done;
    std::size_t n, length;  // terms of a row and of a run
    FastDivmod runs;        // of a row

    template <class Team>
    ROWAN_HD void operator()(std::size_t k, Team const& team) const {
        std::size_t const row = runs.quotient(k), begin = (k - row * runs.by) * length, at = row * n + begin;
        S const result = team.template fold<Fold>(constant<S>(Fold::start), n - begin < length ? n - begin : length,
                                                  [&](std::size_t i) { return term(at + i); });
        if (team.leads()) done(k, result);
    }
};

/// Cuts each row of n terms into runs of `length` > 0 terms, of which the last may be shorter, and calls
/// done(run, result) for each, where runs count on from row to row. `term` and `done` are called on the device. A run has
/// 16 threads, however long it is: their order of sums has no more parts.
template <class S, class Fold, class System, class Term, class Done>
void fold_runs(ThrustDevice<System> const& exec, std::size_t rows, std::size_t n, std::size_t length, Term const& term,
               Done const& done) {
    FastDivmod const runs(n / length + (n % length != 0 ? 1 : 0));
    launch_teams(exec, rows * runs.by, FoldRun<S, Fold, Term, Done>{term, done, n, length, runs});
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
