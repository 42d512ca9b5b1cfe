// rowan/io/detail/any_table_store_inl.hpp: definitions of rowan/io/detail/any_table_store.hpp, which stand beside TableStore.
#pragma once

#include <rowan/io/detail/any_table_store.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/table_store.hpp>
#endif
