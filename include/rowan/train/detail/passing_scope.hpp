// rowan/train/detail/passing_scope.hpp: what a trainer adds to a net for its lifetime, and the guard of its steps.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>

#include <atomic>
#include <string>

namespace rowan::inline v0 {

namespace detail {

/// An inner scope that, on destruction, removes its operators from the readers of outer variables.
class PassingScope {
public:
    explicit PassingScope(Scope& parent) : scope_(parent) {}
    PassingScope(PassingScope const&) = delete;
    PassingScope& operator=(PassingScope const&) = delete;
    ~PassingScope() { scope_.forget_readers(); }

    Scope& operator*() noexcept { return scope_; }

private:
    Scope scope_;
};

/// Marks a call that must not run twice at the same time.
class Entered {
public:
    /// errors   Error if another one holds the flag
    Entered(std::atomic_flag& flag, char const* what) : flag_(flag) {
        if (flag.test_and_set()) throw Error(std::string(what) + " is running: it is for one thread at a time");
    }
    Entered(Entered const&) = delete;
    Entered& operator=(Entered const&) = delete;
    ~Entered() { flag_.clear(); }

private:
    std::atomic_flag& flag_;
};

}  // namespace detail

}  // namespace rowan::inline v0
