// rowan/layer/detail/part_sums.hpp: PartSums, the gradients of the batches of a step, summed.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/layer/parts.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The gradients of the batches of a step, summed. After n batches there is one sum for each binary digit 1 of n.
template <class Device>
class PartSums {
public:
    using Gradients = std::vector<Value>;  // one for each parameter

    void sum_with(typename layer::PartsOn<Device>::Sums sums) { sums_.push_back(sums); }

    std::int64_t batches() const noexcept { return batches_; }

    /// A batch's gradients without duplicate rows.
    Gradients merged(Device const& exec, Gradients part) const {
        for (std::size_t i = 0; i < sums_.size(); ++i) part[i] = sums_[i].merged(exec, part[i]);
        return part;
    }

    /// Adds a batch. On error, nothing has changed.
    void add(Device const& exec, Gradients part) {
        std::size_t kept = nodes_.size();
        for (std::int64_t n = batches_; (n & 1) != 0; n >>= 1) part = sum(exec, nodes_[--kept], part);
        nodes_.reserve(kept + 1);
        nodes_.resize(kept);
        nodes_.push_back(std::move(part));
        ++batches_;
    }

    /// The gradients of all batches and of one that has not been added.
    Gradients total(Device const& exec, Gradients last) const { return fold(exec, nodes_, std::move(last)); }

    /// The gradients of all batches, of which there is at least one.
    Gradients total(Device const& exec) const {
        Gradients last;
        for (Value const& v : nodes_.back()) last.push_back(v.share());
        return fold(exec, std::span(nodes_).first(nodes_.size() - 1), std::move(last));
    }

    void clear() noexcept {
        nodes_.clear();
        batches_ = 0;
    }

private:
    Gradients sum(Device const& exec, Gradients const& a, Gradients const& b) const {
        Gradients both;
        for (std::size_t i = 0; i < a.size(); ++i) both.push_back(sums_[i].add(exec, a[i], b[i]));
        return both;
    }
    Gradients fold(Device const& exec, std::span<Gradients const> nodes, Gradients last) const {
        for (std::size_t k = nodes.size(); k-- > 0;) last = sum(exec, nodes[k], last);
        return last;
    }

    std::vector<typename layer::PartsOn<Device>::Sums> sums_;
    std::vector<Gradients> nodes_;
    std::int64_t batches_ = 0;
};

ROWAN_TEMPLATE(class PartSums<Cpu>)

}  // namespace rowan::inline v0::detail
