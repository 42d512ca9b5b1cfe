// rowan/io/program_desc_inl.hpp: definitions of rowan/io/program_desc.hpp.
#pragma once

#include <rowan/io/program_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/message_inl.hpp>

#include <algorithm>
#include <ostream>

namespace rowan::inline v0::detail {

template <>
struct message_rules<BlockDesc> : NoRules {
    static void whole(BlockDesc const& block, std::uint64_t offset, std::string const& path) {
        check_names(block.vars, &VarDesc::name, offset, path + ".vars");
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            message_rules<OpDesc>::whole(block.ops[i], offset, path + ".ops[" + std::to_string(i) + "]");
        }
    }
};

template <>
struct message_rules<ProgramDesc> : NoRules {
    static void whole(ProgramDesc const& program, std::uint64_t offset, std::string const& path) {
        auto const count = static_cast<std::int64_t>(program.blocks.size());
        std::vector<std::size_t> depth(program.blocks.size(), 1);
        for (std::size_t b = 0; b < depth.size(); ++b) {
            auto const& block = program.blocks[b];
            std::string const at = path + ".blocks[" + std::to_string(b) + "]";
            auto const expect = [&](std::string const& field, std::int64_t value, std::int64_t low, std::int64_t end) {
                if (value >= low && value < end) return;
                throw FormatError(offset, {at, field}, {"is ", value, ", which is not in [", low, ", ", end, ")"});
            };
            auto const self = static_cast<std::int64_t>(b);
            expect(".idx", block.idx, self, self + 1);
            expect(".parent_idx", block.parent_idx, b == 0 ? -1 : 0, self);
            expect(".forward_block_idx", block.forward_block_idx, -1, count);
            if (b != 0) depth[b] = std::max(depth[b], depth[static_cast<std::size_t>(block.parent_idx)] + 1);
            if (depth[b] > ProgramDesc::max_depth) {
                throw FormatError(
                    offset, at,
                    {"is in ", depth[b] - 1, " enclosing blocks, expected fewer than ", ProgramDesc::max_depth});
            }
            message_rules<BlockDesc>::whole(block, offset, at);
            for (std::size_t i = 0; i < block.ops.size(); ++i) {
                for (Attribute const& a : block.ops[i].attrs) {
                    for (BlockIndex const inner : blocks_of(a)) {
                        expect(".ops[" + std::to_string(i) + "].attrs." + a.name, inner.value, self + 1, count);
                        auto& its = depth[static_cast<std::size_t>(inner.value)];
                        its = std::max(its, depth[b] + 1);
                    }
                }
            }
        }
    }
};

#define ROWAN_FIELDS(X, T)               \
    X(T, REQUIRED, INT32, idx, 1)        \
    X(T, REQUIRED, INT32, parent_idx, 2) \
    X(T, REPEATED, MESSAGE, vars, 3)     \
    X(T, REPEATED, MESSAGE, ops, 4)      \
    X(T, OPTIONAL, INT32, forward_block_idx, 5)
ROWAN_MESSAGE(BlockDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

#define ROWAN_FIELDS(X, T) X(T, OPTIONAL, INT64, version, 1)
ROWAN_MESSAGE(ProgramDesc::Version, ROWAN_FIELDS)
#undef ROWAN_FIELDS

#define ROWAN_FIELDS(X, T)             \
    X(T, REPEATED, MESSAGE, blocks, 1) \
    X(T, OPTIONAL, MESSAGE, version, 4)
ROWAN_MESSAGE(ProgramDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE std::string to_string(BlockDesc const& desc) {
    std::string text = "block " + std::to_string(desc.idx);
    if (desc.parent_idx >= 0) text.append(" in ").append(std::to_string(desc.parent_idx));
    if (desc.forward_block_idx >= 0) text.append(", gradient of ").append(std::to_string(desc.forward_block_idx));
    for (VarDesc const& v : desc.vars) text.append("\n  ").append(to_string(v));
    for (OpDesc const& op : desc.ops) text.append("\n  ").append(to_string(op));
    return text;
}

ROWAN_FUNCTION ROWAN_RARE std::string to_string(ProgramDesc const& desc) {
    std::string text;
    for (BlockDesc const& block : desc.blocks) text.append(text.empty() ? "" : "\n").append(to_string(block));
    return text;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, BlockDesc const& desc) {
    return out << to_string(desc);
}
ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, ProgramDesc const& desc) {
    return out << to_string(desc);
}

ROWAN_DESCRIPTOR(BlockDesc)
ROWAN_DESCRIPTOR(ProgramDesc)

}  // namespace rowan::inline v0

#endif
