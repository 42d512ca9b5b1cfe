// tests/thrust/wide_samples.hpp: samples with rows of any width, with sequences of any length and with many inputs.
#pragma once

#include "op/samples.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace every_operator_on_device {

using NamedSamples = std::map<std::string_view, test::Samples>;

/// Samples of the operators whose kernels on a device depend on the width of rows.
inline NamedSamples wide_samples(std::size_t n, std::size_t width) {
    using namespace test::sample;
    auto const classes = static_cast<std::int64_t>(width);
    auto const table = x({n, width}), other = x({n, width}, 2), w = x({width}, 2), b = x({width}, 3);
    auto const mean = held_fixed(x({width}, 4)), variance = held_fixed(in(0.5, 2, {width}));
    auto const chances = in(0.1, 1, {n, width}), soft = held_fixed(in(0, 1, {n, width}, 2));
    NamedSamples all{
        {"softmax", {{{table}}}},
        {"log_softmax", {{{table}}}},
        {"layer_norm", {{{table, w, b}}}},
        {"batch_norm", {{{table, w, b, mean, variance, list({7})}}, {{table, w, b, mean, variance, list({})}}}},
        {"argsort", {{{table}, ArgsortOptions{.axis = 1}}}},
        {"reduce_sum", {{{table}, ReduceOptions{.axes = {1}}}, {{table}, ReduceOptions{.axes = {0}}}, {{x({2, n, 2, width, 2})}, ReduceOptions{.axes = {0, 2, 4}}}}},
        {"reduce_mean", {{{table}, ReduceOptions{.axes = {1}}}}},
        {"cosine_similarity", {{{table, other}}}},
        {"dot_interaction", {{{x({n, 5, width})}}}},
        {"matmul", {{{table, x({width, 17}, 2)}}, {{x({width, n}), x({17, width}, 2)}, MatmulOptions{.transpose_x = true, .transpose_y = true}}}},
        {"fc", {{{table, x({width, 17}, 2), x({17}, 3)}}}},
        {"gru_unit", {{{x({n, 3 * width}), other, x({width, 3 * width}, 3), x({3 * width}, 4)}}}},
        {"lstm_unit", {{{x({n, 4 * width}), other, x({n, width}, 3), x({width, 4 * width}, 4), x({4 * width}, 5)}}}},
        {"sum", {{std::vector<test::Input>(width + 1, table)}}},
        {"concat", {{{x({3, n, width}), x({3, 1, width}), x({3, 0, width})}, ConcatOptions{.axis = 1}}}},
        {"lookup_table", {{{x({40, width}), ids(40, n)}, LookupOptions{.padding_id = 1}}}},
        {"expand_rows", {{{x({width}), held_fixed(table)}}}},
        {"cross_entropy_of_probabilities", {{{chances, soft}}}},
    };
    if (width == 0) return all;
    auto const label = ids(classes, n);
    for (Reduction const reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        all["cross_entropy"].push_back({{table, label}, CrossEntropyOptions{.reduction = reduction}});
        all["cross_entropy_of_probabilities"].push_back({{chances, label}, CrossEntropyOptions{.reduction = reduction}});
    }
    all["cross_entropy"].push_back({{table, soft}});
    all["accuracy"].push_back({{table, label}});
    all["accuracy"].push_back({{table, label}, AccuracyOptions{.k = 3}});
    all["argmax"].push_back({{table}});
    all["reduce_max"].push_back({{table}, ReduceOptions{.axes = {1}}});
    all["top_k"].push_back({{table}, TopKOptions{.k = std::min<std::int64_t>(classes, 3)}});
    all["top_k"].push_back({{x({n, 15 * width})}, TopKOptions{.k = 13 * classes}});
    all["one_hot"].push_back({{label}, OneHotOptions{.depth = classes}});
    return all;
}

/// Samples of the operators on sequences of the levels of `lod`, with rows of this width.
inline NamedSamples sequence_samples(rowan::Lod const& lod, std::size_t width) {
    using namespace test::sample;
    auto const rows = static_cast<std::size_t>(lod.rows()), outer = lod.sequences(0), last = lod.sequences(lod.levels() - 1);
    auto const batch = x({rows, width}, lod), other = x({rows, width}, lod, 2), one_each = x({outer, width}, 3);
    std::vector<std::int64_t> picked(outer == 0 ? 0 : 130), third, half, lengths = lod.lengths(lod.levels() - 1);
    for (std::size_t i = 0; i < picked.size(); ++i) picked[i] = static_cast<std::int64_t>(i * i % (i % 2 == 0 ? outer : 1));
    std::size_t longest = 0;
    for (auto const length : lengths) {
        third.push_back(length / 3);
        half.push_back(length / 2);
        longest = std::max(longest, static_cast<std::size_t>(length));
    }
    NamedSamples all{
        {"sequence_softmax", {{{batch}}}},
        {"sequence_reverse", {{{batch}}}},
        {"sequence_concat", {{{batch, other, batch}}, {{batch, other}, SequenceConcatOptions{.level = 0}}}},
        {"sequence_expand", {{{one_each, batch}, SequenceExpandOptions{.level = 0}}}},
        {"sequence_slice", {{{batch, list(third), list(half)}}}},
        {"sequence_pad", {{{batch}, SequencePadOptions{.pad_value = -1}}}},
        {"sequence_context", {{{batch}, SequenceContextOptions{.start = -1, .length = 4, .pad_value = 2}}}},
        {"padded_sequence_context", {{{batch, x({3, width}, 2)}, SequenceContextOptions{.start = -1, .length = 4}}}},
        {"sequence_mask", {{{list(lengths)}}, {{list(lengths)}, SequenceMaskOptions{.max_length = 2}}}},
        {"sequence_erase", {{{ids(9, rows, lod)}, SequenceEraseOptions{.tokens = {1, 4, 7}}}, {{ids(9, rows, lod)}}}},
        {"sequence_top_k_mean", {{{batch}, SequenceTopKMeanOptions{.ks = {2, 5, 1}}}}},
        {"pick_sequences", {{{batch, list(picked)}}, {{one_each, list(picked)}}}},
        {"reorder", {{{batch, batch}, ReorderOptions{.level = 0}}, {{one_each, batch}, ReorderOptions{.level = 0, .restore = true}}}},
    };
    for (std::int64_t const step : {0, 1, 2, 64}) all["shrink"].push_back({{batch, batch, list({step})}, ShrinkOptions{.level = 0}});
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max, Pooling::min, Pooling::first, Pooling::last}) {
        all["sequence_pool"].push_back({{batch}, SequencePoolOptions{.pool = pool, .pad_value = -1}});
        if (pool == Pooling::min || pool == Pooling::first || pool == Pooling::last) continue;
        all["embedding_bag"].push_back({{x({40, width}), ids(40, rows, lod)}, BagOptions{.pool = pool}});
        all["weighted_embedding_bag"].push_back({{x({40, width}), ids(40, rows, lod), x({rows}, 2)}, BagOptions{.pool = pool, .padding_id = 1}});
    }
    if (width != 0) all["sequence_reshape"].push_back({{x({rows, 2 * width}, lod)}, SequenceReshapeOptions{.width = static_cast<std::int64_t>(width)}});
    if (rows < 1000) {
        all["sequence_expand"].push_back({{batch, other}, SequenceExpandOptions{.level = 0}});
        all["sequence_attention"] = {{{batch, other, x({rows, 2}, lod, 3)}, SequenceAttentionOptions{.scale = 2, .causal = true}}, {{batch, other, batch}}};
        all["edit_distance"] = {{{ids(3, rows, lod), ids(2, rows, lod)}, EditDistanceOptions{.normalized = true}}};
        all["sequence_unpad"] = {{{x({last, longest, width}), list(lengths)}}};
        test::Input const tags = x({width + 2, width}, 2), right = ids(static_cast<std::int64_t>(some(width)), rows);
        if (width != 0) {
            all["linear_chain_crf"] = {{{batch, tags, right}}};
            all["crf_decoding"] = {{{batch, tags}}};
            all["crf_matches"] = {{{batch, tags, right}}};
        }
    }
    return all;
}

}  // namespace every_operator_on_device
