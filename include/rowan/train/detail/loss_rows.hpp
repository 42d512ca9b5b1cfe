// rowan/train/detail/loss_rows.hpp: LossRows, the rows of which the losses of a batch are sums or means.
#pragma once

#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The rows of which the losses of a batch are sums or means. Walking back from the cost, a loss is an operator that
/// reads a variable with rows; of several, the first counts; or one that reads data of known dims, but for factors. Of
/// one with weights of rows, those count whose weight is not 0. Rows are counted while the net runs, which then clears
/// them.
class LossRows {
public:
    /// Of a net with these operators, in this order.
    /// cost     one pass over the net, and one over `order` for each loss
    ROWAN_IF_CALLED LossRows(Variable& cost, std::span<Operator* const> order);

    /// Begins a run: counts the rows of variables that no operator writes.
    ROWAN_IF_CALLED void begin();
    /// Counts what an operator has written. Called for all operators, in their order.
    void after(Operator const& op) {
        for (; next_ < all_.size() && all_[next_].writer == &op; ++next_) count(all_[next_]);
    }
    /// After so many operators all are counted.
    std::size_t ready() const noexcept { return all_.empty() ? 0 : all_.back().ready; }

    /// The rows of the loss that has most. 0: no parameter may change. 1 if no loss reads rows.
    std::int64_t most() const noexcept { return all_.empty() ? 1 : most_; }

private:
    struct Reduced {
        Variable const* variable;
        Operator const* writer;
        std::size_t ready;    // after so many operators it has its value
        bool weighs = false;  // whether it has the weights of rows
    };
    void count(Reduced const& r);

    std::vector<Reduced> all_;  // by `ready`
    std::size_t next_ = 0;      // to count
    std::int64_t most_ = 0;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/loss_rows_inl.hpp>
