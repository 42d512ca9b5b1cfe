// tests/io/checkpoint.cpp: saving and loading checkpoints, completely or not at all.
#include <rowan/io/checkpoint.hpp>

#include "checkpoint_files.hpp"
#include "reference.hpp"

#include <cmath>
#include <set>

namespace test_checkpoint {

// What a temporary returns outlives it.
static_assert(std::is_same_v<decltype(std::declval<rowan::Checkpoint>().entries()), std::map<std::string, rowan::CheckpointEntry>>);
static_assert(std::is_same_v<decltype(*std::declval<rowan::CheckpointEntry>().lod), rowan::Lod>);

namespace {

using namespace rowan;
using reference::same;
using test::Bytes, test::FaultyFiles, test::Folder, test::refusal;

template <class T>
bool same(LoDTensor<T> const& a, LoDTensor<T> const& b) {
    return a.lod() == b.lod() && same(a.value(), b.value());
}

template <class T>
Tensor<T> arbitrary_tensor(inputs::Shape shape) {
    auto t = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < t.size() * sizeof(T); ++i) {
        auto const byte = *rc::gen::arbitrary<std::uint8_t>();
        reinterpret_cast<unsigned char*>(t.data())[i] = std::is_same_v<T, bool> ? byte % 2 : byte;
    }
    return t;
}

inputs::Shape arbitrary_shape(std::size_t rows) {
    inputs::Shape shape{rows};
    for (int rank = *rc::gen::inRange(0, 4); rank != 0; --rank) shape.push_back(*rc::gen::inRange<std::size_t>(0, 4));
    return shape;
}

Lod arbitrary_lod(std::size_t levels) {
    std::vector<std::vector<std::int64_t>> lengths(levels);
    std::int64_t count = *rc::gen::inRange(0, 4);
    for (auto& level : lengths) {
        std::int64_t sum = 0;
        for (; count != 0; --count) sum += level.emplace_back(*rc::gen::inRange(0, 4));
        count = sum;
    }
    return Lod::from_lengths(lengths);
}

template <class V>
void round_trip(Folder const& folder, V const& value) {
    Checkpoint c;
    c.add("the name", value);
    auto const path = folder / "x";
    auto const id = save_checkpoint(c, path);
    CheckpointFile const file(path);
    file.verify();
    RC_ASSERT(file.id() == id);
    RC_ASSERT(same(file.load<V>("the name"), value));
    RC_ASSERT(same(file.map<V>("the name"), value));
    auto const all = load_checkpoint(path);
    RC_ASSERT(same(all.get<V>("the name"), value));
    save_checkpoint(all, folder / "again");
    RC_ASSERT(test::read(folder / "again") == test::read(path));
}

// Every kind of T, at every number of levels.
template <class T>
void round_trips(Folder const& folder) {
    auto const levels = *rc::gen::inRange<std::size_t>(0, 18);
    if (levels == 17) {
        auto const height = *rc::gen::element<std::int64_t>(7, 1'000'000'007, std::numeric_limits<std::int64_t>::max());
        auto const rows = *rc::gen::container<inputs::Rows>(rc::gen::inRange<std::int64_t>(0, height));
        round_trip(folder, SelectedRows<T>(height, rows, arbitrary_tensor<T>(arbitrary_shape(rows.size()))));
    } else if (levels == 0) {
        round_trip(folder, arbitrary_tensor<T>(*rc::gen::arbitrary<bool>() ? inputs::Shape{} : arbitrary_shape(*rc::gen::inRange<std::size_t>(0, 9))));
    } else {
        auto const lod = arbitrary_lod(levels <= 4 ? levels : levels == 16 ? 16 : levels % 4 + 1);
        round_trip(folder, LoDTensor<T>(arbitrary_tensor<T>(arbitrary_shape(static_cast<std::size_t>(lod.rows()))), lod));
    }
}

ProgramDesc small_program() {
    ProgramDesc program;
    program.blocks.emplace_back().vars.push_back(test::dense("w", {UNK, 640, 480}));
    return program;
}

}  // namespace

TEST_CASE("the bytes of a checkpoint follow the format", "[io][golden]") {
    Folder const folder;
    Checkpoint c;
    c.add("w", Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    CHECK(save_checkpoint(c, folder / "x") == 0x42a2686d5c9334ecU);
    std::string hex;
    for (std::byte const b : test::read(folder / "x")) hex += detail::hex_text(static_cast<std::uint8_t>(b));
    CHECK(hex ==
          "89524f57414e0d0a" "0100" "0000" "40000000"                // magic, version 1.0, bytes of the header
          "3c00000000000000" "4000000000000000" "0100000000000000"  // bytes of descriptors and payloads, one variable
          "0000000000000000" "00000000" "00000000"                  // no base, no flags
          "ec34935c" "6d68a242"                                     // checksums of descriptors and header
          "38000000" "11000000" "0a0177" "1000" "1a08" "0a06080510031002" "2801"
          "03000000" "663332" "04000000"                            // f32, of 4 bytes
          "01000000" "8000000000000000" "1800000000000000" "b9045180"
          "00000000"
          "0000803f" "00000040" "00004040" "00008040" "0000a040" "0000c040" +
              std::string(80, '0'));
}

TEST_CASE("a checkpoint of each kind has the bytes that the format asks for", "[io][golden]") {
    Folder const folder;
    save_checkpoint(test::three_values(), folder / "x");
    CHECK(test::read(folder / "x") == test::three().bytes());
    auto with_program = test::three_values();
    with_program.program = small_program();
    auto raw = test::three();
    raw.flags = 2;
    raw.program = encode(small_program());
    save_checkpoint(with_program, folder / "x");
    CHECK(test::read(folder / "x") == raw.bytes());
    save_checkpoint(Checkpoint(), folder / "empty");
    CHECK(test::read(folder / "empty") == test::RawCheckpoint().bytes());
    CHECK(CheckpointFile(folder / "empty").names().empty());
}

TEST_CASE("equal checkpoints have equal files, regardless of order and memory addresses", "[io]") {
    Folder const folder;
    Checkpoint other;
    auto const three = test::three_values();
    Tensor<float> const wide{{0, 0}, {1, 2}, {3, 4}};
    other.add("g", three.get<SelectedRows<float>>("g"));
    other.add("w", wide.slice(1, 3));
    other.add("s", three.get<LoDTensor<float>>("s"));
    auto const id = save_checkpoint(three, folder / "a");
    CHECK(save_checkpoint(Cpu{2}, other, folder / "b") == id);
    CHECK(test::read(folder / "a") == test::read(folder / "b"));
    CHECK(save_checkpoint(load_checkpoint(folder / "a"), folder / "b") == id);
    CHECK(test::read(folder / "a") == test::read(folder / "b"));
    other.add("h", Tensor<float>{1});
    CHECK(save_checkpoint(other, folder / "b") != id);
}

TEMPLATE_TEST_CASE("loaded and mapped values have the bits of the saved ones", "[io][property]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, float16, bfloat16, test::own) {
    Folder const folder;
    CHECK(rc::check([&] { round_trips<TestType>(folder); }));
}

TEST_CASE("large tensors are read by several threads with the same bits", "[io]") {
    Folder const folder;
    auto const table = inputs::wild<float>({70'001, 65}, 1);  // many pieces, the last one short
    Checkpoint c;
    c.add("table", table);
    save_checkpoint(c, folder / "x");
    for (int const threads : {1, 2, 3}) {
        CheckpointFile const file(Cpu{threads}, folder / "x");
        CHECK(same(file.load<Tensor<float>>("table"), table));
        file.verify();
    }
    CHECK_THROWS_AS(CheckpointFile(Cpu{-1}, folder / "x"), ValueError);
}

TEST_CASE("a program is kept with the variables", "[io]") {
    Folder const folder;
    Checkpoint c;
    CHECK(!load_checkpoint((save_checkpoint(c, folder / "x"), folder / "x")).program);
    c.program.emplace();
    save_checkpoint(c, folder / "x");
    CHECK(load_checkpoint(folder / "x").program == ProgramDesc());
    c.program = small_program();
    save_checkpoint(c, folder / "x");
    CHECK(CheckpointFile(folder / "x").program() == small_program());
    c.program->blocks[0].idx = 7;
    CHECK_THROWS_AS(save_checkpoint(c, folder / "x"), FormatError);
    CHECK(CheckpointFile(folder / "x").program() == small_program());
}

TEST_CASE("a checkpoint holds aliases: a save writes their current values", "[io]") {
    Folder const folder;
    Tensor<float> w{1, 2, 3};
    Checkpoint c;
    c.add("w", w);
    w(1) = 20;
    CHECK(c.get<Tensor<float>>("w").data() == w.data());
    save_checkpoint(c, folder / "x");
    CHECK(CheckpointFile(folder / "x").load<Tensor<float>>("w") == Tensor<float>{1, 20, 3});
    w = Tensor<float>{4, 5, 6};  // new contents, which are not in the checkpoint
    CHECK(c.get<Tensor<float>>("w") == Tensor<float>{1, 20, 3});
}

TEST_CASE("variables are loaded only as their own type", "[io][bad_input]") {
    Folder const folder;
    auto c = test::three_values();
    c.add("own", Tensor<test::own>::zeros({2}));
    save_checkpoint(c, folder / "x");
    CheckpointFile const file(folder / "x");
    auto const text = [&]<class V>(std::type_identity<V>, char const* name) {
        auto const want = refusal([&] { c.get<V>(name); });
        CHECK(refusal([&] { file.load<V>(name); }) == want);
        CHECK(refusal([&] { file.map<V>(name); }) == want);
        return want;
    };
    std::type_identity<Tensor<float>> const tensor;
    CHECK(text(std::type_identity<Tensor<bfloat16>>(), "w") == "w is Tensor<f32>[2, 2], expected Tensor<bf16>");
    CHECK(text(tensor, "s") == "s is LoDTensor<f32>[3, 1], expected Tensor<f32>");
    CHECK(text(tensor, "g") == "g is SelectedRows<f32>[85, 2], expected Tensor<f32>");
    CHECK(text(std::type_identity<SelectedRows<float>>(), "w") == "w is Tensor<f32>[2, 2], expected SelectedRows<f32>");
    CHECK(text(std::type_identity<LoDTensor<float>>(), "g") == "g is SelectedRows<f32>[85, 2], expected LoDTensor<f32>");
    CHECK(text(tensor, "own") == "own is Tensor<own>[2], expected Tensor<f32>");
    CHECK(text(std::type_identity<Tensor<test::own>>(), "w") == "w is Tensor<f32>[2, 2], expected Tensor<own>");
    CHECK(file.load<LoDTensor<float>>("w") == c.get<Tensor<float>>("w"));  // a tensor is a batch without levels
    CHECK(refusal([&] { c.get("none"); }) == "the checkpoint has no variable \"none\"");
    CHECK(refusal([&] { file.load("none"); }) == folder / "x has no variable \"none\"");
    CHECK(refusal([&] { file.load("onw"); }) == folder / "x has no variable \"onw\" (did you mean own?)");
    CHECK(refusal([&] { file.desc("A"); }) == folder / "x has no variable \"A\"");
    CHECK((file.has("g") && !file.has("h") && !file.has("") && !file.has("x")));
    CHECK(file.desc("g") == test::sparse("g", {85, 2}));
    CHECK(file.names() == std::vector<std::string>{"g", "own", "s", "w"});
}

TEST_CASE("an element type is known by its name, its number and its size", "[io][bad_input]") {
    Folder const folder;
    auto raw = test::RawCheckpoint{.variables = {{test::dense("w", {2}, 0, 1007), {{Bytes(4)}}, "own", 2}}};
    auto const text = [&] {
        test::write(folder / "x", raw.bytes());
        return refusal([&] { load_checkpoint<Tensor<test::own>>(folder / "x", "w"); });
    };
    CHECK(text() == "");
    raw.variables[0].type_name = "mine";
    CHECK(text() == "w is Tensor<mine>[2], expected Tensor<own>");
    raw.variables[0] = {test::dense("w", {2}, 0, 1008), {{Bytes(4)}}, "own", 2};
    CHECK(text() == "w is Tensor<own>[2] of type 1008 and 2 bytes, expected Tensor<own> of type 1007 and 2 bytes");
    raw.variables[0] = {test::dense("w", {2}, 0, 1007), {{Bytes(8)}}, "own", 4};
    CHECK(text() == "w is Tensor<own>[2] of type 1007 and 4 bytes, expected Tensor<own> of type 1007 and 2 bytes");
}

TEST_CASE("a mapped tensor uses the file's pages, and outlives the file object", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    save_checkpoint(test::three_values(), path);
    auto w = CheckpointFile(path).map<Tensor<float>>("w");
    auto const g = CheckpointFile(path).map<SelectedRows<float>>("g");
    CHECK(reinterpret_cast<std::uintptr_t>(w.data()) % 64 == 0);
    save_checkpoint(Checkpoint(), path);  // another file with this name
    CHECK(w == Tensor<float>{{1, 2}, {3, 4}});
    std::filesystem::remove(path);
    auto const half = w.slice(1, 2);
    w(1, 0) = 30;  // in memory only, and in all aliases
    CHECK(half == Tensor<float>{{30, 4}});
    w = Tensor<float>{{9, 9}, {9, 9}};
    CHECK(half == Tensor<float>{{30, 4}});
    CHECK(g == test::three_values().get<SelectedRows<float>>("g"));
}

TEST_CASE("writes to a mapped tensor do not change the file", "[io]") {
    Folder const folder;
    save_checkpoint(test::three_values(), folder / "x");
    auto const before = test::read(folder / "x");
    auto w = CheckpointFile(folder / "x").map<Tensor<float>>("w");
    w *= 2.0F;
    CHECK(w(1, 1) == 8);
    CHECK(test::read(folder / "x") == before);
    CheckpointFile(folder / "x").verify();
}

TEST_CASE("load_into writes to existing memory", "[io]") {
    Folder const folder;
    save_checkpoint(test::three_values(), folder / "x");
    CheckpointFile const file(folder / "x");
    std::array<float, 4> room{};
    file.load_into("w", std::as_writable_bytes(std::span(room)));
    CHECK(room == std::array<float, 4>{1, 2, 3, 4});
    CHECK(refusal([&] { file.load_into("w", std::as_writable_bytes(std::span(room).first(3))); }) == "bytes of w is 12, expected 16");
    CHECK_THROWS_AS(file.load_into("none", {}), GraphError);
}

TEST_CASE("add accepts an untyped entry if its parts are consistent", "[io][bad_input]") {
    Folder const folder;
    std::vector<float> const numbers{1, 2, 3, 4, 5, 6};
    CheckpointEntry const good{test::dense("", {3, 2}), "f32", 4, Lod(), {}, std::as_bytes(std::span(numbers)), nullptr};
    auto const text = [](CheckpointEntry const& e) {
        Checkpoint c;
        auto const reason = refusal([&] { c.add("w", e); });
        CHECK(c.entries().size() == (reason.empty() ? 1 : 0));
        return reason;
    };
    Checkpoint c;
    c.add("w", good);
    CHECK(c.get<Tensor<float>>("w") == Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    auto sequences = good;
    sequences.desc = test::dense("", {3, 2}, 1);
    CHECK(text(sequences) == "byte 0: w has 1 sections, expected 2");
    sequences.lod = Lod{{0, 2}};
    CHECK(text(sequences) == "byte 0: w is wrong: lod[0][1] = 2 is not 3, the number of rows");
    sequences.lod = Lod{{0, 2, 3}};
    CHECK(text(sequences) == "");
    auto rows = good;
    rows.desc = test::sparse("", {7, 2});
    CHECK(text(rows) == "byte 0: w has 24 bytes of elements, expected 0");
    rows.rows = Tensor<std::int64_t>{6, 0, 7};
    CHECK(text(rows) == "byte 0: w is wrong: rows[2] = 7 is not in [0, 7)");
    rows.rows = Tensor<std::int64_t>{6, 0, 6};
    CHECK(text(rows) == "");
    auto wrong = good;
    wrong.element_size = 8;
    CHECK(text(wrong) == "byte 0: w has 24 bytes of elements, expected 48");
    wrong = good;
    wrong.desc = test::dense("", {3, UNK});
    CHECK(text(wrong) == "byte 0: w has dims[1] = -1, expected a count");
    wrong = good;
    wrong.type_name.clear();
    CHECK(text(wrong) == "byte 0: w has an element type whose name is empty, longer than 255 bytes or not UTF-8");
    wrong = good;
    wrong.desc.type = VarType::STEP_SCOPES;
    CHECK(text(wrong) != "");
    wrong = good;
    wrong.desc = test::dense("", {24}, 0, 0);
    wrong.type_name = "bool";
    wrong.element_size = 1;
    CHECK(text(wrong) == "byte 2: w has an element 128, which is neither 0 nor 1");
}

TEST_CASE("names are unique UTF-8 of 1 byte to 4 KiB", "[io][bad_input]") {
    Checkpoint c;
    Tensor<float> const w{1};
    for (std::string const& name : {std::string("é"), std::string(4096, 'x'), std::string("a/b c")}) {
        c.add(name, w);
        CHECK(refusal([&] { c.add(name, w); }) == "the checkpoint has a variable \"" + name + "\" already");
    }
    for (std::string const& name : {std::string(), std::string(4097, 'x'), std::string("a\0b", 3), std::string("\xFF")}) {
        CHECK_THROWS_AS(c.add(name, w), FormatError);
    }
    CHECK(c.entries().size() == 3);
}

TEST_CASE("a save that fails at any call leaves the old or the new checkpoint and no other file", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    Checkpoint old;
    old.add("w", Tensor<float>{{7}});
    auto const after = test::three().bytes();
    save_checkpoint(old, path);
    auto const before = test::read(path);
    for (bool const ever_after : {false, true}) {
        for (std::size_t n = 1;; ++n) {
            CAPTURE(n, ever_after);
            test::write(path, before);
            FaultyFiles::state = {.fail = n, .ever_after = ever_after, .most = 40};
            bool threw = false;
            try {
                save_checkpoint<FaultyFiles>(test::three_values(), path);
            } catch (IoError const&) {
                threw = true;
            }
            auto const now = test::read(path);
            CHECK((now == after || (threw && now == before)));
            CHECK(folder.files() == 1);
            CheckpointFile(path).verify();
            if (FaultyFiles::state.calls < n) break;
        }
    }
}

TEST_CASE("a power failure at any point leaves the old or the new checkpoint", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    Checkpoint old;
    old.add("w", Tensor<float>{{7}});
    save_checkpoint(old, path);
    auto const before = test::read(path);
    FaultyFiles::state = {.most = 100};
    save_checkpoint<FaultyFiles>(test::three_values(), path);
    auto const log = FaultyFiles::state.log;
    auto const after = test::read(path);

    // The disk contents after `n` system calls, keeping of the unflushed writes only those that `kept` selects.
    std::set<std::string> states;
    for (std::size_t n = 0; n <= log.size(); ++n) {
        enum class Unflushed { there, dropped, zeros, only_last } kept{};
        for (kept = Unflushed::there; kept <= Unflushed::only_last; kept = static_cast<Unflushed>(static_cast<int>(kept) + 1)) {
            for (bool const name_kept : {false, true}) {
                Bytes part, on_disk, named = before;
                bool renamed = false, name_flushed = false;
                for (std::size_t i = 0; i < n; ++i) {
                    auto const& step = log[i];
                    if (step.name == "write") {
                        part.insert(part.end(), step.bytes.begin(), step.bytes.end());
                        auto const start = part.size() - step.bytes.size();
                        if (kept == Unflushed::only_last) on_disk.resize(start);
                        if (kept == Unflushed::there || kept == Unflushed::only_last) on_disk.insert(on_disk.end(), step.bytes.begin(), step.bytes.end());
                        if (kept == Unflushed::zeros) on_disk.resize(part.size());
                    } else if (step.name == "fsync" && step.path != folder / "") {
                        on_disk = part;
                    } else if (step.name == "fsync") {
                        name_flushed = renamed;
                    } else if (step.name == "rename") {
                        renamed = true;
                    }
                }
                if (name_flushed || (renamed && name_kept)) named = on_disk;
                CAPTURE(n, static_cast<int>(kept), name_kept);
                CHECK((named == before || named == after));
                if (n == log.size()) CHECK(named == after);
                states.insert(named == before ? "before" : "after");
            }
        }
    }
    CHECK(states.size() == 2);
}

TEST_CASE("a checkpoint describes itself", "[io]") {
    Folder const folder;
    auto c = test::three_values();
    auto const id = save_checkpoint(c, folder / "x");
    CHECK(describe(folder / "x") == folder / "x: rowan checkpoint 1.0, 3 variables, 704 bytes, id " + detail::hex_text(id) +
                                        "\ng: SelectedRows<f32>[85, 2], 3 rows, 24 bytes"
                                        "\ns: LoDTensor<f32>[3, 1], 2 levels, 12 bytes"
                                        "\nw: Tensor<f32>[2, 2], 16 bytes");
    Checkpoint small;
    small.program = small_program();
    small.add("w", Tensor<test::own>::zeros({}));
    save_checkpoint(small, folder / "x");
    auto const text = describe(folder / "x");
    CHECK(text.find(": rowan checkpoint 1.0, 1 variable, 256 bytes, id ") != std::string::npos);
    CHECK(text.find("\na program of 47 bytes\nw: Tensor<own>[], 2 bytes") != std::string::npos);
}

}  // namespace test_checkpoint
