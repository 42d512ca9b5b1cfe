// rowan/train/detail/epochs_inl.hpp: definitions of rowan/train/detail/epochs.hpp.
#pragma once

#include <rowan/train/detail/epochs.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/detail/near_name.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE Epochs::Epochs(Metrics const& metrics, std::optional<layer::EarlyStop> const& stop)
    : metrics_(metrics), stop_(stop) {
    for (auto const& [name, metric] : metrics) {
        if (!metric) throw GraphError({"options.metrics: \"", name, "\" holds no function"});
    }
    if (!stop) return;
    if (!metrics.contains(stop->metric))
        throw GraphError({"options.stop: there is no metric \"", stop->metric, "\"", near_text(stop->metric, metrics)});
    if (stop->patience < 0) throw ValueError("options.stop: patience", stop->patience, "0 or more");
    if (!(stop->least >= 0)) throw ValueError("options.stop: least", stop->least, "0 or more");
    if (std::isinf(stop->least)) throw ValueError("options.stop: least", stop->least, "a finite number");
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Epochs::begin() {
    start_ = std::chrono::steady_clock::now();
    sum_ = 0;
    steps_ = 0;
    measured_.clear();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Epochs::begin(TrainPosition&& at) {
    begin();
    sum_ = at.cost;
    steps_ = at.steps;
    if (at.metric != metric()) return;
    value_ = at.value;
    since_ = at.since;
    best_ = std::move(at.best);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE TrainPosition Epochs::position(std::int64_t epoch, std::int64_t batches) const {
    TrainPosition at{.epoch = epoch, .batches = batches, .since = since_, .value = value_, .metric = metric()};
    if (batches != 0) {
        at.steps = steps_;
        at.cost = sum_;
    }
    if (best_) at.best = best_->share();
    return at;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::int64_t Epochs::metric() const {
    if (!stop_) return 0;
    auto const text = std::string(stop_->larger ? "larger " : "smaller ").append(stop_->metric);
    return hash_of(std::as_bytes(std::span(text))) & 0xFFFFFFFF;  // exact as a double
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool Epochs::end(std::int64_t epoch, Parameters now,
                                                  Callback<std::int64_t, Parameters const&> const& on_epoch) {
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

ROWAN_CALLED_FUNCTION ROWAN_RARE bool Epochs::goes_on(double value, Parameters now) {
    double const gain = stop_->larger ? value - value_ : value_ - value;
    if (!std::isnan(value) && (!best_ || (gain > 0 && gain >= stop_->least))) {
        best_ = std::move(now);
        value_ = value;
        since_ = 0;
        return true;
    }
    ++since_;
    return !ended();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Epochs::check_best() const {
    if (stop_ && !best_ && since_ > 0)
        throw ValueError({"options.stop: the metric \"", stop_->metric, "\" of each epoch"},
                         std::numeric_limits<double>::quiet_NaN(), "a number in at least one of them");
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Epochs::print(std::int64_t epoch) const {
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start_;
    std::fprintf(stderr, "epoch %lld: mean cost %g over %lld steps%s, %.3f s\n", static_cast<long long>(epoch + 1),
                 sum_ / static_cast<double>(std::max<std::int64_t>(steps_, 1)), static_cast<long long>(steps_),
                 measured_.c_str(), seconds.count());
}

}  // namespace rowan::inline v0::detail

#endif
