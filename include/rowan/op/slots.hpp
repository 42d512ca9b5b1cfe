// rowan/op/slots.hpp: slots, the names of what an operator reads and writes.
#pragma once

#include <rowan/op/detail/joined_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// A list of slots: tag types with a `name`. That of an operator's inputs is the order of run's arguments.
template <class... Slot>
struct slots {
    static constexpr std::size_t size = sizeof...(Slot);
    static constexpr std::array<std::string_view, size> names{Slot::name...};  ///< in the order of the list

    /// Is the slot in the list?
    template <class S>
    static constexpr bool has = (std::is_same_v<S, Slot> || ...);

    /// The position of a slot in the list; size if it is not there.
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

/// The gradient of what is in a slot, named as in descriptors: `w@GRAD`.
template <class Slot>
struct grad_of {
    /// That of the slot, and `@GRAD`.
    static constexpr std::string_view name = detail::joined_name<Slot, detail::grad_suffix>::value;
};

/// The slots that many operators have. An operator of a user's own may bring others: any type with a `name`.
namespace slot {

#define ROWAN_SLOT(slot)                                \
    struct slot {                                       \
        static constexpr std::string_view name = #slot; \
    };
ROWAN_SLOT(x)       // the input
ROWAN_SLOT(y)       // a second one
ROWAN_SLOT(w)       // weight, or a table
ROWAN_SLOT(b)       // bias
ROWAN_SLOT(out)     // the result
ROWAN_SLOT(saved)   // what the backward pass needs of the forward one
ROWAN_SLOT(ids)     // rows of a table
ROWAN_SLOT(weight)  // of each id
ROWAN_SLOT(label)   // what a loss compares with
ROWAN_SLOT(seed)    // of chance
ROWAN_SLOT(h_prev)  // the state before a step
ROWAN_SLOT(c_prev)  // the cell before a step
ROWAN_SLOT(h)       // the state after it
ROWAN_SLOT(c)       // the cell after it
ROWAN_SLOT(param)   // what an optimizer changes, and what it keeps beside it
ROWAN_SLOT(grad)
ROWAN_SLOT(moment)
ROWAN_SLOT(moment2)
ROWAN_SLOT(velocity)
ROWAN_SLOT(linear)
#undef ROWAN_SLOT

}  // namespace slot

}  // namespace rowan::inline v0
