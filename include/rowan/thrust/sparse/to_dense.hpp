// rowan/thrust/sparse/to_dense.hpp: to_dense on a device.
#pragma once

#include <rowan/sparse/to_dense.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>
