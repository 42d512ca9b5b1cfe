// rowan/op/fields.hpp: field, the names of the attributes of operators: see rowan/core/fields.hpp.
#pragma once

#include <rowan/core/fields.hpp>
