// rowan/op/loss/class_sampler_inl.hpp: definitions of rowan/op/loss/class_sampler.hpp.
#pragma once

#include <rowan/op/loss/class_sampler.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/op/detail/power.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace rowan::inline v0 {

namespace detail {

/// The probability of class c under ClassSampler::log_uniform, given c + 1.
struct log_uniform_formula {
    double log_range;
    ROWAN_FORMULA V operator()(V const& c) const {
        return quotient(logarithm_of_one_plus(quotient(constant<V>(1.0), c)), constant<V>(log_range));
    }
};
/// See expected_count.
struct expected_count_formula {
    double n, tries;
    ROWAN_FORMULA V operator()(V const& probability) const {
        if (tries == n) return product(probability, constant<V>(n));
        V const zero = constant<V>(0.0), never = logarithm_of_one_plus(V(zero - probability));
        return zero - exponential_minus_one(product(constant<V>(tries), never));
    }
};

}  // namespace detail

ROWAN_CALLED_FUNCTION ClassSampler::ClassSampler(std::int64_t classes, double log_range)
    : classes_(classes), possible_(classes), log_range_(log_range) {
    if (classes < 1 || classes >= std::int64_t{1} << 31) throw ValueError("classes", classes, "in [1, 2^31)");
}

ROWAN_CALLED_FUNCTION ClassSampler ClassSampler::log_uniform(std::int64_t classes) {
    return {classes, detail::logarithm(static_cast<double>(classes) + 1)};
}

ROWAN_CALLED_FUNCTION ClassSampler ClassSampler::of_weights(std::span<double const> weight) {
    ClassSampler made(static_cast<std::int64_t>(weight.size()), 0.0);
    made.make_buckets(weight);
    return made;
}

ROWAN_CALLED_FUNCTION ClassSampler ClassSampler::of_counts(std::span<std::int64_t const> counts, double power) {
    detail::Exponent const exponent = detail::exact_exponent(power);
    std::vector<double> weight(counts.size());
    for (std::size_t c = 0; c < counts.size(); ++c) {
        if (counts[c] < 0) throw ValueError({"counts[", c, "]"}, counts[c], "at least 0");
        weight[c] = counts[c] == 0 ? 0.0 : detail::power(static_cast<double>(counts[c]), exponent, 1.0);
    }
    return of_weights(weight);
}

ROWAN_CALLED_FUNCTION double ClassSampler::probability(std::int64_t c) const {
    if (c < 0 || c >= classes_) throw IndexError("class", c, classes_);
    if (!probability_.empty()) return probability_[static_cast<std::size_t>(c)];
    if (log_range_ == 0.0) return 1.0 / static_cast<double>(classes_);
    return detail::log_uniform_formula{log_range_}(static_cast<double>(c + 1));
}

ROWAN_CALLED_FUNCTION std::vector<double> ClassSampler::probabilities(Ids<> const& classes) const {
    detail::check_ids(Cpu{1}, "classes", classes, classes_);
    std::vector<double> made(classes.size());
    classes.visit([&](auto some) {
        for (std::size_t k = 0; k < made.size(); ++k)
            made[k] = log_range_ != 0.0 ? static_cast<double>(some[k]) + 1 : probability(some[k]);
    });
    if (log_range_ != 0.0)
        detail::map_lanes<double>(detail::log_uniform_formula{log_range_}, made.size(), made.data(), made.data());
    return made;
}

ROWAN_CALLED_FUNCTION std::int64_t ClassSampler::draw(std::uint64_t bits) const {
    auto const n = static_cast<std::uint64_t>(classes_);
    if (log_range_ != 0.0) {
        double const u = static_cast<double>(bits >> 11) * 0x1p-53;
        auto const c = static_cast<std::int64_t>(detail::exponential(u * log_range_)) - 1;
        return std::clamp<std::int64_t>(c, 0, classes_ - 1);
    }
    std::uint64_t const high = (bits >> 32) * n + ((bits & 0xFFFFFFFFU) * n >> 32);  // bits · n / 2^32
    auto const bucket = static_cast<std::size_t>(high >> 32);
    if (buckets_.empty()) return static_cast<std::int64_t>(bucket);
    Bucket const& b = buckets_[bucket];
    return (high & 0xFFFFFFFFU) < b.own ? static_cast<std::int64_t>(bucket) : b.other;
}

ROWAN_CALLED_FUNCTION void ClassSampler::make_buckets(std::span<double const> weight) {
    constexpr std::uint64_t full = std::uint64_t{1} << 32;
    std::size_t const n = weight.size();
    double sum = 0.0, greatest_weight = 0.0;
    for (std::size_t c = 0; c < n; ++c) {
        if (!(weight[c] >= 0.0) || !std::isfinite(weight[c]))
            throw ValueError({"weight[", c, "]"}, weight[c], "finite and at least 0");
        greatest_weight = std::max(greatest_weight, weight[c]);
    }
    if (!(greatest_weight > 0.0)) throw ValueError("the greatest weight", greatest_weight, "above 0");
    for (double const w : weight) sum += w / greatest_weight;  // neither too small nor too great
    // whole numbers with the sum n · 2^32: what rounding leaves over goes to the greatest one
    std::vector<std::uint64_t> share(n);
    std::uint64_t left = n * full;
    double const unit = static_cast<double>(left) / sum;
    for (std::size_t c = 0; c < n; ++c) {
        share[c] = std::min(static_cast<std::uint64_t>(weight[c] / greatest_weight * unit), left);
        left -= share[c];
    }
    auto const greatest = std::max_element(weight.begin(), weight.end()) - weight.begin();
    share[static_cast<std::size_t>(greatest)] += left;
    possible_ = std::count_if(share.begin(), share.end(), [](std::uint64_t s) { return s != 0; });
    probability_.resize(n);
    for (std::size_t c = 0; c < n; ++c)
        probability_[c] = static_cast<double>(share[c]) / static_cast<double>(n) * 0x1p-32;
    buckets_.resize(n);
    std::vector<std::size_t> small, large;
    for (std::size_t c = 0; c < n; ++c) (share[c] < full ? small : large).push_back(c);
    while (!small.empty()) {
        std::size_t const c = small.back();
        small.pop_back();
        std::size_t const from = large.back();
        buckets_[c] = {share[c], static_cast<std::int32_t>(from)};
        share[from] -= full - share[c];
        if (share[from] < full) {
            large.pop_back();
            small.push_back(from);
        }
    }
    for (std::size_t const c : large) buckets_[c] = {full, static_cast<std::int32_t>(c)};
}

ROWAN_CALLED_FUNCTION SampledClasses sample_classes(ClassSampler const& sampler, std::int64_t n, std::uint64_t seed,
                                                    bool unique) {
    if (n < 0 || (unique && n > sampler.possible()))
        throw ValueError(
            "n", n,
            unique ? "in [0, " + std::to_string(sampler.possible()) + "], the number of classes that can be drawn"
                   : "at least 0");
    SampledClasses made{Tensor<std::int64_t>::from_shape({static_cast<std::size_t>(n)}), 0};
    std::uint64_t const mixed = detail::mix_bits(seed);
    std::vector<std::int64_t> seen(unique ? std::bit_ceil(2 * static_cast<std::size_t>(n)) : 0, -1);  // a hash table
    auto const is_new = [&](std::int64_t id) {
        for (std::uint64_t at = detail::mix_bits(static_cast<std::uint64_t>(id));; ++at) {
            std::int64_t& found = seen[at & (seen.size() - 1)];
            if (found == id) return false;
            if (found >= 0) continue;
            found = id;
            return true;
        }
    };
    for (std::int64_t& id : made.ids) {
        do id = sampler.draw(detail::bits_at(mixed, static_cast<std::uint64_t>(++made.tries)));
        while (unique && !is_new(id));
    }
    return made;
}

ROWAN_CALLED_FUNCTION double expected_count(double probability, std::int64_t n, std::int64_t tries) {
    return detail::expected_count_formula{static_cast<double>(n), static_cast<double>(tries)}(probability);
}

namespace detail {

ROWAN_CALLED_FUNCTION std::vector<double> expected_numbers(ClassSampler const& sampler, SampledClasses const& drawn,
                                                           Ids<> const& ids) {
    expected_count_formula const expected{static_cast<double>(drawn.ids.size()), static_cast<double>(drawn.tries)};
    auto numbers = sampler.probabilities(ids);
    map_lanes<double>(expected, numbers.size(), numbers.data(), numbers.data());
    return numbers;
}

}  // namespace detail

}  // namespace rowan::inline v0

#endif
