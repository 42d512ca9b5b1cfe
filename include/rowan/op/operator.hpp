// rowan/op/operator.hpp: all that a header includes to declare an operator, the function that it runs, and its kernels.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
