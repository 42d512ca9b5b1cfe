// tests/io/npy.cpp: files as NumPy 2.4.6 writes them, and invalid files.
#include <rowan/io/npy.hpp>

#include "inputs.hpp"
#include "io/damage.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace test_npy {

namespace {

using inputs::Shape;
using rowan::bfloat16, rowan::describe_npy, rowan::float16, rowan::FormatError, rowan::from_npy, rowan::IoError, rowan::load_npy,
    rowan::save_npy, rowan::Tensor, rowan::to_npy, rowan::TypeError;
using damage::Bytes, damage::hex, damage::join, test::bytes_of;

Bytes bytes(std::string_view text) {
    auto const all = bytes_of(text);
    return {all.begin(), all.end()};
}

/// A file as `save` writes it, with a header padded with spaces.
Bytes file(std::string const& dictionary, Bytes const& elements, std::string const& begin = {"\x93NUMPY\1\0v\0", 10}) {
    std::string const header = begin + dictionary;
    return join({bytes(header + std::string(127 - header.size(), ' ') + '\n'), elements});
}

Tensor<float> const three_by_two{{1, 2}, {3, 4}, {5, 6}};
Bytes const one_to_six = hex("0000803f 00000040 00004040 00008040 0000a040 0000c040");
Bytes const golden = file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", one_to_six);

/// A file with a dictionary of any length.
Bytes any(std::string const& dictionary, std::size_t elements = 24) {
    std::string text("\x93NUMPY\1\0", 8);
    text += static_cast<char>((dictionary.size() + 1) % 256);
    text += static_cast<char>((dictionary.size() + 1) / 256);
    return bytes(text + dictionary + '\n' + std::string(elements, '\0'));
}

template <class T = float>
std::string refusal(Bytes const& bytes) {
    return damage::refusal([&] { from_npy<T>(bytes); });
}

template <class T>
void check_bytes(Tensor<T> const& tensor, Bytes const& bytes) {
    CHECK(to_npy(tensor) == bytes);
    CHECK(from_npy<T>(bytes) == tensor);
}

template <class T>
void check_round_trip(Tensor<T> const& tensor) {
    auto const again = from_npy<T>(to_npy(tensor));
    CHECK(again.shape() == tensor.shape());
    CHECK((tensor.size() == 0 || std::memcmp(again.data(), tensor.data(), tensor.size() * sizeof(T)) == 0));
}

}  // namespace

TEST_CASE("arrays have the bytes of NumPy's save", "[npy][golden]") {
    check_bytes(three_by_two, golden);
    check_bytes(Tensor<double>::full({}, 3.5), file("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", hex("0000000000000c40")));
    check_bytes(Tensor<std::int64_t>::from_shape({0, 4}), file("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 4), }", {}));
    check_bytes(Tensor<bool>{true, false}, file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", hex("0100")));
    check_bytes(Tensor<std::uint8_t>{{{1}}, {{255}}}, file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 1), }", hex("01ff")));
    check_bytes(Tensor<std::int32_t>{-2}, file("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", hex("feffffff")));
    check_bytes(Tensor<float16>{float16(1.5F)}, file("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", hex("003e")));
    check_bytes(Tensor<bfloat16>{bfloat16(1.5F)}, file("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", hex("c03f")));
}

TEST_CASE("elements begin at a multiple of 64 and shapes of any length have room", "[npy]") {
    Shape const shapes[] = {{}, {1}, {999'999'999'999, 0}, {1, 2, 3, 1, 1, 1, 1, 2}, Shape(8, 123'456'789)};
    for (Shape shape : shapes) {
        if (shape.size() == 8 && shape[0] > 1) shape[7] = 0;
        CHECK_THROWS_AS(rowan::detail::npy_header_text("<f4", shape).at(1'000), std::out_of_range);
        CHECK(rowan::detail::npy_header_text("<f4", shape).size() % 64 == 0);
    }
    check_round_trip(Tensor<float>::from_shape({999'999'999'999, 0}));
    check_round_trip(Tensor<float>::from_shape({1, 0, 99'999'999, 1, 12'345'678, 1, 1, 1}));
}

TEST_CASE("versions 2 and 3 differ in the length of a length", "[npy]") {
    std::string const dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    for (char const version : {'\2', '\3'}) {
        std::string const begin = std::string("\x93NUMPY") + version + std::string("\0t\0\0\0", 5);
        CHECK(from_npy<float>(file(dictionary, one_to_six, begin)) == three_by_two);
    }
    CHECK(refusal(file(dictionary, one_to_six, {"\x93NUMPY\4\0v\0", 10})) == "byte 6: the version is 4.0, supported are 1.0, 2.0 and 3.0");
    CHECK(refusal(file(dictionary, one_to_six, {"\x93NUMPY\1\1v\0", 10})) == "byte 6: the version is 1.1, supported are 1.0, 2.0 and 3.0");
    CHECK(refusal(hex("934e554d5059 0200 f0ffffff")) == "byte 8: the header's length is 4294967280, more than 10000");  // F13
    CHECK(refusal(hex("934e554d5059 0200 10270000")) == "byte 8: the header's length is 10000, but 0 bytes follow");
}

TEST_CASE("arrays in Fortran order are converted to C order", "[npy]") {
    CHECK(from_npy<float>(file("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", one_to_six)) == Tensor<float>{{1, 4}, {2, 5}, {3, 6}});
    CHECK(from_npy<float>(file("{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", one_to_six)) == Tensor<float>{1, 2, 3, 4, 5, 6});
    CHECK(from_npy<float>(file("{'descr': '<f4', 'fortran_order': True, 'shape': (), }", hex("0000803f"))) == Tensor<float>::full({}, 1));
    CHECK(from_npy<float>(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 0, 3), }", {})).shape() == Shape{2, 0, 3});

    for (Shape const& shape : {Shape{2, 1, 3, 4}, Shape{7, 40'000}, Shape{100'003, 3}}) {  // the larger ones in several pieces
        auto const want = inputs::wild<std::int32_t>(shape, 1);
        Tensor<std::int32_t> fortran = want;  // element by element in the other order
        std::vector<std::size_t> index(shape.size());
        for (std::int32_t& x : fortran) {
            x = want.element(index.begin(), index.end());
            for (std::size_t d = 0; d < shape.size() && ++index[d] == shape[d]; ++d) index[d] = 0;
        }
        auto bytes = to_npy(fortran);
        std::string const order = "'fortran_order': ";
        auto const at = std::string_view(reinterpret_cast<char const*>(bytes.data()), 128).find(order) + order.size();
        std::memcpy(bytes.data() + at, "True ", 5);
        CHECK(from_npy<std::int32_t>(bytes) == want);
    }
}

TEST_CASE("a header may be written with other blanks, quotes and order of keys", "[npy]") {
    for (std::string const text : {"{'shape': (3, 2), 'fortran_order': False, 'descr': '<f4'}", "{\"descr\":\"<f4\",'fortran_order':False,'shape':(3,2)}   ",
                                   "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 3 , 2 , ) , } "}) {
        CAPTURE(text);
        CHECK(from_npy<float>(any(text)) == Tensor<float>::zeros({3, 2}));
    }
    CHECK(from_npy<bool>(any("{'descr': '<b1', 'fortran_order': False, 'shape': (3, 2)}", 6)) == Tensor<bool>::zeros({3, 2}));
    CHECK(from_npy<bfloat16>(any("{'descr': '|V2', 'fortran_order': False, 'shape': (3, 2)}", 12)) == Tensor<bfloat16>::zeros({3, 2}));
}

TEST_CASE("invalid headers throw an error that states the cause", "[npy]") {
    auto const text = [](std::string const& type, std::string const& order, std::string const& shape) {
        return any("{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }");
    };
    CHECK(refusal(text("'<f4'", "False", "(3, 2)")) == "none");
    CHECK(refusal(text("'>f4'", "False", "(3, 2)")) == "the file's element type is >f4, expected <f4");
    CHECK(refusal(text("'<i4'", "False", "(3, 2)")) == "the file's element type is <i4, expected <f4");
    CHECK(refusal(text("'|f4'", "False", "(3, 2)")) == "the file's element type is |f4, expected <f4");
    CHECK(refusal<std::uint8_t>(text("'>u1'", "False", "(24,)")) == "the file's element type is >u1, expected |u1");
    CHECK(refusal<bfloat16>(text("'<f2'", "False", "(12,)")) == "the file's element type is <f2, expected <V2");
    CHECK(refusal<bfloat16>(text("''", "False", "(12,)")) == "the file's element type is , expected <V2");
    CHECK(refusal(text("[('a', '<f4')]", "False", "(3, 2)")) == "byte 20: the header describes a structured type, expected one such as '<f4'");
    CHECK(refusal(text("'<f4'", "0", "(3, 2)")) == "byte 44: the header has '0', expected True or False");
    CHECK(refusal(text("'<f4'", "False", "(6)")) == "byte 62: the header has ')', expected ','");
    CHECK(refusal(text("'<f4'", "False", "6")) == "byte 60: the header has '6', expected '('");
    CHECK(refusal(text("'<f4'", "False", "(-3, 2)")) == "byte 61: the header has '-', expected a dim in [0, 2^63 - 1]");
    CHECK(refusal(text("'<f4'", "False", "(9223372036854775808,)")) == "byte 61: the header has '9', expected a dim in [0, 2^63 - 1]");
    CHECK(refusal(text("'<f4'", "False", "(99999999999999999999,)")) == "byte 61: the header has '9', expected a dim in [0, 2^63 - 1]");
    CHECK(refusal(text("'<f4'", "False", "(3L, 2L)")) == "none");  // Python 2
    CHECK(refusal(text("'<f4'", "False", "(3LL, 2)")) == "byte 63: the header has 'L', expected ','");
    CHECK(refusal(text("'<f4'", "False", "(L, 2)")) == "byte 61: the header has 'L', expected a dim in [0, 2^63 - 1]");
    CHECK(refusal(text("'<f4'", "False", "(3, 02)")) == "byte 64: the header has '0', expected a dim without a leading zero");
    CHECK(refusal(text("'<f4'", "False", "(3 2)")) == "byte 63: the header has '2', expected ','");
    CHECK(refusal(text("'<f4'", "False", "(3, 2")) == "byte 67: the header has '}', expected a dim in [0, 2^63 - 1]");
    CHECK(refusal(text("'<f4", "False", "(3, 2)")) == "byte 27: the header has 'f', expected '}'");  // up to the next quote
    CHECK(refusal(any("{}")) == "byte 10: the header lacks 'descr'");
    CHECK(refusal(any("{'descr': '<f4', 'shape': (3, 2)}")) == "byte 10: the header lacks 'fortran_order'");
    CHECK(refusal(any("{'descr': '<f4', 'fortran_order': False}")) == "byte 10: the header lacks 'shape'");
    CHECK(refusal(any("{'descr': '<f4', 'descr': '<f4'}")) == "byte 27: the header has the key 'descr' twice");
    CHECK(refusal(any("{'descr': '<f4', 'device': 'cpu'}")) == "byte 27: the header has a key 'device', which is unknown");
    CHECK(refusal(any("'descr'")) == "byte 10: the header has ''', expected '{'");
    CHECK(refusal(any("{'descr")) == "byte 12: the header has 'd', expected a string that ends");
    std::string const whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    CHECK(refusal(any(whole + "x")) == "byte 69: the header has 'x', expected the newline that ends the header");
    CHECK(refusal(any(whole + "\n")) == "byte 69: the header has byte 10, expected the newline that ends the header");
    CHECK(refusal(file(whole, one_to_six, {"\x93NUMPX\1\0v\0", 10})) == "byte 0: the magic number is not that of a .npy file");
    auto blank = golden;
    blank[127] = std::byte{' '};
    CHECK(refusal(blank) == "byte 128: the header has its end, expected the newline that ends the header");
}

TEST_CASE("shapes are compared with the bytes before memory is allocated", "[npy]") {
    auto const shape = [](std::string const& dims, std::size_t elements = 24) {
        return refusal(any("{'descr': '<f4', 'fortran_order': False, 'shape': " + dims + "}", elements));
    };
    CHECK(shape("(3, 2)") == "none");
    CHECK(shape("(3, 2)", 23) == "byte 68: the shape is [3, 2], which needs 24 bytes, 23 are left");
    CHECK(shape("(3, 2)", 25) == "byte 92: the file ends here, but 1 bytes follow");
    CHECK(shape("(1099511627776,)") == "byte 78: the shape is [1099511627776], which needs 4398046511104 bytes, 24 are left");
    CHECK(shape("(4294967296, 4294967296)") == "byte 86: the shape is [4294967296, 4294967296], more than 2^63 - 1 bytes");  // wraps to 0
    CHECK(shape("(0, 4294967296, 4294967296)", 0) == "byte 89: the shape is [0, 4294967296, 4294967296], more than 2^63 - 1 bytes");
    CHECK(shape("(6,1,1,1,1,1,1,1)") == "none");
    CHECK(shape("(6,1,1,1,1,1,1,1,1)") == "byte 81: the shape has 9 dims, more than 8");
    CHECK(refusal<bool>(any("{'descr': '|b1', 'fortran_order': False, 'shape': (24,)}")) == "none");
    auto bad = to_npy(Tensor<bool>{true, false, true});
    bad[129] = std::byte{2};
    CHECK(refusal<bool>(bad) == "byte 129: the data has the truth value 2, which is neither 0 nor 1");
}

TEST_CASE("a truncated .npy file throws, and a changed bit changes elements only", "[npy]") {
    auto const load = [](Bytes const& bytes) { return from_npy<float>(bytes); };
    damage::check_truncations(golden, load);
    auto const refused = damage::check_bit_flips(golden, load, [](Tensor<float> const& loaded, std::size_t byte) {
        return loaded.shape() == three_by_two.shape() && (byte >= 128 || loaded == three_by_two);
    });
    CHECK(refused == 128 * 8);

    Tensor<bool> const bits{true, false, true, true};
    auto const load_bits = [](Bytes const& bytes) { return from_npy<bool>(bytes); };
    CHECK(damage::check_bit_flips(to_npy(bits), load_bits, [&](Tensor<bool> const& loaded, std::size_t byte) {
              return loaded.shape() == bits.shape() && (byte >= 128 || loaded == bits);
          }) >= 4 * 7);
}

TEMPLATE_TEST_CASE("a saved and loaded array has the same bits, for any type", "[npy][property]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, float16, bfloat16) {
    CHECK(rc::check([] {
        auto const dims = *rc::gen::resize(8, rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 4)));
        check_round_trip(inputs::wild<TestType>(Shape(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(dims.size(), 8))), 1));
    }));
}

TEST_CASE("a .npy file is written completely and read like its bytes", "[npy]") {
    test::Folder const folder;
    std::string const path = folder / "array.npy";
    save_npy(path, three_by_two);
    CHECK(test::read(path) == golden);
    CHECK(load_npy<float>(path) == three_by_two);
    CHECK(describe_npy(path) == rowan::NpyHeader{"<f4", false, {3, 2}});
    CHECK_THROWS_AS(load_npy<double>(path), TypeError);
    save_npy(path, Tensor<bool>{true});
    CHECK(load_npy<bool>(path) == Tensor<bool>{true});
    CHECK(describe_npy(path).type == "|b1");

    test::write(path, std::span(golden).first(150));
    CHECK_THROWS_WITH(load_npy<float>(path), "byte 128: the shape is [3, 2], which needs 24 bytes, 22 are left");
    test::write(path, file("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", one_to_six));
    CHECK(load_npy<float>(path) == Tensor<float>{{1, 4}, {2, 5}, {3, 6}});
    test::write(path, {});
    CHECK_THROWS_AS(load_npy<float>(path), FormatError);
    CHECK_THROWS_AS(load_npy<float>("no/such/file"), IoError);
    CHECK_THROWS_AS(load_npy<float>("."), IoError);
    CHECK_THROWS_AS(save_npy("no/such/file", three_by_two), IoError);
}

}  // namespace test_npy
