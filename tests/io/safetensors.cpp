// tests/io/safetensors.cpp: files as safetensors 0.8.0 for Python writes them, and invalid files.
#include <rowan/io/safetensors.hpp>

#include "inputs.hpp"
#include "io/damage.hpp"

#include <rowan/sparse/gather.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test_safetensors {

struct three {  // a type of 3 bytes that the format does not have
    std::uint8_t bytes[3];
    friend bool operator==(three const&, three const&) = default;
};

}  // namespace test_safetensors

template <>
struct rowan::dtype<test_safetensors::three> {
    using sum = float;
    static constexpr std::string_view name = "three";
    static constexpr std::int32_t wire = 1033;
    static sum widen(test_safetensors::three x) { return static_cast<float>(x.bytes[0]); }
    static test_safetensors::three narrow(sum x) { return {{static_cast<std::uint8_t>(x), 0, 0}}; }
};

namespace test_safetensors {

namespace {

using namespace rowan;
using damage::Bytes, damage::hex, damage::join, damage::refusal, test::bytes_of;
using Longs = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Texts = std::map<std::string, std::string>;

Bytes bytes(std::string_view text) {
    auto const all = bytes_of(text);
    return {all.begin(), all.end()};
}

/// A file with this header, without padding.
Bytes file(std::string const& header, std::size_t data = 0) {
    std::uint64_t const n = header.size();
    return join({bytes({reinterpret_cast<char const*>(&n), 8}), bytes(header), Bytes(data, std::byte{1})});
}

/// The error of a file in memory.
std::string error(Bytes const& bytes) {
    return refusal([&] {
        detail::ByteReader in(bytes);
        detail::read_safetensors_header(in);
    });
}

std::string tensor(std::string const& name, std::string const& type, std::string const& shape,
                   std::string const& offsets) {
    return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}
std::string one(std::string const& type, std::string const& shape, std::string const& offsets) {
    return "{" + tensor("a", type, shape, offsets) + "}";
}
std::string const good = one("F32", "[1]", "[0,4]");

/// `good` with `from` replaced.
std::string with(std::string const& from, std::string const& to) {
    return std::string(good).replace(good.find(from), from.size(), to);
}

struct Golden {
    Tensor<float> w{{1, 2}, {3, 4}}, e = Tensor<float>::from_shape({0, 3});
    Tensor<std::uint8_t> u{1, 255};
    Tensor<bool> b{true};
    Tensor<std::int64_t> i{-2};
    Tensor<double> d = Tensor<double>::full({}, 1.5);
    Tensor<std::int32_t> n{7};
    Tensor<float16> h{float16(1.5F)};
    Tensor<bfloat16> g{bfloat16(1.5F)};
    Texts metadata{{"k\"\n\x01é\x7f/", "\\\t"}};
    std::string const header =
        R"({"__metadata__":{"k\"\n\u0001é)"
        "\x7f"
        R"(/":"\\\t"},"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
        R"("d":{"dtype":"F64","shape":[],"data_offsets":[8,16]},"e":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]},)"
        R"("w":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},"n":{"dtype":"I32","shape":[1],"data_offsets":[32,36]},)"
        R"("g":{"dtype":"BF16","shape":[1],"data_offsets":[36,38]},"h":{"dtype":"F16","shape":[1],"data_offsets":[38,40]},)"
        R"("u":{"dtype":"U8","shape":[2],"data_offsets":[40,42]},"b":{"dtype":"BOOL","shape":[1],"data_offsets":[42,43]}}     )";
    Bytes file =
        join({hex("2002000000000000"), bytes(header),
              hex("feffffffffffffff 000000000000f83f 0000803f000000400000404000008040 07000000 c03f 003e 01ff 01")});
};

}  // namespace

TEST_CASE("a safetensors file has the bytes of the reference implementation, and is read", "[safetensors][golden]") {
    test::Folder const folder;
    auto const path = folder / "x.safetensors";
    Golden const x;
    auto const names = Names{"b", "d", "e", "g", "h", "i", "n", "u", "w"};
    save_safetensors(
        path,
        {{"w", x.w}, {"u", x.u}, {"b", x.b}, {"i", x.i}, {"d", x.d}, {"n", x.n}, {"h", x.h}, {"e", x.e}, {"g", x.g}},
        x.metadata);
    CHECK(test::read(path) == x.file);
    CHECK(folder.files() == 1);

    SafetensorsFile const f(path);
    CHECK((f.path() == path && f.size() == 9 && f.names() == names && f.metadata() == x.metadata));
    CHECK((f.has("w") && !f.has("") && !f.has("__metadata__")));
    CHECK(f.entry("w") == SafetensorsEntry{"w", "F32", {2, 2}, 8 + 544 + 16, 16});
    CHECK(f.entry("d").shape == Longs{});
    CHECK(f.load<float>("w") == x.w);
    CHECK(f.load<float>("e").shape() == x.e.shape());
    CHECK(f.load<std::uint8_t>("u") == x.u);
    CHECK(f.load<bool>("b") == x.b);
    CHECK(f.load<std::int64_t>("i") == x.i);
    CHECK(f.load<double>("d") == x.d);
    CHECK(f.load<std::int32_t>("n") == x.n);
    CHECK(f.load<float16>("h") == x.h);
    CHECK(f.load<bfloat16>("g") == x.g);
    CHECK(f.load_bytes("i") == Tensor<std::uint8_t>{254, 255, 255, 255, 255, 255, 255, 255});
    CHECK(load_safetensors<float>(path, "w") == x.w);
    CHECK(refusal([&] { f.load<float>("v"); }) == path + " has no tensor \"v\"");
    CHECK(refusal([&] { f.load<float>("g"); }) == path + ": g is BF16, expected F32");
    CHECK(refusal([&] { f.load<std::uint8_t>("b"); }) == path + ": b is BOOL, expected U8");

    auto all = load_safetensors(path);
    CHECK((all.size() == 9 && all.steps == 0));
    CHECK(all.get<bfloat16>("g") == x.g);
    save_safetensors(all, folder / "y", x.metadata);
    CHECK(test::read(folder / "y") == x.file);

    save_safetensors(path, std::vector<std::pair<std::string, SafetensorsArray>>{});
    CHECK(test::read(path) == join({hex("0800000000000000"), bytes("{}      ")}));
    CHECK(SafetensorsFile(path).names().empty());
}

TEST_CASE("an element type of the user is stored as bytes", "[safetensors]") {
    test::Folder const folder;
    auto const path = folder / "x";
    Tensor<three> const own = Tensor<three>::from_values({2, 1}, std::vector<three>{{{1, 2, 3}}, {{4, 5, 6}}});
    save_safetensors(path, {{"own", own}, {"u", Tensor<std::uint8_t>{1, 2}}});
    SafetensorsFile const f(path);
    CHECK((f.entry("own").dtype == "U8" && f.entry("own").shape == Longs{2, 1, 3}));
    CHECK((f.load<three>("own") == own && f.map<three>("own") == own));
    CHECK(f.gather<three>("own", {1, 0}).data()[0] == own.data()[1]);
    CHECK(f.load<std::uint8_t>("own") == Tensor<std::uint8_t>{{{1, 2, 3}}, {{4, 5, 6}}});
    CHECK(refusal([&] { f.load<three>("u"); }) == path + ": u is U8 [2], expected U8 [..., 3]");

    Parameters parameters;
    Value value;
    value.set(LoDTensor<three>(own));
    parameters.set("own", std::move(value));
    save_safetensors(parameters, path);
    CHECK(SafetensorsFile(path).load<three>("own") == own);
}

TEST_CASE("gathered rows are those of the loaded tensor", "[safetensors][property]") {
    test::Folder const folder;
    auto const path = folder / "x";
    auto const table = inputs::wild<std::int32_t>({70, 3, 2}, 1);
    auto const bits = inputs::wild<bool>({70}, 2);
    auto const none = Tensor<float>::from_shape({5, 0});
    save_safetensors(path, {{"table", table}, {"bits", bits}, {"none", none}, {"scalar", Tensor<float>::full({}, 1)}});
    for (int const threads : {1, 3}) {
        SafetensorsFile const f(Cpu{threads}, path);
        CHECK(rc::check([&] {
            auto const ids = *rc::gen::container<Longs>(rc::gen::inRange<std::int64_t>(0, 70));
            RC_ASSERT(f.gather<std::int32_t>("table", ids) == gather(table, ids));
            RC_ASSERT(f.gather<bool>("bits", ids) == gather(bits, ids));
        }));
        Tensor<std::int32_t> const square{{5, 6}, {7, 5}};
        CHECK(f.gather<std::int32_t>("table", square) == gather(table, square));
        CHECK(f.gather<float>("none", {4, 4}).shape() == inputs::Shape{2, 0});
        CHECK(f.gather<float>("none", {}).shape() == inputs::Shape{0, 0});
        CHECK(refusal([&] { f.gather<std::int32_t>("table", {0, 70}); }) == "ids[1] = 70 is not in [0, 70)");
        CHECK(refusal([&] { f.gather<std::int32_t>("table", {-1}); }) == "ids[0] = -1 is not in [0, 70)");
        CHECK(refusal([&] { f.gather<float>("scalar", {0}); }) == "scalar rank is 0, expected at least 1");
        CHECK_THROWS_AS(f.gather<std::int32_t>("table", Tensor<std::int64_t>::zeros({1, 1, 1, 1, 1, 1, 1})),
                        ShapeError);
        CHECK_THROWS_AS(f.gather<float>("table", {0}), TypeError);
    }
    CHECK_THROWS_AS(SafetensorsFile(Cpu{-1}, path), ValueError);
}

TEST_CASE("a mapped tensor is private, and an unaligned one is read", "[safetensors]") {
    test::Folder const folder;
    auto const path = folder / "x";
    Tensor<float> const w{1, 2};
    save_safetensors(path, {{"w", w}, {"b", Tensor<bool>{true, false}}, {"none", Tensor<double>::from_shape({0})}});
    auto const before = test::read(path);
    auto mapped = SafetensorsFile(path).map<float>("w");
    mapped(0) = 3;
    CHECK(mapped == Tensor<float>{3, 2});
    CHECK(test::read(path) == before);
    CHECK(SafetensorsFile(path).map<bool>("b") == Tensor<bool>{true, false});
    CHECK(SafetensorsFile(path).map<double>("none").size() == 0);

    auto unaligned =
        file("{" + tensor("b", "BOOL", "[1]", "[0,1]") + "," + tensor("w", "F32", "[2]", "[1,9]") + "}", 9);
    unaligned[unaligned.size() - 9] = std::byte{2};
    test::write(path, unaligned);
    SafetensorsFile const f(path);
    CHECK(f.map<float>("w") == f.load<float>("w"));
    CHECK(f.map<float>("w").data()[1] == f.load<float>("w")(1));
    auto const at = std::to_string(unaligned.size() - 9);
    for (auto const& text : {refusal([&] { f.map<bool>("b"); }), refusal([&] { f.load<bool>("b"); }),
                             refusal([&] { f.gather<bool>("b", {0}); })})
        CHECK(text == "byte " + at + ": b has the truth value 2, which is neither 0 nor 1");
    CHECK(f.load_bytes("b") == Tensor<std::uint8_t>{2});
}

TEST_CASE("headers may have other blanks, orders, escapes and types", "[safetensors]") {
    test::Folder const folder;
    auto const names = [&](std::string const& header, std::size_t data) {
        test::write(folder / "x", file(header, data));
        return SafetensorsFile(folder / "x").names();
    };
    CHECK(names(good + "  \n", 4) == Names{"a"});
    CHECK(names("{\r\n\t\"a\" : { \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 4 ] , \"dtype\" : \"F32\" } }", 4) ==
          Names{"a"});
    CHECK(names("{" + tensor(R"(\u00e9\u0000\ud83d\ude00\uffff\"\\\/\b\f\n\r\t)", "F32", "[1]", "[0,4]") + "}", 4) ==
          Names{std::string("é\0😀\uffff\"\\/\b\f\n\r\t", 18)});
    CHECK(names(R"({"__metadata__":{}})", 0).empty());
    CHECK(names(R"({"a":{"\u0064type":"F32","shape":[1],"data_offsets":[0,4]}})", 4) == Names{"a"});
    CHECK(names("{" + tensor("z", "F32", "[1]", "[0,4]") + "," + tensor("", "F32", "[0]", "[4,4]") + "," +
                    tensor("y", "F32", "[2,0]", "[0,0]") + "}",
                4) == Names{"", "y", "z"});
    CHECK(names(one("F64", "[0,1073741824,1073741823]", "[0,0]"), 0) == Names{"a"});
    for (auto const& [type, bits] : detail::safetensors_types) {
        auto const data = bits / 2;
        CHECK(names(one(std::string(type), "[2,2]", "[0," + std::to_string(data) + "]"), data) == Names{"a"});
        SafetensorsFile const f(folder / "x");
        CHECK((f.entry("a").dtype == type && f.load_bytes("a").size() == data));
    }
    test::write(folder / "x", file(one("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4));
    SafetensorsFile const f(folder / "x");
    CHECK((f.entry("a").shape.size() == 9 && f.load_bytes("a").size() == 4));
    CHECK(refusal([&] { f.load<float>("a"); }) == "byte 10: a has 9 dims, more than 8");
    test::write(folder / "x", file(one("I16", "[1]", "[0,2]"), 2));
    CHECK(refusal([&] { load_safetensors(folder / "x"); }) ==
          folder / "x: a is I16, expected one of rowan's: SafetensorsFile reads it as bytes");
}

TEST_CASE("safetensors: invalid headers throw an error that states the cause", "[safetensors][bad_input]") {
    auto const too_long = [](std::uint64_t n) {
        return join({bytes({reinterpret_cast<char const*>(&n), 8}), bytes("{}")});
    };
    CHECK(error(too_long(100'000'001)) == "byte 0: the header's length is 100000001, more than 100000000");
    CHECK(error(too_long(~0ULL)) == "byte 0: the header's length is 18446744073709551615, more than 100000000");
    CHECK(error(too_long(3)) == "byte 0: the header's length is 3, but 2 bytes follow");
    CHECK(error(too_long(0)) == "byte 8: the header has its end, expected '{'");
    CHECK(error(bytes("1234567")) == "byte 0: the header's length needs 8 bytes, 7 are left");

    struct Case {
        std::string header;
        std::size_t data;
        std::string error;
    };
    std::string const surrogate = "the header has a surrogate without the other of a pair";
    for (Case const& c : std::vector<Case>{
             {good, 4, "none"},
             {" " + good, 4, "byte 8: the header has ' ', expected '{'"},
             {"[]", 0, "byte 8: the header has '[', expected '{'"},
             {good + "x", 4, "byte 62: the header has 'x', expected the end"},
             {good + std::string(1, '\0'), 4, "byte 62: the header has byte 0, expected the end"},
             {good + good, 4, "byte 62: the header has '{', expected the end"},
             {"{\"a\xff", 0, "byte 11: the header is not UTF-8"},
             {"{", 0, "byte 9: the header has its end, expected a string"},
             {"{\"a", 0, "byte 11: the header has its end, expected a string that ends"},
             {"{\"a\\", 0, "byte 12: the header has its end, expected a string that ends"},
             {"{\"\n\"", 0, "byte 10: the header has byte 10, expected a string without control characters"},
             {R"({"\x")", 0, "byte 11: the header has 'x', expected an escape of JSON"},
             {R"({"\u12g4")", 0, "byte 12: the header has '1', expected 4 hexadecimal digits"},
             {R"({"\u12)", 0, "byte 12: the header has '1', expected 4 hexadecimal digits"},
             {R"({"\u-123")", 0, "byte 12: the header has '-', expected 4 hexadecimal digits"},
             {R"({"\ud800")", 0, "byte 10: " + surrogate},
             {R"({"\udc00")", 0, "byte 10: " + surrogate},
             {R"({"\ud800\u0041")", 0, "byte 10: " + surrogate},
             {R"({"\ud800\ud800")", 0, "byte 10: " + surrogate},
             {R"({"a")", 0, "byte 12: the header has its end, expected ':'"},
             {R"({a:1})", 0, "byte 9: the header has 'a', expected a string"},
             {R"({"a":1})", 0, "byte 13: the header has '1', expected '{'"},
             {R"({"a":null})", 0, "byte 13: the header has 'n', expected '{'"},
             {with("}}", "},}"), 4, "byte 62: the header has '}', expected a string"},
             {with("}}", "}"), 4, "byte 61: the header has its end, expected ',' or '}'"},
             {with("[1]", "[1.0]"), 4, "byte 38: the header has '.', expected ',' or ']'"},
             {with("[1]", "[1e0]"), 4, "byte 38: the header has 'e', expected ',' or ']'"},
             {with("[1]", "[01]"), 4, "byte 37: the header has '0', expected an integer without a leading zero"},
             {with("[1]", "[-1]"), 4, "byte 37: the header has '-', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "[9223372036854775808]"), 4,
              "byte 37: the header has '9', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "[99999999999999999999]"), 4,
              "byte 37: the header has '9', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "[1,]"), 4, "byte 39: the header has ']', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "[[1]]"), 4, "byte 37: the header has '[', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "[1"), 4, "byte 39: the header has '\"', expected an integer in [0, 2^63 - 1]"},
             {with("[1]", "1"), 4, "byte 36: the header has '1', expected '['"},
             {with("\"F32\"", "5"), 4, "byte 22: the header has '5', expected a string"},
             {with("F32", "f32"), 4, "byte 22: the header has the dtype \"f32\", which is unknown"},
             {with("F32", "F6"), 4, "byte 22: the header has the dtype \"F6\", which is unknown"},
             {with("\"shape\":[1]", "\"dtype\":\"F32\""), 4, "byte 29: the header has the key \"dtype\" twice"},
             {with("shape", "sharp"), 4, "byte 29: the header has the key \"sharp\" of a tensor, which is unknown"},
             {with("\"dtype\":\"F32\",", ""), 4, "byte 10: tensor \"a\" lacks dtype"},
             {with("\"shape\":[1],", ""), 4, "byte 10: tensor \"a\" lacks shape"},
             {with(",\"data_offsets\":[0,4]", ""), 4, "byte 10: tensor \"a\" lacks data_offsets"},
             {with("[0,4]", "[0]"), 4, "byte 55: the header has 1 data_offsets, expected 2"},
             {with("[0,4]", "[0,4,4]"), 4, "byte 55: the header has 3 data_offsets, expected 2"},
             {with("[0,4]", "[4,0]"), 4, "byte 10: tensor \"a\" is at [4, 0) of the data, which has 4 bytes"},
             {good, 3, "byte 10: tensor \"a\" is at [0, 4) of the data, which has 3 bytes"},
             {good, 5, "byte 66: the data has 5 bytes, but the tensors 4"},
             {"{}", 1, "byte 10: the data has 1 bytes, but the tensors 0"},
             {with("[0,4]", "[1,5]"), 5, "byte 10: tensor \"a\" begins at 1 of the data, expected 0"},
             {with("[1]", "[2]"), 4, "byte 10: tensor \"a\" is F32 [2], 8 bytes, but at [0, 4)"},
             {with("[1]", "[]"), 4, "none"},
             {with("[1]", "[0]"), 4, "byte 10: tensor \"a\" is F32 [0], 0 bytes, but at [0, 4)"},
             {one("F32", "[0]", "[2,2]"), 4, "byte 10: tensor \"a\" begins at 2 of the data, expected 0"},
             {one("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,2]"), 2,
              "byte 10: tensor \"a\" is U8 of 17 dims, 1 bytes, but at [0, 2)"},
             {one("F4", "[3]", "[0,2]"), 2, "byte 10: tensor \"a\" is F4 [3], which ends within a byte"},
             {one("F6_E2M3", "[2]", "[0,2]"), 2, "byte 10: tensor \"a\" is F6_E2M3 [2], which ends within a byte"},
             {one("F32", "[4294967296,4294967296]", "[0,0]"), 0,
              "byte 10: tensor \"a\" is F32 [4294967296, 4294967296], more than 2^63 - 1 bytes"},
             {one("F32", "[0,4294967296,4294967296]", "[0,0]"), 0,
              "byte 10: tensor \"a\" is F32 [0, 4294967296, 4294967296], more than 2^63 - 1 bytes"},
             {one("F64", "[1152921504606846976]", "[0,0]"), 0,
              "byte 10: tensor \"a\" is F64 [1152921504606846976], more than 2^63 - 1 bytes"},
             {"{" + tensor("a", "U8", "[2]", "[0,2]") + "," + tensor("b", "U8", "[2]", "[1,3]") + "}", 3,
              "byte 62: tensor \"b\" begins at 1 of the data, expected 2"},
             {"{" + tensor("a", "U8", "[2]", "[0,2]") + "," + tensor("b", "U8", "[2]", "[0,2]") + "}", 2,
              "byte 62: tensor \"b\" begins at 0 of the data, expected 2"},
             {"{" + tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("b", "U8", "[1]", "[2,3]") + "}", 3,
              "byte 62: tensor \"b\" begins at 2 of the data, expected 1"},
             {"{" + tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("a", "U8", "[1]", "[1,2]") + "}", 2,
              "byte 62: the header has the key \"a\" twice"},
             {R"({"__metadata__":{"k":1}})", 0, "byte 29: the header has '1', expected a string"},
             {R"({"__metadata__":null})", 0, "byte 24: the header has 'n', expected '{'"},
             {R"({"__metadata__":{"k":{}}})", 0, "byte 29: the header has '{', expected a string"},
             {R"({"__metadata__":{"k":"","\u006b":""}})", 0, "byte 33: the header has the key \"k\" twice"},
             {R"({"__metadata__":{},"__metadata__":{}})", 0, "byte 28: the header has the key \"__metadata__\" twice"},
         }) {
        CAPTURE(c.header);
        CHECK(error(file(c.header, c.data)) == c.error);
    }
}

TEST_CASE("a truncated safetensors file throws, and a changed bit throws or changes elements and names only",
          "[safetensors]") {
    auto const load = [](Bytes const& bytes) {
        detail::ByteReader in(bytes);
        return detail::read_safetensors_header(in);
    };
    Golden const x;
    damage::check_truncations(x.file, load);
    damage::check_bit_flips(x.file, load, [](auto const& header, std::size_t) { return header.records().size() == 9; });
}

TEST_CASE("what cannot be saved leaves no file", "[safetensors]") {
    test::Folder const folder;
    auto const path = folder / "x";
    Tensor<float> const w{1};
    CHECK(refusal([&] {
              save_safetensors(path, {{"w", w}, {"v", w}, {"w", w}});
          }) == "the tensor \"w\" is given twice");
    CHECK(refusal([&] {
              save_safetensors(path, {{"__metadata__", w}});
          }) == "a tensor cannot have the name \"__metadata__\"");
    CHECK(refusal([&] { save_safetensors(path, {{"a\xff", w}}); }) == "the name \"a\xff\" is not UTF-8 at byte 1");
    CHECK(refusal([&] {
              save_safetensors(path, {{"a", w}}, {{"k", "\x80"}});
          }) == "the value \"\x80\" is not UTF-8 at byte 0");
    CHECK_THROWS_AS(save_safetensors(folder / "no/such", {{"w", w}}), IoError);
    auto const save = [&](auto value) {
        Parameters parameters;
        Value held;
        held.set(std::move(value));
        parameters.set("w", std::move(held));
        return refusal([&] { save_safetensors(parameters, path); });
    };
    CHECK(save(SelectedRows<float>(3, {1}, {{1, 2}})) ==
          "w is SelectedRows<f32>, expected a LoDTensor: a safetensors file has no other values");
    CHECK(save(LoDTensor<float>(w, Lod{{0, 1}})) == "w.lod().levels() is 1, expected 0");
    CHECK(folder.files() == 0);
    CHECK(save(LoDTensor<float>(w)) == "none");

    SafetensorsFile const f(path);
    std::filesystem::resize_file(path, 64);
    CHECK_THROWS_WITH(f.load<float>("w"), "read " + path + ": the file has become shorter");
    CHECK_THROWS_AS(f.gather<float>("w", {0}), IoError);
    CHECK_THROWS_AS(f.load_bytes("w"), IoError);
    CHECK_THROWS_AS(SafetensorsFile(folder / "none"), IoError);
    CHECK_THROWS_AS(SafetensorsFile(folder / ""), IoError);
}

}  // namespace test_safetensors
