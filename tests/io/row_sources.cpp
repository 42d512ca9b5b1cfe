// tests/io/row_sources.cpp: rows of a file, mapped, read on demand and resident, are its bytes, also when reads fail.
#include <rowan/io/detail/row_sources.hpp>

#include <rowan/io/detail/direct_rows.hpp>
#include <rowan/io/detail/mapped_rows.hpp>

#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/sparse/row_store.hpp>

#include "catch.hpp"
#include "files.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace test_row_sources {

namespace {

using namespace rowan;
using namespace rowan::detail;
using test::Bytes, test::Folder;
using List = std::vector<std::int64_t>;

/// Counts reads, of which the n-th from now on fails.
struct FaultyReads : PosixFiles {
    enum Fault { no_fault, fails, is_short, is_empty, changes };

    static inline std::atomic<int> reads{0}, left{0};
    static inline std::atomic<Fault> fault{no_fault};
    static inline std::atomic<bool> alters{false};

    static ssize_t pread(int file, void* to, std::size_t n, off_t offset) {
        ++reads;
        if (left > 0 && --left == 0) {
            if (fault == fails) return errno = EIO, -1;
            if (fault == is_empty) ++left;  // and all later ones
            if (fault == is_empty) return 0;
            if (fault == is_short) n = n / 2 + 1;
        }
        return PosixFiles::pread(file, to, n, offset);
    }
    static int fstat(int file, struct stat& about) {
        int const result = PosixFiles::fstat(file, about);
        if (alters) about.st_size -= 1;
        return result;
    }
};
using Faulty = DirectRows<FaultyReads>;

Bytes noise(std::size_t n) {
    std::mt19937_64 random(n);
    Bytes bytes(n);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

List ids_below(std::int64_t height, std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    List ids(n);
    for (auto& id : ids) id = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height));
    return ids;
}

/// The bytes of rows, which pieces hold one after the other.
Bytes rows_of(RowSource const& source, Ids<> const& ids) {
    Bytes all;
    auto const append = [&](std::byte const* row) { all.insert(all.end(), row, row + source.row_bytes()); };
    if (source.data() != nullptr) {
        source.will_read(Cpu{}, ids);
        for (std::size_t i = 0; i < ids.size(); ++i)
            append(source.data() + static_cast<std::size_t>(ids[i]) * source.row_bytes());
        return all;
    }
    std::size_t done = 0;
    bool in_order = true;
    source.read(Cpu{}, ids, [&](std::size_t first, std::span<std::byte const* const> rows) {
        in_order &= first == done && !rows.empty();
        done += rows.size();
        for (std::byte const* const row : rows) append(row);
    });
    CHECK((in_order && done == ids.size()));
    return all;
}

/// A file with rows, and what they are.
struct Table {
    Table(std::int64_t h, std::size_t w, std::size_t first = 100, std::size_t after = 0)
        : height(h), row_bytes(w), offset(first), bytes(noise(first + static_cast<std::size_t>(h) * w + after)) {
        test::write(path(), bytes);
    }
    std::string path() const { return folder / "table"; }
    auto open() const { return std::make_shared<InputFile const>(path()); }
    auto open(RowStoreOptions const& options) const {
        return open_row_source(open(), offset, height, row_bytes, options);
    }
    Bytes at(List const& ids) const {
        Bytes rows;
        for (std::int64_t const id : ids) {
            auto const row =
                bytes.begin() + static_cast<std::ptrdiff_t>(offset + static_cast<std::size_t>(id) * row_bytes);
            rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(row_bytes));
        }
        return rows;
    }
    std::size_t pages(List const& ids) const { return RowPages{offset, row_bytes, 12}.distinct(Ids<>(ids)).size(); }

    Folder folder;
    std::int64_t height;
    std::size_t row_bytes, offset;
    Bytes bytes;
};

RowStoreOptions direct(std::size_t pages, int readers = 3) {
    return {RowAccess::direct, pages * PageCache::bytes_per_page, readers};
}

std::array const all_options{RowStoreOptions{}, direct(4, 0),     direct(4),
                             direct(64),        direct(4096, 40), RowStoreOptions{.access = RowAccess::resident}};

using InUse = std::pair<std::size_t, std::size_t>;

std::size_t resident_bytes() {
    std::size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("rows of a file are its bytes, however they are read", "[io]") {
    for (auto const& [width, height, offset, after] : {std::array<std::size_t, 4>{1, 70'000, 0, 0},
                                                       {264, 5'000, 100, 0},
                                                       {264, 900, 4093, 1},
                                                       {4096, 70, 0, 5},
                                                       {4096, 70, 1, 0},
                                                       {5'000, 61, 64, 0},
                                                       {20'000, 31, 12'289, 9}}) {
        Table const table(static_cast<std::int64_t>(height), width, offset, after);
        List ids = ids_below(table.height, 600 / (1 + width / 1000), 1);
        ids.insert(ids.end(), {0, table.height - 1, table.height - 1, 0});
        std::vector<std::int32_t> const narrow(ids.begin(), ids.end());
        Bytes const want = table.at(ids);
        for (auto const& options : all_options) {
            CAPTURE(width, offset, options.cache_bytes, options.readers);
            auto const source = table.open(options);
            CHECK((source->height() == table.height && source->row_bytes() == width));
            CHECK((source->data() == nullptr) == (options.access == RowAccess::direct));
            auto const kept = source->prefetch(Cpu{}, ids);
            CHECK(rows_of(*source, ids) == want);
            CHECK(rows_of(*source, narrow) == want);
            CHECK(rows_of(*source, Ids<>()).empty());
        }
    }
}

TEST_CASE("a file of 100 GB with more than 2^32 rows is read within the cache", "[io]") {
    Folder const folder;
    constexpr std::int64_t height = 6'250'000'000;
    {
        std::ofstream file(folder / "sparse", std::ios::binary);
        for (std::int64_t const id : {std::int64_t{0}, std::int64_t{4'294'967'297}, height - 1}) {
            std::string row = "row " + std::to_string(id);
            row.resize(16);
            file.seekp(24 + id * 16).write(row.data(), 16);
        }
        if (!file.flush()) {
            WARN("SKIPPED: the file system has no file of 100 GB");
            return;
        }
    }
    auto const file = std::make_shared<InputFile const>(folder / "sparse");
    List const ids = ids_below(height, 20'000, 5);
    for (auto const& options : {RowStoreOptions{}, direct(1024)}) {
        std::size_t const before = resident_bytes();
        auto const source = open_row_source(file, 24, height, 16, options);
        auto const bytes = rows_of(*source, {0, 4'294'967'297, height - 1});
        std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
        CHECK(text == std::string("row 0\0\0\0\0\0\0\0\0\0\0\0row 4294967297\0\0row 6249999999\0\0", 48));
        if (source->data() != nullptr) continue;
        source->read(Cpu{}, ids, [](std::size_t, auto const&) {});
        CHECK(resident_bytes() < before + options.cache_bytes + (std::size_t{32} << 20));
    }
    CHECK_THROWS_AS(open_row_source(file, 25, height, 16), FormatError);
    CHECK_THROWS_AS(open_row_source(file, 24, std::int64_t{1} << 62, 16), FormatError);
    CHECK_THROWS_AS(open_row_source(file, std::uint64_t{1} << 63, 0, 16), FormatError);
}

TEST_CASE("threads that share a cache of few pages, with prefetched rows, read the file's bytes", "[io]") {
    Table const table(2000, 1000);
    for (std::size_t const pages : std::vector<std::size_t>{4, 24, 4096}) {
        for (int const threads : {2, 8}) {
            FaultyReads::reads = 0;
            auto const source =
                std::make_shared<Faulty>(table.open(), table.offset, table.height, table.row_bytes, pages, 3);
            std::atomic<int> bad{0};
            std::vector<std::thread> all;
            for (int t = 0; t < threads; ++t) {
                all.emplace_back([&, t] {
                    std::shared_ptr<void> kept;
                    for (unsigned k = 0; k < 6; ++k) {
                        List const ids = ids_below(table.height, 150, k * 10 + static_cast<unsigned>(t) % 3);
                        auto const other = k % 2 == 0 ? nullptr : std::exchange(kept, source->prefetch(Cpu{}, ids));
                        Bytes rows;
                        source->read(Cpu{}, ids, [&](std::size_t, auto const& piece) {
                            for (auto const* const row : piece) rows.insert(rows.end(), row, row + table.row_bytes);
                        });
                        bad += rows != table.at(ids);
                    }
                });
            }
            for (auto& thread : all) thread.join();
            CHECK(bad == 0);
            CHECK(source->in_use() == InUse{0, 0});
            if (pages == 4096)
                CHECK(static_cast<std::size_t>(FaultyReads::reads) <= (table.bytes.size() + 4095) / 4096);
        }
    }
}

TEST_CASE("each page of a batch is read once, and prefetched ones not again", "[io]") {
    Table const table(20'000, 264);
    auto const open = [&](std::size_t pages) {
        FaultyReads::reads = 0;
        return std::make_shared<Faulty>(table.open(), table.offset, table.height, table.row_bytes, pages, 4);
    };
    List const ids = ids_below(table.height, 5000, 3);
    int const distinct = static_cast<int>(table.pages(ids));
    auto source = open(2048);
    for (int k = 0; k < 2; ++k) {
        CHECK(rows_of(*source, ids) == table.at(ids));
        CHECK(FaultyReads::reads == distinct);
    }

    source = open(64);
    List const few(ids.begin(), ids.begin() + 20);
    auto kept = source->prefetch(Cpu{}, few);
    CHECK(rows_of(*source, few) == table.at(few));
    CHECK(FaultyReads::reads == static_cast<int>(table.pages(few)));
    CHECK(source->in_use() == InUse{table.pages(few), 0});
    rows_of(*source, ids);  // replaces all other pages
    int const before = FaultyReads::reads;
    CHECK(rows_of(*source, few) == table.at(few));
    CHECK(FaultyReads::reads == before);

    auto const more = source->prefetch(Cpu{}, ids);
    CHECK(source->in_use().first <= 32 + 4);  // half of them, and those that are read now
    kept.reset();
    source.reset();
}

TEST_CASE("a batch of more rows than the cache has pages reads each page once", "[io]") {
    Table const table(20'000, 264);
    List const ids = ids_below(table.height, 5000, 3);
    int const distinct = static_cast<int>(table.pages(ids));
    auto const direct_store = [&](RowFormat format, std::size_t width, auto element) {
        FaultyReads::reads = 0;
        return RowStore<decltype(element)>(
            format, width,
            std::make_shared<Faulty>(table.open(), table.offset, table.height, table.row_bytes, 64, 4));
    };
    auto const rows = gather(direct_store(RowFormat::elements, 264, std::uint8_t{}), ids);
    CHECK(FaultyReads::reads == distinct);
    CHECK((std::ranges::equal(std::as_bytes(std::span(rows.data(), rows.size())), table.at(ids))));

    Bytes file = table.bytes;  // with scale and bias of 0.5
    for (std::size_t i = table.offset; i < file.size(); i += 264) {
        float const halves[] = {0.5F, 0.5F};
        std::memcpy(&file[i + 256], halves, sizeof halves);
    }
    test::write(table.path(), file);
    auto bytes = Tensor<std::uint8_t>::from_shape({20'000, 264});
    std::memcpy(bytes.data(), &file[table.offset], bytes.size());
    LoDTensor<std::int64_t> const bags(Tensor<std::int64_t>(ids), Lod::from_lengths({List(50, 100)}));
    auto const sums = embedding_bag(Cpu{}, direct_store(RowFormat::int8, 256, float{}), bags);
    CHECK(FaultyReads::reads == distinct);
    CHECK(sums == embedding_bag(Cpu{}, RowStore<float>(RowFormat::int8, 256, bytes), bags));
}

TEST_CASE("a prefetch that nobody waits for is dropped, also with the source", "[io]") {
    Table const table(4000, 1000);
    for (int k = 0; k < 20; ++k) {
        auto const source = table.open(direct(512, k % 3));
        auto const first = source->prefetch(Cpu{}, ids_below(table.height, 300, 1));
        source->prefetch(Cpu{}, ids_below(table.height, 300, 2));
        List const ids = ids_below(table.height, 3, 4);
        CHECK(rows_of(*source, ids) == table.at(ids));
        auto const mapped = table.open({});
        mapped->prefetch(Cpu{}, ids_below(table.height, 300, 1));
    }
}

TEST_CASE("after a read that fails, nothing is pinned and the next one succeeds", "[io]") {
    Table const table(300, 1000);
    List const ids = ids_below(table.height, 100, 1);
    Bytes const want = table.at(ids);
    for (auto const fault : {FaultyReads::fails, FaultyReads::is_empty, FaultyReads::is_short}) {
        for (int const readers : {0, 2}) {
            bool failed = true;
            for (int n = 1; failed; n += n < 5 ? 1 : 7) {
                CAPTURE(n, fault, readers);
                Faulty const source(table.open(), table.offset, table.height, table.row_bytes, 64, readers);
                FaultyReads::reads = 0;
                FaultyReads::fault = fault;
                FaultyReads::left = n;
                Bytes rows;
                try {
                    rows = rows_of(source, ids);
                    failed = false;
                } catch (IoError const& error) {
                    CHECK((error.path() == table.path() && error.code() == EIO));
                }
                if (fault == FaultyReads::is_short) CHECK_FALSE(failed);  // it is read again
                CHECK((failed || rows == want));
                CHECK(failed == (fault != FaultyReads::is_short && FaultyReads::reads >= n));
                failed = FaultyReads::reads >= n;
                FaultyReads::left = 0;
                for (int tries = 0; source.in_use() != InUse{0, 0} && tries < 1000; ++tries) ::usleep(1000);
                CHECK(source.in_use() == InUse{0, 0});
                CHECK(rows_of(source, ids) == want);
            }
            Faulty const source(table.open(), table.offset, table.height, table.row_bytes, 64, readers);
            FaultyReads::left = 1;
            auto kept = source.prefetch(Cpu{}, ids);  // fails, which is no error
            for (int tries = 0;
                 readers != 0 && FaultyReads::left == 1 && fault != FaultyReads::is_empty && tries < 1000; ++tries)
                ::usleep(1000);
            FaultyReads::left = 0;
            static_cast<void>(kept);
        }
    }
    for (int n : {1, 2}) {
        FaultyReads::fault = FaultyReads::fails;
        FaultyReads::left = n;
        if (n == 1)
            CHECK_THROWS_AS(read_rows<FaultyReads>(Cpu{}, *table.open(), table.offset, table.height, table.row_bytes),
                            IoError);
        if (n == 2)
            CHECK_NOTHROW(read_rows<FaultyReads>(Cpu{}, *table.open(), table.offset, table.height, table.row_bytes));
    }
    FaultyReads::left = 0;
    FaultyReads::fault = FaultyReads::no_fault;
}

TEST_CASE("an exception of the callback leaves nothing pinned", "[io]") {
    Table const table(300, 1000);
    Faulty const source(table.open(), table.offset, table.height, table.row_bytes, 16, 2);
    List const ids = ids_below(table.height, 100, 1);
    CHECK_THROWS_AS(source.read(Cpu{}, ids,
                                [](std::size_t first, auto const&) {
                                    if (first > 10) throw ValueError("x", 1, "y");
                                }),
                    ValueError);
    for (int tries = 0; source.in_use() != InUse{0, 0} && tries < 1000; ++tries) ::usleep(1000);
    CHECK(source.in_use() == InUse{0, 0});
    CHECK(rows_of(source, ids) == table.at(ids));
}

TEST_CASE("rows of a file that has changed are refused", "[io]") {
    Table const table(300, 1000);
    List const ids = ids_below(table.height, 100, 1);
    Faulty const source(table.open(), table.offset, table.height, table.row_bytes, 64, 2);
    FaultyReads::alters = true;
    CHECK_THROWS_AS(rows_of(source, ids), IoError);
    FaultyReads::alters = false;
    CHECK(rows_of(source, ids) == table.at(ids));

    auto const again = table.open(direct(64));
    CHECK(rows_of(*again, ids) == table.at(ids));
    std::array<::timespec, 2> const times{{{1, 2}, {3, 4}}};
    ::utimensat(AT_FDCWD, table.path().c_str(), times.data(), 0);
    CHECK_THROWS_AS(rows_of(*again, ids), IoError);
    auto const shrunk = table.open(direct(64));
    CHECK(::truncate(table.path().c_str(), 1000) == 0);
    CHECK_THROWS_AS(rows_of(*shrunk, ids), IoError);
    for (auto const& options : all_options) CHECK_THROWS_AS(table.open(options), FormatError);
}

TEST_CASE("options and sizes of a table in a file are checked, and it may be empty", "[io]") {
    Table const table(10, 10);
    CHECK_THROWS_AS(table.open(direct(3)), ValueError);
    CHECK_THROWS_AS(table.open(direct(std::size_t{1} << 31)), ValueError);
    CHECK_THROWS_AS(table.open(direct(4, -1)), ValueError);
    CHECK_THROWS_AS(table.open(direct(4, 1025)), ValueError);
    CHECK_THROWS_AS(table.open({.access = static_cast<RowAccess>(3)}), ValueError);
    CHECK_THROWS_AS(open_row_source(table.open(), 0, -1, 4), ShapeError);
    for (auto const& options : all_options) {
        CHECK(rows_of(*open_row_source(table.open(), 200, 0, 10, options), Ids<>()).empty());
        CHECK(rows_of(*open_row_source(table.open(), 200, 1'000'000, 0, options), {5, 999'999}).empty());
    }
}

TEST_CASE("a forked process reads rows, whatever the threads of its parent were doing", "[io]") {
    Table const table(3000, 1000);
    List const ids = ids_below(table.height, 500, 1);
    Bytes const want = table.at(ids);
    auto source = table.open(direct(64)), mapped = table.open({});
    auto kept = source->prefetch(Cpu{}, ids), asked = mapped->prefetch(Cpu{}, ids);
    std::atomic<bool> ended{false};
    std::thread other([&] {
        while (!ended) source->read(Cpu{}, ids, [](std::size_t, auto const&) {});
    });
    for (int k = 0; k < 5; ++k) {
        ::pid_t const child = ::fork();
        if (child == 0) {
            ::alarm(10);
            bool good = rows_of(*source, ids) == want && rows_of(*mapped, ids) == want;
            auto const own = source->prefetch(Cpu{}, ids);
            kept.reset();
            asked.reset();
            good &= rows_of(*source, ids) == want;
            source.reset();
            ::_exit(good ? 0 : 1);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    ended = true;
    other.join();
    CHECK(rows_of(*source, ids) == want);
}

}  // namespace test_row_sources
