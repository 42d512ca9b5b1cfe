// rowan/op/sequence/declared.hpp: operators on sequences: names, slots and options, without what computes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/detail/pooling.hpp>
#include <rowan/op/operator_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The settings of beam_search.
struct BeamSearchOptions {
    std::int64_t beam_size = 4;  ///< number of hypotheses that remain for each source
    std::int64_t end_id = 1;     ///< the token that ends a hypothesis
    ROWAN_OPTIONS(BeamSearchOptions, beam_size, end_id)
};

/// The settings of drop_levels.
struct DropLevelsOptions {
    std::optional<std::size_t> levels = {};  ///< the number of levels to drop; all by default
    ROWAN_OPTIONS(DropLevelsOptions, levels)
};

/// The settings of edit_distance.
struct EditDistanceOptions {
    bool normalized = false;  ///< whether a distance is divided by the length of y's sequence
    ROWAN_OPTIONS(EditDistanceOptions, normalized)
};

/// The settings of nonzero_rows.
struct RowsWhereOptions {
    std::int64_t value = 1;  ///< 0 or 1
    ROWAN_OPTIONS(RowsWhereOptions, value)
};

/// The settings of reorder.
struct ReorderOptions {
    std::optional<std::size_t> level = {};  ///< the level of y whose lengths count; the last by default
    bool restore = false;                   ///< whether to move them back
    ROWAN_OPTIONS(ReorderOptions, level, restore)
};

/// The settings of sequence_attention.
struct SequenceAttentionOptions {
    std::int64_t heads = 1;  ///< the columns are divided into so many parts, each with weights of its own
    double scale = 0;        ///< the factor of the scores; 0: 1 / sqrt(columns of a head)
    bool causal = false;     ///< whether query i of a sequence sees only the first i + 1 keys
    ROWAN_OPTIONS(SequenceAttentionOptions, heads, scale, causal)
};

/// The settings of sequence_concat.
struct SequenceConcatOptions {
    std::optional<std::size_t> level = {};  ///< the level whose sequences are concatenated; the last by default
    ROWAN_OPTIONS(SequenceConcatOptions, level)
};

/// The settings of sequence_context: the window of row i is rows [i + start, i + start + length) of its sequence.
struct SequenceContextOptions {
    std::int64_t start = 0;   ///< the first row of the window, relative to its own
    std::int64_t length = 1;  ///< the number of rows of the window
    double pad_value = 0;     ///< the elements outside of the sequence
    ROWAN_OPTIONS(SequenceContextOptions, start, length, pad_value)
};

/// The settings of sequence_erase.
struct SequenceEraseOptions {
    std::vector<std::int64_t> tokens = {};  ///< the tokens to remove
    ROWAN_OPTIONS(SequenceEraseOptions, tokens)
};

/// The settings of sequence_expand.
struct SequenceExpandOptions {
    std::optional<std::size_t> level = {};  ///< a level of y; the last by default
    ROWAN_OPTIONS(SequenceExpandOptions, level)
};

/// The settings of sequence_mask.
struct SequenceMaskOptions {
    std::optional<std::size_t> max_length = {};  ///< the width of the mask; the greatest length by default
    ROWAN_OPTIONS(SequenceMaskOptions, max_length)
};

/// The settings of sequence_pad.
struct SequencePadOptions {
    double pad_value = 0;                    ///< the elements of padding
    std::optional<std::size_t> length = {};  ///< the padded length; that of the longest sequence by default
    /// a value for each column of a row of padding, that is each of its elements, in place of pad_value; empty: none
    std::vector<double> pad_values = {};
    ROWAN_OPTIONS(SequencePadOptions, pad_value, length, pad_values)
};

/// The settings of sequence_pool.
struct SequencePoolOptions {
    Pooling pool = Pooling::sum;  ///< the reduction of the rows of a sequence
    double pad_value = 0;         ///< the elements of the row of an empty sequence
    ROWAN_OPTIONS(SequencePoolOptions, pool, pad_value)
};

/// The settings of sequence_reshape.
struct SequenceReshapeOptions {
    std::int64_t width = 1;  ///< number of elements of a row
    ROWAN_OPTIONS(SequenceReshapeOptions, width)
};

/// The settings of sequence_top_k_mean.
struct SequenceTopKMeanOptions {
    std::vector<std::int64_t> ks;  ///< the numbers of elements that are averaged, for each of which there is a mean
    ROWAN_OPTIONS(SequenceTopKMeanOptions, ks)
};

/// The settings of shrink.
struct ShrinkOptions {
    std::optional<std::size_t> level = {};  ///< the level of y whose lengths count; the last by default
    ROWAN_OPTIONS(ShrinkOptions, level)
};

namespace slot {

/// The score of each hypothesis.
struct scores {
    static constexpr std::string_view name = "scores";  ///< the name of the slot
};
/// The hypothesis that each hypothesis extends.
struct parents {
    static constexpr std::string_view name = "parents";  ///< the name of the slot
};

}  // namespace slot

struct beam_search_op;
struct beam_search_decode_op;
struct drop_levels_op;
struct edit_distance_op;
struct expand_rows_op;
struct nonzero_rows_op;
struct interleave_rows_op;
struct lod_reset_op;
struct lod_from_offsets_op;
struct pick_sequences_op;
struct reorder_op;
struct sequence_attention_op;
struct sequence_concat_op;
struct sequence_context_op;
struct padded_sequence_context_op;
struct sequence_erase_op;
struct sequence_expand_op;
struct sequence_mask_op;
struct sequence_pad_op;
struct sequence_pool_op;
struct sequence_reshape_op;
struct sequence_reverse_op;
struct sequence_scatter_op;
struct sequence_slice_op;
struct sequence_softmax_op;
struct sequence_top_k_mean_op;
struct sequence_unpad_op;
struct shrink_op;

namespace detail {

[[noreturn]] inline void bad_window(char const* field, std::int64_t x, char const* expected) {
    throw ShapeError(field, x, expected);
}

/// Rows before and after a sequence that its windows reach.
struct ContextRows {
    std::int64_t before, after;
    constexpr std::int64_t both() const { return before + after; }
};

constexpr ContextRows rows_of_context(SequenceContextOptions const& window) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (window.length < 1 || window.length > most)
        bad_window("sequence_context: length", window.length, "in [1, 2^31)");
    if (window.start < -most || window.start > most)
        bad_window("sequence_context: start", window.start, "in (-2^31, 2^31)");
    return {std::max<std::int64_t>(0, -window.start), std::max<std::int64_t>(0, window.start + window.length - 1)};
}

template <>
struct declared<beam_search_op>
    : builtin_op<beam_search_op, slots<slot::ids, slot::x, slot::y>,
                 slots<slot::out, slot::last, slot::scores, slot::parents>, BeamSearchOptions> {
    static constexpr std::size_t result_like = 0;  // the element type of the first result is that of ids
    static constexpr std::string_view name = "beam_search", brief = "One step of a beam search.";
};

template <>
struct declared<beam_search_decode_op>
    : builtin_op<beam_search_decode_op, slots<slot::ids, slot::x>, slots<slot::out, slot::scores>> {
    static constexpr std::size_t result_like = 0;  // the element type of the first result is that of ids
    static constexpr std::string_view name = "beam_search_decode";
    static constexpr std::string_view brief = "The sentences that a beam search found, best first, and their scores.";
};

template <>
struct declared<drop_levels_op> : builtin_op<drop_levels_op, slots<slot::x>, slots<slot::out>, DropLevelsOptions> {
    static constexpr std::string_view name = "drop_levels";
    static constexpr std::string_view brief = "x without its outermost levels, by default without any.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<edit_distance_op>
    : builtin_op<edit_distance_op, slots<slot::x, slot::y>, slots<slot::out>, EditDistanceOptions> {
    using result = double;
    static constexpr std::string_view name = "edit_distance";
    static constexpr std::string_view brief =
        "The least number of insertions, deletions and substitutions of tokens between two sequences; `normalized` by "
        "the length of y.";
    static constexpr Elements elements = Elements::integers;
};

template <>
struct declared<expand_rows_op> : builtin_op<expand_rows_op, slots<slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "expand_rows", brief = "The row x, once for each row of y.";
};

template <>
struct declared<nonzero_rows_op>
    : builtin_op<nonzero_rows_op, slots<slot::ids, slot::x>, slots<slot::out>, RowsWhereOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "nonzero_rows";
    static constexpr std::string_view brief = "The numbers of the rows of x where ids are the value.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr unsigned level_inputs = 0b10;
};

template <>
struct declared<interleave_rows_op>
    : builtin_op<interleave_rows_op, slots<slot::ids, slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "interleave_rows";
    static constexpr std::string_view brief =
        "Rows of x where ids are 1 and of y where they are 0, each in their order.";
};

template <>
struct declared<lod_reset_op> : builtin_op<lod_reset_op, slots<slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "lod_reset", brief = "x with the levels of y.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr unsigned level_inputs = 0b10;
};

template <>
struct declared<lod_from_offsets_op> : builtin_op<lod_from_offsets_op, slots<slot::x, slot::offset>, slots<slot::out>> {
    static constexpr std::string_view name = "lod_from_offsets", brief = "x with one level of these offsets.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<pick_sequences_op> : builtin_op<pick_sequences_op, slots<slot::x, slot::ids>, slots<slot::out>> {
    static constexpr std::string_view name = "pick_sequences", brief = "The sequences, or rows, of these numbers.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<reorder_op> : builtin_op<reorder_op, slots<slot::x, slot::y>, slots<slot::out>, ReorderOptions> {
    static constexpr std::string_view name = "reorder";
    static constexpr std::string_view brief =
        "The sequences of x in the order of the lengths of those of y, longest first, or back.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr unsigned level_inputs = 0b10;
};

template <>
struct declared<sequence_attention_op> : builtin_op<sequence_attention_op, slots<slot::query, slot::key, slot::value>,
                                                    slots<slot::out>, SequenceAttentionOptions> {
    static constexpr std::string_view name = "sequence_attention";
    static constexpr std::string_view brief =
        "Attention of the rows of each sequence to those of the same sequence of key and value, without padding.";
};

template <>
struct declared<sequence_concat_op>
    : builtin_op<sequence_concat_op, slots<slot::x>, slots<slot::out>, SequenceConcatOptions> {
    static constexpr bool takes_list = true;
    static constexpr std::string_view name = "sequence_concat";
    static constexpr std::string_view brief =
        "Sequence i of all tensors, one after the other; of the last level, or of another one.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_context_op>
    : builtin_op<sequence_context_op, slots<slot::x>, slots<slot::out>, SequenceContextOptions> {
    static constexpr std::string_view name = "sequence_context";
    static constexpr std::string_view brief =
        "For each row the rows around it, side by side; `padding` has the rows outside of sequences.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<padded_sequence_context_op>
    : builtin_op<padded_sequence_context_op, slots<slot::x, slot::w>, slots<slot::out>, SequenceContextOptions> {
    static constexpr std::string_view name = "padded_sequence_context";
    static constexpr std::string_view brief = "sequence_context with trained rows outside of sequences.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_erase_op>
    : builtin_op<sequence_erase_op, slots<slot::x>, slots<slot::out>, SequenceEraseOptions> {
    static constexpr std::string_view name = "sequence_erase", brief = "The sequences without these tokens.";
    static constexpr Elements elements = Elements::integers;
};

template <>
struct declared<sequence_expand_op>
    : builtin_op<sequence_expand_op, slots<slot::x, slot::y>, slots<slot::out>, SequenceExpandOptions> {
    static constexpr std::string_view name = "sequence_expand";
    static constexpr std::string_view brief = "Row or sequence i of x for each element of sequence i of y.";
    static constexpr unsigned level_inputs = 0b10;
};

template <>
struct declared<sequence_mask_op>
    : builtin_op<sequence_mask_op, slots<slot::x>, slots<slot::out>, SequenceMaskOptions> {
    using result = bool;
    static constexpr std::string_view name = "sequence_mask";
    static constexpr std::string_view brief = "Whether a position of a padded array is in its sequence.";
    static constexpr Elements elements = Elements::integers;
};

template <>
struct declared<sequence_pad_op>
    : builtin_op<sequence_pad_op, slots<slot::x>, slots<slot::out, slot::length>, SequencePadOptions> {
    static constexpr std::string_view name = "sequence_pad";
    static constexpr std::string_view brief =
        "The sequences in one array [sequences, length, ...], and their lengths. pad_values has one for each column.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_pool_op>
    : builtin_op<sequence_pool_op, slots<slot::x>, slots<slot::out>, SequencePoolOptions> {
    static constexpr std::string_view name = "sequence_pool", brief = "A row for each sequence.";
};

template <>
struct declared<sequence_reshape_op>
    : builtin_op<sequence_reshape_op, slots<slot::x>, slots<slot::out>, SequenceReshapeOptions> {
    static constexpr std::string_view name = "sequence_reshape";
    static constexpr std::string_view brief = "The elements of each sequence as rows of another width.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_reverse_op> : builtin_op<sequence_reverse_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "sequence_reverse", brief = "Each sequence from its end to its beginning.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_scatter_op>
    : builtin_op<sequence_scatter_op, slots<slot::x, slot::ids, slot::updates>, slots<slot::out>> {
    static constexpr std::string_view name = "sequence_scatter";
    static constexpr std::string_view brief = "x with updates added in row s at the ids of sequence s.";
};

template <>
struct declared<sequence_slice_op>
    : builtin_op<sequence_slice_op, slots<slot::x, slot::offset, slot::length>, slots<slot::out>> {
    static constexpr std::string_view name = "sequence_slice", brief = "A part of each sequence.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sequence_softmax_op> : builtin_op<sequence_softmax_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "sequence_softmax", brief = "The softmax of each sequence.";
};

template <>
struct declared<sequence_top_k_mean_op>
    : builtin_op<sequence_top_k_mean_op, slots<slot::x>, slots<slot::out>, SequenceTopKMeanOptions> {
    static constexpr std::string_view name = "sequence_top_k_mean";
    static constexpr std::string_view brief =
        "For each sequence, column and k, the sum of the k greatest elements divided by k.";
};

template <>
struct declared<sequence_unpad_op> : builtin_op<sequence_unpad_op, slots<slot::x, slot::length>, slots<slot::out>> {
    static constexpr std::string_view name = "sequence_unpad", brief = "The sequences of a padded array.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<shrink_op>
    : builtin_op<shrink_op, slots<slot::x, slot::y, slot::index>, slots<slot::out>, ShrinkOptions> {
    static constexpr std::string_view name = "shrink";
    static constexpr std::string_view brief =
        "The first sequences of x, as many as y has that are longer than index; in the order of reorder.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr unsigned level_inputs = 0b10;
};

}  // namespace detail

}  // namespace rowan::inline v0
