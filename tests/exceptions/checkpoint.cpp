// tests/exceptions/checkpoint.cpp: failed allocations in save and load, and the memory that damaged files allocate.
#include "failing_new.hpp"

#include <rowan/io/checkpoint_chain.hpp>

#include "catch.hpp"
#include "io/checkpoint_files.hpp"

#include <functional>
#include <new>
#include <random>

namespace test_checkpoint {

namespace {

using namespace rowan;
using test::Bytes, test::Folder;

void overwrite(std::string const& path, std::span<std::byte const> bytes) {
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(file);
}

/// Calls all functions that read a file. Returns the peak of allocated bytes.
std::ptrdiff_t most_bytes(std::string const& path) {
    test::watch_bytes();
    try {
        CheckpointFile const file(path);
        auto const names = file.names();
        for (auto const& name : names) {
            static_cast<void>(file.load(name));
            static_cast<void>(file.map(name));
        }
        file.verify();
        static_cast<void>(file.describe());
        static_cast<void>(load_checkpoint(path));
    } catch (Error const&) {
    }
    return test::most_bytes();
}

}  // namespace

TEST_CASE("reading a file, valid or damaged, allocates at most its size and 1 MiB", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    auto raw = test::three();
    raw.flags = 2;
    raw.program = Bytes{std::byte{0x22}, std::byte{0}};
    Bytes const good = raw.bytes();
    std::mt19937_64 random(1);
    auto const check = [&](Bytes const& bytes) {
        overwrite(path, bytes);
        return most_bytes(path) <= static_cast<std::ptrdiff_t>(bytes.size()) + (1 << 20);
    };
    CHECK(check(good));
    std::size_t more = 0;
    auto const seal = [&](Bytes& bytes) {
        std::uint64_t described;
        std::memcpy(&described, bytes.data() + 16, 8);
        if (described > bytes.size() - 64) described = 0;
        test::put_at(bytes, 56, test::slow_crc32c(std::span(bytes).subspan(64, static_cast<std::size_t>(described))));
        test::put_at(bytes, 60, test::slow_crc32c(std::span(bytes).first(60)));
    };
    // Writes large numbers of 1, 4 and 8 bytes to every position, with valid checksums.
    for (std::size_t place = 8; place + 8 <= 320; ++place) {
        for (std::uint64_t const x : {~std::uint64_t{0}, ~std::uint64_t{0} >> 1, std::uint64_t{1} << 40, std::uint64_t{0x7F}, std::uint64_t{0}}) {
            for (std::size_t const n : std::vector<std::size_t>{1, 4, 8}) {
                Bytes bytes = good;
                std::memcpy(bytes.data() + place, &x, n);
                seal(bytes);
                more += !check(bytes);
            }
        }
    }
    for (int k = 0; k < 2'000; ++k) {
        Bytes bytes = good;
        for (auto n = random() % 8; n != 0; --n) bytes[8 + random() % 312] = static_cast<std::byte>(random());
        if (k % 2 == 0) bytes.resize(random() % bytes.size());
        if (bytes.size() >= 64) seal(bytes);
        more += !check(bytes);
    }
    CHECK(more == 0);
}

TEST_CASE("loading many small variables uses at most 8 times the file's size and 1 MiB, or refuses the file", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    auto const refused = [&](auto const& value) {
        Checkpoint c;
        for (int i = 0; i < 12'000; ++i) c.add(std::to_string(i), value);
        save_checkpoint(c, path);
        CheckpointFile const file(path);
        CHECK(file.load("11").desc.name == "11");
        test::watch_bytes();
        bool threw = false;
        try {
            load_checkpoint(path);
        } catch (FormatError const&) {
            threw = true;
        }
        CHECK(test::most_bytes() <= 8 * static_cast<std::ptrdiff_t>(file.bytes()) + (1 << 20));
        return threw;
    };
    CHECK(!refused(Tensor<float>::zeros({})));
    CHECK(!refused(LoDTensor<float>(Tensor<float>::zeros({0, 1}), Lod{{0}})));
    CHECK(!refused(SelectedRows<float>(2, {0}, Tensor<float>::zeros({1, 1}))));
    CHECK(refused(Tensor<std::uint8_t>::zeros({0})));
    refused(SelectedRows<float>(2, std::vector<std::int64_t>{}, Tensor<float>::zeros({0, 1})));
}

TEST_CASE("loading allocates the tensor and little more", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    constexpr std::ptrdiff_t mib = 1 << 20;
    Checkpoint c;
    c.add("bytes", LoDTensor<std::uint8_t>(Tensor<std::uint8_t>::zeros({300'000}), Lod::from_lengths({std::vector<std::int64_t>(300'000, 1)})));
    c.add("rows", SelectedRows<float>(1 << 30, std::vector<std::int64_t>(300'000, 5), Tensor<float>::zeros({300'000, 1})));
    c.add("table", Tensor<float>::zeros({1 << 22}));
    save_checkpoint(c, path);
    CheckpointFile const file(path);
    std::pair<char const*, std::ptrdiff_t> const sizes[] = {{"bytes", 9 * 300'000}, {"rows", 12 * 300'000}, {"table", 16 * mib}};
    for (auto const& [name, bytes] : sizes) {
        CAPTURE(name);
        test::watch_bytes();
        { auto const e = file.load(name); }
        // A large block may reserve up to 4 MiB more address space; untouched pages use no memory.
        CHECK(test::most_bytes() <= bytes + mib + (bytes >= 4 * mib ? 4 * mib : 0));
        test::watch_bytes();
        { auto const e = file.map(name); }
        CHECK(test::most_bytes() <= 8 * 300'000 + mib);
    }
    test::watch_bytes();
    file.verify();
    CHECK(test::most_bytes() <= 8 * 300'000 + mib);
}

TEST_CASE("out of memory: saving or loading a checkpoint leaves nothing behind", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    auto const values = test::three_values();
    save_checkpoint(values, path);
    auto const bytes = test::read(path);
    auto const target = folder / "y";
    Checkpoint into;
    into.add("a", Tensor<float>{1});
    auto const g = values.get<SelectedRows<float>>("g");
    std::function<void()> const calls[] = {
        [&] { save_checkpoint(values, target); },
        [&] { load_checkpoint(path); },
        [&] { CheckpointFile(path).verify(); },
        [&] { CheckpointFile(path).map<LoDTensor<float>>("s"); },
        [&] { CheckpointChain({path}).load<SelectedRows<float>>("g"); },
        [&] { into.add("g", g); },
    };
    for (auto const& call : calls) {
        for (bool const ever_after : {false, true}) {
            for (std::size_t n = 1;; ++n) {
                CAPTURE(&call - calls, n, ever_after);
                auto const blocks = test::live_blocks();
                auto const files = folder.files();
                bool threw = false;
                test::fail_allocation(n, ever_after);
                try {
                    call();
                } catch (std::bad_alloc const&) {
                    threw = true;
                }
                test::fail_allocation(0);
                if (!threw) break;
                CHECK(test::live_blocks() == blocks);
                CHECK((folder.files() == files && into.entries().size() == 1));
                REQUIRE(n < 500);
            }
            std::filesystem::remove(target);
            into = Checkpoint();
            into.add("a", Tensor<float>{1});
        }
    }
    CHECK(test::read(path) == bytes);
}

}  // namespace test_checkpoint
