// examples/python/common.hpp: what most sources of the module include, precompiled once.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <rowan/graph/net.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/initializer.hpp>
#include <rowan/train/feeds.hpp>
