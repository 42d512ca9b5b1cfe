// tests/io/table_file_damage.cpp: tables in files whose journals and generations are cut, flipped or missing.
#include <rowan/io/detail/table_store.hpp>
#include <rowan/io/table_file.hpp>

#include "checkpoint_files.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test_table_file_damage {

namespace {

using namespace rowan;
using test::Bytes, test::FaultyFiles, test::Folder, test::refusal;

constexpr std::size_t record = 32 + 4096;
constexpr std::size_t later = 2048, earlier = 1024, unsaved = 3072, relied_on = 3080;  // places in the first page

using Rows = std::vector<float>;  // 0, 1024 and 2048 of a table, each in a page of its own

struct NoSync : rowan::detail::PosixFiles {
    static int fsync(int) { return 0; }
};

template <class Files>
Rows rows_of(TableFile<float, Files> const& file) {
    auto const* const data = file.rows().data();
    return {data[0], data[1024], data[2048]};
}

template <class Files>
void set(TableFile<float, Files>& file, float value, std::vector<std::int64_t> const& rows = {0, 1024, 2048}) {
    file.change(rows);
    for (auto const row : rows) file.rows().data()[row] = value;
}

struct Opened {
    Rows rows;
    std::uint64_t saves = 0;
    friend bool operator==(Opened const&, Opened const&) = default;
};

/// A file and its journal as a killed process leaves them, which are damaged and opened again.
class Copy {
    Folder folder_;

public:
    std::string const path = folder_ / "copy";
    Bytes table, journal;

    explicit Copy(std::string const& of) : table(test::read(of)) {
        if (std::filesystem::exists(of + ".journal")) journal = test::read(of + ".journal");
    }

    /// Nothing for a FormatError, which has changed nothing.
    std::optional<Opened> open() const {
        put(path, table), put(path + ".journal", journal);
        try {
            TableFile<float, NoSync> file(path);
            return Opened{rows_of(file), file.saves()};
        } catch (FormatError const&) {
            CHECK((test::read(path) == table && test::read(path + ".journal") == journal));
            return {};
        }
    }
    std::string text() const {
        put(path, table), put(path + ".journal", journal);
        return refusal<FormatError>([&] { TableFile<float, NoSync> file(path); });
    }

    std::uint64_t number(std::size_t at) const {
        std::uint64_t x = 0;
        return std::memcpy(&x, table.data() + at, sizeof x), x;
    }
    void put_number(std::size_t at, std::uint64_t x) { std::memcpy(table.data() + at, &x, sizeof x); }

private:
    static void put(std::string const& to, Bytes const& bytes) {
        int const file = ::open(to.c_str(), O_WRONLY | O_CREAT, 0600);  // O_TRUNC may wait for the disk
        REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        REQUIRE(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
        ::close(file);
    }
};

/// Flips each bit of [from, to), or of a sample of it.
template <class Check>
void each_flip(Bytes& bytes, std::size_t from, std::size_t to, std::size_t step, Check const& check) {
    for (std::size_t bit = from * 8; bit < to * 8; bit += step) {
        CAPTURE(bit / 8, bit % 8);
        auto const mask = static_cast<std::byte>(1U << bit % 8);
        bytes[bit / 8] ^= mask;
        check();
        bytes[bit / 8] ^= mask;
    }
}

bool const nightly = std::getenv("ROWAN_NIGHTLY") != nullptr;

std::string make(Folder const& folder, float value) {
    auto const path = folder / "table";
    auto file = TableFile<float>::create(path, {.height = 3072, .width = 1});
    set(file, value);
    file.save();
    return path;
}

}  // namespace

TEST_CASE("a journal that is cut or has a flipped bit is refused or restores the whole save",
          "[io][table_file][bad_input]") {
    Folder const folder;
    TableFile<float> file(make(folder, 1));
    set(file, 2);
    Copy copy(file.path());
    Bytes const whole = copy.journal;
    REQUIRE(whole.size() == 3 * record);
    Opened const saved{{1, 1, 1}, 1};
    CHECK(copy.open() == saved);
    std::size_t const step = nightly ? 1 : 61;
    for (std::size_t n = 0; n < whole.size(); n += n % record < 40 || n % record > record - 3 ? 1 : step) {
        CAPTURE(n);
        copy.journal.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK(copy.open() == std::nullopt);
    }
    copy.journal = whole;
    for (std::size_t at = 0; at < whole.size(); at += record) {
        each_flip(copy.journal, at, at + 32, 1, [&] { CHECK(copy.open() == std::nullopt); });
        each_flip(copy.journal, at + 32, at + record, nightly ? 1 : 1009, [&] { CHECK(copy.open() == std::nullopt); });
    }
    copy.journal.resize(record);
    CHECK(copy.text() == "byte 3072: the rows were changed after they were saved, and the journal " + copy.path +
                             ".journal has 1 whole records of the 3 that restore them");
    copy.journal = whole;
    copy.put_number(relied_on, 0);
    CHECK(copy.text() == "byte 3072: the rows were changed by a version of rowan that did not count the records of "
                         "the journal");
}

TEST_CASE("what is no table is refused by its name", "[io][table_file][bad_input]") {
    Folder const folder;
    std::string const path = folder / "other";
    test::write(path, Bytes(8192));
    CHECK_THROWS_WITH(TableFile<float>(path), Catch::EndsWith("/other is not a table in a file of rowan"));
}

TEST_CASE("records that nothing relied on may be torn", "[io][table_file][bad_input]") {
    Folder const folder;
    TableFile<float> file(make(folder, 1));
    set(file, 2, {0, 1024});
    Copy copy(file.path());
    auto const counted = copy.journal.size();
    file.change({2048});  // and the process is killed before the row changes
    Bytes const whole = Copy(file.path()).journal;
    REQUIRE(whole.size() == counted + record);
    CHECK(Copy(file.path()).number(relied_on) == 3);
    Opened const saved{{1, 1, 0}, 1};
    auto const open = [&] {
        auto opened = copy.open();
        if (opened) opened->rows[2] -= 1;
        return opened;
    };
    for (std::size_t n = counted; n <= whole.size(); n += n % record < 40 ? 1 : 131) {
        CAPTURE(n);
        copy.journal.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK(open() == saved);
    }
    each_flip(copy.journal, counted, counted + 32, 7, [&] { CHECK(open() == saved); });
    each_flip(copy.journal, 0, 32, 7, [&] { CHECK(open() == std::nullopt); });
}

TEST_CASE("a damaged generation is refused unless the journal restores the other", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = make(folder, 1);
    {
        TableFile<float> file(path);
        for (float const value : {2.0F, 3.0F}) set(file, value), file.save();
        set(file, 4);
    }
    TableFile<float>(path).change({});  // restored: nothing says that rows have changed
    Opened const newest{{3, 3, 3}, 3};
    Copy copy(path);
    CHECK(copy.open() == newest);
    auto const flips = [&](std::size_t place) {
        std::set<std::uint64_t> saves;
        each_flip(copy.table, place, place + 16, 1, [&] {
            auto const opened = copy.open();
            if (!opened) return;
            saves.insert(opened->saves);
            CHECK(opened->rows == Rows(3, static_cast<float>(opened->saves)));
        });
        return saves;
    };
    CHECK(flips(earlier).empty());  // the newest, generation 4
    CHECK(flips(later).empty());    // which of the two is the newer nobody knows
    std::swap_ranges(copy.table.begin() + earlier, copy.table.begin() + earlier + 16, copy.table.begin() + later);
    CHECK(copy.text() == "byte 1024: the generations have other checksums");
    std::swap_ranges(copy.table.begin() + earlier, copy.table.begin() + earlier + 16, copy.table.begin() + later);
    {
        TableFile<float> file(path);
        set(file, 4);
        copy.table = Copy(path).table, copy.journal = Copy(path).journal;
        CHECK(copy.open() == newest);
        CHECK(flips(earlier).empty());                       // the journal is of generation 4
        CHECK(flips(later) == std::set<std::uint64_t>{3});  // generation 3, or that of a save that did not end
        copy.table[later] ^= std::byte{1};
        CHECK(copy.open() == newest);
        Bytes const journal = std::exchange(copy.journal, {});
        CHECK(copy.open() == std::nullopt);
        copy.put_number(unsaved, 0);
        CHECK(copy.text() == "byte 2048: the generation beside 4 is damaged, and there is no journal of a save that "
                             "did not end: it may be the later one");
        file.save();
        copy.table = Copy(path).table, copy.journal = journal;  // killed before the journal was emptied
        CHECK(copy.open() == Opened{{4, 4, 4}, 4});
        CHECK(flips(later) == std::set<std::uint64_t>{3});
    }
}

TEST_CASE("a generation that a save did not end is whole again after the journal was restored", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    auto file = TableFile<float>::create(path, {.height = 3072, .width = 1});
    for (std::uint64_t saves = 0; saves < 3; ++saves, file.save()) {
        CAPTURE(saves);
        set(file, static_cast<float>(saves + 1));
        Copy const copy(path);
        auto const trial = folder / "trial";
        test::write(trial, copy.table), test::write(trial + ".journal", copy.journal);
        std::fstream(trial, std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(saves % 2 == 0 ? earlier : later))
            .write("\5\0\0\0\0\0\0\0", 8);  // the first half of one
        Opened const want{Rows(3, static_cast<float>(saves)), saves};
        for (int times = 0; times < 2; ++times) {
            TableFile<float> again(trial);
            CHECK((rows_of(again) == want.rows && again.saves() == want.saves));
        }
        TableFile<float> again(trial);
        set(again, 9);
        again.save();
        CHECK(again.saves() == saves + 1);
    }
}

TEST_CASE("the records that rows rely on are counted before a row changes, and the journal before they are",
          "[io][table_file]") {
    Folder const folder;
    auto const path = make(folder, 1);
    for (bool const power_safe : {false, true}) {
        TableFile<float, FaultyFiles> file(path, {.power_safe = power_safe});
        auto const counted = [&] {
            Copy const copy(path);
            bool const counts = copy.number(unsaved) == file.saves() + 1;
            return counts ? copy.number(relied_on) : 0;
        };
        CHECK(counted() == 0);
        file.change({0});
        CHECK(counted() == 1);
        FaultyFiles::state.fail = FaultyFiles::state.calls + 1;  // the write, or what comes before it
        CHECK_THROWS_AS(file.change({1024}), IoError);
        FaultyFiles::state.fail = 0;
        CHECK(counted() == 1);
        file.change({1024, 2048});
        CHECK(counted() == 3);
        file.save();
        CHECK(counted() == 0);
        file.change({2048});
        CHECK((counted() == 1 && test::read(path + ".journal").size() == record));
        file.save();
        FaultyFiles::state = {};
    }
}

}  // namespace test_table_file_damage
