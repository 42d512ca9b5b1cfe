// rowan/io/program_desc_inl.hpp: definitions of rowan/io/program_desc.hpp.
#pragma once

#include <rowan/io/program_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0 {

ROWAN_FUNCTION std::string to_string(BlockDesc const& desc) {
    std::string text = "block " + std::to_string(desc.idx);
    if (desc.parent_idx >= 0) text.append(" in ").append(std::to_string(desc.parent_idx));
    if (desc.forward_block_idx >= 0) text.append(", gradient of ").append(std::to_string(desc.forward_block_idx));
    for (VarDesc const& v : desc.vars) text.append("\n  ").append(to_string(v));
    for (OpDesc const& op : desc.ops) text.append("\n  ").append(to_string(op));
    return text;
}

ROWAN_FUNCTION std::string to_string(ProgramDesc const& desc) {
    std::string text;
    for (BlockDesc const& block : desc.blocks) text.append(text.empty() ? "" : "\n").append(to_string(block));
    return text;
}

}  // namespace rowan::inline v0

#endif
