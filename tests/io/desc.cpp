// tests/io/desc.cpp: descriptors and their bytes: golden bytes, every kind encoded and decoded, and invalid bytes.
#include <rowan/io/desc.hpp>

#include "catch.hpp"
#include "io/descs.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace test_desc {

namespace {

using namespace rowan;
using Bytes = std::vector<std::byte>;

template <class T>
concept encodable = requires(T const& x, Bytes const& bytes) {
    encode(x);
    decode<T>(bytes);
};
static_assert(encodable<TensorDesc> && encodable<LodTensorDesc> && encodable<VarDesc> && encodable<OpDesc> && encodable<ProgramDesc>);
static_assert(!encodable<Attribute> && !encodable<int>);

Bytes from_hex(std::string const& text) {
    Bytes bytes;
    std::istringstream in(text);
    char pair[3]{};
    while (in >> pair[0] >> pair[1]) bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
    return bytes;
}

std::string hex(Bytes const& bytes) {
    std::string text;
    for (auto const b : bytes) {
        for (unsigned const nibble : {unsigned(b) >> 4, unsigned(b) & 15}) text += "0123456789abcdef"[nibble];
    }
    return text;
}

template <class Desc>
std::string refusal(Bytes const& bytes, std::uint64_t offset = 0) {
    try {
        static_cast<void>(decode<Desc>(bytes, offset));
    } catch (FormatError const& e) {
        return e.what();
    }
    return "taken";
}
template <class Desc>
std::string refusal(std::string const& text) {
    return refusal<Desc>(from_hex(text));
}
template <class Desc>
std::string unencodable(Desc const& desc) {
    try {
        static_cast<void>(encode(desc));
    } catch (FormatError const& e) {
        return e.what();
    }
    return "taken";
}

/// Whether decode accepts the bytes. Encoding the result and decoding it again must give an equal descriptor.
template <class Desc>
bool taken_and_fixed(Bytes const& bytes) {
    try {
        auto const desc = decode<Desc>(bytes);
        auto const again = encode(desc);
        auto const same = decode<Desc>(again);
        REQUIRE(encode(same) == again);
        if (to_string(desc).find("nan") == std::string::npos) REQUIRE(same == desc);
        return true;
    } catch (FormatError const&) {  // no other error: nanopb must accept everything that WireCheck accepts
        return false;
    }
}

// A second implementation of the encoder.
std::string varint(std::uint64_t x) {
    std::string bytes;
    for (; x >= 128; x >>= 7) bytes += static_cast<char>((x & 127) | 128);
    return bytes + static_cast<char>(x);
}
std::string number(unsigned tag, std::int64_t x) { return varint(tag << 3) + varint(static_cast<std::uint64_t>(x)); }
std::string text(unsigned tag, std::string const& x) { return varint((tag << 3) + 2) + varint(x.size()) + x; }
std::string written(TensorDesc const& desc, bool packed = false) {
    std::string bytes = number(1, desc.data_type), list;
    for (auto const dim : desc.dims) packed ? list += varint(static_cast<std::uint64_t>(dim)) : bytes += number(2, dim);
    return packed ? bytes + text(2, list) : bytes;
}
std::string written(LodTensorDesc const& desc, bool packed = false) {
    return text(1, written(desc.tensor, packed)) + (desc.lod_level == 0 ? "" : number(2, desc.lod_level));
}
std::string written(VarDesc const& desc, bool packed = false) {
    return text(1, desc.name) + number(2, static_cast<std::int64_t>(desc.type)) +
           (desc.lod_desc ? text(3, written(*desc.lod_desc, packed)) : "") +
           (desc.selected_rows_desc ? text(4, written(*desc.selected_rows_desc, packed)) : "") + (desc.persistable ? number(5, 1) : "") +
           (desc.tensor_array_desc ? text(6, written(*desc.tensor_array_desc, packed)) : "");
}
Bytes as_bytes(std::string const& text) {
    Bytes bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

TensorDesc arbitrary_tensor() {
    auto const dim = rc::gen::weightedOneOf<std::int64_t>(
        {{1, rc::gen::just(UNK)}, {4, rc::gen::inRange<std::int64_t>(0, 1000)}, {1, rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)}});
    return {*rc::gen::elementOf(std::vector<std::int32_t>{0, 3, 5, 22, 38, 1000, 2'000'000'000}), *rc::gen::container<std::vector<std::int64_t>>(dim)};
}
LodTensorDesc arbitrary_lod() { return {arbitrary_tensor(), *rc::gen::inRange(0, 17)}; }
VarDesc arbitrary_var() {
    VarDesc desc{.name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127))),
                 .type = static_cast<VarType>(*rc::gen::inRange(0, 4)),
                 .persistable = *rc::gen::arbitrary<bool>()};
    if (*rc::gen::arbitrary<bool>()) {
        if (desc.type == VarType::LOD_TENSOR) desc.lod_desc = arbitrary_lod();
        if (desc.type == VarType::SELECTED_ROWS) desc.selected_rows_desc = arbitrary_tensor();
        if (desc.type == VarType::TENSOR_ARRAY) desc.tensor_array_desc = arbitrary_lod();
    }
    return desc;
}

/// `depth` nested blocks: each is the parent of the next, or has it as an attribute of an operator.
ProgramDesc nested(std::int32_t depth, bool by_operators) {
    ProgramDesc program;
    for (std::int32_t i = 0; i < depth; ++i) {
        program.blocks.push_back({.idx = i, .parent_idx = i == 0 ? -1 : by_operators ? 0 : i - 1});
        if (by_operators && i + 1 < depth) program.blocks.back().ops.push_back({.type = "loop", .attrs = {{"body", BlockIndex{i + 1}}}});
    }
    return program;
}

}  // namespace

TEST_CASE("descriptors have these bytes", "[desc][golden]") {
    CHECK(hex(encode(TensorDesc{5, {3, 2}})) == "080510031002");
    CHECK(hex(encode(TensorDesc{5, {UNK, 640, 480}})) == "080510ffffffffffffffffff0110800510e003");
    CHECK(hex(encode(TensorDesc{20, {300, 1}})) == "081410ac021001");
    CHECK(hex(encode(TensorDesc{5, {}})) == "0805");
    CHECK(hex(encode(TensorDesc{5, {0, 4}})) == "080510001004");
    CHECK(hex(encode(LodTensorDesc{{5, {3, 2}}, 2})) == "0a060805100310021002");
    CHECK(hex(encode(LodTensorDesc{{5, {3, 2}}, 0})) == "0a06080510031002");
    CHECK(hex(encode(VarDesc{.name = "x"})) == "0a01781000");
    CHECK(hex(encode(descs::dense("w", {3, 2}, 0, true))) == "0a017710001a080a060805100310022801");
    CHECK(hex(encode(VarDesc{.name = "g", .type = VarType::SELECTED_ROWS, .selected_rows_desc = TensorDesc{5, {85, 2}}})) ==
          "0a0167100122060805105510" "02");
    CHECK(hex(encode(OpDesc{.inputs = {{"X", {"x"}}}, .outputs = {{"Out", {"y"}}}, .type = "relu", .attrs = {{"n", 3}}})) ==
          "0a060a01581201781208" "0a034f7574120179" "1a0472656c75" "22070a016e10001803");
    CHECK(hex(encode(ProgramDesc{.blocks = {BlockDesc{}}, .version = {7}})) == "0a0d080010ffffffffffffffffff0122020807");
    CHECK(encode(ProgramDesc{}).empty());
}

TEST_CASE("every descriptor is decoded to the same value", "[desc]") {
    descs::for_each([](std::string const& name, auto const& desc) {
        CAPTURE(name);
        auto const bytes = encode(desc);
        CHECK(decode<std::remove_cvref_t<decltype(desc)>>(bytes) == desc);
        if (name.starts_with("large")) CHECK(bytes.size() > 65'536);
    });
}

TEST_CASE("descriptors of variables are written as a second writer does, and read with packed dims", "[desc][property]") {
    CHECK(rc::check([] {
        auto const desc = arbitrary_var();
        RC_ASSERT(encode(desc) == as_bytes(written(desc)));
        RC_ASSERT(decode<VarDesc>(as_bytes(written(desc))) == desc);
        RC_ASSERT(decode<VarDesc>(as_bytes(written(desc, true))) == desc);
    }));
}

TEST_CASE("lists may be packed, unpacked, in pieces and empty", "[desc]") {
    TensorDesc const want{5, {UNK, 640, 480}};
    CHECK(decode<TensorDesc>(from_hex("0805 120e ffffffffffffffffff01 8005 e003")) == want);
    CHECK(decode<TensorDesc>(from_hex("120c ffffffffffffffffff01 8005 0805 10e003")) == want);
    CHECK(decode<TensorDesc>(from_hex("0805 1200 10ffffffffffffffffff01 1202 8005 1200 10e003")) == want);
    CHECK(decode<TensorDesc>(from_hex("0805 1200")) == TensorDesc{5, {}});
    auto const attribute = [](std::string const& bytes) { return decode<OpDesc>(from_hex("1a0178 22" + bytes)).attrs[0].value; };
    CHECK(attribute("0f 0a0161 1004 3a0800000000 0000803f").index() == 4);
    CHECK(attribute("0f 0a0161 1004 3a080000803f 00000040") == AttributeValue(std::vector<float>{1, 2}));
    CHECK(attribute("09 0a0161 1007 5a020100") == AttributeValue(std::vector<bool>{true, false}));
    CHECK(attribute("05 0a0161 1005") == AttributeValue(std::vector<std::string>{}));
}

TEST_CASE("missing fields have the defaults of a new descriptor", "[desc]") {
    CHECK_FALSE(decode<VarDesc>(from_hex("0a0178 1000")).persistable);
    CHECK_FALSE(decode<VarDesc>(from_hex("0a0178 1000 2800")).persistable);
    CHECK(decode<VarDesc>(from_hex("0a0178 1000 2801")).persistable);
    CHECK(decode<BlockDesc>(from_hex("0800 1000")).forward_block_idx == -1);
    CHECK(decode<BlockDesc>(from_hex("0800 1000 2800")).forward_block_idx == 0);
    CHECK(decode<ProgramDesc>({}) == ProgramDesc{});
}

TEST_CASE("fields of later versions are left out", "[desc]") {
    TensorDesc const want{5, {3, 2}};
    for (std::string const unknown : {"1801", "1a03616263", "1d00000000", "1900000000 00000000", "f8ffffff0f01", "1a00"}) {
        CAPTURE(unknown);
        CHECK(decode<TensorDesc>(from_hex(unknown + "0805 1003" + unknown + "1002" + unknown)) == want);
    }
}

TEST_CASE("programs of many short names and of many operators can be written and read", "[desc]") {
    ProgramDesc program{.blocks = {BlockDesc{}}};
    for (int i = 0; i < 65'534; ++i) program.blocks[0].vars.push_back({.name = std::to_string(i)});
    CHECK(decode<ProgramDesc>(encode(program)) == program);
    program.blocks[0].vars.clear();
    program.blocks[0].ops.assign(65'534, {.type = "f"});
    CHECK(decode<ProgramDesc>(encode(program)) == program);
}

TEST_CASE("bytes that are no descriptor throw, with position and field", "[desc][bad_input]") {
    CHECK(refusal<TensorDesc>("0805 1003 1002") == "taken");
    CHECK(refusal<TensorDesc>("1003 1002") == "byte 0: TensorDesc.data_type is missing");
    CHECK(refusal<TensorDesc>("") == "byte 0: TensorDesc.data_type is missing");
    CHECK(refusal<TensorDesc>("0805 10") == "byte 3: TensorDesc.dims needs 1 bytes, 0 are left");
    CHECK(refusal<TensorDesc>("0805 1080") == "byte 4: TensorDesc.dims needs 1 bytes, 0 are left");
    CHECK(refusal<TensorDesc>("0805 80") == "byte 3: TensorDesc needs 1 bytes, 0 are left");
    CHECK(refusal<TensorDesc>("0805 0805") == "byte 2: TensorDesc.data_type occurs twice");
    CHECK(refusal<TensorDesc>("0805 00") == "byte 2: TensorDesc.0 is not a field number: they are in [1, 2^29)");
    CHECK(refusal<TensorDesc>("0805 0000") == "byte 2: TensorDesc.0 is not a field number: they are in [1, 2^29)");
    CHECK(refusal<TensorDesc>("0805 f8ffffff1f 01").starts_with("byte 2: TensorDesc.1073741823 is not a field number"));
    CHECK(refusal<TensorDesc>("0a0105") == "byte 0: TensorDesc.data_type has wire type 2, expected 0");
    CHECK(refusal<TensorDesc>("0805 1500000000") == "byte 2: TensorDesc.dims has wire type 5, expected 0");
    CHECK(refusal<TensorDesc>("0805 1203 010280") == "byte 7: TensorDesc.dims needs 1 bytes, 0 are left");
    CHECK(refusal<TensorDesc>("0805 1203 0102") == "byte 4: TensorDesc.dims needs 3 bytes, 2 are left");
    CHECK(refusal<TensorDesc>("0805 12ffffffffffffffff7f 01") == "byte 12: TensorDesc.dims needs 9223372036854775807 bytes, 1 are left");
    CHECK(refusal<TensorDesc>("0805 13 14") == "byte 2: TensorDesc.dims is a group, which descriptors never contain");
    CHECK(refusal<TensorDesc>("0805 1b 1c") == "byte 2: TensorDesc.3 is a group, which descriptors never contain");
    CHECK(refusal<TensorDesc>("0805 1c") == "byte 2: TensorDesc.3 is a group, which descriptors never contain");
    CHECK(refusal<TensorDesc>("0805 1e") == "byte 2: TensorDesc.3 has wire type 6, which does not exist");
    CHECK(refusal<TensorDesc>("0805 1a05 61") == "byte 4: TensorDesc.3 needs 5 bytes, 1 are left");
    CHECK(refusal<TensorDesc>("0805 18ffffffffffffffffff02") == "byte 3: TensorDesc.3 has a number that does not fit 64 bits");
    CHECK(refusal<TensorDesc>("0805 10ffffffffffffffffff7f") == "byte 3: TensorDesc.dims has a number that does not fit 64 bits");
    CHECK(refusal<TensorDesc>("08808080808020") == "byte 1: TensorDesc.data_type is 1099511627776, which does not fit 32 bits");
    CHECK(refusal<VarDesc>("0a0178 1000") == "taken");
    CHECK(refusal<VarDesc>("1000") == "byte 0: VarDesc.name is missing");
    CHECK(refusal<VarDesc>("0a0178") == "byte 0: VarDesc.type is missing");
    CHECK(refusal<VarDesc>("0878 1000") == "byte 0: VarDesc.name has wire type 0, expected 2");  // nanopb would accept these two
    CHECK(refusal<VarDesc>("0d78000000 1000") == "byte 0: VarDesc.name has wire type 5, expected 2");
    CHECK(refusal<VarDesc>("0a0178 1000 1805") == "byte 5: VarDesc.lod_desc has wire type 0, expected 2");
    CHECK(refusal<VarDesc>("0a0178 1000 2802") == "byte 6: VarDesc.persistable is 2, neither 0 nor 1");
    CHECK(refusal<VarDesc>("0a0178 1000 1a020a00") == "byte 9: TensorDesc.data_type is missing");
    CHECK(refusal<VarDesc>("0a0178 1000 1a00") == "byte 7: LodTensorDesc.tensor is missing");
    CHECK(refusal<VarDesc>("0a0178 1000 1a040a020805 1a040a020805") == "byte 11: VarDesc.lod_desc occurs twice");
    CHECK(refusal<TensorDesc>(from_hex("0805 10"), 1000) == "byte 1003: TensorDesc.dims needs 1 bytes, 0 are left");
}

TEST_CASE("invalid values throw", "[desc][bad_input]") {
    CHECK(refusal<TensorDesc>("0807") == "byte 1: TensorDesc.data_type is 7, which is not an element type; user-defined types have numbers from 1000 on");
    CHECK(refusal<TensorDesc>("08e707").starts_with("byte 1: TensorDesc.data_type is 999, which is no"));
    CHECK(refusal<TensorDesc>("08e807") == "taken");
    CHECK(refusal<TensorDesc>("08ffffffffffffffffff01").starts_with("byte 1: TensorDesc.data_type is -1, which is no"));
    CHECK(refusal<TensorDesc>("0805 10feffffffffffffffff01") == "byte 3: TensorDesc.dims is -2, expected a count or -1");
    CHECK(refusal<TensorDesc>("0805 120b 01 feffffffffffffffff01") == "byte 5: TensorDesc.dims is -2, expected a count or -1");
    CHECK(refusal<LodTensorDesc>("0a020805 1010") == "taken");
    CHECK(refusal<LodTensorDesc>("0a020805 1011") == "byte 5: LodTensorDesc.lod_level is 17, which is not in [0, 17)");
    CHECK(refusal<LodTensorDesc>("0a020805 10ffffffffffffffffff01") == "byte 5: LodTensorDesc.lod_level is -1, which is not in [0, 17)");
    CHECK(refusal<VarDesc>("0a0178 1004") == "byte 4: VarDesc.type is 4, which is not a kind of variable");
    CHECK(refusal<VarDesc>("0a0178 1003") == "taken");
    CHECK(refusal<VarDesc>("0a0178 1001 1a040a020805") == "byte 0: VarDesc.lod_desc is present, but the variable is of type SELECTED_ROWS");
    CHECK(refusal<VarDesc>("0a0178 1000 22020805") == "byte 0: VarDesc.selected_rows_desc is present, but the variable is of type LOD_TENSOR");
    CHECK(refusal<VarDesc>("0a0178 1003 32040a020805") == "byte 0: VarDesc.tensor_array_desc is present, but the variable is of type STEP_SCOPES");
    CHECK(refusal<OpDesc>("1a0178 2205 0a0161 1003") == "taken");
    CHECK(refusal<OpDesc>("1a0178 2205 0a0161 1010") == "byte 9: Attr.type is 16, which is not an attribute type");
    CHECK(refusal<OpDesc>("1a0178 2205 0a0161 1000") == "byte 5: Attr.i is missing, and the type is INT");
    CHECK(refusal<OpDesc>("1a0178 2209 0a0161 1003 1801 3001") == "byte 5: Attr.i is present, but the type is INTS");
    CHECK(refusal<OpDesc>("1a0178 2209 0a0161 1000 1801 3001") == "byte 5: Attr.ints is present, but the type is INT");
}

TEST_CASE("names are UTF-8 of 1 to 4096 bytes without NUL", "[desc][bad_input]") {
    auto const var = [](std::string const& name) { return unencodable(VarDesc{.name = name}); };
    CHECK(var("") == "byte 2: VarDesc.name is empty, expected a name");
    CHECK(var(std::string(4096, 'x')) == "taken");
    CHECK(var(std::string(4097, 'x')) == "byte 3: VarDesc.name is a name of 4097 bytes, more than 4096");
    CHECK(var(std::string("a\0b", 3)) == "byte 2: VarDesc.name has the byte 0 at position 1");
    for (std::string const good : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
                                   "\xF4\x8F\xBF\xBF"}) {
        CHECK(var("a" + good + "b") == "taken");
    }
    for (std::string const bad : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xE1\x80", "\xE1\x80\x41",
                                  "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF1\x80\x80", "\xF4\x90\x80\x80",
                                  "\xF5\x80\x80\x80", "\xFF"}) {
        CAPTURE(hex(as_bytes(bad)));
        CHECK(var("a" + bad) == "byte 2: VarDesc.name is not UTF-8 at position 1");
    }
    CHECK(refusal<VarDesc>("1000 0a0261c2 800100") == "byte 4: VarDesc.name is not UTF-8 at position 1");  // the next field begins like one
    CHECK(unencodable(OpDesc{.type = ""}) == "byte 2: OpDesc.type is empty, expected a name");
    CHECK(unencodable(OpDesc{.inputs = {{"", {}}}, .type = "x"}) == "byte 4: OpDesc::Var.parameter is empty, expected a name");
    CHECK(unencodable(OpDesc{.inputs = {{"X", {""}}}, .type = "x"}) == "taken");
    CHECK(unencodable(OpDesc{.inputs = {{"X", {"\xFF"}}}, .type = "x"}) == "byte 7: OpDesc::Var.arguments is not UTF-8 at position 0");
    CHECK(unencodable(OpDesc{.type = "x", .attrs = {{"", 1}}}) == "byte 7: Attr.name is empty, expected a name");
    CHECK(unencodable(OpDesc{.type = "x", .attrs = {{"a", VarName{}}}}) == "byte 13: Attr.var_name is empty, expected a name");
    CHECK(unencodable(OpDesc{.type = "x", .attrs = {{"a", std::string("a\0b", 3)}}}) == "taken");  // a text, not a name
    CHECK(unencodable(OpDesc{.type = "x", .attrs = {{"a", "\xFF"}}}) == "byte 12: Attr.s is not UTF-8 at position 0");
}

TEST_CASE("duplicate names throw", "[desc][bad_input]") {
    auto program = descs::program();
    program.blocks[0].vars[1].name = "x";
    CHECK(unencodable(program) == "byte 0: ProgramDesc.blocks[0].vars[1] repeats the name \"x\"");
    CHECK(unencodable(program.blocks[0]) == "byte 0: BlockDesc.vars[1] repeats the name \"x\"");
    program.blocks[0].vars[1].name = "grad";  // in another block: valid
    CHECK(unencodable(program) == "taken");
    CHECK(unencodable(OpDesc{.inputs = {{"X", {}}, {"X", {}}}, .type = "x"}) == "byte 0: OpDesc.inputs[1] repeats the name \"X\"");
    CHECK(unencodable(OpDesc{.outputs = {{"X", {}}, {"Y", {}}, {"X", {}}}, .type = "x"}) == "byte 0: OpDesc.outputs[2] repeats the name \"X\"");
    CHECK(unencodable(OpDesc{.inputs = {{"X", {"a", "a"}}}, .outputs = {{"X", {"a"}}}, .type = "x"}) == "taken");
    CHECK(unencodable(OpDesc{.type = "x", .attrs = {{"a", 1}, {"a", 2}}}) == "byte 0: OpDesc.attrs[1] repeats the name \"a\"");
    program.blocks[0].ops[0].attrs[1].name = "int";
    CHECK(unencodable(program) == "byte 0: ProgramDesc.blocks[0].ops[0].attrs[1] repeats the name \"int\"");
}

TEST_CASE("F8 F9: blocks that contain themselves, precede their parent or nest too deep throw", "[desc][bad_input]") {
    auto const with = [](auto const& change) {
        auto program = descs::program();
        change(program.blocks);
        return unencodable(program);
    };
    CHECK(with([](auto&) {}) == "taken");
    CHECK(with([](auto& b) { b[1].idx = 2; }) == "byte 0: ProgramDesc.blocks[1].idx is 2, which is not in [1, 2)");
    CHECK(with([](auto& b) { b[0].parent_idx = 0; }) == "byte 0: ProgramDesc.blocks[0].parent_idx is 0, which is not in [-1, 0)");
    CHECK(with([](auto& b) { b[1].parent_idx = 1; }) == "byte 0: ProgramDesc.blocks[1].parent_idx is 1, which is not in [0, 1)");
    CHECK(with([](auto& b) { b[2].parent_idx = -1; }) == "byte 0: ProgramDesc.blocks[2].parent_idx is -1, which is not in [0, 2)");
    CHECK(with([](auto& b) { b[2].forward_block_idx = 3; }) == "byte 0: ProgramDesc.blocks[2].forward_block_idx is 3, which is not in [-1, 3)");
    CHECK(with([](auto& b) { b[0].ops[0].attrs[8].value = BlockIndex{0}; }) ==
          "byte 0: ProgramDesc.blocks[0].ops[0].attrs.block is 0, which is not in [1, 3)");
    CHECK(with([](auto& b) { b[0].ops[0].attrs[8].value = BlockIndex{3}; }) ==
          "byte 0: ProgramDesc.blocks[0].ops[0].attrs.block is 3, which is not in [1, 3)");
    CHECK(with([](auto& b) { b[1].ops.push_back({.type = "loop", .attrs = {{"body", std::vector<BlockIndex>{{2}, {1}}}}}); }) ==
          "byte 0: ProgramDesc.blocks[1].ops[0].attrs.body is 1, which is not in [2, 3)");
    for (bool const by_operators : {false, true}) {
        CHECK(unencodable(nested(32, by_operators)) == "taken");
        CHECK(unencodable(nested(33, by_operators)) == "byte 0: ProgramDesc.blocks[32] is in 32 enclosing blocks, expected fewer than 32");
    }
}

TEST_CASE("more than 64 MiB or a million values throw before anything is allocated", "[desc][bad_input]") {
    CHECK(refusal<TensorDesc>(Bytes((std::size_t{64} << 20) + 1)) == "byte 0: TensorDesc has 67108865 bytes, more than 67108864");
    std::size_t const most = 1 << 20;
    auto const list = [](std::size_t n) { return as_bytes(number(1, 5) + text(2, std::string(n, 1))); };
    CHECK(decode<TensorDesc>(list(most - 1)).dims.size() == most - 1);
    CHECK(refusal<TensorDesc>(list(most)).ends_with("TensorDesc.dims is one value too many: a descriptor has at most 1048576"));
    std::string unknown = number(1, 5);
    for (std::size_t i = 0; i < most; ++i) unknown += std::string("\x18\x00", 2);  // skipped fields count, too
    CHECK(refusal<TensorDesc>(as_bytes(unknown)).ends_with("TensorDesc.3 is one value too many: a descriptor has at most 1048576"));
    unknown.resize(unknown.size() - 2);
    CHECK(refusal<TensorDesc>(as_bytes(unknown)) == "taken");
}

TEST_CASE("any truncation and any flipped bit throws, or gives a valid descriptor", "[desc][bad_input]") {
    std::size_t refused = 0, all = 0;
    descs::for_each([&](std::string const& name, auto const& desc) {
        if (name.starts_with("large")) return;
        CAPTURE(name);
        using Desc = std::remove_cvref_t<decltype(desc)>;
        auto const bytes = encode(desc);
        for (std::size_t n = 0; n < bytes.size(); ++n, ++all) refused += !taken_and_fixed<Desc>({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)});
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit, ++all) {
            auto flipped = bytes;
            flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
            refused += !taken_and_fixed<Desc>(flipped);
        }
    });
    CHECK(refused > all / 2);
}

TEST_CASE("descriptors are printed", "[desc]") {
    std::ostringstream out;
    out << TensorDesc{5, {UNK, 640, 480}} << "; " << TensorDesc{1000, {}} << "; " << LodTensorDesc{{3, {UNK}}, 1} << '\n' << descs::program() << '\n';
    CHECK(out.str() == R"(f32[UNK, 640, 480]; element type 1000[]; i64[UNK], 1 level
block 0
  LOD_TENSOR x: f32[UNK, 640, 480], 2 levels
  LOD_TENSOR w: f32[480, 100], persistable
  Out=h = fc(X=x w, Bias=, Rest=_) {int: -3, float: 0.1, string: "a\"b", ints: [0, -1, 300], floats: [-0, 1e+30], strings: ["", "é"], )"
                       R"(boolean: false, booleans: [true, false], block: block 1, long: 9223372036854775807, blocks: [block 1, block 2], )"
                       R"(longs: [-9223372036854775808, 1], float64s: [0.1, -2], var: h, vars: [x, w], float64: 1e+300}, target
block 1 in 0
  SELECTED_ROWS grad: f32[85, 2]
  TENSOR_ARRAY steps: element type 1000[UNK, 4], 1 level
  STEP_SCOPES scopes
block 2 in 1, gradient of 1
  nop()
)");
    CHECK(to_string(OpDesc{.type = "x", .attrs = {{"a", "\n\\\x7F"}}}) == "x() {a: \"\\x0a\\\\\\x7f\"}");
}

}  // namespace test_desc
