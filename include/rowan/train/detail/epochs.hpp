// rowan/train/detail/epochs.hpp: Epochs, what train does after each epoch.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/train/early_stop.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// The ends of the epochs of a training: metrics, the line about an epoch, and the best epoch.
class Epochs {
public:
    /// errors   GraphError if a metric holds no function, or stop names none of them; ValueError if patience or least is
    ///          negative
    Epochs(Metrics const& metrics, std::optional<layer::EarlyStop> const& stop) : metrics_(metrics), stop_(stop) {
        for (auto const& [name, metric] : metrics) {
            if (!metric)
                throw GraphError(std::string("options.metrics: \"").append(name).append("\" holds no function"));
        }
        if (!stop) return;
        if (!metrics.contains(stop->metric))
            throw GraphError(std::string("options.stop: there is no metric \"").append(stop->metric).append("\""));
        if (stop->patience < 0) throw ValueError("options.stop: patience", stop->patience, "0 or more");
        if (!(stop->least >= 0)) throw ValueError("options.stop: least", stop->least, "0 or more");
    }

    void begin() {
        start_ = std::chrono::steady_clock::now();
        sum_ = 0;
        steps_ = 0;
        measured_.clear();
    }
    void count(double cost) {
        sum_ += cost;
        ++steps_;
    }
    std::int64_t steps() const noexcept { return steps_; }
    /// The metric of the best epoch, which is the same on all ranks.
    double value() const noexcept { return value_; }

    /// Computes the metrics, calls on_epoch and compares with the best epoch. Returns whether the training goes on.
    bool end(std::int64_t epoch, Parameters now, Callback<std::int64_t, Parameters const&> const& on_epoch) {
        std::optional<double> compared;
        for (auto const& [name, metric] : metrics_) {
            double const value = metric(now);
            char number[32];
            std::snprintf(number, sizeof number, " %g", value);
            measured_.append(", ").append(name).append(number);
            if (stop_ && name == stop_->metric) compared = value;
        }
        bool const more = on_epoch(epoch, now);
        return (!compared || goes_on(*compared, std::move(now))) && more;
    }

    /// Prints the line about the epoch to standard error.
    void print(std::int64_t epoch) const {
        std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start_;
        std::fprintf(stderr, "epoch %lld: mean cost %g over %lld steps%s, %.3f s\n", static_cast<long long>(epoch + 1),
                     sum_ / static_cast<double>(std::max<std::int64_t>(steps_, 1)), static_cast<long long>(steps_),
                     measured_.c_str(), seconds.count());
    }

    std::optional<Parameters>& best() noexcept { return best_; }  ///< those of the best epoch, or none

private:
    bool goes_on(double value, Parameters now) {
        double const gain = stop_->larger ? value - value_ : value_ - value;
        if (!std::isnan(value) && (!best_ || (gain > 0 && gain >= stop_->least))) {
            best_ = std::move(now);
            value_ = value;
            since_ = 0;
            return true;
        }
        ++since_;
        return stop_->patience == 0 || since_ < stop_->patience;
    }

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
