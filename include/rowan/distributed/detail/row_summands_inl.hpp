// rowan/distributed/detail/row_summands_inl.hpp: the functions of row_summands.hpp.
#pragma once

#include <rowan/distributed/detail/row_summands.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/distributed/detail/row_reduction.hpp>  // its _inl.hpp defines them, where RowReduction is known
#endif
