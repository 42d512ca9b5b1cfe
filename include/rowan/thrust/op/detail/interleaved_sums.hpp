// rowan/thrust/op/detail/interleaved_sums.hpp: sums of runs on a device, in 16 interleaved parts as on the host.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/core/detail/storage.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/detail/row_squares.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Part k % 16 of run k / 16: the sum of term(i) for every 16th i of the run. Runs have `length` terms; the last one
/// ends at n.
template <class S, class Term>
struct SumParts {
    Term term;
    S* parts;
    std::size_t n, length;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const begin = k / 16 * length;
        std::size_t const end = n - begin < length ? n : begin + length;
        S sum = constant<S>(0.0);
        for (std::size_t i = begin + k % 16; i < end; i += 16) sum = plus(sum, term(i));
        parts[k] = sum;
    }
};

/// Adds the parts of a run in place and calls done(run, sum).
template <class S, class Done>
struct SumOfParts {
    S* parts;
    Done done;

    ROWAN_HD void operator()(std::size_t k) const { done(k, tree_sum(parts + k * 16)); }
};

/// Cuts [0, n) into runs of `length` > 0 terms, of which the last may be shorter, and calls done(run, sum) for each.
/// `term` and `done` are called on the device.
/// cost     temporary memory for 16 numbers per run
template <class S, class System, class Term, class Done>
void sum_runs(ThrustDevice<System> const& exec, std::size_t n, std::size_t length, Term const& term, Done const& done) {
    std::size_t const runs = n / length + (n % length != 0 ? 1 : 0);
    DeviceStorage<S, System> const parts(exec, runs * 16);
    launch(exec, runs * 16, SumParts<S, Term>{term, parts.data(), n, length});
    launch(exec, runs, SumOfParts<S, Done>{parts.data(), done});
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
