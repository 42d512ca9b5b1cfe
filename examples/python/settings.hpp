// examples/python/settings.hpp: bind_settings, a struct of settings as a function with named arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <rowan/core/fields.hpp>

namespace python {

/// A function of Python that makes a `Made` of a struct of settings; the arguments and their defaults are its members.
template <class Made, class Settings, class... M>
void bind_settings(pybind11::module_& m, char const* name, rowan::field<Settings, M> const&... members) {
    Settings const defaults;
    m.def(
        name,
        [members...](M const&... given) {
            Settings settings;
            ((settings.*members.member = given), ...);
            return Made(settings);
        },
        (pybind11::arg(members.name.data()) = defaults.*members.member)...);
}

/// The same of a struct that lists its members.
template <class Made, rowan::has_fields Settings>
void bind_settings(pybind11::module_& m, char const* name) {
    Settings::fields([&](auto const&... members) { bind_settings<Made>(m, name, members...); });
}

}  // namespace python
