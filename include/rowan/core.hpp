// rowan/core.hpp: the types and functions that all other parts use.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/copy.hpp>
#include <rowan/core/detail/tensor_instances.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/kept_memory.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/print.hpp>
#include <rowan/core/tensor.hpp>
