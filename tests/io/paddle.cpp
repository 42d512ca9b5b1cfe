// tests/io/paddle.cpp: Paddle's streams, byte for byte, and invalid streams, also those that Paddle accepts.
#include <rowan/io/describe_paddle.hpp>
#include <rowan/io/paddle.hpp>

#include "inputs.hpp"
#include "io/damage.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace test_paddle {

namespace {

using damage::Bytes, damage::hex, damage::join;
using inputs::Shape;
using rowan::bfloat16, rowan::describe_paddle, rowan::float16, rowan::from_paddle, rowan::load_paddle, rowan::load_paddle_combined, rowan::Lod,
    rowan::LoDTensor, rowan::save_paddle, rowan::save_paddle_combined, rowan::SelectedRows, rowan::Tensor, rowan::TensorDesc, rowan::to_paddle;

// The letters are those of the golden streams, written by Paddle 2.6.2 and 3.3.1.
Bytes const golden_a = hex(
    "00000000 0200000000000000 1800000000000000 0000000000000000 0100000000000000 0200000000000000"
    "1800000000000000 0000000000000000 0200000000000000 0300000000000000"
    "00000000 06000000 080510031002 0000803f 00000040 00004040 00008040 0000a040 0000c040");
Bytes const golden_c = hex("00000000 0000000000000000 00000000 02000000 0805 00006040");
Bytes const golden_d = hex("00000000 0000000000000000 00000000 06000000 080510001004");
Bytes const golden_e = hex(
    "00000000 0400000000000000 0000000000000000 0400000000000000 0700000000000000 0400000000000000"
    "0a00000000000000 00000000 06000000 080510041002"
    "00000000 0000803f 00000040 00004040 00008040 0000a040 0000c040 0000e040");

LoDTensor<float> value_a() { return {Tensor<float>{{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 1, 2}, {0, 2, 3}}}; }
SelectedRows<float> value_e() { return {10, {0, 4, 7, 4}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}}; }

template <class V>
void check_bytes(V const& value, Bytes const& bytes) {
    CHECK(to_paddle(value) == bytes);
    CHECK(from_paddle<V>(bytes) == value);
    CHECK(from_paddle<V>(bytes).value().shape() == value.value().shape());
}

template <class V = LoDTensor<float>>
std::string refusal(Bytes const& bytes) {
    return damage::refusal([&] { from_paddle<V>(bytes); });
}

/// A stream of float ones from its parts in hex: the bytes before the tensor, the descriptor's size and bytes.
std::string refusal_of(std::string const& head, std::string const& desc, std::size_t elements) {
    return refusal(join({hex(head), hex(desc), Bytes(4 * elements)}));
}

std::string const no_lod = "00000000 0000000000000000";
std::string const rows_head = "00000000 0200000000000000 0000000000000000 0300000000000000 0400000000000000 00000000";  // rows 0 and 3 of 4

std::string refusal_of_rows(std::string const& head, std::string const& desc = "06000000 080510021001", std::size_t elements = 2) {
    return refusal<SelectedRows<float>>(join({hex(head), hex(desc), Bytes(4 * elements)}));
}

template <class V>
void check_damage(V const& value, std::size_t elements) {
    auto const bytes = to_paddle(value);
    auto const load = [](Bytes const& b) { return from_paddle<V>(b); };
    damage::check_truncations(bytes, load);
    damage::check_bit_flips(bytes, load, [&](V const& loaded, std::size_t byte) {
        // Accepted changes alter element values, or numbers that the format does not constrain.
        if (byte >= bytes.size() - elements) return loaded.value().shape() == value.value().shape();
        return to_paddle(loaded).size() == bytes.size();
    });
    auto more = bytes;
    more.push_back(std::byte{0});
    CHECK(damage::refusal([&] { load(more); }) == "byte " + std::to_string(bytes.size()) + ": the stream ends here, but 1 bytes follow");
}

}  // namespace

TEST_CASE("streams have the bytes that Paddle writes", "[paddle][golden]") {
    check_bytes(value_a(), golden_a);
    check_bytes(LoDTensor<float>(Tensor<float>::full({}, 3.5F)), golden_c);
    check_bytes(LoDTensor<float>(Tensor<float>::from_shape({0, 4})), golden_d);
    check_bytes(value_e(), golden_e);
    CHECK(to_paddle(Tensor<float>::full({}, 3.5F)) == golden_c);
    check_bytes(SelectedRows<float>(8, {}, Tensor<float>::from_shape({0, 4})),
                hex("00000000 0000000000000000 0800000000000000 00000000 06000000 080510001004"));
}

TEST_CASE("dims above 127 have two bytes, and may be packed", "[paddle][golden]") {
    auto const tall = LoDTensor<std::uint8_t>(Tensor<std::uint8_t>::full({300, 1}, 7));
    check_bytes(tall, join({hex("00000000 0000000000000000 00000000 07000000 081410ac021001"), Bytes(300, std::byte{7})}));
    CHECK(from_paddle<LoDTensor<std::uint8_t>>(join({hex(no_lod + "00000000 07000000 0814 1203ac0201"), Bytes(300, std::byte{7})})) == tall);
    CHECK(refusal_of(no_lod, "00000000 06000000 0805 12020302", 6) == "none");
    CHECK(to_paddle(Tensor<float>::zeros({512, 1024})).size() == 28 + 512 * 1024 * 4);  // Paddle #12627
    CHECK(to_paddle(Tensor<float>::zeros({512})).size() == 25 + 512 * 4);
}

TEST_CASE("every element type has Paddle's number", "[paddle][golden]") {
    auto const number = [](auto const& x) { return std::to_integer<int>(to_paddle(x)[21]); };
    CHECK(number(Tensor<bool>{true}) == 0);
    CHECK(number(Tensor<std::int32_t>{1}) == 2);
    CHECK(number(Tensor<std::int64_t>{1}) == 3);
    CHECK(number(Tensor<float16>{float16(1)}) == 4);
    CHECK(number(Tensor<float>{1}) == 5);
    CHECK(number(Tensor<double>{1}) == 6);
    CHECK(number(Tensor<std::uint8_t>{1}) == 20);
    CHECK(number(Tensor<bfloat16>{bfloat16(1)}) == 22);
}

TEMPLATE_TEST_CASE("written values are read with the same bits, at any level and of any type", "[paddle][property]", float, double, std::int32_t,
                   std::int64_t, std::uint8_t, bool, float16, bfloat16) {
    auto const same = [](Tensor<TestType> const& a, Tensor<TestType> const& b) {
        return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(TestType)) == 0);
    };
    CHECK(rc::check([&] {
        auto const levels = *rc::gen::inRange<std::size_t>(0, 4);
        std::vector<std::vector<std::int64_t>> lengths(levels);
        auto count = *rc::gen::inRange<std::size_t>(0, 4);
        for (auto& level : lengths) {
            level.resize(count);
            count = 0;
            for (auto& length : level) count += static_cast<std::size_t>(length = *rc::gen::inRange<std::int64_t>(0, 4));
        }
        Shape shape(*rc::gen::inRange<std::size_t>(1, 4), 2);
        shape[0] = count;
        auto const value = inputs::wild<TestType>(shape, 1);
        LoDTensor<TestType> const x(value.share(), Lod::from_lengths(lengths));
        auto const y = from_paddle<LoDTensor<TestType>>(to_paddle(x));
        RC_ASSERT(y.lod() == x.lod());
        RC_ASSERT(same(y.value(), value));

        std::vector<std::int64_t> rows(count);
        for (auto& row : rows) row = *rc::gen::inRange<std::int64_t>(0, 5);
        SelectedRows<TestType> const g(5, rows, value.share());
        auto const h = from_paddle<SelectedRows<TestType>>(to_paddle(g));
        RC_ASSERT(h.height() == 5);
        RC_ASSERT(std::ranges::equal(h.rows(), rows));
        RC_ASSERT(h.merged() == g.merged());
        RC_ASSERT(same(h.value(), value));
    }));
}

TEST_CASE("invalid streams that Paddle accepts throw", "[paddle]") {
    CHECK(refusal(golden_a) == "none");
    auto shorter = golden_a;
    shorter.resize(golden_a.size() - 20);  // F2
    CHECK(refusal(shorter) == "byte 90: the shape is [3, 2], which needs 24 bytes, 4 are left");
    CHECK(refusal(join({golden_a, hex("00")})) == "byte 114: the stream ends here, but 1 bytes follow");
    std::string const six_rows = "00000000 06000000 080510061001";
    std::string const level = "00000000 0100000000000000 1800000000000000 0000000000000000 0300000000000000";
    CHECK(refusal_of(level + "0600000000000000", six_rows, 6) == "none");
    CHECK(refusal_of(level + "0900000000000000", six_rows, 6) == "lod[0][2] = 9 is not 6, the number of rows");
    CHECK(refusal_of(level + "0200000000000000", six_rows, 6) == "lod[0][2] = 2 is less than the offset before it, 3");
    CHECK(refusal_of(level + "ffffffffffffffff", six_rows, 6) == "lod[0][2] = -1 is less than the offset before it, 3");
    CHECK(refusal_of("00000000 0100000000000000 0900000000000000 00", six_rows, 6) ==
          "byte 12: the size of LoD level 0 is 9, which is not a positive multiple of 8");  // F1
    CHECK(refusal_of("00000000 0100000000000000 0000000000000000", six_rows, 6) ==
          "byte 12: the size of LoD level 0 is 0, which is not a positive multiple of 8");
    CHECK(refusal_of_rows(rows_head) == "none");
    CHECK(refusal_of_rows("00000000 0200000000000000 0000000000000000 0400000000000000 0400000000000000 00000000") == "rows[1] = 4 is not in [0, 4)");
    CHECK(refusal_of_rows("00000000 0200000000000000 ffffffffffffffff 0300000000000000 0400000000000000 00000000") == "rows[0] = -1 is not in [0, 4)");
    CHECK(refusal_of_rows(rows_head, "06000000 080510031001", 3) ==
          "byte 36: the value has 3 rows, but 2 rows are named; Paddle 1.x left more values than rows in tables that grew");
}

TEST_CASE("invalid streams throw an error that states the cause", "[paddle]") {
    std::string const tensor = "00000000 06000000 080510031002";
    CHECK(refusal_of(no_lod, tensor, 6) == "none");
    CHECK(refusal_of("01000000 0000000000000000", tensor, 6) == "byte 0: the LoD's version is 1, supported is 0");
    CHECK(refusal_of(no_lod, "01000000 06000000 080510031002", 6) == "byte 12: the tensor's version is 1, supported is 0");
    CHECK(refusal_of("00000000 1100000000000000", tensor, 6) == "byte 4: the number of LoD levels is 17, more than 16");
    CHECK(refusal_of("00000000 ffffffffffffffff", tensor, 6) == "byte 4: the number of LoD levels is 18446744073709551615, more than 16");
    CHECK(refusal_of("00000000 0100000000000000 f8ffffffffffffff", tensor, 6) ==
          "byte 20: the LoD's offsets are 2305843009213693951 numbers of 8 bytes, but 38 bytes are left");
    CHECK(refusal_of("00000000 0200000000000000 0800000000000000 0000000000000000 1000000000000000 0000000000000000 0300000000000000", tensor, 6) ==
          "lod[0][0] = 0 is not 1, the number of sequences of the next level");
    CHECK(refusal_of(no_lod, "00000000 ffffffff 0805", 6) == "byte 16: the descriptor's size is -1, which is not in [0, 1024]");
    CHECK(refusal_of(no_lod, "00000000 01040000 0805", 600) == "byte 16: the descriptor's size is 1025, which is not in [0, 1024]");
    CHECK(refusal_of(no_lod, "00000000 40000000 0805", 6) == "byte 20: the descriptor needs 64 bytes, 26 are left");
    CHECK(refusal_of(no_lod, "00000000 04000000 10031002", 6) != "none");                            // no element type
    CHECK(refusal_of(no_lod, "00000000 06000000 086310031002", 6) != "none");                        // 99
    CHECK(refusal_of(no_lod, "00000000 06000000 080610031002", 12) == "the stream's element type is f64, expected f32");
    CHECK(refusal_of(no_lod, "00000000 0f000000 0805 10ffffffffffffffffff01 1002", 0) == "byte 20: dims[0] is -1, which is negative");
    CHECK(refusal_of(no_lod, "00000000 14000000 0805 10001001100110011001100110011001 1001", 0) == "byte 40: the shape has 9 dims, more than 8");
    CHECK(refusal_of(no_lod, "00000000 0e000000 0805 108080808010 108080808010", 6) ==
          "byte 34: the shape is [4294967296, 4294967296], more than 2^63 - 1 bytes");
    CHECK(refusal_of(no_lod, "00000000 10000000 0805 1000 108080808010 108080808010", 0) ==
          "byte 36: the shape is [0, 4294967296, 4294967296], more than 2^63 - 1 bytes");
    CHECK(refusal_of(no_lod, "00000000 09000000 0805 10808080808001", 6) ==
          "byte 29: the shape is [34359738368], which needs 137438953472 bytes, 24 are left");
    CHECK(refusal_of("00000000 0100000000000000 1000000000000000 0000000000000000 0100000000000000", "00000000 02000000 0805", 1) ==
          "byte 36: the value has no dims, but there are LoD levels");
    CHECK(refusal<LoDTensor<bool>>(hex(no_lod + "00000000 04000000 08001002 0102")) ==
          "byte 25: the data has the truth value 2, which is neither 0 nor 1");

    CHECK(refusal_of_rows("01000000 0000000000000000") == "byte 0: the version of SelectedRows is 1, supported is 0");
    CHECK(refusal_of_rows("00000000 ffffffffffffffff") ==
          "byte 12: the rows are 18446744073709551615 numbers of 8 bytes, but 18 bytes are left");
    CHECK(refusal_of_rows("00000000 0000000000000000 ffffffffffffffff 00000000") == "byte 12: the height is -1, which is negative");
    CHECK(refusal_of_rows(rows_head, "02000000 0805", 1) ==
          "byte 36: the value has no dims, but 2 rows are named; Paddle 1.x left more values than rows in tables that grew");
    CHECK(refusal_of_rows("00000000 0000000000000000 0800000000000000 00000000", "06000000 080510001004", 0) == "none");
}

TEST_CASE("a truncated stream throws, and a changed bit changes numbers only", "[paddle]") {
    check_damage(value_a(), 24);
    check_damage(value_e(), 32);
    check_damage(LoDTensor<bool>(Tensor<bool>{true, false, true}), 3);
    check_damage(LoDTensor<float16>(Tensor<float16>::zeros({}), {}), 2);
}

TEST_CASE("a stream is written only if the rows still match the Lod", "[paddle]") {
    auto x = value_a();
    x.value() = Tensor<float>::zeros({4, 2});
    CHECK_THROWS_AS(to_paddle(x), rowan::LodError);
    auto g = value_e();
    g.value() = Tensor<float>::zeros({3, 2});
    CHECK_THROWS_AS(to_paddle(g), rowan::ShapeError);
}

TEST_CASE("streams are written to files and read back", "[paddle]") {
    test::Folder const folder;
    std::string const path = folder / "value";
    save_paddle(path, value_a());
    CHECK(test::read(path) == golden_a);
    CHECK(load_paddle<LoDTensor<float>>(path) == value_a());
    CHECK_THROWS_AS(load_paddle<LoDTensor<double>>(path), rowan::TypeError);
    CHECK_THROWS_AS(load_paddle<SelectedRows<float>>(path), rowan::Error);
    save_paddle(path, value_e());
    CHECK(test::read(path) == golden_e);
    CHECK(load_paddle<SelectedRows<float>>(path) == value_e());
    test::write(path, std::span(golden_e).first(90));
    CHECK(damage::refusal([&] { load_paddle<SelectedRows<float>>(path); }) == "byte 66: the shape is [4, 2], which needs 32 bytes, 24 are left");
    test::write(path, {});
    CHECK_THROWS_AS(load_paddle<LoDTensor<float>>(path), rowan::FormatError);
    CHECK_THROWS_AS(load_paddle<LoDTensor<float>>("no/such/file"), rowan::IoError);
    CHECK_THROWS_AS(save_paddle("no/such/file", value_a()), rowan::IoError);
}

TEST_CASE("a parameter file is a sequence of streams", "[paddle]") {
    test::Folder const folder;
    std::string const path = folder / "__params__";
    save_paddle_combined(path, {value_a(), Tensor<float>::full({}, 3.5F), Tensor<float>::zeros({0, 4})});
    CHECK(test::read(path) == join({golden_a, golden_c, golden_d}));
    auto const all = load_paddle_combined<LoDTensor<float>>(path);
    REQUIRE(all.size() == 3);
    CHECK((all[0] == value_a() && all[1].value() == Tensor<float>::full({}, 3.5F) && all[2].shape() == Shape{0, 4}));
    CHECK(damage::refusal([&] { load_paddle<LoDTensor<float>>(path); }) == "byte 114: the stream ends here, but 52 bytes follow");

    auto const bytes = test::read(path);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        CAPTURE(n);
        test::write(path, std::span(bytes).first(n));
        bool const whole = n == 0 || n == 114 || n == 140;  // fewer streams
        CHECK((damage::refusal([&] { load_paddle_combined<LoDTensor<float>>(path); }) == "none") == whole);
    }
    save_paddle_combined(path, {});
    CHECK(load_paddle_combined<LoDTensor<float>>(path).empty());
}

TEST_CASE("a file is described, and one of its streams is read", "[paddle]") {
    test::Folder const folder;
    std::string const path = folder / "mixed";
    Tensor<std::int64_t> const steps{7, 8};
    save_paddle_combined(path, {value_a(), steps, value_a()});
    CHECK_THROWS_AS(load_paddle_combined<LoDTensor<float>>(path), rowan::TypeError);
    auto const streams = describe_paddle(path);
    REQUIRE(streams.size() == 3);
    CHECK((streams[0].tensor == TensorDesc{5, {3, 2}} && streams[0].lod == value_a().lod() && streams[0].offset == 0 && streams[0].bytes == 114));
    CHECK((streams[1].tensor == TensorDesc{3, {2}} && streams[1].lod.empty() && !streams[1].selected_rows && streams[1].offset == 114));
    CHECK(load_paddle<LoDTensor<std::int64_t>>(path, streams[1]).value() == steps);
    CHECK(load_paddle<LoDTensor<float>>(path, streams[2]) == value_a());
    CHECK_THROWS_AS(load_paddle<LoDTensor<float>>(path, streams[1]), rowan::TypeError);

    std::string const other = folder / "rows";
    save_paddle(other, value_e());
    CHECK_THROWS_AS(load_paddle<LoDTensor<float>>(other, streams[2]), rowan::FormatError);  // it ends before
    auto const rows = describe_paddle(other);
    REQUIRE(rows.size() == 1);
    CHECK((rows[0].selected_rows && rows[0].tensor == TensorDesc{5, {4, 2}} && rows[0].height == 10));
    CHECK(rows[0].rows == std::vector<std::int64_t>{0, 4, 7, 4});
    CHECK(load_paddle<SelectedRows<float>>(other, rows[0]) == value_e());
    save_paddle(other, SelectedRows<float>(1LL << 40, {}, Tensor<float>::from_shape({0, 4})));
    CHECK(describe_paddle(other)[0].height == 1LL << 40);

    test::write(other, hex(no_lod + "00000000 06000000 080110031001 010002000300"));  // 16-bit integers, which rowan does not support
    CHECK(describe_paddle(other)[0].tensor == TensorDesc{1, {3, 1}});
    test::write(other, std::span(golden_e).first(97));
    CHECK(damage::refusal([&] { describe_paddle(other); }) ==
          "byte 0: the file holds no LoDTensors (byte 12: the size of LoD level 0 is 0, which is not a positive multiple of 8) and no SelectedRows (byte 66: "
          "the data needs 32 bytes, 31 are left)");
    CHECK_THROWS_AS(describe_paddle("no/such/file"), rowan::IoError);
    for (Bytes const& golden : {golden_a, golden_c, golden_d, golden_e}) {
        damage::check_truncations(golden, [&](Bytes const& cut) {
            test::write(other, cut);
            return describe_paddle(other);
        });
    }
}

}  // namespace test_paddle
