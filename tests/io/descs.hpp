// tests/io/descs.hpp: descriptors of every kind, for tests and for comparisons with other implementations.
#pragma once

#include <rowan/io/desc.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace descs {

using namespace rowan;

inline VarDesc dense(std::string name, std::vector<std::int64_t> dims, std::int32_t lod_level = 0, bool persistable = false) {
    return {.name = std::move(name), .lod_desc = LodTensorDesc{{5, std::move(dims)}, lod_level}, .persistable = persistable};
}

/// An attribute of every kind.
inline OpDesc op() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return {.inputs = {{"X", {"x", "w"}}, {"Bias", {}}, {"Rest", {""}}},
            .outputs = {{"Out", {"h"}}},
            .type = "fc",
            .attrs = {{"int", -3},
                      {"float", 0.1F},
                      {"string", "a\"b"},
                      {"ints", std::vector<std::int32_t>{0, -1, 300}},
                      {"floats", std::vector<float>{-0.0F, 1e30F}},
                      {"strings", std::vector<std::string>{"", "\xC3\xA9"}},
                      {"boolean", false},
                      {"booleans", std::vector<bool>{true, false}},
                      {"block", BlockIndex{1}},
                      {"long", most},
                      {"blocks", std::vector<BlockIndex>{{1}, {2}}},
                      {"longs", std::vector<std::int64_t>{-most - 1, 1}},
                      {"float64s", std::vector<double>{0.1, -2}},
                      {"var", VarName{"h"}},
                      {"vars", std::vector<VarName>{{"x"}, {"w"}}},
                      {"float64", 1e300}},
            .is_target = true};
}

inline ProgramDesc program() {
    VarDesc rows{.name = "grad", .type = VarType::SELECTED_ROWS, .selected_rows_desc = TensorDesc{5, {85, 2}}};
    VarDesc array{.name = "steps", .type = VarType::TENSOR_ARRAY, .tensor_array_desc = LodTensorDesc{{1000, {UNK, 4}}, 1}};
    VarDesc scopes{.name = "scopes", .type = VarType::STEP_SCOPES};
    return {.blocks = {{.vars = {dense("x", {UNK, 640, 480}, 2), dense("w", {480, 100}, 0, true)}, .ops = {op()}},
                       {.idx = 1, .parent_idx = 0, .vars = {rows, array, scopes}},
                       {.idx = 2, .parent_idx = 1, .ops = {{.type = "nop"}}, .forward_block_idx = 1}},
            .version = {7}};
}

/// Calls f(name, descriptor) for each. Names that begin with "large" have fields of more than 64 KiB; "op", "block" and
/// "program" have lists of 16 attributes, others lists of at most 3.
template <class F>
void for_each(F const& f) {
    f("matrix", TensorDesc{5, {3, 2}});
    f("unknown", TensorDesc{5, {UNK, 640, 480}});
    f("scalar", TensorDesc{1000, {}});
    f("levels", LodTensorDesc{{3, {UNK}}, 2});
    f("no_levels", LodTensorDesc{{0, {0}}, 0});
    f("plain", VarDesc{.name = "x"});
    f("parameter", dense("w_0", {480, 100}, 0, true));
    f("rows", program().blocks[1].vars[0]);
    f("array", program().blocks[1].vars[1]);
    f("scopes", program().blocks[1].vars[2]);
    f("op", op());
    f("nop", OpDesc{.type = "nop"});
    f("block", program().blocks[0]);
    f("program", program());
    f("empty", ProgramDesc{});
    auto few = program();
    few.blocks[0].ops[0].attrs.resize(3);
    f("few", few);
    for (Attribute const& a : op().attrs) f("attribute_" + a.name, OpDesc{.type = "nop", .attrs = {a}});
    f("large", TensorDesc{3, std::vector<std::int64_t>(70'000, 1)});
    f("large_text", OpDesc{.type = "print", .attrs = {{"text", std::string(100'000, 'x')}}});
}

}  // namespace descs
