// tests/bench/stores/stores.cpp: rows of few bits, in and out of the cache, and tables in files. A line of JSON for each case.
#include <rowan/detail/rows.hpp>
#include <rowan/io/detail/row_sources.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/sparse/quantize_rows.hpp>
#include <rowan/sparse/row_store.hpp>

#include "arguments.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace rowan;

bool tiny = false;
Cpu exec;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void print(char const* op, char const* table, std::size_t rows, double time, std::string const& more = "") {
    std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"table\": \"%s\", \"threads\": %d, \"ms\": %.3f, \"million_rows_s\": %.2f%s}\n",
                op, table, exec.threads, 1e3 * time, static_cast<double>(rows) / time / 1e6, more.c_str());
    std::fflush(stdout);
}

/// The least time of f(set) over the sets of ids, three times.
template <class F>
void measure(char const* op, char const* table, std::size_t sets, std::size_t rows, F const& f) {
    double least = std::numeric_limits<double>::max();
    f(0);
    for (std::size_t i = 0; i < 3 * sets; ++i) {
        double const start = seconds();
        f(i % sets);
        least = std::min(least, seconds() - start);
    }
    print(op, table, rows, least);
}

/// Row (i * 0x9E3779B97F4A7C15 >> 20) % height: as peers/torch_stores.py draws them.
Tensor<std::int64_t> draw(std::size_t set, std::size_t n, std::uint64_t height) {
    auto ids = Tensor<std::int64_t>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i)
        ids(i) = static_cast<std::int64_t>(((set * n + i + 1) * 0x9E3779B97F4A7C15 >> 20) % height);
    return ids;
}

/// A table with the same 1,000 rows again and again.
Tensor<std::uint8_t> rows_of(RowFormat format, std::size_t width, std::size_t height) {
    auto table = Tensor<float>::from_shape({1000, width});
    for (std::size_t i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1001) / 1000;
    auto const some = quantize_rows(table, format).bytes();
    std::size_t const bytes = some.shape(1);
    auto all = Tensor<std::uint8_t>::from_shape({height, bytes});
    for (std::size_t i = 0; i < height; ++i) std::memcpy(all.data() + i * bytes, some.data() + i % 1000 * bytes, bytes);
    return all;
}

void in_memory(char const* table, std::size_t height) {
    std::size_t const n = tiny ? 400 : 262'140, sets = 4, pooling = 20, width = 64;
    std::vector<Tensor<std::int64_t>> ids;
    std::vector<LoDTensor<std::int64_t>> bags;
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i <= n; i += pooling) offsets.push_back(static_cast<std::int64_t>(i));
    for (std::size_t s = 0; s < sets; ++s) ids.push_back(draw(s, n, height));
    for (auto const& list : ids) bags.emplace_back(list, Lod{offsets});
    {
        auto const rows = Tensor<float>::full({height, width}, 0.5F);
        auto out = Tensor<float>::from_shape({n, width});
        measure("float gather", table, sets, n, [&](std::size_t s) { gather_into(exec, rows, ids[s], out); });
        measure("float bag", table, sets, n, [&](std::size_t s) { embedding_bag(exec, rows, bags[s]); });
    }
    for (RowFormat const format : {RowFormat::int8, RowFormat::int4, RowFormat::float16}) {
        RowStore<float> const store(format, width, rows_of(format, width, height));
        auto out = Tensor<float>::from_shape({n, width});
        std::string const name(format_name(format));
        measure((name + " gather").c_str(), table, sets, n, [&](std::size_t s) { gather_into(exec, store, ids[s], out); });
        measure((name + " bag").c_str(), table, sets, n, [&](std::size_t s) { embedding_bag(exec, store, bags[s]); });
    }
    std::size_t const wide = 256, half = height / 2 + 1;
    for (auto& list : ids)
        for (auto& id : list) id /= 2;
    RowStore<bfloat16> const store(RowFormat::mxfp8_e4m3, wide, rows_of(RowFormat::mxfp8_e4m3, wide, half));
    auto const bytes = store.bytes();
    std::size_t const row = store.row_bytes();
    auto out = Tensor<bfloat16>::from_shape({n, wide});
    for (std::size_t const written : {row, wide * sizeof(bfloat16)}) {  // as many bytes as are read, or as the result has
        auto copied = Tensor<std::uint8_t>::from_shape({n, written});
        std::string const name = "plain loop, 264 bytes to " + std::to_string(written);
        measure(name.c_str(), table, sets, n, [&](std::size_t s) {
            std::int64_t const* const list = ids[s].data();
            auto const at = [&](std::size_t i) { return bytes.data() + static_cast<std::size_t>(list[i]) * row; };
            parallel_for(exec, n, 4096, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    if (i + 24 < end) detail::prefetch_row<false>(at(i + 24), row);
                    std::memcpy(copied.data() + i * written, at(i), row);
                    std::memcpy(copied.data() + i * written + row, at(i), written - row);
                }
            });
        });
    }
    measure("mxfp8 gather, 264 bytes to bfloat16", table, sets, n, [&](std::size_t s) { gather_into(exec, store, ids[s], out); });
}

std::size_t bytes_read() {
    std::ifstream in("/proc/self/io");
    std::string name;
    for (std::size_t value = 0; in >> name >> value;)
        if (name == "read_bytes:") return value;
    return 0;
}

/// A file of rows of 264 bytes, read after the system has dropped its pages.
void in_a_file(std::string const& path, std::size_t bytes) {
    std::size_t const row = 264, height = bytes / row, n = tiny ? 400 : 65'536, width = 256;
    if (std::size_t const known = static_cast<std::size_t>(std::max<std::streamoff>(0, std::ifstream(path, std::ios::ate | std::ios::binary).tellg()));
        known != height * row) {
        std::ofstream out(path, std::ios::binary);
        auto const some = rows_of(RowFormat::mxfp8_e4m3, width, std::min<std::size_t>(height, 100'000));
        for (std::size_t i = 0; i < height; i += some.shape(0))
            out.write(reinterpret_cast<char const*>(some.data()),
                      static_cast<std::streamsize>(std::min(some.shape(0), height - i) * row));
    }
    auto const file = std::make_shared<detail::InputFile const>(path);
    ::fsync(file->descriptor());
    for (RowAccess const access : {RowAccess::direct, RowAccess::mapped}) {
        auto const open = [&] {
            return RowStore<bfloat16>(RowFormat::mxfp8_e4m3, width,
                                      detail::open_row_source(file, 0, static_cast<std::int64_t>(height), row, {.access = access}));
        };
        auto out = Tensor<bfloat16>::from_shape({n, width});
        double least = std::numeric_limits<double>::max(), warm = least;
        std::size_t read = 0;
        for (std::size_t s = 0; s < 3; ++s) {
            auto const store = open();
            auto const ids = draw(s, n, height);
            ::posix_fadvise(file->descriptor(), 0, 0, POSIX_FADV_DONTNEED);
            std::size_t const before = bytes_read();
            double start = seconds();
            gather_into(exec, store, ids, out);
            least = std::min(least, seconds() - start);
            read = bytes_read() - before;
            start = seconds();
            gather_into(exec, store, ids, out);
            warm = std::min(warm, seconds() - start);
        }
        std::vector<std::int64_t> pages;
        for (auto const id : draw(2, n, height)) {
            for (auto p = id * 264 / 4096; p <= (id * 264 + 263) / 4096; ++p) pages.push_back(p);
        }
        std::ranges::sort(pages);
        auto const distinct = static_cast<std::size_t>(std::ranges::unique(pages).begin() - pages.begin());
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        char const* const name = access == RowAccess::direct ? "cold, direct" : "cold, mapped";
        print(name, "file", n, least,
              ", \"pages_s\": " + std::to_string(static_cast<double>(distinct) / least) + ", \"bytes_of_pages\": " +
                  std::to_string(static_cast<double>(read) / static_cast<double>(distinct) / 4096));
        print(access == RowAccess::direct ? "again, direct" : "again, mapped", "file", n, warm);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const arguments(argc, argv);
    exec = arguments.exec;
    tiny = arguments.tiny;
    in_memory("in cache", tiny ? 100 : 4'000);
    in_memory("out of cache", tiny ? 100 : 8'000'000);
    if (!arguments.file.empty()) in_a_file(arguments.file, std::size_t{tiny ? 1U : 4096U} << 20);
}
