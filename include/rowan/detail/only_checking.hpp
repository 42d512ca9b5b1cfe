// rowan/detail/only_checking.hpp: OnlyChecking, lets optimizers check their arguments without changing them.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0::detail {

/// Whether optimizers called by this thread return after they have checked their arguments.
inline bool& only_checking() {
    thread_local bool checking = false;
    return checking;
}

/// Makes it so for its lifetime, if `on` is true.
class OnlyChecking {
public:
    explicit OnlyChecking(bool on) : before_(only_checking()) {
        if (on) only_checking() = true;
    }
    OnlyChecking(OnlyChecking const&) = delete;
    OnlyChecking& operator=(OnlyChecking const&) = delete;
    ~OnlyChecking() { only_checking() = before_; }

private:
    bool before_;
};

}  // namespace rowan::inline v0::detail
