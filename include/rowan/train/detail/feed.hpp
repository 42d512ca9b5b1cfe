// rowan/train/detail/feed.hpp: feed, sets the inputs of a net to the values of a batch.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/detail/check_fits.hpp>
#include <rowan/train/feeds.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// An alias of the value that a batch has for a data variable.
/// errors   GraphError if it has none; else as check_fits
inline Value fed_value(Variable const& v, Feeds const& feeds) {
    auto const found = feeds.find(v.name());
    if (found == feeds.end())
        throw GraphError(std::string("the batch has no value for the variable \"").append(v.name()).append("\""));
    Value value = found->second.value();
    check_fits(v, value);
    return value;
}

/// Throws GraphError unless there is a data variable of this name.
inline void check_declared(Scope const& scope, std::string const& name) {
    auto const lock = lock_names(scope);
    Variable const* const declared = scope.find(name);
    if (declared == nullptr || declared->role() != Role::data)
        throw GraphError(std::string("the batch has a value for \"")
                             .append(name)
                             .append("\", but there is no data variable of that name"));
}

/// Sets the data variables of a net to the values of a batch. The batch may contain variables that only another net of
/// the scope reads, such as labels for the cost; a name that is not declared is an error. Values that are not on the
/// net's device are copied to it.
/// errors   GraphError if the batch lacks a variable, or contains a name that neither the net nor the scope declares;
///          else as check_fits. On error, no variable has changed
template <class Device>
void feed(std::span<Variable* const> inputs, Feeds const& feeds, Scope const& scope, Device const& exec) {
    std::map<Variable*, Value> values;
    for (Variable* const v : inputs) {
        if (v->role() == Role::data) values.emplace(v, fed_value(*v, feeds));
    }
    for (auto const& named : feeds) {
        if (std::ranges::none_of(values, [&](auto const& known) { return known.first->name() == named.first; }))
            check_declared(scope, named.first);
    }
    for (auto& [v, value] : values) {
        if (v->bring != nullptr) v->bring(value, exec, false);
    }
    for (auto& [v, value] : values) v->value() = std::move(value);
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

ROWAN_TEMPLATE(void feed(std::span<Variable* const>, Feeds const&, Scope const&, Cpu const&))

}  // namespace rowan::inline v0::detail
