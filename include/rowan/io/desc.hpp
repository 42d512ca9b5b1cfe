// rowan/io/desc.hpp: all descriptors, of tensors, variables, operators and programs, and their encoding.
#pragma once

#include <rowan/io/attribute.hpp>
#include <rowan/io/message.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/io/program_desc.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/io/var_desc.hpp>
