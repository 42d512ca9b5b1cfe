// rowan/thrust/detail/teams.hpp: launch_teams, which gives each row to a team of threads.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/core/detail/system.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// The threads of a team, as many as a sum along a row has interleaved parts.
inline constexpr std::size_t team_size = 16;

/// A thread that does the work of a team, on systems in host memory.
struct TeamOfOne {
    /// Whether this thread stores what a row has once.
    ROWAN_HD bool leads() const { return true; }
    /// A team for a map or fold whose reads are loops.
    ROWAN_HD TeamOfOne one_by_one() const { return {}; }

    /// Calls write(i, read(i)) for i in [0, n). A thread is always given the same i, and may read some before it writes.
    ROWAN_NO_EXEC_CHECK
    template <class Read, class Write>
    ROWAN_HD void map(std::size_t n, Read const& read, Write const& write) const {
        for (std::size_t i = 0; i < n; ++i) write(i, read(i));
    }

    /// Folds term(i) for i in [0, n) in 16 interleaved parts, which begin with `first`, and these by fold_tree. All threads
    /// call it and get the result. What they read and wrote before is done when any of them returns.
    ROWAN_NO_EXEC_CHECK
    template <class Fold, class S, class Term>
    ROWAN_HD S fold(S const& first, std::size_t n, Term const& term) const {
        S part[team_size];
        for (std::size_t k = 0; k < team_size; ++k) part[k] = first;
        for (std::size_t i = 0; i < n; ++i) Fold{}(S(term(i)), part[i % team_size]);
        return fold_tree(part, Fold{});
    }
    /// The sum of term(i), in the same way.
    ROWAN_NO_EXEC_CHECK
    template <class S, class Term>
    ROWAN_HD S sum(std::size_t n, Term const& term) const {
        return fold<add_lanes>(constant<S>(0.0), n, term);
    }
};

/// One of the 16 threads of a team, with the same functions. shuffle(x, k) is called by all of them with the same k and
/// returns the x of thread lane ^ k; shuffle.meet() waits until what all have read and written is done.
/// `some` reads wait for memory together.
template <class Shuffle, std::size_t some = 4>
struct TeamLane {
    std::size_t lane;
    Shuffle shuffle;

    ROWAN_HD bool leads() const { return lane == 0; }
    ROWAN_HD TeamLane<Shuffle, 1> one_by_one() const { return {lane, shuffle}; }

    ROWAN_NO_EXEC_CHECK
    template <class Read, class Write>
    ROWAN_HD void map(std::size_t n, Read const& read, Write const& write) const {
        std::size_t i = lane;
        for (; i + (some - 1) * team_size < n; i += some * team_size) {
            decltype(read(i)) x[some];
            for (std::size_t c = 0; c < some; ++c) x[c] = read(i + c * team_size);
            for (std::size_t c = 0; c < some; ++c) write(i + c * team_size, x[c]);
        }
        for (; i < n; i += team_size) write(i, read(i));
    }

    ROWAN_NO_EXEC_CHECK
    template <class Fold, class S, class Term>
    ROWAN_HD S fold(S const& first, std::size_t n, Term const& term) const {
        S part = first;
        map(n, term, [&](std::size_t, S const& x) { Fold{}(x, part); });
        shuffle.meet();
        // as fold_tree: the parts of the upper half are folded into those of the lower one
        for (std::size_t half = team_size / 2; half != 0; half /= 2) {
            S from = shuffle(part, half);
            if ((lane & half) != 0) {  // not a choice of references, which would be in memory
                S const mine = part;
                part = from;
                from = mine;
            }
            Fold{}(from, part);
        }
        return part;
    }
    ROWAN_NO_EXEC_CHECK
    template <class S, class Term>
    ROWAN_HD S sum(std::size_t n, Term const& term) const {
        return fold<add_lanes>(constant<S>(0.0), n, term);
    }
};

/// Calls f(k, TeamOfOne{}).
template <class F>
struct CallAlone {
    F f;
    ROWAN_HD void operator()(std::size_t k) const { f(k, TeamOfOne{}); }
};

/// Calls f(k, team) for k in [0, n) in all threads of a team, unless an earlier call has failed. A system that has teams
/// has for_each_team; on the others a thread is a team.
template <thrust_device D, class F>
void launch_teams(D const& exec, std::size_t n, F const& f) {
    using System = system_of<D>;
    if (n == 0) return;
    UnlessFailed<F> const unless{System::failed_call(exec), f};
    if constexpr (requires { System::for_each_team(exec, n, unless); }) {
        System::for_each_team(exec, n, unless);
    } else {
        System::for_each(exec, n, CallAlone<UnlessFailed<F>>{unless});
    }
}

}  // namespace rowan::inline v0::detail
