// rowan/io/program_desc.hpp: ProgramDesc, a program as a protobuf message: blocks of variables and operators.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/attribute.hpp>
#include <rowan/io/message.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/io/var_desc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace rowan::inline v0 {

/// Variables with unique names, and operators in the order in which they run.
struct BlockDesc {
    std::int32_t idx = 0;                 ///< its index in the program
    std::int32_t parent_idx = -1;         ///< the enclosing block, whose variables are visible; -1 for the outermost
    std::vector<VarDesc> vars{};          ///< declared in the block
    std::vector<OpDesc> ops{};            ///< in the order in which they run
    std::int32_t forward_block_idx = -1;  ///< the block whose gradient this block is; -1 if none

    friend bool operator==(BlockDesc const&, BlockDesc const&) = default;
};

/// A program. The first block is the outermost. The index of every other block is greater than that of its enclosing
/// block and those of the blocks whose operators have it as an attribute, so that no block contains itself.
struct ProgramDesc {
    /// The version of the software that wrote a program.
    struct Version {
        std::int64_t version = 0;  ///< 0 if unspecified

        friend bool operator==(Version const&, Version const&) = default;
    };
    static constexpr std::size_t max_depth = 32;  ///< limit on the nesting of blocks

    std::vector<BlockDesc> blocks{};  ///< the net first, then the bodies of its recurrent layers and loops
    Version version{};                ///< of the software that wrote the program

    friend bool operator==(ProgramDesc const&, ProgramDesc const&) = default;
};

namespace detail {

template <>
struct message_rules<BlockDesc> : NoRules {
    ROWAN_IF_CALLED static void whole(BlockDesc const& block, std::uint64_t offset, std::string const& path);
};

template <>
struct message_rules<ProgramDesc> : NoRules {
    ROWAN_IF_CALLED static void whole(ProgramDesc const& program, std::uint64_t offset, std::string const& path);
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

}  // namespace detail

/// The block as text: a line for the block, each variable and each operator.
/// errors   none
/// cost     O(length of the text)
std::string to_string(BlockDesc const& desc);

/// The program as text: its blocks in order.
/// errors   none
/// cost     O(length of the text)
std::string to_string(ProgramDesc const& desc);

inline std::ostream& operator<<(std::ostream& out, BlockDesc const& desc) { return out << to_string(desc); }
inline std::ostream& operator<<(std::ostream& out, ProgramDesc const& desc) { return out << to_string(desc); }

}  // namespace rowan::inline v0

#include <rowan/io/program_desc_inl.hpp>
