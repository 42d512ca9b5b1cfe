// gloss/progress.hpp: a progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace gloss {

/// Shows on stdout the processed part of `total` tokens and the speed.
class Progress {
public:
    Progress(std::string name, std::size_t total) : name_(std::move(name)), total_(total) {}

    void advance(std::size_t tokens) {
        done_ += tokens;
        double const now = seconds();
        if (now < next_) return;
        next_ = now + (terminal_ ? 0.1 : 5.0);
        auto const percent = total_ == 0 ? std::size_t{100} : done_ * 100 / total_;
        if (terminal_) {
            auto const cells = percent * width / 100;
            auto const bar = std::string(cells, '#') + std::string(width - cells, '-');
            std::printf("\r%s [%s] %3zu %%  %.2f million tokens/s", name_.c_str(), bar.c_str(), percent, speed());
        } else {
            std::printf("%s: %zu %%, %.2f million tokens/s\n", name_.c_str(), percent, speed());
        }
        std::fflush(stdout);
    }

    /// Stops the clock and removes the bar.
    void finish() {
        stopped_ = seconds();
        if (terminal_) std::printf("\r\033[K");
    }

    double seconds() const {
        return stopped_ > 0 ? stopped_ : std::chrono::duration<double>(clock::now() - start_).count();
    }
    double speed() const { return static_cast<double>(done_) * 1e-6 / seconds(); }  ///< million tokens per second

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::size_t width = 40;

    std::string name_;
    std::size_t total_;
    std::size_t done_ = 0;
    bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
    clock::time_point start_ = clock::now();
    double next_ = terminal_ ? 0.0 : 5.0;
    double stopped_ = 0;
};

}  // namespace gloss
