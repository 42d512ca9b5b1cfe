// rowan/train/detail/epochs.hpp: Epochs, what train does after each epoch.
#pragma once

#include <rowan/train/detail/train_position.hpp>
#include <rowan/train/early_stop.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rowan::inline v0::detail {

/// The ends of the epochs of a training: metrics, the line about an epoch, and the best epoch.
class Epochs {
public:
    /// errors   GraphError if a metric holds no function, or stop names none of them; ValueError if patience or least is
    ///          negative, or least is not finite
    ROWAN_IF_CALLED Epochs(Metrics const& metrics, std::optional<layer::EarlyStop> const& stop);

    ROWAN_IF_CALLED void begin();
    /// Goes on within an epoch; with the best one if `stop` still names the metric of it.
    ROWAN_IF_CALLED void begin(TrainPosition&& at);
    /// What is known of an epoch, of which `batches` have been read.
    ROWAN_IF_CALLED TrainPosition position(std::int64_t epoch, std::int64_t batches) const;
    /// Whether `stop` has ended the training.
    bool ended() const noexcept { return stop_ && stop_->patience != 0 && since_ >= stop_->patience; }
    void count(double cost) {
        sum_ += cost;
        ++steps_;
    }
    /// The metric of the best epoch, which is the same on all ranks.
    double value() const noexcept { return value_; }

    /// Computes the metrics, calls on_epoch and compares with the best epoch. Returns whether the training goes on.
    ROWAN_IF_CALLED bool end(std::int64_t epoch, Parameters now,
                             Callback<std::int64_t, Parameters const&> const& on_epoch);

    /// Checks that an epoch was the best of those that have ended.
    /// errors   ValueError if the metric of `stop` was NaN in all of them
    ROWAN_IF_CALLED void check_best() const;

    /// Prints the line about the epoch to standard error.
    ROWAN_IF_CALLED void print(std::int64_t epoch) const;

    std::optional<Parameters>& best() noexcept { return best_; }  ///< those of the best epoch, or none

private:
    ROWAN_IF_CALLED bool goes_on(double value, Parameters now);
    /// A number for the metric of `stop`, without which there is no best epoch.
    ROWAN_IF_CALLED std::int64_t metric() const;

    Metrics const& metrics_;
    std::optional<layer::EarlyStop> const& stop_;
    std::optional<Parameters> best_;
    double value_ = 0;        // the metric of the best epoch
    std::int64_t since_ = 0;  // epochs since then
    std::chrono::steady_clock::time_point start_;
    double sum_ = 0;
    std::int64_t steps_ = 0;
    std::string measured_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/epochs_inl.hpp>
