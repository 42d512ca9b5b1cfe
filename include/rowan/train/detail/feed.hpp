// rowan/train/detail/feed.hpp: feed, the values of a batch as the inputs of a net.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/feeds.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// Checks that a value matches the declaration of its variable.
/// errors   TypeError if kind or element type differ; ShapeError if the rank, a known dim or the number of levels
///          differ
void check_fits(Variable const& v, Value const& value);

/// Throws a GraphError: that the result of so many steps has no state of this name.
[[noreturn]] void no_state(std::string const& name, std::int64_t steps);

/// An alias of the value that a batch has for a data variable.
/// errors   GraphError if it has none; else as check_fits
Value fed_value(Variable const& v, Feeds const& feeds);

/// Throws GraphError unless there is a data variable of this name.
void check_declared(Scope const& scope, std::string const& name);

/// The values that a batch has for the data variables among `inputs`, on the net's device, in places of the same number.
/// Returns how many there are.
/// errors   as fed_value
template <class Device>
std::size_t feed(std::span<Variable* const> inputs, Feeds const& feeds, std::span<Value> values, Device const& exec) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Variable const& v = *inputs[i];
        if (v.role() != Role::data) continue;
        values[i] = fed_value(v, feeds);
        if (v.bring != nullptr) v.bring(values[i], exec, false);
        ++used;
    }
    return used;
}

/// Empties variables on destruction.
class Emptied {
public:
    /// `variables` must outlive this.
    explicit Emptied(std::span<Variable* const> variables) : variables_(variables) {}
    Emptied(Emptied const&) = delete;
    Emptied& operator=(Emptied const&) = delete;
    ~Emptied() {
        for (Variable* const v : variables_) v->value().clear();
    }

private:
    std::span<Variable* const> variables_;
};

/// Moves the values out of variables and restores them on destruction.
class KeptValues {
public:
    /// `variables` must outlive this.
    explicit KeptValues(std::span<Variable* const> variables) : variables_(variables) {
        values_.reserve(variables_.size());  // so that the loop does not throw
        for (Variable* const v : variables_) values_.push_back(std::exchange(v->value(), Value()));
    }
    KeptValues(KeptValues const&) = delete;
    KeptValues& operator=(KeptValues const&) = delete;
    ~KeptValues() {
        for (std::size_t i = 0; i < variables_.size(); ++i) variables_[i]->value() = std::move(values_[i]);
    }

private:
    std::span<Variable* const> variables_;
    Buffer<Value> values_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/feed_inl.hpp>
