// rowan/op/loss/declared.hpp: losses and metrics: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/operator_of.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// How the losses of n rows are reduced: not at all, to their mean, or to their sum. The mean of no rows is 0.
enum class Reduction : std::int32_t { none = 0, mean = 1, sum = 2 };

/// What a score says of a class in nce.
enum class NceModel : std::int32_t {
    exponential = 0,  ///< it has the weight exp(score): the definition of Gutmann and Hyvärinen, and TensorFlow's
    sigmoid = 1       ///< it has the weight 1 / (1 + exp(-score)), as in Paddle's nce
};

/// How classes are drawn: all with the same probability, or as ClassSampler::log_uniform.
enum class Sampling : std::int32_t { uniform = 0, log_uniform = 1 };

// A weight of positives multiplies the loss of label 1, and not what a mean divides by, as in PyTorch and TensorFlow.

/// The settings of accuracy_op.
struct AccuracyOptions {
    std::optional<std::int64_t> k = {};  ///< a row is correct if its label is at one of the k largest elements; none: 1
    ROWAN_OPTIONS(AccuracyOptions, k)
};

/// The settings of binary_cross_entropy and binary_cross_entropy_with_logits.
struct BinaryCrossEntropyOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    /// elements with this label do not count: their loss and gradient are 0, and the mean is that of the others
    std::optional<std::int64_t> ignore_index = {};
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(BinaryCrossEntropyOptions, reduction, ignore_index, pos_weight)
};

/// The settings of hinge.
struct HingeOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(HingeOptions, reduction, pos_weight)
};

/// The settings of losses that have no others.
struct LossOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements

    /// Those of losses that can also ignore labels or weigh positives, which these options do not.
    operator BinaryCrossEntropyOptions() const { return {.reduction = reduction}; }
    operator HingeOptions() const { return {.reduction = reduction}; }
    ROWAN_OPTIONS(LossOptions, reduction)
};

/// The settings of cross_entropy_of_probabilities and cross_entropy.
struct CrossEntropyOptions {
    Reduction reduction = Reduction::mean;          ///< applied to the losses of the rows
    std::optional<std::int64_t> ignore_index = {};  ///< rows with this label do not count
    std::optional<std::int64_t> axis = {};          ///< the axis of the classes; default the last one
    std::vector<double> weights = {};               ///< a factor of the losses for each class; empty: all are 1
    ROWAN_OPTIONS(CrossEntropyOptions, reduction, ignore_index, axis, weights)
};

/// The settings of huber.
struct HuberOptions {
    double delta = 1;                       ///< the distance at which the loss becomes linear, above 0
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(HuberOptions, delta, reduction)
};

/// The settings of smooth_l1.
struct SmoothL1Options {
    double beta = 1;  ///< the distance at which the loss becomes linear, at least 0; Paddle's 1 / sigma²
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(SmoothL1Options, beta, reduction)
};

/// The settings of binary_cross_entropy_with_epsilon.
struct BinaryCrossEntropyWithEpsilonOptions {
    double epsilon = 1e-4;                  ///< added to probabilities, at least 0
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(BinaryCrossEntropyWithEpsilonOptions, epsilon, reduction, pos_weight)
};

/// The settings of margin_ranking and cosine_embedding.
struct MarginOptions {
    double margin = 0;  ///< of margin_ranking: where the loss ends; of the other one: where it begins
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(MarginOptions, margin, reduction)
};

/// The settings of nce.
struct NceOptions {
    NceModel model = NceModel::exponential;  ///< what a score says
    bool subtract_log_counts = true;         ///< of NceModel::exponential: false takes each expected count as 1
    bool remove_hits = false;                ///< whether sampled classes that are labels of the row are left out
    Reduction reduction = Reduction::mean;   ///< applied to the losses of the rows
    ROWAN_OPTIONS(NceOptions, model, subtract_log_counts, remove_hits, reduction)
};

/// The settings of sample_classes_op.
struct SampleOptions {
    std::int64_t samples = 1;                   ///< how many classes are drawn
    Sampling sampling = Sampling::log_uniform;  ///< how
    bool unique = true;                         ///< whether they are different ones
    ROWAN_OPTIONS(SampleOptions, samples, sampling, unique)
};

/// The settings of sampled_softmax.
struct SampledSoftmaxOptions {
    bool subtract_log_counts = true;        ///< whether the logarithms of expected counts are subtracted from scores
    bool remove_hits = true;                ///< whether sampled classes that are labels of the row are left out
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the rows
    ROWAN_OPTIONS(SampledSoftmaxOptions, subtract_log_counts, remove_hits, reduction)
};

struct accuracy_op;
struct binary_cross_entropy_op;
struct binary_cross_entropy_with_epsilon_op;
struct binary_cross_entropy_with_logits_op;
struct cosine_embedding_op;
struct crf_decoding_op;
struct crf_matches_op;
struct cross_entropy_of_probabilities_op;
struct cross_entropy_op;
struct hinge_op;
struct huber_op;
struct kl_div_op;
struct linear_chain_crf_op;
struct margin_ranking_op;
struct mse_op;
struct nce_op;
struct negative_sampling_op;
struct sample_classes_op;
struct sampled_softmax_op;
struct smooth_l1_op;
struct weighted_binary_cross_entropy_op;
struct weighted_binary_cross_entropy_with_epsilon_op;
struct weighted_binary_cross_entropy_with_logits_op;
struct weighted_cosine_embedding_op;
struct weighted_hinge_op;
struct weighted_huber_op;
struct weighted_kl_div_op;
struct weighted_margin_ranking_op;
struct weighted_mse_op;
struct weighted_smooth_l1_op;

namespace detail {

/// The losses of sampled classes.
template <class Op, class Options>
struct sampled_loss
    : builtin_op<Op, slots<slot::x, slot::w, slot::b, slot::label, slot::drawn, slot::label_count, slot::sampled_count>,
                 slots<slot::out, slot::saved>, Options> {};

template <>
struct declared<accuracy_op> : builtin_op<accuracy_op, slots<slot::x, slot::label>, slots<slot::out>, AccuracyOptions> {
    using result = double;
    static constexpr std::string_view name = "accuracy";
    static constexpr std::string_view brief = "The fraction of rows whose label is among the k greatest elements.";
};

template <>
struct declared<crf_decoding_op> : builtin_op<crf_decoding_op, slots<slot::x, slot::w>, slots<slot::out>> {
    using result = std::int64_t;
    static constexpr std::string_view name = "crf_decoding";
    static constexpr std::string_view brief = "The best tags of each sequence, or with labels 1 where it has them.";
};

template <>
struct declared<crf_matches_op> : builtin_op<crf_matches_op, slots<slot::x, slot::w, slot::label>, slots<slot::out>> {
    using result = std::int64_t;
    static constexpr std::string_view name = "crf_matches";
    static constexpr std::string_view brief = "1 where the best tags of a sequence have the label, else 0.";
};

template <>
struct declared<cross_entropy_op>
    : builtin_op<cross_entropy_op, slots<slot::x, slot::target>, slots<slot::out, slot::saved>, CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy";
    static constexpr std::string_view brief =
        "-log(probability of the label), from scores; labels may be probabilities.";
};

template <>
struct declared<cross_entropy_of_probabilities_op>
    : builtin_op<cross_entropy_of_probabilities_op, slots<slot::x, slot::target>, slots<slot::out>,
                 CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy_of_probabilities";
    static constexpr std::string_view brief =
        "-log(probability of the label), from probabilities; classes are along an axis, and may have weights.";
};

template <>
struct declared<linear_chain_crf_op>
    : builtin_op<linear_chain_crf_op, slots<slot::x, slot::w, slot::label>, slots<slot::out>> {
    static constexpr std::string_view name = "linear_chain_crf";
    static constexpr std::string_view brief =
        "The negative log-likelihood of the labels of each sequence; transition is [tags + 2, tags].";
};

template <>
struct declared<mse_op> : builtin_op<mse_op, slots<slot::x, slot::y>, slots<slot::out>, LossOptions> {
    static constexpr std::string_view name = "mse", brief = "(x - y)².";
};

template <>
struct declared<nce_op> : sampled_loss<nce_op, NceOptions> {
    static constexpr std::string_view name = "nce";
    static constexpr std::string_view brief =
        "Noise-contrastive estimation: labels against sampled classes, one by one.";
};

template <>
struct declared<negative_sampling_op> : builtin_op<negative_sampling_op, slots<slot::x, slot::w, slot::sampled>,
                                                   slots<slot::out, slot::saved>, LossOptions> {
    static constexpr std::string_view name = "negative_sampling";
    static constexpr std::string_view brief = "word2vec's loss: a class against a few others.";
};

template <>
struct declared<sample_classes_op>
    : builtin_op<sample_classes_op, slots<slot::w, slot::label, slot::seed>,
                 slots<slot::drawn, slot::label_count, slot::sampled_count>, SampleOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "sample_classes";
    static constexpr std::string_view brief =
        "Classes drawn at random, and expected counts, for sampled_softmax and nce.";
    static constexpr unsigned level_inputs = 0b1;  // of w only the height is used: it gets no gradient from here
};

template <>
struct declared<sampled_softmax_op> : sampled_loss<sampled_softmax_op, SampledSoftmaxOptions> {
    static constexpr std::string_view name = "sampled_softmax";
    static constexpr std::string_view brief = "The cross entropy over labels and a few sampled classes.";
};

// Losses of the elements of x and y, and the same with a weight for each row.
#define ROWAN_WEIGHTED_LOSS(f, options, text)                                                                \
    template <>                                                                                              \
    struct declared<weighted_##f##_op>                                                                       \
        : builtin_op<weighted_##f##_op, slots<slot::x, slot::y, slot::weights>, slots<slot::out>, options> { \
        static constexpr std::string_view name = "weighted_" #f;                                             \
        static constexpr std::string_view brief = text " Rows have weights, by whose sum the mean divides."; \
    };
#define ROWAN_LOSS(f, options, text)                                                                   \
    template <>                                                                                        \
    struct declared<f##_op> : builtin_op<f##_op, slots<slot::x, slot::y>, slots<slot::out>, options> { \
        static constexpr std::string_view name = #f, brief = text;                                     \
    };                                                                                                 \
    ROWAN_WEIGHTED_LOSS(f, options, text)
ROWAN_WEIGHTED_LOSS(mse, LossOptions, "(x - y)².")
ROWAN_LOSS(huber, HuberOptions, "Huber's loss: quadratic up to delta, then linear.")
ROWAN_LOSS(smooth_l1, SmoothL1Options, "The smooth L1 loss.")
ROWAN_LOSS(binary_cross_entropy_with_logits, BinaryCrossEntropyOptions,
           "The cross entropy of sigmoid(x) and the probabilities y.")
ROWAN_LOSS(binary_cross_entropy, BinaryCrossEntropyOptions, "The cross entropy of the probabilities x and y.")
ROWAN_LOSS(binary_cross_entropy_with_epsilon, BinaryCrossEntropyWithEpsilonOptions,
           "The cross entropy, with epsilon added to the probabilities.")
ROWAN_LOSS(hinge, HingeOptions, "max(0, 1 - x · (2 y - 1)) for labels y of 0 and 1.")
ROWAN_LOSS(kl_div, LossOptions, "y · (log(y) - x), for x of log probabilities.")
ROWAN_LOSS(margin_ranking, MarginOptions, "max(0, margin - label · (left - right)).")
ROWAN_LOSS(cosine_embedding, MarginOptions, "1 - cos for label 1, max(0, cos - margin) for label -1.")
#undef ROWAN_LOSS
#undef ROWAN_WEIGHTED_LOSS

}  // namespace detail

}  // namespace rowan::inline v0
