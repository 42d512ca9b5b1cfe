// rowan/train/detail/feed.hpp: feed, the values of a batch as the inputs of a net.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/feeds.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// Checks that a value matches the declaration of its variable.
/// errors   TypeError if kind or element type differ; ShapeError if the rank, a known dim or the number of levels
///          differ
inline void check_fits(Variable const& v, Value const& value) {
    VarSpec const& spec = v.spec();
    if (spec.type != VarType::LOD_TENSOR && spec.type != VarType::SELECTED_ROWS)
        throw TypeError(v.name(), value.kind(), "a value that is no tensor");
    auto const actual = [&] {
        try {
            return value.spec();
        } catch (TypeError const& e) {
            throw TypeError(v.name(), e.actual(), kind_text(spec));
        }
    }();
    if (actual.type != spec.type || actual.dtype != spec.dtype)
        throw TypeError(v.name(), value.kind(), kind_text(spec));
    bool fits = actual.dims.size() == spec.dims.size();
    for (std::size_t i = 0; fits && i < spec.dims.size(); ++i)
        fits = spec.dims[i] == UNK || spec.dims[i] == actual.dims[i];
    if (!fits) {
        std::ostringstream expected;
        expected << spec.dims;
        throw ShapeError(v.name() + ".shape()", shape_text(actual.dims), expected.str());
    }
    if (actual.lod_level != spec.lod_level)
        throw ShapeError(v.name() + ".lod().levels()", std::to_string(actual.lod_level),
                         std::to_string(spec.lod_level));
}

/// Throws a GraphError: that the result of so many steps has no state of this name.
[[noreturn]] inline void no_state(std::string const& name, std::int64_t steps) {
    throw GraphError(std::string("options.resume has ")
                         .append(std::to_string(steps))
                         .append(" steps, but not the state \"")
                         .append(name)
                         .append("\": to start anew from its parameters, give them as options.initial"));
}

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

/// Exchanges the values of variables with others until its destruction.
class Swapped {
public:
    /// Both must outlive this.
    Swapped(std::span<Variable* const> variables, std::span<Value> values) : variables_(variables), values_(values) {
        swap();
    }
    Swapped(Swapped const&) = delete;
    Swapped& operator=(Swapped const&) = delete;
    ~Swapped() { swap(); }

private:
    void swap() {
        for (std::size_t i = 0; i < values_.size(); ++i) std::swap(variables_[i]->value(), values_[i]);
    }

    std::span<Variable* const> variables_;
    std::span<Value> values_;
};

}  // namespace rowan::inline v0::detail
