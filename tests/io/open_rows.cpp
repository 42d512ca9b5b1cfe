// tests/io/open_rows.cpp: tables that stay in files of every format.
#include <rowan/io/npy.hpp>
#include <rowan/io/open_rows.hpp>
#include <rowan/io/safetensors.hpp>

#include "io/files.hpp"

#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>
#include <rowan/sparse/quantize_rows.hpp>

#include "catch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace test_open_rows {

namespace {

using namespace rowan;
using test::Folder;
using Longs = std::vector<std::int64_t>;

constexpr RowAccess every_access[]{RowAccess::mapped, RowAccess::direct, RowAccess::resident};
constexpr RowFormat every_format[]{RowFormat::elements,   RowFormat::float32,     RowFormat::float16,
                                   RowFormat::bfloat16,   RowFormat::int8,        RowFormat::int8_half,
                                   RowFormat::int4,       RowFormat::float8_e4m3, RowFormat::float8_e5m2,
                                   RowFormat::mxfp8_e4m3, RowFormat::mxfp8_e5m2,  RowFormat::q8_0};

Tensor<float> table_of(std::size_t height, std::size_t width) {
    auto table = Tensor<float>::from_shape({height, width});
    for (std::size_t i = 0; i < table.size(); ++i)
        table.data()[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1001) / 64;
    return table;
}

/// A GGUF file with one tensor "t" of Q8_0.
void write_gguf(std::string const& path, std::uint64_t height, std::uint64_t width,
                std::span<std::uint8_t const> rows) {
    test::Bytes bytes;
    auto const put = [&](auto... x) {
        (bytes.insert(bytes.end(), std::as_bytes(std::span(&x, 1)).begin(), std::as_bytes(std::span(&x, 1)).end()),
         ...);
    };
    put('G', 'G', 'U', 'F', std::uint32_t{3}, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{1}, 't',
        std::uint32_t{2}, width, height, std::uint32_t{8}, std::uint64_t{0});
    bytes.resize((bytes.size() + 31) / 32 * 32);
    auto const data = std::as_bytes(rows);
    bytes.insert(bytes.end(), data.begin(), data.end());
    test::write(path, bytes);
}

}  // namespace

TEST_CASE("rows of every format are saved, loaded, mapped and opened with the same bits", "[open_rows]") {
    Folder const folder;
    auto const table = table_of(50, 64);
    Checkpoint all;
    for (RowFormat const format : every_format) all.add(std::string(format_name(format)), quantize_rows(table, format));
    save_checkpoint(all, folder / "all");
    CheckpointFile const file(folder / "all");
    file.verify();
    Longs const ids{49, 0, 17, 17, 3};
    for (RowFormat const format : every_format) {
        std::string const name(format_name(format));
        CAPTURE(name);
        auto const store = quantize_rows(table, format);
        auto const rows = gather(store, ids);
        CHECK(gather(file.load<RowStore<float>>(name), ids) == rows);
        CHECK(gather(file.map<RowStore<float>>(name), ids) == rows);
        CHECK(gather(all.get<RowStore<float>>(name), ids) == rows);
        for (RowAccess const access : every_access) {
            auto const opened = open_rows<float>(folder / "all", name, {.access = access});
            CHECK((opened.height() == 50 && opened.width() == 64 && opened.row_bytes() == store.row_bytes()));
            auto const coming = opened.prefetch(ids);
            CHECK(gather(opened, ids) == rows);
            CHECK(dequantize_rows(opened) == dequantize_rows(store));
        }
        auto const narrow = open_rows<bfloat16>(folder / "all", name);
        CHECK(narrow.row_bytes() == store.row_bytes());
    }
    CHECK(describe(folder / "all").find("int8: Tensor<int8[64]>[50], 3600 bytes") != std::string::npos);
    CHECK(load_checkpoint<Tensor<float>>(folder / "all", "float32") == table);
    CHECK_THROWS_WITH(file.load<Tensor<float>>("int8"), "int8 is Tensor<int8[64]>[50], expected Tensor<f32>");
    CHECK_THROWS_WITH(open_rows<std::int64_t>(folder / "all", "int8"),
                      "format is int8, expected rows that can be read as i64");
    CHECK_THROWS_AS(open_rows(folder / "all", "none"), GraphError);
    CHECK_THROWS_AS(open_rows(folder / "absent", "none"), IoError);
    auto const direct = open_rows(folder / "all", "int8", {.access = RowAccess::direct});
    CHECK_THROWS_WITH(direct.bytes(), "the rows of the store are not in memory");
}

TEST_CASE("tables of NumPy, safetensors and GGUF are opened where they are", "[open_rows]") {
    Folder const folder;
    auto const table = table_of(40, 32);
    Longs const ids{39, 1, 1};
    save_npy(folder / "t.npy", table);
    CHECK(gather(open_rows(folder / "t.npy"), ids) == gather(table, ids));
    CHECK(gather(open_rows<bfloat16>(folder / "t.npy"), ids) ==
          gather(RowStore<bfloat16>(quantize_rows(Tensor<bfloat16>(table), RowFormat::elements)), ids));
    CHECK_THROWS_AS(open_rows(folder / "t.npy", "t"), Error);
    CHECK_THROWS_WITH(open_rows(folder / "t.npy", "", {.format = RowFormat::int8}),
                      (folder / "t.npy") + " is elements of f32, expected bytes, since options.format is given");
    save_npy(folder / "i.npy", Tensor<std::int32_t>{{1, 2}});
    CHECK_THROWS_WITH(open_rows(folder / "i.npy"),
                      (folder / "i.npy") + " is Tensor<i32>, expected a table whose rows can be read as f32");
    CHECK_THROWS_AS(open_rows<double>(folder / "i.npy"), TypeError);

    auto const rows = quantize_rows(table, RowFormat::mxfp8_e4m3);
    Parameters tensors;
    Value v;
    v.set(LoDTensor<std::uint8_t>(rows.bytes().share(), Lod()));
    tensors.set("rows", v.share());
    v.set(LoDTensor<bfloat16>(Tensor<bfloat16>(table), Lod()));
    tensors.set("narrow", v.share());
    save_safetensors(tensors, folder / "t.safetensors");
    auto const ngrams =
        open_rows(folder / "t.safetensors", "rows", {.access = RowAccess::direct, .format = RowFormat::mxfp8_e4m3});
    CHECK((ngrams.width() == 32 && gather(ngrams, ids) == gather(rows, ids)));
    CHECK(gather(open_rows<bfloat16>(folder / "t.safetensors", "narrow"), ids) == gather(Tensor<bfloat16>(table), ids));
    CHECK_THROWS_AS(open_rows(folder / "t.safetensors", "rows", {.format = RowFormat::q8_0}), ShapeError);
    CHECK_THROWS_AS(open_rows(folder / "t.safetensors", "rows", {.format = RowFormat::mxfp8_e4m3, .width = 31}),
                    ShapeError);

    CHECK_THROWS_WITH(open_rows(folder / "t.safetensors", "rows", {.format = RowFormat::elements}),
                      "options.format is 0, expected a format of bytes");
    CHECK_THROWS_WITH(open_rows(folder / "t.npy", "", {.width = 3}),
                      "options.width is 3, expected 0, without options.format");
    Checkpoint tall;
    tall.add("t", Tensor<float>::from_shape({std::size_t{1} << 59, 0}));
    CHECK(gather(tall.get<RowStore<float>>("t"), {5}).shape() == Tensor<float>::shape_type{1, 0});

    auto const blocks = quantize_rows(table, RowFormat::q8_0);
    auto const bytes = blocks.bytes();
    write_gguf(folder / "t.gguf", 40, 32, {bytes.data(), bytes.size()});
    for (RowAccess const access : every_access)
        CHECK(gather(open_rows(folder / "t.gguf", "t", {.access = access}), ids) == gather(blocks, ids));
}

TEST_CASE("a file may have more than 2^32 rows", "[open_rows]") {
    Folder const folder;
    std::int64_t const height = (std::int64_t{1} << 33) + 5;
    save_npy(folder / "t.npy", Tensor<std::uint8_t>::zeros({1}));
    {
        auto bytes = test::read(folder / "t.npy");
        bytes.pop_back();
        std::string text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
        std::string const shape = "(1,), }", wide = "(" + std::to_string(height) + ", 2), }";
        text.replace(text.find(shape), wide.size(), wide);
        test::write(folder / "t.npy", test::bytes_of(text));
        int const file = ::open((folder / "t.npy").c_str(), O_WRONLY);
        auto const end = static_cast<off_t>(text.size()) + height * 2;
        REQUIRE(::ftruncate(file, end) == 0);
        std::uint8_t const last[]{7, 9};
        REQUIRE(::pwrite(file, last, 2, end - 2) == 2);
        ::close(file);
    }
    for (RowAccess const access : {RowAccess::mapped, RowAccess::direct}) {
        auto const store = open_rows<std::uint8_t>(folder / "t.npy", "", {.access = access});
        CHECK(store.height() == height);
        CHECK((gather(store, {height - 1, 0, height - 2, height - 1}) ==
               Tensor<std::uint8_t>{{7, 9}, {0, 0}, {0, 0}, {7, 9}}));
    }
}

TEST_CASE("bags of a store have the bits of bags of its rows", "[open_rows]") {
    Folder const folder;
    auto const table = table_of(300, 24);
    std::vector<std::int64_t> lengths, list;
    for (std::int64_t b = 0; b < 90; ++b) {
        lengths.push_back(b == 50 ? 900 : b % 7);
        for (std::int64_t i = 0; i < lengths.back(); ++i) list.push_back((b * 31 + i * 17) % 300);
    }
    LoDTensor<std::int64_t> const ids(Tensor<std::int64_t>(list), Lod::from_lengths({lengths}));
    auto weight = Tensor<float>::from_shape({list.size()});
    for (std::size_t i = 0; i < list.size(); ++i) weight(i) = static_cast<float>(i % 11) / 4 - 1;
    Checkpoint all;
    all.add("t", quantize_rows(table, RowFormat::int8));
    save_checkpoint(all, folder / "all");
    for (RowAccess const access : every_access) {
        auto const store = open_rows(folder / "all", "t", {.access = access});
        auto const rows = dequantize_rows(store);
        for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
            for (int const threads : {1, 3}) {
                CHECK(embedding_bag(Cpu{threads}, store, ids, {.pool = pool}).value() ==
                      embedding_bag(Cpu{}, rows, ids, {.pool = pool}).value());
                CHECK(embedding_bag(Cpu{threads}, store, ids, weight, {.pool = pool}).value() ==
                      embedding_bag(Cpu{}, rows, ids, weight, {.pool = pool}).value());
            }
        }
        BagOptions const padded{.padding_id = 17, .unknown = 3};
        LoDTensor<std::int64_t> const some(Tensor<std::int64_t>{17, -1, 299, 300, 17}, Lod{{0, 1, 4, 5}});
        CHECK(embedding_bag(Cpu{}, store, some, padded).value() == embedding_bag(Cpu{}, rows, some, padded).value());
        LoDTensor<std::int64_t> const single(Tensor<std::int64_t>{5, 5, 2}, Lod{{0, 1, 2, 3}});
        CHECK(embedding_bag(Cpu{}, store, single).value() == embedding_bag(Cpu{}, rows, single).value());
        CHECK_THROWS_WITH(embedding_bag(Cpu{}, store, some), "ids[1] = -1 is not in [0, 300)");
    }
}

}  // namespace test_open_rows
