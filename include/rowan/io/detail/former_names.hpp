// rowan/io/detail/former_names.hpp: the names that operators had in files of earlier versions.
#pragma once

#include <rowan/io/program_desc.hpp>

#include <span>
#include <string_view>

namespace rowan::inline v0::detail {

/// A program with the operators' names of this version. Programs of version 1 called the element-wise product
/// `elementwise_mul` and that of matrices `mul`, and so on; later ones had three operators for those of matrices. An
/// operator of the user's keeps its name.
/// `own`: the names of all operators that the program may have
ROWAN_IF_CALLED ProgramDesc with_current_names(ProgramDesc program, std::span<std::string_view const> own);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/former_names_inl.hpp>
