// tests/io/gguf.cpp: files as gguf 0.19.0 for Python writes them, and invalid files.
#include <rowan/io/gguf_file.hpp>

#include "io/damage.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test_gguf {

namespace {

using namespace rowan;
using damage::Bytes, damage::hex, damage::join, damage::refusal;
using Longs = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// The parts of a file: numbers and strings with their lengths.
template <class I>
Bytes number(std::type_identity_t<I> x) {
    auto const bytes = std::as_bytes(std::span(&x, 1));
    return {bytes.begin(), bytes.end()};
}
Bytes u32(std::uint32_t x) { return number<std::uint32_t>(x); }
Bytes u64(std::uint64_t x) { return number<std::uint64_t>(x); }
Bytes text(std::string_view s) {
    auto const bytes = test::bytes_of(s);
    return join({u64(s.size()), {bytes.begin(), bytes.end()}});
}
Bytes head(std::uint64_t tensors, std::uint64_t pairs, std::uint32_t version = 3) {
    return join({hex("47475546"), u32(version), u64(tensors), u64(pairs)});
}
Bytes pair(std::string_view key, std::uint32_t type, Bytes const& value) { return join({text(key), u32(type), value}); }
Bytes array(std::uint32_t type, std::uint64_t n, Bytes const& elements) { return join({u32(type), u64(n), elements}); }
Bytes tensor(std::string_view name, std::vector<std::uint64_t> const& dims, std::uint32_t type, std::uint64_t offset) {
    Bytes all = join({text(name), u32(static_cast<std::uint32_t>(dims.size()))});
    for (auto const dim : dims) all = join({all, u64(dim)});
    return join({all, u32(type), u64(offset)});
}
Bytes padded(Bytes bytes, std::size_t alignment, std::size_t data) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment + data, std::byte{1});
    return bytes;
}

/// A file of these pairs, and one of these tensors with n bytes of data.
Bytes pairs(std::vector<Bytes> const& all) { return join({head(0, all.size()), join(all)}); }
Bytes tensors(std::vector<Bytes> const& all, std::size_t n) {
    return padded(join({head(all.size(), 0), join(all)}), 32, n);
}

detail::GgufHeader parse(Bytes const& bytes) {
    detail::BufferedReader in(bytes);
    return detail::GgufHeader(in);
}
std::string error(Bytes const& bytes) {
    return refusal([&] { parse(bytes); });
}

Bytes const golden =
    hex("47475546 03000000 0200000000000000 0400000000000000"
        "1400000000000000 67656e6572616c2e617263686974656374757265 08000000 0100000000000000 78"
        "1100000000000000 67656e6572616c2e616c69676e6d656e74 04000000 08000000"
        "0100000000000000 66 06000000 0000c03f"
        "0100000000000000 74 09000000 08000000 0200000000000000 0100000000000000 61 0000000000000000"
        "0100000000000000 62 02000000 0300000000000000 0200000000000000 00000000 0000000000000000"
        "0100000000000000 61 02000000 2000000000000000 0100000000000000 08000000 1800000000000000 00"
        "0000803f 00000040 00004040 00008040 0000a040 0000c040"
        "0c26 8185898d9195999da1a5a9adb1b5b9bdc2c6caced2d6dadee2e6eaeef2f6fafe 000000000000");
/// What gguf.quants.dequantize returns for the last tensor.
Tensor<float> const dequantized{{-2.99981689453125F, -2.90533447265625F, -2.81085205078125F, -2.71636962890625F,
                                 -2.62188720703125F, -2.52740478515625F, -2.43292236328125F, -2.33843994140625F,
                                 -2.24395751953125F, -2.14947509765625F, -2.05499267578125F, -1.96051025390625F,
                                 -1.86602783203125F, -1.77154541015625F, -1.67706298828125F, -1.58258056640625F,
                                 -1.4644775390625F,  -1.3699951171875F,  -1.2755126953125F,  -1.1810302734375F,
                                 -1.0865478515625F,  -0.9920654296875F,  -0.8975830078125F,  -0.8031005859375F,
                                 -0.7086181640625F,  -0.6141357421875F,  -0.5196533203125F,  -0.4251708984375F,
                                 -0.3306884765625F,  -0.2362060546875F,  -0.1417236328125F,  -0.0472412109375F}};

}  // namespace

TEST_CASE("a GGUF file is read as its own library reads it", "[gguf][golden]") {
    test::Folder const folder;
    auto const path = folder / "x.gguf";
    for (int const version : {3, 2}) {
        auto bytes = golden;
        bytes[4] = static_cast<std::byte>(version);
        test::write(path, bytes);
        GgufFile const f(path);
        CHECK((f.path() == path && f.version() == static_cast<std::uint32_t>(version) && f.size() == 2 &&
               f.names() == Names{"a", "b"}));
        CHECK((f.has("a") && !f.has("") && !f.has("c")));
        CHECK(f.entry("b") == GgufEntry{"b", 0, "F32", {2, 3}, 240, 24});
        CHECK(f.entry("a") == GgufEntry{"a", 8, "Q8_0", {1, 32}, 264, 34});
        CHECK(f.load<float>("b") == Tensor<float>{{1, 2, 3}, {4, 5, 6}});
        CHECK(f.load<float>("a") == dequantized);
        CHECK(f.load_bytes("a").size() == 34);
        CHECK(f.load_bytes("a")(33) == 254);
        CHECK(f.metadata_keys() == Names{"f", "general.alignment", "general.architecture", "t"});
        CHECK((f.metadata<double>("f") == 1.5 && f.metadata<std::int64_t>("general.alignment") == 8));
        CHECK(f.metadata<std::string>("general.architecture") == "x");
        CHECK((f.has_metadata("t") && !f.has_metadata("u")));
        CHECK(refusal([&] { f.load<float>("c"); }) == path + " has no tensor \"c\"");
        CHECK(refusal([&] { f.load<double>("b"); }) == path + ": b is F32, expected F64");
        CHECK(refusal([&] { f.load<float16>("a"); }) == path + ": a is Q8_0, expected F16");
        CHECK(refusal([&] { f.metadata<double>("g"); }) == path + " has no key \"g\"");
        CHECK(refusal([&] { f.metadata<std::int64_t>("f"); }) == path + ": f is f32, expected an integer");
        CHECK(refusal([&] { f.metadata<std::string>("t"); }) == path + ": t is array, expected string");
    }
    std::filesystem::resize_file(path, 250);
    auto const closed = refusal([&] { GgufFile{path}; });
    CHECK(closed == "byte 157: tensor \"b\" is at 0 of the data, where its 24 bytes exceed the 10 that follow");
    test::write(path, golden);
    GgufFile const f(Cpu{2}, path);
    std::filesystem::resize_file(path, 241);
    CHECK_THROWS_WITH(f.load<float>("b"), "read " + path + ": the file has become shorter");
    CHECK_THROWS_AS(f.load<float>("a"), IoError);
    CHECK_THROWS_AS(f.load_bytes("a"), IoError);
    CHECK_THROWS_AS(GgufFile(folder / "none"), IoError);
    CHECK_THROWS_AS(GgufFile(Cpu{-1}, path), ValueError);
}

TEST_CASE("values of all types are read, and arrays are skipped", "[gguf]") {
    test::Folder const folder;
    auto const nested =
        array(9, 2, join({array(9, 1, array(0, 3, hex("010203"))), array(8, 2, join({text("a"), text("")}))}));
    test::write(folder / "x",
                pairs({pair("u8", 0, hex("c8")), pair("i8", 1, hex("fe")), pair("u16", 2, hex("ffff")),
                       pair("i16", 3, hex("fdff")), pair("u32", 4, u32(~0U)), pair("i32", 5, hex("fcffffff")),
                       pair("f32", 6, hex("0000c0bf")), pair("no", 7, hex("00")), pair("yes", 7, hex("01")),
                       pair("s", 8, text("é\0")), pair("empty", 8, text("")), pair("nested", 9, nested),
                       pair("none", 9, array(12, 0, {})), pair("u64", 10, u64(7)), pair("big", 10, u64(~0ULL)),
                       pair("i64", 11, u64(~0ULL)), pair("f64", 12, number<double>(0.1)),
                       pair("big_array", 9, array(10, 20'000, Bytes(160'000)))}));
    GgufFile const f(folder / "x");
    std::map<std::string, std::int64_t> const integers{{"u8", 200},         {"i8", -2},  {"u16", 65535}, {"i16", -3},
                                                       {"u32", 4294967295}, {"i32", -4}, {"u64", 7},     {"i64", -1}};
    for (auto const& [key, value] : integers) CHECK(f.metadata<std::int64_t>(key) == value);
    CHECK((f.metadata<double>("f32") == -1.5 && f.metadata<double>("f64") == 0.1));
    CHECK((f.metadata<bool>("yes") && !f.metadata<bool>("no")));
    CHECK((f.metadata<std::string>("s") == "é" && f.metadata<std::string>("empty").empty()));
    CHECK(f.metadata_keys().size() == 18);
    CHECK(refusal([&] { f.metadata<std::int64_t>("big"); }) ==
          folder / "x: big is 18446744073709551615, expected at most 2^63 - 1");
    CHECK_THROWS_AS(f.metadata<bool>("u8"), TypeError);
    CHECK_THROWS_AS(f.metadata<double>("u8"), TypeError);
    Bytes deep;
    for (int i = 0; i < 100'000; ++i)
        deep.insert(deep.end(), {std::byte{9}, {}, {}, {}, std::byte{1}, {}, {}, {}, {}, {}, {}, {}});
    CHECK(error(pairs({pair("a", 9, join({deep, array(0, 1, hex("00"))}))})) == "none");  // no recursion
}

TEST_CASE("tensors of all types have their sizes", "[gguf]") {
    test::Folder const folder;
    auto const file = [&](Bytes const& bytes) {
        test::write(folder / "x", bytes);
        return GgufFile(folder / "x");
    };
    for (auto const& type : detail::gguf_types) {
        auto const n = 2 * 3 * type.bytes;
        auto const f = file(tensors({tensor("a", {2 * type.elements, 3}, type.number, 0)}, n));
        CHECK((f.entry("a").bytes == n && f.entry("a").type_name == type.name && f.load_bytes("a").size() == n));
        CHECK(f.entry("a").shape == Longs{3, 2 * type.elements});
        CHECK(error(tensors({tensor("a", {2 * type.elements, 3}, type.number, 0)}, n - 1)) != "none");
    }
    auto const f = file(tensors({tensor("z", {2}, 26, 0), tensor("i64", {2}, 27, 32), tensor("f64", {1}, 28, 64),
                                 tensor("f16", {}, 1, 96), tensor("bf16", {1, 1}, 30, 128),
                                 tensor("none", {32, 0}, 8, 128), tensor("dims", {1, 1, 1, 1, 1, 1, 1, 1}, 0, 160)},
                                164));
    constexpr std::int64_t ones = 0x0101010101010101;
    CHECK(f.load<std::int32_t>("z") == Tensor<std::int32_t>{0x01010101, 0x01010101});
    CHECK(f.load<std::int64_t>("i64") == Tensor<std::int64_t>{ones, ones});
    CHECK(f.load<double>("f64").shape() == Tensor<double>::shape_type{1});
    CHECK(f.load<float16>("f16")().bits() == 0x0101);
    CHECK(f.load<bfloat16>("bf16")(0, 0).bits() == 0x0101);
    CHECK(f.load<float>("none").shape() == Tensor<float>::shape_type{0, 32});
    CHECK(f.load<float>("dims").dimension() == 8);

    std::size_t const blocks = 3000;  // several threads
    auto bytes = tensors({tensor("q", {32 * blocks}, 8, 0)}, 34 * blocks);
    auto const q = std::span(bytes).last(34 * blocks);
    for (std::size_t i = 0; i < blocks; ++i) {
        q[34 * i] = static_cast<std::byte>(i), q[34 * i + 1] = static_cast<std::byte>(i >> 8);
        for (std::size_t k = 0; k < 32; ++k) q[34 * i + 2 + k] = static_cast<std::byte>(i * 7 + k * 5);
    }
    test::write(folder / "x", bytes);
    auto want = Tensor<float>::from_shape({32 * blocks});
    for (std::size_t i = 0; i < want.size(); ++i)
        want.data()[i] = static_cast<float>(static_cast<std::int8_t>(i / 32 * 7 + i % 32 * 5)) *
                         float16::from_bits(static_cast<std::uint16_t>(i / 32));
    for (int const threads : {1, 3}) CHECK(GgufFile(Cpu{threads}, folder / "x").load<float>("q") == want);
}

TEST_CASE("invalid GGUF headers throw an error that states the cause", "[gguf][bad_input]") {
    struct Case {
        Bytes bytes;
        std::string error;
    };
    auto const align = [](std::uint32_t type, Bytes const& value) {
        return pairs({pair("general.alignment", type, value)});
    };
    std::uint64_t const two62 = std::uint64_t{1} << 62;
    for (Case const& c : std::vector<Case>{
             {hex("474755"), "byte 0: the magic number needs 4 bytes, 3 are left"},
             {hex("47475547 03000000"), "byte 0: the magic number is not that of a GGUF file"},
             {hex("47475546 00000003"),
              "byte 4: the version is that of a big-endian file, supported are little-endian ones"},
             {head(0, 0, 0), "byte 4: the version is 0, supported are 2 and 3"},
             {head(0, 0, 1), "byte 4: the version is 1, supported are 2 and 3"},
             {head(0, 0, 4), "byte 4: the version is 4, supported are 2 and 3"},
             {head(0, 0), "none"},
             {head(~0ULL, 0),
              "byte 8: the number of tensors is 18446744073709551615, more than the 8 bytes that follow have"},
             {head(0, 1), "byte 16: the number of key-value pairs is 1, more than the 0 bytes that follow have"},
             {pairs({join({text(""), Bytes(5)})}), "byte 24: a key is empty"},
             {pairs({pair("\xff", 0, hex("00"))}), "byte 24: a key is not UTF-8"},
             {pairs({join({u64(~0ULL), Bytes(9)})}), "byte 24: a key needs 18446744073709551615 bytes, 9 are left"},
             {pairs({pair("a", 13, hex("00"))}), "byte 33: the type of a value is 13, which is unknown"},
             {pairs({pair("a", 7, hex("02"))}), "byte 37: a bool is 2, which is neither 0 nor 1"},
             {pairs({pair("a", 12, hex("00"))}), "byte 37: a value needs 8 bytes, 1 are left"},
             {pairs({pair("a", 8, u64(1))}), "byte 37: a string needs 1 bytes, 0 are left"},
             {pairs({pair("a", 9, array(13, 0, {}))}), "byte 37: the type of a value is 13, which is unknown"},
             {pairs({pair("a", 9, array(10, two62, {}))}),
              "byte 41: the size of an array is 4611686018427387904, more than the 0 bytes that follow have"},
             {pairs({pair("a", 9, array(0, 2, hex("00")))}),
              "byte 41: the size of an array is 2, more than the 1 bytes that follow have"},
             {pairs({pair("a", 9, array(9, 1, Bytes(11)))}),
              "byte 41: the size of an array is 1, more than the 11 bytes that follow have"},
             {pairs({pair("a", 9, array(8, 1, u64(1)))}), "byte 57: a string needs 1 bytes, 0 are left"},
             {pairs({pair("a", 0, hex("00")), pair("b", 0, hex("00")), pair("a", 1, hex("00"))}),
              "byte 52: the key \"a\" is there twice"},
             {align(5, u32(32)), "byte 24: general.alignment is i32, expected u32, a power of 2"},
             {align(4, u32(0)), "byte 24: general.alignment is u32 0, expected u32, a power of 2"},
             {align(4, u32(24)), "byte 24: general.alignment is u32 24, expected u32, a power of 2"},
             {align(4, u32(1)), "none"},
             {tensors({tensor("a", {1}, 0, 0)}, 4), "none"},
             {tensors({tensor("\xff", {1}, 0, 0)}, 4), "byte 24: the name of a tensor is not UTF-8"},
             {tensors({tensor("a", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 0)}, 4),
              "byte 24: tensor \"a\" has 9 dims, more than 8"},
             {tensors({tensor("a", {1}, 4, 0)}, 4), "byte 24: tensor \"a\" has the type 4, which is unknown"},
             {tensors({tensor("a", {1}, ~0U, 0)}, 4),
              "byte 24: tensor \"a\" has the type 4294967295, which is unknown"},
             {tensors({tensor("a", {31}, 8, 0)}, 64),
              "byte 24: tensor \"a\" is Q8_0 [31], whose rows are not blocks of 32"},
             {tensors({tensor("a", {16, 2}, 8, 0)}, 64),
              "byte 24: tensor \"a\" is Q8_0 [2, 16], whose rows are not blocks of 32"},
             {tensors({tensor("a", {}, 8, 0)}, 64),
              "byte 24: tensor \"a\" is Q8_0 [], whose rows are not blocks of 32"},
             {tensors({tensor("a", {two62, 4}, 24, 0)}, 64),
              "byte 24: tensor \"a\" is I8 [4, 4611686018427387904], more than 2^63 - 1 bytes"},
             {tensors({tensor("a", {two62, 4, 0}, 24, 0)}, 64),
              "byte 24: tensor \"a\" is I8 [0, 4, 4611686018427387904], more than 2^63 - 1 bytes"},
             {tensors({tensor("a", {~0ULL}, 24, 0)}, 64),
              "byte 24: tensor \"a\" has a dim of 18446744073709551615, more than 2^63 - 1"},
             {tensors({tensor("a", {1}, 0, 8)}, 64),
              "byte 24: tensor \"a\" is at 8 of the data, which is no multiple of 32"},
             {tensors({tensor("a", {1}, 0, 32)}, 35),
              "byte 24: tensor \"a\" is at 32 of the data, where its 4 bytes exceed the 35 that follow"},
             {tensors({tensor("a", {1}, 0, ~0ULL - 31)}, 35),
              "byte 24: tensor \"a\" is at 18446744073709551584 of the data, where its 4 bytes exceed the 35 that "
              "follow"},
             {tensors({tensor("a", {9}, 0, 0), tensor("b", {1}, 0, 32)}, 64),
              "byte 57: tensor \"b\" is at 32 of the data, in the elements of another tensor, which end at 36"},
             {tensors({tensor("a", {1}, 0, 0), tensor("a", {1}, 0, 32)}, 64),
              "byte 57: the tensor \"a\" is there twice"},
             {join({head(1, 0), tensor("a", {0}, 0, 0)}), "byte 57: the file ends here, but its data begins at 64"},
         }) {
        CAPTURE(c.error);
        CHECK(error(c.bytes) == c.error);
    }
}

TEST_CASE("memory is for the pairs that a file has, not for those that a sparse file claims", "[gguf][bad_input]") {
    test::Folder const folder;
    auto const path = folder / "sparse.gguf";
    std::uint64_t const bytes = std::uint64_t{1} << 40;
    test::write(path, head(0, (bytes - 24) / 13));
    std::filesystem::resize_file(path, bytes);
    CHECK_THROWS_AS(GgufFile(path), FormatError);
}

TEST_CASE("a truncated GGUF file throws, and a changed bit throws or is found in names, values and elements",
          "[gguf]") {
    auto const bytes = std::span(golden).first(golden.size() - 6);  // its padding may be missing
    damage::check_truncations({bytes.begin(), bytes.end()}, parse);
    damage::check_bit_flips(golden, parse,
                            [](auto const& header, std::size_t) { return header.records().size() <= 2; });
}

}  // namespace test_gguf
