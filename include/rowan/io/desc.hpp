// rowan/io/desc.hpp: descriptors of tensors, variables, operators and programs, and their bytes.
#pragma once

#include <rowan/io/attribute.hpp>
#include <rowan/io/message.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/io/program_desc.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/io/var_desc.hpp>
