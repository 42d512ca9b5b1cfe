// rowan/own_operator.hpp: what a net needs of an operator, an element type or a device that the compiled library does not know.
#pragma once
#include <rowan/rowan.hpp>
