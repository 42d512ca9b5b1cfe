// rowan/distributed/detail/long_wait.hpp: RankWatch, what ranks that wait long for others tell each other.
#pragma once

#include <rowan/distributed/remote_error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// Prints `rank 2: text` to standard error, and what other streams still have.
inline void print_error(int rank, std::string_view text) {
    std::fprintf(stderr, "rank %d: %.*s\n", rank, static_cast<int>(text.size()), text.data());
    std::fflush(nullptr);
}

/// After so many milliseconds, and then again, ranks that wait say for whom. Tests shorten it.
inline std::atomic<std::int64_t> report_waits_after{60'000};

/// What a rank comes to next.
class Expected {
public:
    std::chrono::milliseconds patience{};  ///< how long it waits for others; 0: for ever

    void set(std::string_view what, std::chrono::milliseconds how_long) {
        size_ = what.copy(text_.data(), text_.size());  // needs no memory
        patience = how_long;
    }
    std::string_view text(std::string_view call) const {
        return size_ == 0 ? call : std::string_view(text_.data(), size_);
    }

private:
    std::array<char, 80> text_{};
    std::size_t size_ = 0;
};

/// `60 s`
ROWAN_IF_CALLED std::string time_text(std::chrono::steady_clock::duration time);

/// `rank 2 has not come to step 17's fetch for 60 s`; without late ranks `all ranks wait in step 17's fetch for 60 s`
ROWAN_IF_CALLED std::string late_text(std::span<int const> late, std::string_view what,
                                      std::chrono::steady_clock::duration waited);

/// The late ones of the ranks that a call needs: those that do not wait, or else those of all for whom these may wait.
template <class Waits>
std::vector<int> late_ranks(std::span<int const> needed, int ranks, Waits const& waits) {
    std::vector<int> late;
    for (int const r : needed) {
        if (!waits(r)) late.push_back(r);
    }
    bool const others = late.empty();
    for (int r = 0; others && r < ranks; ++r) {
        if (!waits(r)) late.push_back(r);
    }
    return late;
}

/// Prints that text and, of the ranks whose place is not empty, in what they wait: `ranks 0 and 1 wait in step 17's fetch`.
ROWAN_IF_CALLED void print_wait(std::string_view text, std::span<std::string const> in);

/// A message between ranks that wait.
struct RankNote {
    enum Kind : std::int32_t { asks, answers, ended };  // all of the first two say that the sender waits
    Kind kind = asks;
    std::int32_t rank = 0;         // with `ended`, the late one
    std::array<char, 248> text{};  // in what it waits, or why the group has ended; the rest is zeros
};

/// The waits of a rank. Short ones cost no message. One that has waited for some time asks the others, of which those answer
/// that wait, too, so that it knows the late ones.
class RankWatch {
public:
    ROWAN_IF_CALLED RankWatch(int rank, int size);
    RankWatch(RankWatch const&) = delete;
    RankWatch& operator=(RankWatch const&) = delete;
    virtual ~RankWatch() = default;

    /// What the rank comes to, and how long it waits there.
    ROWAN_IF_CALLED void expect(std::string_view what, std::chrono::milliseconds patience);
    /// errors   RemoteError if a wait has ended the group
    ROWAN_IF_CALLED void check() const;
    bool has_ended() const { return has_ended_; }
    /// Calls done() until it is true. `members` are the ranks that `call` needs. If one is later than patience allows, the
    /// group ends: throws RemoteError if `throws`, else ends all ranks.
    ROWAN_IF_CALLED void wait(std::function<bool()> const& done, std::string_view call, std::span<int const> members,
                              bool throws);

protected:
    bool silent() const { return silent_; }  // whether this rank has neither sent nor received a note

private:
    using Clock = std::chrono::steady_clock;
    struct Wait;

    virtual void send(int to, RankNote const& note) = 0;
    virtual bool receive(int& from, RankNote& note) = 0;  // whether there was one
    [[noreturn]] virtual void abort(std::string_view text) const = 0;

    ROWAN_IF_CALLED void look(Wait& wait, Clock::time_point now);
    ROWAN_IF_CALLED void read_notes(std::string_view what);
    ROWAN_IF_CALLED void ask(std::string_view what);
    ROWAN_IF_CALLED void judge(Wait& wait, Clock::time_point now);

    int rank_;
    std::mutex mutex_;  // of all that follows
    Expected expected_;
    std::vector<std::string> in_;  // in what ranks wait that have said so since the last question; else empty
    std::vector<char> asked_;      // who has not answered yet: is not asked again
    std::optional<RemoteError> ended_;
    std::atomic<bool> has_ended_{false};
    bool silent_ = true;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/long_wait_inl.hpp>
