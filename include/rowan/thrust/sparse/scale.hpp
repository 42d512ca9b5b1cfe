// rowan/thrust/sparse/scale.hpp: scale on a device.
#pragma once

#include <rowan/sparse/scale.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>
