// A table of 10 million rows that stays in its file: opened in microseconds, it answers without being loaded.
//
//     {.access = RowAccess::mapped}   the system keeps in memory what it has room for
//     {.access = RowAccess::direct}   rows are read on demand, into a cache of fixed size
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/open_rows.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/sparse/quantize_rows.hpp>

#include <cstdio>
#include <iostream>

using rowan::RowAccess, rowan::RowFormat;

int main() {
    constexpr std::size_t height = 10'000'000;
    {
        auto table = rowan::Tensor<rowan::bfloat16>::from_shape({height, 4});
        rowan::bfloat16* const x = table.data();
        rowan::parallel_for({}, height, 1 << 16, [&](std::size_t row, std::size_t end) {
            for (; row < end; ++row)
                for (std::size_t i = 0; i < 4; ++i)
                    x[4 * row + i] = rowan::bfloat16(static_cast<float>((row + i) % 128));
        });
        rowan::Checkpoint file;
        file.add("table", table);
        file.add("head, 8 bits", rowan::quantize_rows(rowan::Tensor<float>(table.slice(0, 1000)), RowFormat::int8));
        save_checkpoint(file, "table.rowan");
    }

    auto const print = [](char const* name, auto const& row) {
        std::cout << name << ':';
        for (std::size_t i = 0; i < 4; ++i) std::cout << ' ' << row(0, i);
        std::cout << '\n';
    };
    auto const mapped = rowan::open_rows<float>("table.rowan", "table");
    print("row 9,999,999", gather(mapped, {9'999'999}));
    auto const direct =
        rowan::open_rows<float>("table.rowan", "table", {.access = RowAccess::direct, .cache_bytes = 1 << 20});
    auto const coming = direct.prefetch({5, 7'000'000});  // read while this program does something else
    rowan::LoDTensor<std::int64_t> const bag(rowan::Tensor<std::int64_t>{5, 7'000'000}, rowan::Lod{{0, 2}});
    print("rows 5 and 7,000,000, added", embedding_bag({}, direct, bag).value());
    auto const head = rowan::open_rows<float>("table.rowan", "head, 8 bits");
    print("row 100 of 8 bits", gather(head, {100}));
    std::cout << mapped.height() << " rows of " << mapped.row_bytes() << " bytes, " << head.height() << " of "
              << head.row_bytes() << '\n';
    std::remove("table.rowan");
}
