// rowan/train/detail/entered.hpp: Entered, marks a call that must not run twice at the same time.
#pragma once

#include <rowan/core/error.hpp>

#include <atomic>
#include <string>

namespace rowan::inline v0::detail {

/// Marks a call until destruction.
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

}  // namespace rowan::inline v0::detail
