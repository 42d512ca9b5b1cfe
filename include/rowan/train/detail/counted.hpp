// rowan/train/detail/counted.hpp: Counted and CostDivisor, what means over a batch divide by.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/op/loss/loss_options.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace rowan::inline v0::detail {

/// A number that is that of all parts if it is summed over them, such as the number of rows.
struct Counted {
    enum Of : std::uint8_t { rows, elements, labels, kept, value };
    Variable* variable;
    Of of = rows;
    std::int64_t axis = -1;                        // of elements: that of which one is counted, or -1
    CrossEntropyOptions const* options = nullptr;  // of labels
    std::int64_t ignored = 0;                      // of kept elements: the value of the others

    double count() const;
};

/// What a mean divides by in each part: a product, 1 if there are no factors.
struct CostDivisor {
    Operator const* op;
    std::vector<Counted> factors;

    double count() const;
    /// By how much of itself count() may be off because a net computes a factor in its element type.
    double rounding() const;
};

/// The first tensor whose first dim is UNK, walking back from the cost through what writes it, nearest first and inputs
/// in order; or nullptr.
/// cost     one pass over the net
Variable* rows_variable(Variable& cost);
/// The rows of a variable, whose other dims are known, or its elements.
Counted counted_rows(Variable& v);
/// The rows of which an operator computes a mean, those of its first input, or none.
std::optional<Counted> rows_of_input(Operator const& op);

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/counted_inl.hpp>
