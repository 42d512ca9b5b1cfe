// rowan/train/detail/feed.hpp: feed, the values of a batch as the inputs of a net.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// Checks that a value matches the declaration of its variable.
/// errors   TypeError if kind or element type differ; ShapeError if the rank, a known dim or the number of levels
///          differ
ROWAN_IF_CALLED void check_fits(Variable const& v, Value const& value);

/// Throws a GraphError: that the result of so many steps has no state of this name.
ROWAN_IF_CALLED [[noreturn]] void no_state(std::string const& name, std::int64_t steps);

/// An alias of the value that a batch has for a data variable.
/// errors   GraphError if it has none; else as check_fits
ROWAN_IF_CALLED Value fed_value(Variable const& v, Feeds const& feeds);

/// The name of a part of a table, such as "users#keys", among parameters.
ROWAN_IF_CALLED std::string part_name(Variable const& table, std::string_view part);
/// Whether a name is that of such a part, and of values of elements with this number.
ROWAN_IF_CALLED bool is_table_part(std::string_view name, std::int32_t wire = dtype<std::int64_t>::wire);

/// errors   GraphError if these parameters tell that rows of one have missed steps of its optimizer, which a checkpoint does
ROWAN_IF_CALLED void check_up_to_date(Variable const& parameter, Parameters const& parameters);

/// Throws GraphError unless there is a data variable of this name.
ROWAN_IF_CALLED void check_declared(Scope const& scope, std::string const& name);

/// The values that a batch has for the data variables among `inputs`, on the net's device, in places of the same number.
/// Returns how many there are.
/// errors   as fed_value
ROWAN_IF_CALLED std::size_t feed(std::span<Variable* const> inputs, Feeds const& feeds, std::span<Value> values,
                                 AnyExec exec);

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

#include <rowan/train/detail/feed_inl.hpp>
