// rowan/layer/memory.hpp: Memory, States and Step, the arguments and results of a recurrent layer.
#pragma once

#include <rowan/layer/var.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// A reference to a variable of any element type, or to none.
class AnyVar {
public:
    AnyVar() = default;  ///< no variable
    /// Refers to `v`.
    explicit AnyVar(Variable& v) : variable_(&v) {}
    /// Refers to the variable of `v`.
    template <class T, class Device>
    AnyVar(Var<T, Device> const& v) : variable_(&*v) {}
    Variable* get() const noexcept { return variable_; }  ///< nullptr if there is none

private:
    Variable* variable_ = nullptr;
};

/// A state of a recurrent layer. It is initialized with zeros of a given width, `Memory{.size = 64}`, or with one row
/// for each sequence, such as the last state of another layer, `Memory{.like = last}`.
struct Memory {
    std::int64_t size = 0;  ///< width of a state that is initialized with zeros
    AnyVar like = {};       ///< initial state, if given
};

/// One state, or a list of states.
template <class T, class Device>
class States {
public:
    /// One state.
    States(Var<T, Device> state) : all_{state} {}
    /// Several states.
    States(std::vector<Var<T, Device>> states) : all_(std::move(states)) {}
    /// Several states, in braces.
    States(std::initializer_list<Var<T, Device>> states) : all_(states) {}
    std::vector<Var<T, Device>> const& all() const& noexcept { return all_; }  ///< in the order of the memories
    std::vector<Var<T, Device>> all() && noexcept { return std::move(all_); }

private:
    std::vector<Var<T, Device>> all_;
};

/// The result of a step: its output, and the state for the next step or a list of states, one for each memory.
template <class T, class Device>
struct Step {
    Var<T, Device> output;                           ///< output of this step, one row for each sequence
    std::type_identity_t<States<T, Device>> memory;  ///< state for the next step
};
template <class T, class Device>
Step(Var<T, Device>, std::type_identity_t<States<T, Device>>) -> Step<T, Device>;

/// The result of a recurrent layer: one row for each row of the input, with the input's levels, and the last state of
/// each sequence.
template <class T, class Device>
struct Recurrence {
    Var<T, Device> output;  ///< one row for each row of the input
    Var<T, Device> last;    ///< state of each sequence after its last step
};

/// The result of a recurrent layer with several memories: one row for each row of the input, with the input's levels,
/// and for each memory the last state of each sequence.
template <class T, class Device>
struct Recurrences {
    Var<T, Device> output;             ///< one row for each row of the input
    std::vector<Var<T, Device>> last;  ///< for each memory, the state of each sequence after its last step
};

/// How a recurrent layer iterates over sequences.
struct RnnOptions {
    bool reverse = false;       ///< iterate from the ends of the sequences to their beginnings
    std::ptrdiff_t level = -1;  ///< level whose sequences are iterated over; negative values count from the last
};

}  // namespace rowan::inline v0::layer
