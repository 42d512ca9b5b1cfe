// tests/io/checkpoint_file.cpp: damaged files, and invalid files with valid checksums.
#include <rowan/io/checkpoint_file.hpp>

#include "checkpoint_files.hpp"
#include "catch.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

namespace test_checkpoint_file {

namespace {

using namespace rowan;
using test::Bytes, test::dense, test::Floats, test::Folder, test::Longs, test::RawCheckpoint, test::RawVariable, test::sparse;

/// The error of reading the whole file, or "" if it is valid.
std::string refusal(std::string const& path) {
    std::string text;
    try {
        load_checkpoint(path);
    } catch (FormatError const& e) {
        text = e.what();
    }
    std::string verified;
    try {
        CheckpointFile(path).verify();
    } catch (FormatError const& e) {
        verified = e.what();
    }
    CHECK(verified == text);
    return text;
}
std::string refusal(Bytes const& bytes) {
    Folder const folder;
    test::write(folder / "x", bytes);
    return refusal(folder / "x");
}
std::string refusal(RawCheckpoint const& raw) { return refusal(raw.bytes()); }

std::string refusal(RawVariable const& v) { return refusal(RawCheckpoint{.variables = {v}}); }

RawVariable tensor(std::string name = "w") { return {dense(std::move(name), {2}), {{test::raw(Floats{1, 2})}}}; }

/// Overwrites an existing file without syncing, as tests write thousands of files.
void overwrite(std::string const& path, std::span<std::byte const> bytes) {
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(file);
}

/// A file of about 2 kB with all features: a program, all kinds, several types, padding.
Bytes sample() {
    auto raw = test::three();
    ProgramDesc program;
    program.blocks.emplace_back().vars.push_back(dense("w", {UNK, 640, 480}));
    raw.flags = 2;
    raw.program = encode(program);
    std::vector<std::byte> truth{std::byte{1}, std::byte{0}, std::byte{1}};
    raw.variables.insert(raw.variables.begin(), {dense("b", {3}, 0, 0), {{truth}}, "bool", 1});
    raw.variables.push_back({dense("x", {150}, 0, 1007), {{Bytes(300, std::byte{0x5A})}}, "own", 2});
    raw.variables.push_back({dense("y", {0, 4}, 0, 6), {{Bytes()}}, "f64", 8});
    return raw.bytes();
}

}  // namespace

TEST_CASE("a truncated file throws, at any length", "[io][bad_input]") {
    Folder const folder;
    auto const path = folder / "x";
    for (Bytes const& bytes : {sample(), test::three().bytes(), RawCheckpoint().bytes()}) {
        overwrite(path, bytes);
        REQUIRE(refusal(path) == "");
        for (std::size_t n = bytes.size(); n-- > 0;) {
            CAPTURE(n);
            REQUIRE(::truncate(path.c_str(), static_cast<off_t>(n)) == 0);
            CHECK_THROWS_AS(CheckpointFile(path), FormatError);
        }
    }
}

TEST_CASE("a file with any bit changed throws", "[io][bad_input]") {
    Folder const folder;
    auto const path = folder / "x";
    Bytes bytes = sample();
    CHECK(bytes.size() > 1200);
    overwrite(path, bytes);
    int const file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    std::size_t silent = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto const place = static_cast<off_t>(bit / 8);
        std::byte const flipped = bytes[bit / 8] ^ std::byte{1} << static_cast<int>(bit % 8);
        REQUIRE(::pwrite(file, &flipped, 1, place) == 1);
        int refused = 0;
        try {
            CheckpointFile(path).verify();
        } catch (FormatError const&) {
            ++refused;
        }
        try {
            load_checkpoint(path);
        } catch (FormatError const&) {
            ++refused;
        }
        silent += refused != 2;
        REQUIRE(::pwrite(file, &bytes[bit / 8], 1, place) == 1);
    }
    ::close(file);
    CHECK(silent == 0);
    CHECK(refusal(path) == "");
}

TEST_CASE("bursts of errors, many bits and whole pages in a larger file are detected", "[io][bad_input]") {
    Folder const folder;
    auto const path = folder / "x";
    std::mt19937_64 random(1);
    Bytes elements(1'000'000);
    for (auto& b : elements) b = static_cast<std::byte>(random());
    RawCheckpoint const raw{.variables = {{dense("w", {1'000'000}, 0, 20), {{elements}}, "u8", 1}}};
    Bytes const bytes = raw.bytes();
    overwrite(path, bytes);
    int const file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    for (int k = 0; k < 1000; ++k) {
        std::size_t const place = random() % (bytes.size() - 4096), n = k % 3 == 0 ? 4096 : 1 + random() % 64;
        Bytes wrong(bytes.begin() + static_cast<std::ptrdiff_t>(place), bytes.begin() + static_cast<std::ptrdiff_t>(place + n));
        for (auto& b : wrong) b = k % 3 == 0 ? std::byte{0} : static_cast<std::byte>(random());
        if (std::ranges::equal(wrong, std::span(bytes).subspan(place, n))) continue;
        REQUIRE(::pwrite(file, wrong.data(), n, static_cast<off_t>(place)) == static_cast<ssize_t>(n));
        CHECK_THROWS_AS(load_checkpoint(path), FormatError);
        REQUIRE(::pwrite(file, bytes.data() + place, n, static_cast<off_t>(place)) == static_cast<ssize_t>(n));
    }
    ::close(file);
    CHECK(refusal(path) == "");
}

TEST_CASE("undamaged variables of a damaged file can be loaded", "[io]") {
    Folder const folder;
    auto bytes = test::three().bytes();
    bytes.back() = std::byte{1};  // padding after w
    bytes[bytes.size() - 64] ^= std::byte{1};
    test::write(folder / "x", bytes);
    CheckpointFile const file(folder / "x");
    CHECK(file.load<SelectedRows<float>>("g") == test::three_values().get<SelectedRows<float>>("g"));
    CHECK_THROWS_AS(file.load("w"), FormatError);
    CHECK(file.map<Tensor<float>>("w").size() == 4);  // its elements are not checked
    CHECK_THROWS_AS(file.verify(), FormatError);
    std::array<float, 4> room{};
    CHECK_THROWS_AS(file.load_into("w", std::as_writable_bytes(std::span(room))), FormatError);
}

TEST_CASE("other files and other versions throw an error that says so", "[io][bad_input]") {
    for (std::size_t const size : {0, 7, 8, 63, 64}) CHECK_THAT(refusal(Bytes(size)), Catch::EndsWith("/x is not a file of rowan"));
    CHECK(refusal(RawCheckpoint{.major = 2}) == "byte 8: major version is 2, supported is 1");
    CHECK(refusal(RawCheckpoint{.major = 0}) == "byte 8: major version is 0, supported is 1");
    CHECK_THROWS_AS(CheckpointFile("no/such/file"), IoError);
    CHECK_THROWS_AS(CheckpointFile("/"), IoError);
    CHECK_THROWS_AS(CheckpointFile("/dev/zero"), IoError);
}

TEST_CASE("a file of a newer minor version can have more data, but no unknown flags", "[io]") {
    auto raw = test::three();
    raw.minor = 1;
    raw.reserved = 7;
    for (auto& v : raw.variables) v.more = Bytes(5, std::byte{9});
    CHECK(refusal(raw) == "");
    raw.variables[2].desc_bytes = encode(raw.variables[2].desc);
    test::put(raw.variables[2].desc_bytes, std::uint16_t{0x0178});  // field 15 of a VarDesc: 1
    CHECK(refusal(raw) == "");
    raw.minor = 0;
    CHECK(refusal(raw) == "byte 52: reserved is 7, expected 0");
    raw.reserved = 0;
    CHECK(refusal(raw).find("record ends here, but 5 bytes follow") != std::string::npos);
    CHECK(refusal(RawCheckpoint{.minor = 1, .flags = 4}) == "byte 48: flags are 4, supported are 1 and 2");
}

TEST_CASE("sizes in the header are compared with the file", "[io][bad_input]") {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    CHECK(refusal(RawCheckpoint{.header_bytes = 128}) == "byte 12: header bytes is 128, expected 64");
    CHECK(refusal(RawCheckpoint{.base = 1}) == "byte 40: base is 1, expected 0");
    CHECK_THROWS_AS(refusal(RawCheckpoint{.flags = 1, .base = 1}), GraphError);  // well-formed, but a delta
    for (std::uint64_t const n : {std::uint64_t{1}, most, most - 63, most / 2}) {
        CHECK(refusal(RawCheckpoint{.descriptor_bytes = n}) == "byte 16: descriptor bytes are " + std::to_string(n) + ", but 0 follow");
        CHECK(refusal(RawCheckpoint{.payload_bytes = n}) == "byte 24: payload bytes is " + std::to_string(n) + ", expected 0");
        CHECK(refusal(RawCheckpoint{.count = n}) == "byte 32: variables are " + std::to_string(n) + ", more than 0 bytes can describe");
    }
    auto raw = test::three();
    raw.count = 2;
    CHECK(refusal(raw).find("descriptors ends here, but") != std::string::npos);
    raw.count = 4;
    CHECK(refusal(raw).find("record needs 4 bytes, 0 are left") != std::string::npos);
}

TEST_CASE("appended, swapped, duplicate, overlapping and detached sections throw despite valid checksums", "[io][bad_input]") {
    auto const good = test::three();
    CHECK(refusal(good) == "");
    auto bytes = good.bytes();
    bytes.resize(bytes.size() + 64);
    CHECK(refusal(bytes).find("payload bytes is") != std::string::npos);
    test::put_at(bytes, 24, std::uint64_t{6 * 64 + 64});
    test::put_at(bytes, 60, test::slow_crc32c(std::span(bytes).first(60)));
    CHECK(refusal(bytes).find("file has 768 bytes, expected 704") != std::string::npos);
    bytes = good.bytes();
    bytes.resize(bytes.size() - 48);  // no padding after the last section
    test::put_at(bytes, 24, std::uint64_t{6 * 64 - 48});
    test::put_at(bytes, 60, test::slow_crc32c(std::span(bytes).first(60)));
    CHECK(refusal(bytes) == "byte 0: file has 656 bytes, expected a multiple of 64 that fits into memory");

    auto swapped = good;
    std::swap(swapped.variables[0], swapped.variables[2]);
    CHECK(refusal(swapped).find("s comes after w: names ascend") != std::string::npos);
    auto doubled = good;
    doubled.variables.push_back(doubled.variables[2]);
    CHECK(refusal(doubled).find("w comes after w: names ascend") != std::string::npos);

    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t const first = 320;  // where the payloads begin
    CHECK(test::three().bytes()[first] == std::byte{73});
    for (std::uint64_t const offset : {std::uint64_t{0}, first - 64, first + 1, first + 64, most, most - 63}) {
        auto moved = good;
        moved.variables[0].sections[0].offset = offset;
        CHECK(refusal(moved).find("g has a section of 24 bytes at " + std::to_string(offset) + ", expected it at 320") != std::string::npos);
    }
    auto overlap = good;
    overlap.variables[0].sections[1].offset = first;
    CHECK(refusal(overlap).find("expected it at 384") != std::string::npos);
    for (std::uint64_t const size : {std::uint64_t{16}, std::uint64_t{32}, std::uint64_t{24 * 64}, most - 7}) {
        auto sized = good;
        sized.variables[0].sections[0].size = size;
        CHECK(refusal(sized) != "");
    }
    std::uint64_t const half = std::uint64_t{1} << 63;  // two of them are unchanged
    RawVariable const rows{sparse("a", {9, 0}), {{.bytes = {}, .size = half}, {}}};
    RawCheckpoint wrapped{.variables = {rows, rows}};
    wrapped.variables[1].desc.name = "b";
    wrapped.variables[1].sections[0].offset = half + 256;
    wrapped.variables[0].sections[1].offset = half + 256;
    CHECK(refusal(wrapped).find("a has a section of 9223372036854775808 bytes at 256, expected it at 256 and to end before 256") != std::string::npos);
    auto hole = good;
    hole.variables[2].sections[0].bytes.resize(80);
    hole.variables[2].sections[0].size = 16;
    hole.variables[2].sections[0].sum = test::slow_crc32c(std::span(hole.variables[2].sections[0].bytes).first(16));
    CHECK(refusal(hole).find("file has 768 bytes, expected 704") != std::string::npos);
    hole.variables[2].sections[0].bytes.resize(20);
    CHECK(refusal(hole) == "");
    hole.variables[2].sections[0].bytes[19] = std::byte{3};
    CHECK(refusal(hole) == "byte 659: padding is 3, expected 0");

    bytes = good.bytes();
    bytes[first - 1] = std::byte{1};  // between descriptors and payloads
    CHECK(refusal(bytes) == "byte 319: padding is 1, expected 0");
}

TEST_CASE("lengths in a record are compared with the remaining bytes", "[io][bad_input]") {
    auto const has = [](RawVariable const& v, std::string const& text) {
        auto const reason = refusal(v);
        CAPTURE(reason);
        CHECK(reason.find(text) != std::string::npos);
    };
    auto v = tensor();
    v.record_bytes = 0xFFFFFFFF;
    has(v, "record needs 4294967295 bytes, ");
    v.record_bytes = 3;
    has(v, "VarDesc needs 4 bytes, 3 are left");
    v = tensor();
    v.section_count = 0xFFFFFFFF;
    has(v, "sections are 4294967295, expected at most 32");
    v.section_count = 2;
    has(v, "section needs 8 bytes, 0 are left");
    v.section_count = 0;
    has(v, "record ends here, but 20 bytes follow");
    v = tensor();
    v.sections.push_back(v.sections[0]);
    has(v, "w has 2 sections, expected 1");
    v.sections.clear();
    has(v, "w has 0 sections, expected 1");
    v = tensor();
    v.desc_bytes = Bytes(20'000);
    has(v, "VarDesc has 20000 bytes, expected at most 16384");
    v = tensor();
    v.type_name = std::string(256, 'x');
    has(v, "w has an element type whose name is empty, longer than 255 bytes or not UTF-8");
    v.type_name = std::string(255, 'x');
    CHECK(refusal(v) == "");
    v.type_name = "\xC0\x80";
    has(v, "w has an element type whose name is");
}

TEST_CASE("dims, element size and number of elements must agree, without overflow", "[io][bad_input]") {
    auto const text = [](std::vector<std::int64_t> dims, std::uint32_t element_size = 4, std::size_t bytes = 8) {
        auto const reason = refusal(RawVariable{dense("w", std::move(dims)), {{Bytes(bytes)}}, "f32", element_size});
        auto const at = reason.find(": ");
        return at == std::string::npos ? reason : reason.substr(at + 2);
    };
    CHECK(text({2}) == "");
    CHECK(text({}, 8) == "");
    CHECK(text({1, 1, 1, 1, 1, 1, 1, 2}) == "");
    CHECK(text({3}) == "w has 8 bytes of elements, expected 12");
    CHECK(text({1}) == "w has 8 bytes of elements, expected 4");
    CHECK(text({2}, 0) == "w has elements of 0 bytes");
    CHECK(text({1, 1, 1, 1, 1, 1, 1, 1, 2}) == "w has 9 dims, expected at most 8");
    CHECK(text({UNK}) == "w has dims[0] = -1, expected a count");
    std::int64_t const large = std::int64_t{1} << 32;  // F3, F12
    for (auto const& dims : std::vector<Longs>{{0, large, large}, {large, 0, large}, {large, large, 0}, {large, large}, {(std::int64_t{1} << 62) + 1, 4},
                                               {std::numeric_limits<std::int64_t>::max(), 2}, {std::numeric_limits<std::int64_t>::max()}}) {
        CHECK(text(dims).find("w is too large: elements shape is ") == 0);
    }
    CHECK(text({0, large}, 4, 0) == "");
    CHECK(text({0, large}, 4, 1) == "w has 1 bytes of elements, expected 0");
}

TEST_CASE("kinds without values and invalid descriptors throw", "[io][bad_input]") {
    auto v = tensor();
    v.desc = {.name = "w"};
    CHECK(refusal(v).find("w is neither a LOD_TENSOR nor a SELECTED_ROWS with a description") != std::string::npos);
    v.desc.type = VarType::TENSOR_ARRAY;
    v.desc.tensor_array_desc = LodTensorDesc{{5, {2}}, 0};
    CHECK(refusal(v).find("w is neither") != std::string::npos);
    v = tensor();
    v.desc_bytes = encode(v.desc);
    v.desc_bytes[1] = std::byte{2};  // the size of the name is too large
    CHECK(refusal(v) != "");
    v = tensor();
    v.desc_bytes = encode(v.desc);
    auto const number = std::ranges::find(v.desc_bytes, std::byte{5});  // float
    *number = std::byte{99};
    CHECK(refusal(v).find("99") != std::string::npos);
    RawCheckpoint raw{.program = Bytes(3, std::byte{0xFF}), .flags = 2};
    CHECK(refusal(raw) != "");
    raw.program = Bytes();
    CHECK(refusal(raw) == "");
}

TEST_CASE("offsets that are no Lod throw", "[io][bad_input]") {
    auto const text = [](std::vector<Longs> const& levels, std::int64_t rows = 3) {
        RawVariable v{dense("s", {rows, 1}, static_cast<std::int32_t>(levels.size())), {}};
        for (auto const& offsets : levels) v.sections.push_back({test::raw(offsets)});
        v.sections.push_back({test::raw(Floats(static_cast<std::size_t>(rows)))});
        auto const reason = refusal(v);
        auto const at = reason.find("s is wrong: ");
        return at == std::string::npos ? reason : reason.substr(at + 12);
    };
    CHECK(text({{0, 1, 3}}) == "");
    CHECK(text({{0, 3}}) == "");
    CHECK(text({{0}}, 0) == "");
    CHECK(text({{1, 3}}) == "lod[0][0] = 1 is not 0, where the first sequence begins");
    CHECK(text({{0, 2, 1, 3}}) == "lod[0][2] = 1 is less than the offset before it, 2");
    CHECK(text({{0, 2}}) == "lod[0][1] = 2 is not 3, the number of rows");
    CHECK(text({{0, 4}}) == "lod[0][1] = 4 is not 3, the number of rows");
    CHECK(text({{0, -1, 3}}) == "lod[0][1] = -1 is less than the offset before it, 0");
    CHECK(text({{0, 2}, {0, 3}}) == "lod[0][1] = 2 is not 1, the number of sequences of the next level");
    CHECK(text(std::vector<Longs>(16, {0, 1}), 1) == "");
    CHECK(text({{}}, 0).find("s has a section of 0 bytes, which is not a multiple of 8") != std::string::npos);
    RawVariable v{dense("s", {3}, 1), {{Bytes(9)}, {Bytes(12)}}};  // F1
    CHECK(refusal(v).find("s has a section of 9 bytes, which is not a multiple of 8") != std::string::npos);
    v = {dense("s", {}, 1), {{test::raw(Longs{0, 1})}, {Bytes(4)}}};
    CHECK(refusal(v).find("s has no dims, and so no rows") != std::string::npos);
}

TEST_CASE("row ids outside the height and invalid bools throw", "[io][bad_input]") {
    auto const text = [](std::int64_t height, Longs const& rows) {
        return refusal(RawVariable{sparse("g", {height, 1}), {{test::raw(rows)}, {Bytes(4 * rows.size())}}});
    };
    CHECK(text(4, {3, 0, 3}) == "");
    CHECK(text(0, {}) == "");
    CHECK(text(std::numeric_limits<std::int64_t>::max(), {5}) == "");
    CHECK(text(4, {3, 4}) == "byte 192: g is wrong: rows[1] = 4 is not in [0, 4)");
    CHECK(text(4, {-1, 4}) == "byte 192: g is wrong: rows[0] = -1 is not in [0, 4)");
    CHECK(text(0, {0}) == "byte 192: g is wrong: rows[0] = 0 is not in [0, 0)");
    CHECK(text(-1, {}).find("g has dims[0] = -1, expected a count") != std::string::npos);
    CHECK(refusal(RawVariable{sparse("g", {}), {{Bytes()}, {Bytes(4)}}}).find("g has no dims, and so no rows") != std::string::npos);
    CHECK(refusal(RawVariable{sparse("g", {9, 1}), {{Bytes(9)}, {Bytes(4)}}}).find("which is not a multiple of 8") != std::string::npos);

    RawVariable const v{dense("b", {40'000}, 0, 0), {{Bytes(40'000, std::byte{1})}}, "bool", 1};
    CHECK(refusal(v) == "");
    auto wrong = v;
    wrong.sections[0].bytes[39'999] = std::byte{2};
    CHECK(refusal(wrong) == "byte 40127: b has an element 2, which is neither 0 nor 1");
    Folder const folder;
    test::write(folder / "x", RawCheckpoint{.variables = {wrong}}.bytes());
    CHECK_THROWS_AS(CheckpointFile(folder / "x").map<Tensor<bool>>("b"), FormatError);
    Bytes room(40'000);
    CHECK_THROWS_AS(CheckpointFile(folder / "x").load_into("b", room), FormatError);
}

TEST_CASE("a file that becomes shorter while it is read is an error of the system", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    test::write(path, test::three().bytes());
    CheckpointFile const file(path);
    REQUIRE(::truncate(path.c_str(), 330) == 0);
    CHECK_THROWS_AS(file.load("w"), IoError);
    CHECK_THROWS_AS(file.verify(), IoError);
}

}  // namespace test_checkpoint_file
