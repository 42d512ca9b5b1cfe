// examples/python/schedules.hpp: schedules of the learning rate, of rowan or functions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <rowan/train/schedule.hpp>

#include <string>

namespace python {

/// A schedule of rowan.
struct Factor {
    rowan::layer::Schedule of;
};

/// A schedule of rowan, or a function of Python that gets the number of the step; None is no schedule.
/// errors   TypeError, which names `name`
rowan::layer::Schedule schedule_of(std::string const& name, pybind11::object const& given);

}  // namespace python
