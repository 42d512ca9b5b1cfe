// rowan/op/slots.hpp: slots, the names of an operator's inputs and outputs.
#pragma once

#include <rowan/op/detail/joined_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// A list of slots, which are tag types with a `name`. The input slots of an operator are in the order of run's
/// arguments.
template <class... Slot>
struct slots {
    static constexpr std::size_t size = sizeof...(Slot);
    static constexpr std::array<std::string_view, size> names{Slot::name...};  ///< in the order of the list

    /// Whether the slot is in the list.
    template <class S>
    static constexpr bool has = (std::is_same_v<S, Slot> || ...);

    /// The index of a slot in the list; size if it is not in the list.
    template <class S>
    static constexpr std::size_t index = [] {
        constexpr std::array<bool, size + 1> same{std::is_same_v<S, Slot>..., true};
        return static_cast<std::size_t>(std::find(same.begin(), same.end(), true) - same.begin());
    }();
};

namespace detail {

struct grad_suffix {
    static constexpr std::string_view name = "@GRAD";
};

}  // namespace detail

/// The gradient of a slot's value, named as in descriptors: `w@GRAD`.
template <class Slot>
struct grad_of {
    /// The name of the slot followed by `@GRAD`.
    static constexpr std::string_view name = detail::joined_name<Slot, detail::grad_suffix>::value;
};

/// What a slot holds where it is not the elements of the operator, as its `static constexpr Holds holds`.
enum class Holds : std::uint8_t {
    elements,              ///< those of the operator
    integers,              ///< int64 or int32: ids, labels, offsets, lengths
    integers_or_elements,  ///< as well: labels that may be probabilities
    int64,                 ///< int64 alone: seeds, numbers of steps
    truth,                 ///< bool
    statistics             ///< what is kept between steps: dtype<T>::sum where elements have 16 bits
};

/// The slot's `holds`; elements if it does not say.
template <class Slot>
inline constexpr Holds holds_of = Holds::elements;
template <class Slot>
requires requires { Slot::holds; }
inline constexpr Holds holds_of<Slot> = Slot::holds;

/// The slots that many operators have. User-defined operators may use others: any type with a `name`. States of
/// optimizers are those of sparse/optimizer_options.hpp.
namespace slot {

#define ROWAN_SLOT(slot, ...)                                          \
    struct slot {                                                      \
        static constexpr std::string_view name = #slot;                \
        __VA_OPT__(static constexpr Holds holds = Holds::__VA_ARGS__;) \
    };
ROWAN_SLOT(x)                  // input
ROWAN_SLOT(y)                  // second input
ROWAN_SLOT(condition, truth)   // truth values
ROWAN_SLOT(w)                  // weight or table
ROWAN_SLOT(b)                  // bias
ROWAN_SLOT(out)                // result
ROWAN_SLOT(saved)              // values that the forward pass saves for the backward pass
ROWAN_SLOT(ids, integers)      // row ids of a table
ROWAN_SLOT(offset, integers)   // first row of each sequence that is kept
ROWAN_SLOT(length, integers)   // number of rows of each sequence
ROWAN_SLOT(weight)             // weight of each id
ROWAN_SLOT(weights)            // weight of each row of a loss
ROWAN_SLOT(updates)            // rows that are added at places
ROWAN_SLOT(label, integers)    // target of a loss
ROWAN_SLOT(sampled, integers)  // classes among which a loss compares
ROWAN_SLOT(label_count)        // how often each label is expected among these
ROWAN_SLOT(sampled_count)      // how often each of these is
ROWAN_SLOT(query)              // attention: rows that are compared with the keys
ROWAN_SLOT(key)                // attention: rows that are compared with the queries
ROWAN_SLOT(value)              // attention: rows of which the result is a weighted mean
ROWAN_SLOT(seed, int64)        // random seed
ROWAN_SLOT(h_prev)             // state before a step
ROWAN_SLOT(c_prev)             // cell before a step
ROWAN_SLOT(h)                  // state after a step
ROWAN_SLOT(c)                  // cell after a step
ROWAN_SLOT(param)              // parameter of an optimizer; its gradient and states follow
ROWAN_SLOT(grad)
ROWAN_SLOT(mean, statistics)  // moving mean and variance, and those after a step of training
ROWAN_SLOT(variance, statistics)
ROWAN_SLOT(next_mean)
ROWAN_SLOT(next_variance)
ROWAN_SLOT(array)         // TensorArray
ROWAN_SLOT(index, int64)  // slot of an array, or number of a step
ROWAN_SLOT(state)         // states of a loop
ROWAN_SLOT(last)          // states after the last step
ROWAN_SLOT(scopes)        // values of all steps
#undef ROWAN_SLOT

/// Classes that sample_classes has drawn at random.
struct drawn {
    static constexpr std::string_view name = "sampled";  ///< as in descriptors
    static constexpr Holds holds = Holds::int64;         ///< the type that it makes
};

/// The target of a loss: class numbers, or a probability of each class.
struct target {
    static constexpr std::string_view name = "label";            ///< as in descriptors
    static constexpr Holds holds = Holds::integers_or_elements;  ///< either kind of label
};

}  // namespace slot

}  // namespace rowan::inline v0
