// rowan/thrust/sparse/lookup_table_grad.hpp: lookup_table_grad on a device.
#pragma once

#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>
