// rowan/train/detail/cost_weight.hpp: CostWeight, Counted and CostDivisor: how the costs of the parts of a step make that of one batch.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/op/loss/declared.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Whether its elements have one of rowan's floating-point types.
bool has_floats(Variable const& v);

/// The elements of a value of such a variable.
std::vector<double> floats_of(Value const& x);

/// A number that is that of all parts if it is summed over them, such as the number of rows.
struct Counted {
    enum Of : std::uint8_t { rows, elements, labels, kept, value };
    Variable* variable;
    Of of = rows;
    std::int64_t axis = -1;                        // of elements: that of which one is counted, or -1
    CrossEntropyOptions const* options = nullptr;  // of labels
    std::optional<std::int64_t> ignored = {};      // of kept elements: the value of others, if there are any
    Variable* weights = nullptr;                   // of kept elements: those of their rows, or all count once

    ROWAN_IF_CALLED double count() const;
};

/// What a mean divides by in each part: a product, 1 if there are no factors.
struct CostDivisor {
    Operator const* op;
    std::vector<Counted> factors;

    ROWAN_IF_CALLED double count() const;
    /// By how much of itself count() may be off because a net computes a factor in its element type.
    ROWAN_IF_CALLED double rounding() const;
};

/// The first tensor whose first dim is UNK, walking back from the cost through what writes it, nearest first and inputs
/// in order; or nullptr.
/// cost     one pass over the net
ROWAN_IF_CALLED Variable* rows_variable(Variable& cost);
/// The rows of a variable, whose other dims are known, or its elements.
ROWAN_IF_CALLED Counted counted_rows(Variable& v);
/// The rows of which an operator computes a mean, those of its first input, or none.
ROWAN_IF_CALLED std::optional<Counted> rows_of_input(Operator const& op);

/// How a cost depends on the number of batches that are joined: as a sum or a mean of those of its parts, or, without a
/// batch, not at all. It is found by walking back from the cost through operators that are linear, to those that reduce
/// rows. An operator that is not known is taken for a mean over the rows of its first input with rows.
class CostWeight {
public:
    /// errors   GraphError, which names the operator, if the cost of a batch is neither the sum of those of its parts nor
    ///          their weighed mean
    /// cost     one pass over the net
    ROWAN_IF_CALLED explicit CostWeight(Variable& cost);

    /// The variables whose values a part's weights depend on.
    ROWAN_IF_CALLED std::vector<Variable*> reads() const;
    /// The number of weights of a part: one, or one for each mean that the cost adds.
    std::size_t size() const noexcept { return divisors_.empty() ? 1 : divisors_.size(); }
    /// Appends the weights of the part that has been run.
    /// errors   IndexError if a label is not a class
    ROWAN_IF_CALLED void append_to(std::vector<double>& all) const;

    /// What the gradients of a part are multiplied by, from its weights: the first that is not 0, as those of a mean that
    /// is added have the same proportion, or, where it has no rows in any part, are 0.
    double of_part(std::span<double const> weights) const { return weights[first_given(weights.first(size()))]; }
    /// What the sum of the weighed gradients of all parts is divided by, from their weights, `stride` apart.
    /// errors   ValueError if the cost adds means whose divisors differ in proportion, or divides by 0
    ROWAN_IF_CALLED double divisor(std::span<double const> weights, std::size_t stride) const;

private:
    /// The first number that is not 0, or number 0 if all are.
    static std::size_t first_given(std::span<double const> all) {
        auto const first = std::ranges::find_if(all, [](double w) { return w != 0; });
        return first == all.end() ? 0 : static_cast<std::size_t>(first - all.begin());
    }

    enum Kind : std::uint8_t { same, sum, mean };
    struct Term {
        Kind kind = same;
        bool fed = false;  // whether it depends on a batch
        std::vector<CostDivisor> divisors = {};
    };
    ROWAN_IF_CALLED Term of(Variable& v);
    /// The same for an operator that reads v, which no other one may read: what is asked once is not kept.
    ROWAN_IF_CALLED Term of_summand(Variable& v);
    ROWAN_IF_CALLED Term compute(Variable& v);
    ROWAN_IF_CALLED Term reduced(Operator const& op, Kind kind, std::vector<Counted> factors);
    ROWAN_IF_CALLED Term labelled(Operator const& op);
    /// Checks that the weights of a loss's rows do not depend on the other rows of a batch.
    ROWAN_IF_CALLED void check_weights(Operator const& op);
    /// The mean over the elements whose label is not the ignored one, maybe weighed by their rows.
    ROWAN_IF_CALLED Term of_kept(Operator const& op, std::optional<std::int64_t> ignored, Variable* weights);
    ROWAN_IF_CALLED Term linear(Operator const& op, Linearity how);
    ROWAN_IF_CALLED Term quotient(Operator const& op);
    ROWAN_IF_CALLED Term divided(Operator const& op, Variable& by, Term term);
    /// The same for a reduction of rows of which each is divided by these.
    ROWAN_IF_CALLED Term of_divided_rows(Operator const& op, std::span<Variable* const> by, Term term);
    /// Appends the sums and means over a batch that rows are divided by.
    ROWAN_IF_CALLED void find_divisors(Variable& rows, std::vector<Variable*>& all);

    std::map<Variable const*, Term> known_;
    Kind kind_ = same;
    std::vector<CostDivisor> divisors_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/cost_divisors_inl.hpp>

#include <rowan/train/detail/cost_weight_inl.hpp>
