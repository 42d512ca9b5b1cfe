// rowan/thrust/sparse/sgd.hpp: sgd on a device.
#pragma once

#include <rowan/sparse/sgd.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>
