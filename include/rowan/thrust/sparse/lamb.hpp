// rowan/thrust/sparse/lamb.hpp: lamb on a device.
#pragma once

#include <rowan/sparse/lamb.hpp>
#include <rowan/thrust/sparse/scale.hpp>
#include <rowan/thrust/sparse/squared_norm.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>
