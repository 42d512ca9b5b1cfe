// tests/sparse/row_store.cpp: tables with rows of every format. Golden values: tests/sparse/row_formats.py.
#include <rowan/sparse/quantize_rows.hpp>
#include <rowan/sparse/row_store.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test_row_store {

using rowan::Cpu, rowan::RowFormat, rowan::RowStore, rowan::Tensor;
using rowan::quantize_rows, rowan::dequantize_rows, rowan::gather;

namespace {

constexpr RowFormat coded[]{RowFormat::float32,     RowFormat::float16,     RowFormat::bfloat16,
                            RowFormat::int8,        RowFormat::int8_half,   RowFormat::int4,
                            RowFormat::float8_e4m3, RowFormat::float8_e5m2, RowFormat::mxfp8_e4m3,
                            RowFormat::mxfp8_e5m2,  RowFormat::q8_0};

std::uint64_t fnv(void const* data, std::size_t bytes) {
    std::uint64_t state = 0xCBF29CE484222325;
    for (std::size_t i = 0; i < bytes; ++i)
        state = (state ^ static_cast<unsigned char const*>(data)[i]) * 0x100000001B3;
    return state;
}

/// The hash of numbers, whose NaNs are equal.
std::uint64_t fnv_of(Tensor<float> const& x) {
    auto copy = x;
    for (float& number : copy) {
        if (std::isnan(number)) number = std::numeric_limits<float>::quiet_NaN();
    }
    return fnv(copy.data(), copy.size() * sizeof(float));
}

/// The table of row_formats.py.
Tensor<float> golden_table() {
    auto table = Tensor<float>::from_shape({64, 96});
    for (std::int64_t i = 0; i < 64 * 96; ++i) {
        auto const row = i / 96;
        auto const step = static_cast<double>((i * 7919 + i * i * 31) % 4001 - 2000);
        table.data()[i] = static_cast<float>(row == 5   ? 0
                                             : row == 6 ? 2.5
                                                        : std::ldexp(step, static_cast<int>(row % 17) - 14));
    }
    return table;
}

/// All rows of `width` codes with each of the scales: code(i) of column i, and tail(row, to) writes what follows.
template <class Code, class Tail>
Tensor<float> decoded(RowFormat format, std::size_t height, std::size_t width, Code const& code, Tail const& tail) {
    std::size_t const bytes = rowan::row_bytes(format, width);
    auto rows = Tensor<std::uint8_t>::zeros({height, bytes});
    for (std::size_t r = 0; r < height; ++r) {
        std::uint8_t* const row = rows.data() + r * bytes;
        std::size_t const codes = format == RowFormat::int4 ? width / 2 : width;
        for (std::size_t i = 0; i < codes; ++i) row[i] = static_cast<std::uint8_t>(code(i));
        tail(r, row + codes);
    }
    return dequantize_rows(Cpu{.threads = 2}, RowStore<float>(format, width, rows));
}

template <class... X>
void put(std::uint8_t* to, X const&... x) {
    ((std::memcpy(to, &x, sizeof x), to += sizeof x), ...);
}

rowan::float16 half(std::size_t bits) { return rowan::float16::from_bits(static_cast<std::uint16_t>(bits)); }

}  // namespace

TEST_CASE("rows are the bytes of FBGEMM, PyTorch, MX and GGUF", "[row_store]") {
    auto const table = golden_table();
    std::map<RowFormat, std::uint64_t> const golden{
        {RowFormat::int8, 0xf273d237cf25eec1},        {RowFormat::int8_half, 0x2181dee9ef829004},
        {RowFormat::int4, 0x16d4cfc9de37a476},        {RowFormat::float8_e4m3, 0xa83a6a4f92588af9},
        {RowFormat::float8_e5m2, 0x22db1e84db042beb}, {RowFormat::mxfp8_e4m3, 0x50f19681be5450aa},
        {RowFormat::mxfp8_e5m2, 0x26bf53658b38ce63},  {RowFormat::q8_0, 0x101c38e63083730b}};
    for (auto const& [format, hash] : golden) {
        CAPTURE(rowan::format_name(format));
        for (int const threads : {1, 2, 8}) {
            auto const bytes = quantize_rows(Cpu{threads}, table, format).bytes();
            CHECK(fnv(bytes.data(), bytes.size()) == hash);
        }
    }
}

TEST_CASE("all codes with all scales are the numbers that NumPy computes", "[row_store]") {
    auto const own = [](std::size_t i) { return i; };
    auto const scale = [](std::size_t row) { return std::ldexp(1.375F, static_cast<int>(row) - 126); };
    float const bias = -0.625F;
    rowan::float16 const half_bias(bias);
    CHECK(fnv_of(decoded(RowFormat::int8, 254, 256, own, [&](std::size_t r, auto* to) { put(to, scale(r), bias); })) ==
          0x0bcf0dd8e42804ca);
    CHECK(fnv_of(decoded(
              RowFormat::int8_half, 65536, 16, [](std::size_t i) { return 17 * i; },
              [&](std::size_t r, auto* to) { put(to, half(r), half_bias); })) == 0xb5bb91559a20c322);
    CHECK(fnv_of(decoded(
              RowFormat::int4, 65536, 16, [](std::size_t i) { return (2 * i + 1) << 4 | 2 * i; },
              [&](std::size_t r, auto* to) { put(to, half(r), half_bias); })) == 0xd5cdcd34566916ca);
    auto const float_scale = [&](std::size_t r, auto* to) { put(to, scale(r)); };
    CHECK(fnv_of(decoded(RowFormat::float8_e4m3, 254, 256, own, float_scale)) == 0xd520ac69e2274445);
    CHECK(fnv_of(decoded(RowFormat::float8_e5m2, 254, 256, own, float_scale)) == 0x7aa83d5fdf5e48dd);
    auto const powers = [](std::size_t r, auto* to) { std::memset(to, static_cast<int>(r), 8); };
    CHECK(fnv_of(decoded(RowFormat::mxfp8_e4m3, 256, 256, own, powers)) == 0xc1e1b16f6fd07005);
    CHECK(fnv_of(decoded(RowFormat::mxfp8_e5m2, 256, 256, own, powers)) == 0x46205e7f78341c65);
    auto blocks = Tensor<std::uint8_t>::from_shape({65536, 34});
    for (std::size_t r = 0; r < 65536; ++r) {
        put(blocks.data() + r * 34, half(r));
        for (std::size_t i = 0; i < 32; ++i) blocks(r, 2 + i) = static_cast<std::uint8_t>(8 * i);
    }
    CHECK(fnv_of(dequantize_rows(RowStore<float>(RowFormat::q8_0, 32, blocks))) == 0xf2bb070b25b96b2d);
}

TEST_CASE("gather reads the rows of a store as those of a tensor, in every width and element type", "[row_store]") {
    std::vector<std::int64_t> const ids{3, 0, 6, 3, 5, 2, 1, 4};
    std::vector<std::int32_t> const narrow(ids.begin(), ids.end());
    for (RowFormat const format : coded) {
        for (std::size_t const width : {1U, 2U, 7U, 32U, 33U, 64U, 71U, 5000U}) {
            if (format == RowFormat::q8_0 && width % 32 != 0) continue;
            CAPTURE(rowan::format_name(format), width);
            auto table = Tensor<float>::from_shape({7, width});
            for (std::size_t i = 0; i < table.size(); ++i)
                table.data()[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1001) / 64;
            auto const store = quantize_rows(table, format);
            auto const rows = dequantize_rows(store);
            // a row alone, whose lanes are filled in another way, has the same numbers
            CHECK((store.height() == 7 && store.width() == width && store.format() == format));
            CHECK(gather(store, ids) == gather(rows, ids));
            CHECK(gather(Cpu{.threads = 3}, store, narrow) == gather(rows, ids));
            auto const bytes = store.bytes();
            RowStore<double> const as_double(format, width, bytes);
            CHECK(gather(as_double, ids) == gather(Tensor<double>(rows), ids));
            RowStore<rowan::bfloat16> const as_bfloat16(format, width, bytes);
            Tensor<rowan::bfloat16> narrowed = Tensor<rowan::bfloat16>::from_shape(rows.shape());
            for (std::size_t i = 0; i < rows.size(); ++i) narrowed.data()[i] = rowan::bfloat16(rows.data()[i]);
            CHECK(gather(as_bfloat16, ids) == gather(narrowed, ids));
            if (format == RowFormat::float32) CHECK(rows == table);
        }
    }
    Tensor<std::int64_t> const integers{{1, 2}, {3, 4}};
    CHECK(gather(RowStore<std::int64_t>(integers), {1, 0, 1}) == gather(integers, {1, 0, 1}));
    CHECK(gather(RowStore<float>(Tensor<float>::from_shape({3, 0})), {2, 2}).shape() ==
          Tensor<float>::shape_type{2, 0});
}

TEST_CASE("large results are the same on any number of threads", "[row_store]") {
    auto const table = golden_table();
    std::vector<std::int64_t> ids(40'000);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * i * 31 % 64);
    for (RowFormat const format : {RowFormat::int8, RowFormat::mxfp8_e4m3}) {
        auto const store = quantize_rows(table, format);
        auto const one = gather(Cpu{1}, store, ids);
        CHECK(one == gather(Cpu{1}, dequantize_rows(store), ids));
        for (int const threads : {2, 8}) CHECK(gather(Cpu{threads}, store, ids) == one);
        RowStore<rowan::bfloat16> const narrow(format, 96, store.bytes());
        CHECK(gather(Cpu{8}, narrow, ids) == gather(Cpu{1}, dequantize_rows(narrow), ids));
    }
}

TEST_CASE("rounding is bounded by half a step", "[row_store]") {
    auto const table = golden_table();
    std::map<RowFormat, float> const relative{{RowFormat::float16, 0x1p-11F},    {RowFormat::bfloat16, 0x1p-8F},
                                              {RowFormat::float8_e4m3, 0x1p-4F}, {RowFormat::float8_e5m2, 0x1p-3F},
                                              {RowFormat::mxfp8_e4m3, 0.125F},   {RowFormat::mxfp8_e5m2, 0.125F},
                                              {RowFormat::int8, 0.5F / 255 * 2}, {RowFormat::int4, 0.5F / 15 * 2.01F},
                                              {RowFormat::int8_half, 0.01F},     {RowFormat::q8_0, 0.5F / 127 * 1.1F}};
    for (auto const& [format, bound] : relative) {
        CAPTURE(rowan::format_name(format));
        auto const rows = dequantize_rows(quantize_rows(table, format));
        for (std::size_t r = 0; r < 64; ++r) {
            float most = 0, error = 0;
            for (std::size_t i = 0; i < 96; ++i) {
                most = std::max(most, std::abs(table(r, i)));
                error = std::max(error, std::abs(rows(r, i) - table(r, i)));
            }
            CHECK(error <= bound * most);
        }
    }
}

TEST_CASE("stores refuse bad arguments", "[row_store]") {
    auto const store = quantize_rows(golden_table(), RowFormat::int8);
    CHECK_THROWS_WITH(gather(store, {1, 64}), "ids[1] = 64 is not in [0, 64)");
    CHECK_THROWS_WITH(store.prefetch({-1}), "ids[0] = -1 is not in [0, 64)");
    auto out = Tensor<float>::from_shape({1, 95});
    CHECK_THROWS_WITH(gather_into(store, {1}, out), "out.shape() is [1, 95], expected [1, 96]");
    CHECK_THROWS_WITH(RowStore<float>(RowFormat::int8, 95, store.bytes()),
                      "rows.shape() is [64, 104], expected [height, 103]");
    CHECK_THROWS_WITH(RowStore<std::int64_t>(RowFormat::int8, 96, store.bytes()),
                      "format is int8, expected rows that can be read as i64");
    CHECK_THROWS_WITH(quantize_rows(Tensor<float>::zeros({2, 33}), RowFormat::q8_0),
                      "width is 33, expected a multiple of 32");
    CHECK_THROWS_WITH(rowan::row_width(RowFormat::mxfp8_e4m3, 34),
                      "bytes of a row is 34, expected a row of mxfp8_e4m3");
    CHECK_THROWS_WITH(rowan::format_of_name("int3"), "format is int3, expected the name of a RowFormat");
    float const huge = std::numeric_limits<float>::max();
    for (float const bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        for (RowFormat const format : coded) {
            auto table = Tensor<float>::zeros({3, 64});
            table(1, 40) = bad;
            if (format <= RowFormat::bfloat16) {
                CHECK_NOTHROW(quantize_rows(table, format));
            } else {
                CHECK_THROWS_WITH(quantize_rows(table, format),
                                  "row is 1, expected finite numbers with a finite scale in the format " +
                                      std::string(rowan::format_name(format)));
            }
        }
    }
    Tensor<float> const wide{{huge, -huge}};
    CHECK_THROWS_AS(quantize_rows(wide, RowFormat::int8), rowan::ValueError);
    CHECK_THROWS_AS(quantize_rows(wide, RowFormat::int4), rowan::ValueError);
    CHECK(std::isfinite(dequantize_rows(quantize_rows(wide, RowFormat::float8_e4m3))(0, 0)));
    Tensor<float> rows{{0, 1}, {2, 3}, {4, 5}};
    CHECK_THROWS_WITH(gather_into(RowStore<float>(rows), {2, 1, 0}, rows), "out shares memory with store");
    CHECK(dequantize_rows(quantize_rows(Tensor<float>::full({1, 32}, 1e-38F), RowFormat::q8_0)) ==
          Tensor<float>::zeros({1, 32}));
    for (RowFormat const format : {RowFormat::elements, RowFormat::mxfp8_e4m3, RowFormat::int8}) {
        auto const none = quantize_rows(Tensor<float>::from_shape({5, 0}), format);
        CHECK((none.bytes().shape(0) == 5 && dequantize_rows(none).shape() == Tensor<float>::shape_type{5, 0}));
    }
    for (RowFormat const format : coded) {
        if (format == RowFormat::q8_0) continue;
        CHECK(rowan::row_width(format, rowan::row_bytes(format, 34)) == 34);
        CHECK(rowan::format_of_name(rowan::format_name(format)) == format);
    }
}

}  // namespace test_row_store
