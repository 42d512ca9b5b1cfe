// rowan/io/detail/reads_programs.hpp: which programs and values in files the compiled library reads and writes by itself.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/train/optimizer.hpp>

#include <type_traits>

namespace rowan::inline v0::detail {

/// Complete where the kernels of Ops can be made, see read_program.hpp.
template <class Ops>
struct CanReadPrograms;

/// Whether the compiled library reads such programs.
template <class Ops, class Dtypes, class Device>
inline constexpr bool reads_programs = std::is_same_v<Ops, forward_ops>&& std::is_same_v<Device, Cpu> &&
                                       (std::is_same_v<Dtypes, dtypes<float>> ||
                                        std::is_same_v<Dtypes, dtypes<double>>);

template <class Ops, class Dtypes, class Device>
constexpr void check_reads_programs() {
    static_assert(
        reads_programs<Ops, Dtypes, Device> || requires { CanReadPrograms<Ops>{}; },
        "rowan: the compiled library reads programs of forward_ops for float, or for double, on the host. For "
        "others, #include <rowan/own_operator.hpp>");
}

template <class Ops>
constexpr void check_writes_programs() {
    static_assert(
        std::is_same_v<Ops, forward_ops> || requires { CanReadPrograms<Ops>{}; },
        "rowan: the compiled library writes programs of forward_ops. For others, #include <rowan/own_operator.hpp>");
}

/// Complete where values of all element types can be loaded, see model_parts.hpp.
template <class... T>
struct CanLoadValues;

/// Whether these are types of which values are always loaded.
template <class... T>
inline constexpr bool are_loaded_types = ((std::is_same_v<T, float> || std::is_same_v<T, double>)&&...);

template <class... T>
constexpr void check_loads_values() {
    static_assert(
        are_loaded_types<T...> || requires { CanLoadValues<T...>{}; },
        "rowan: the compiled library loads values of float and of double. For others, #include "
        "<rowan/own_operator.hpp>");
}

}  // namespace rowan::inline v0::detail

#define ROWAN_READS_PROGRAMS
