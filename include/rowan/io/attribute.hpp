// rowan/io/attribute.hpp: Attribute, a named value of an operator, as a protobuf message.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

namespace rowan::inline v0 {

/// A block of the program, by index.
struct BlockIndex {
    std::int32_t value = 0;  ///< index in ProgramDesc::blocks

    friend bool operator==(BlockIndex, BlockIndex) = default;
};

/// A variable of the block or of an enclosing block, by name.
struct VarName {
    std::string value;  ///< the name

    friend bool operator==(VarName const&, VarName const&) = default;
};

/// The value of an attribute. The index of an alternative is the number of its type in messages: INT, FLOAT, STRING,
/// INTS, FLOATS, STRINGS, BOOLEAN, BOOLEANS, BLOCK, LONG, BLOCKS, LONGS, FLOAT64S, VAR, VARS, FLOAT64.
using AttributeValue =
    std::variant<std::int32_t, float, std::string, std::vector<std::int32_t>, std::vector<float>,
                 std::vector<std::string>, bool, std::vector<bool>, BlockIndex, std::int64_t, std::vector<BlockIndex>,
                 std::vector<std::int64_t>, std::vector<double>, VarName, std::vector<VarName>, double>;

/// A name and a value.
struct Attribute {
    std::string name{};      ///< unique within its operator
    AttributeValue value;  ///< the alternative determines its type

    friend bool operator==(Attribute const& a, Attribute const& b);
};

/// The attribute as text: "sizes: [3, 4]".
/// errors   none
/// cost     O(length of the text)
std::string to_string(Attribute const& a);

std::ostream& operator<<(std::ostream& out, Attribute const& a);

}  // namespace rowan::inline v0

#include <rowan/io/attribute_inl.hpp>
