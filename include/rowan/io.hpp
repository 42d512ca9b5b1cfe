// rowan/io.hpp: all of rowan/io, descriptors and files. Needs nanopb; rowan.hpp includes the headers that do not.
#pragma once

#include <rowan/io/attribute.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_chain.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/desc.hpp>
#include <rowan/io/describe_paddle.hpp>
#include <rowan/io/dlpack.hpp>
#include <rowan/io/from_program.hpp>
#include <rowan/io/gguf_file.hpp>
#include <rowan/io/in_file.hpp>
#include <rowan/io/keyed_file.hpp>
#include <rowan/io/keyed_table.hpp>
#include <rowan/io/message.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/npy_folder.hpp>
#include <rowan/io/op_attributes.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/io/open_rows.hpp>
#include <rowan/io/paddle.hpp>
#include <rowan/io/program_desc.hpp>
#include <rowan/io/row_store.hpp>
#include <rowan/io/row_store_options.hpp>
#include <rowan/io/row_stores.hpp>
#include <rowan/io/safetensors.hpp>
#include <rowan/io/safetensors_file.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/io/var_desc.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/io/operator_maker.hpp>
#endif
