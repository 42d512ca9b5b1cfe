// rowan/compiled/io.cpp: the parts of the compiled library that need nanopb: descriptors, checkpoints and models.
#include <rowan/graph/detail/key_variable.hpp>
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op.hpp>
#include <rowan/rowan.hpp>
#include <rowan/train/detail/table_inputs_of.hpp>
#include <rowan/train/detail/table_lookups.hpp>
#include <rowan/train/detail/trained_tables_of.hpp>
#include <rowan/train/keyed.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/distributed/gather_save.hpp>
#include <rowan/distributed/keyed_table_files.hpp>
#include <rowan/distributed/model.hpp>
#include <rowan/distributed/scatter_save.hpp>
#include <rowan/distributed/table_files.hpp>
#include <rowan/io.hpp>
#include <rowan/io/detail/read_program.hpp>
#include <rowan/io/keyed_in_file.hpp>

char const rowan_needs_io_o__see_README = 0;
