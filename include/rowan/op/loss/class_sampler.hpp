// rowan/op/loss/class_sampler.hpp: ClassSampler, random classes as negatives, and how often they are drawn.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A distribution of classes 0, 1 … from which negatives are drawn. All arithmetic is rowan's own, so that the same seed
/// draws the same classes everywhere.
class ClassSampler {
public:
    /// Every class with the probability 1 / classes.
    /// errors   ValueError unless classes is in [1, 2^31)
    /// cost     O(1)
    static ClassSampler uniform(std::int64_t classes) { return {classes, 0.0}; }

    /// Class c with the probability log((c + 2) / (c + 1)) / log(classes + 1): about that of words that are sorted by
    /// descending frequency. As TensorFlow's log_uniform_candidate_sampler.
    /// errors   ValueError unless classes is in [1, 2^31)
    /// cost     O(1)
    ROWAN_IF_CALLED static ClassSampler log_uniform(std::int64_t classes);

    /// Class c with a probability in proportion to weight[c], such as counts raised to word2vec's 0.75, rounded to a
    /// multiple of 2^-32 / classes. Walker: An Efficient Method for Generating Discrete Random Variables, 1977.
    /// errors   ValueError if there are no classes or 2^31, a weight is negative or not finite, or all are 0
    /// cost     O(classes) time, 20 bytes for each class
    ROWAN_IF_CALLED static ClassSampler of_weights(std::span<double const> weight);
    /// A sampler that draws a class with a probability in proportion to counts[c]^power.
    /// errors   as of_weights; ValueError if a count is negative
    /// cost     as of_weights, and a power for each class
    ROWAN_IF_CALLED static ClassSampler of_counts(std::span<std::int64_t const> counts, double power = 1.0);

    std::int64_t classes() const noexcept { return classes_; }    ///< the number of classes
    std::int64_t possible() const noexcept { return possible_; }  ///< how many of them have a probability above 0

    /// The probability that one draw is this class.
    /// errors   IndexError if it is not in [0, classes())
    /// cost     O(1)
    ROWAN_IF_CALLED double probability(std::int64_t c) const;
    /// The probabilities of some classes.
    /// errors   IndexError if one is not in [0, classes())
    /// cost     O(1) for each
    ROWAN_IF_CALLED std::vector<double> probabilities(Ids<> const& classes) const;

    /// A class, given 64 random bits.
    /// errors   none
    /// cost     O(1)
    ROWAN_IF_CALLED std::int64_t draw(std::uint64_t bits) const;

private:
    /// A share of 1 / classes: the first `own` / 2^32 of it belong to the class of this number, the rest to another.
    struct Bucket {
        std::uint64_t own;
        std::int32_t other;
    };

    ROWAN_IF_CALLED ClassSampler(std::int64_t classes, double log_range);

    ROWAN_IF_CALLED void make_buckets(std::span<double const> weight);

    std::int64_t classes_, possible_;
    double log_range_;  // 0: not log-uniform
    std::vector<double> probability_;
    std::vector<Bucket> buckets_;
};

/// Classes that were drawn, and how many draws that took.
struct SampledClasses {
    Tensor<std::int64_t> ids;  ///< in the order of the draws
    std::int64_t tries =
        0;  ///< the number of draws; more than there are ids, if classes that came again were drawn once more
};

/// Draws n classes, with repetitions or, with `unique`, n different ones. The draws depend on the seed alone.
/// errors   ValueError if n is negative, or unique and above sampler.possible()
/// cost     O(n); unique draws until n classes have come, which takes long if n is near the number of classes
ROWAN_IF_CALLED SampledClasses sample_classes(ClassSampler const& sampler, std::int64_t n, std::uint64_t seed,
                                              bool unique = false);

/// How often a class of this probability is expected among n classes that were drawn in a number of tries: as
/// TensorFlow's samplers, n · probability if all tries gave one, else 1 - (1 - probability)^tries.
/// errors   none
/// cost     O(1)
ROWAN_IF_CALLED double expected_count(double probability, std::int64_t n, std::int64_t tries);

namespace detail {

/// The expected count of each of the ids.
ROWAN_IF_CALLED std::vector<double> expected_numbers(ClassSampler const& sampler, SampledClasses const& drawn,
                                                     Ids<> const& ids);

}  // namespace detail

/// The expected counts of labels and of the classes that were drawn.
/// shapes   label of any shape -> its shape, and that of drawn.ids
/// errors   IndexError if a label is not one of the sampler's classes
/// cost     two logarithms for each label and each drawn class
template <class T = float>
std::pair<Tensor<T>, Tensor<T>> expected_counts(ClassSampler const& sampler, SampledClasses const& drawn,
                                                std::type_identity_t<Ids<>> label) {
    auto const counts = [&](Ids<> const& ids) {
        auto made = Tensor<T>::from_shape(ids.shape());
        auto const numbers = detail::expected_numbers(sampler, drawn, ids);
        for (std::size_t k = 0; k < numbers.size(); ++k)
            detail::store(detail::constant<detail::sum_t<T>>(numbers[k]), made.data() + k);
        return made;
    };
    detail::check_ids(Cpu{}, "label", label, sampler.classes());
    return {counts(label), counts(drawn.ids)};
}

}  // namespace rowan::inline v0

#include <rowan/op/loss/class_sampler_inl.hpp>
