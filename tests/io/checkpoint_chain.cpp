// tests/io/checkpoint_chain.cpp: a checkpoint and deltas, which together equal a complete checkpoint.
#include <rowan/io/checkpoint_chain.hpp>
#include <rowan/sparse/touched_rows.hpp>

#include "checkpoint_files.hpp"
#include "reference.hpp"

#include <rowan/sparse/adagrad.hpp>

namespace test_checkpoint_chain {

namespace {

using namespace rowan;
using reference::same;
using test::FaultyFiles, test::Folder, test::refusal;

template <class V>
Checkpoint one(std::string name, V const& value) {
    Checkpoint c;
    c.add(std::move(name), value);
    return c;
}

}  // namespace

TEST_CASE("rows of deltas replace rows of the table", "[io][golden]") {
    Folder const folder;
    auto id = save_checkpoint(one("w", Tensor<float>{{1, 2}, {3, 4}, {5, 6}}), folder / "0");
    id = save_delta(one("w", SelectedRows<float>(3, {2, 0}, {{50, 60}, {10, 20}})), id, folder / "1");
    id = save_delta(one("w", SelectedRows<float>(3, {0}, {{11, 22}})), id, folder / "2");
    CheckpointChain const chain{folder / "0", folder / "1", folder / "2"};
    CHECK(chain.id() == id);
    CHECK(chain.load<Tensor<float>>("w") == Tensor<float>{{11, 22}, {3, 4}, {50, 60}});
    CHECK(CheckpointChain({folder / "0", folder / "1"}).load<Tensor<float>>("w") == Tensor<float>{{10, 20}, {3, 4}, {50, 60}});
    CHECK(CheckpointChain({folder / "0"}).load<Tensor<float>>("w") == Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    save_delta(one("w", Tensor<float>{{7, 8}, {9, 10}, {11, 12}}), id, folder / "3");  // all rows
    CHECK(CheckpointChain({folder / "0", folder / "1", folder / "2", folder / "3"}).load<Tensor<float>>("w") == Tensor<float>{{7, 8}, {9, 10}, {11, 12}});
    for (auto const load : {+[](std::string const& path) { static_cast<void>(load_checkpoint(path)); }, +[](std::string const& path) { static_cast<void>(load_checkpoint<SelectedRows<float>>(path, "w")); }}) {
        CHECK_THROWS_WITH(load(folder / "2"), folder / "2" + " is a delta: see CheckpointChain");
    }
    CHECK(describe(folder / "2").find(", delta to " + detail::hex_text(CheckpointFile(folder / "1").id())) != std::string::npos);
}

TEST_CASE("variables other than tensor rows are replaced as a whole, and can be new", "[io]") {
    Folder const folder;
    SelectedRows<float> const before(9, {4, 1}, {{1}, {2}}), after(9, {7}, {{3}});
    auto all = one("g", before);
    all.add("b", Tensor<double>{1, 2});
    all.add("kept", LoDTensor<float>(Tensor<float>{{1}, {2}, {3}}, Lod{{0, 2, 3}}));
    auto const id = save_checkpoint(all, folder / "0");
    auto changes = one("g", after);
    changes.add("b", Tensor<double>{3, 4, 5});
    changes.add("new", Tensor<std::int32_t>{6});
    changes.add("kept", SelectedRows<float>(3, {1}, {{20}}));
    changes.program.emplace().version.version = 5;
    save_delta(changes, id, folder / "1");
    CheckpointChain const chain{folder / "0", folder / "1"};
    CHECK(chain.names() == std::vector<std::string>{"b", "g", "kept", "new"});
    CHECK(chain.load<SelectedRows<float>>("g") == after);
    CHECK(chain.load<Tensor<double>>("b") == Tensor<double>{3, 4, 5});
    CHECK(chain.load<Tensor<std::int32_t>>("new") == Tensor<std::int32_t>{6});
    CHECK(chain.load<LoDTensor<float>>("kept") == LoDTensor<float>(Tensor<float>{{1}, {20}, {3}}, Lod{{0, 2, 3}}));
    CHECK(chain.program() == changes.program);
    CHECK(!CheckpointChain({folder / "0"}).program());

    auto const whole = save_checkpoint(chain.load(), folder / "whole");  // the chain as one file
    CHECK(CheckpointChain({folder / "whole"}).id() == whole);
    CHECK(load_checkpoint<SelectedRows<float>>(folder / "whole", "g") == after);
    CHECK(load_checkpoint<LoDTensor<float>>(folder / "whole", "kept") == chain.load<LoDTensor<float>>("kept"));
    CHECK(refusal<GraphError>([&] { chain.load("none"); }) == folder / "0 and its deltas have no variable \"none\"");
    CHECK(refusal<TypeError>([&] { chain.load<Tensor<float>>("kept"); }) == "kept is LoDTensor<f32>[3, 1], expected Tensor<f32>");
    CHECK(refusal<TypeError>([&] { chain.load<Tensor<float>>("b"); }) == "b is Tensor<f64>[3], expected Tensor<f32>");
}

TEST_CASE("training resumed from a chain has the bits of uninterrupted training", "[io]") {
    Folder const folder;
    constexpr std::int64_t height = 500;
    auto table = inputs::wild<float>({500, 3}, 1), moment = inputs::state<float>({500, 3}, 2);
    auto const step = [](Tensor<float>& t, Tensor<float>& m, std::uint64_t seed) {
        auto const g = inputs::gradient<float>(height, 20, {3}, seed);
        adagrad(t, m, g, {.learning_rate = 0.1});
        return g;
    };
    auto all = one("table", table);
    all.add("moment", moment);
    std::vector<std::string> files{folder / "0"};
    auto id = save_checkpoint(all, files[0]);
    TouchedRows touched(height);
    for (std::uint64_t k = 1; k <= 4; ++k) {
        for (std::uint64_t i = 0; i < 3; ++i) touched.add(step(table, moment, 10 * k + i).rows());
        Checkpoint changes;
        if (k % 2 == 0) {
            changes.add("table", touched.of(table));
        } else {  // from the tables alone
            auto const before = CheckpointChain(files).load<Tensor<float>>("table");
            auto const between = TouchedRows::between(before, table);
            CHECK(std::ranges::includes(touched.rows(), between.rows()));
            changes.add("table", between.of(table));
        }
        changes.add("moment", touched.of(moment));
        touched.clear();
        files.push_back(folder / std::to_string(k));
        id = save_delta(changes, id, files.back());
        CHECK(std::filesystem::file_size(files.back()) < std::filesystem::file_size(files[0]));
    }
    CheckpointChain const chain(files);
    CHECK(same(chain.load<Tensor<float>>("table"), table));
    CHECK(same(chain.load<Tensor<float>>("moment"), moment));
}

TEMPLATE_TEST_CASE("any chain is the loop that writes its rows", "[io][property]", float, test::own) {
    Folder const folder;
    using T = TestType;
    CHECK(rc::check([&] {
        auto const height = *rc::gen::inRange<std::size_t>(0, 6), width = *rc::gen::inRange<std::size_t>(0, 3);
        auto const fill = [](std::size_t rows, std::size_t columns) {
            auto t = Tensor<T>::from_shape({rows, columns});
            for (std::size_t i = 0; i < t.size() * sizeof(T); ++i)
                reinterpret_cast<std::uint8_t*>(t.data())[i] = *rc::gen::arbitrary<std::uint8_t>();
            return t;
        };
        auto table = fill(height, width);
        std::vector<std::string> files{folder / "0"};
        auto id = save_checkpoint(one("w", table), files[0]);
        for (int k = *rc::gen::inRange(0, 4); k != 0; --k) {
            files.push_back(folder / std::to_string(files.size()));
            inputs::Rows rows;
            if (height != 0) rows = *rc::gen::container<inputs::Rows>(rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(height)));
            SelectedRows<T> const g(height, rows, fill(rows.size(), width));
            for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(g.value().row(i), table.row(static_cast<std::size_t>(rows[i])).begin());
            id = save_delta(one("w", g), id, files.back());
        }
        RC_ASSERT(same(CheckpointChain(files).template load<Tensor<T>>("w"), table));
    }));
}

TEST_CASE("a delta is accepted only for its own base file", "[io][bad_input]") {
    Folder const folder;
    auto const zero = save_checkpoint(one("w", Tensor<float>{1, 2, 3}), folder / "0");
    auto const other = save_checkpoint(one("w", Tensor<float>{1, 2, 4}), folder / "other");
    auto const first = save_delta(one("w", SelectedRows<float>(3, {0}, {7})), zero, folder / "1");
    save_delta(one("w", SelectedRows<float>(3, {1}, {8})), first, folder / "2");
    auto const text = [&](std::vector<std::string> names) {
        for (auto& name : names) name = folder / name;
        return refusal<FormatError>([&] { CheckpointChain{std::span<std::string const>(names)}; });
    };
    CHECK(text({"0", "1", "2"}) == "");
    CHECK(text({"0", "2"}) == "byte 40: " + folder / "2 is a delta to " + detail::hex_text(first) + ", expected a delta to " + detail::hex_text(zero));
    CHECK(text({"other", "1"}) == "byte 40: " + folder / "1 is a delta to " + detail::hex_text(zero) + ", expected a delta to " + detail::hex_text(other));
    CHECK(text({"1", "2"}) == "byte 40: " + folder / "1 is a delta to " + detail::hex_text(zero) + ", expected no delta");
    CHECK(text({"0", "other"}) == "byte 40: " + folder / "other is no delta, expected a delta to " + detail::hex_text(zero));
    CHECK(text({"0", "1", "1"}) != "");
    CHECK_THROWS_AS(CheckpointChain{}, ShapeError);
    test::write(folder / "3", test::bytes_of("no checkpoint"));
    CHECK(text({"0", "1", "3"}).find(": " + folder / "3 is not a file of rowan") != std::string::npos);  // says which
    auto bytes = test::read(folder / "2");
    bytes[bytes.size() - 70] ^= std::byte{1};
    test::write(folder / "3", bytes);
    CHECK(refusal<FormatError>([&] { CheckpointChain({folder / "0", folder / "1", folder / "3"}).load("w"); }).find(": " + folder / "3: ") != std::string::npos);
    // A base that is saved again has another id, unless all bits are equal.
    save_checkpoint(one("w", Tensor<float>{1, 2, 3}), folder / "0");
    CHECK(text({"0", "1"}) == "");
    save_checkpoint(one("w", Tensor<float>{1, 2, 3.5F}), folder / "0");
    CHECK(text({"0", "1"}) != "");
}

TEST_CASE("rows that do not match the tensor throw", "[io][bad_input]") {
    Folder const folder;
    auto const id = save_checkpoint(one("w", Tensor<float>{{1, 2}, {3, 4}}), folder / "0");
    auto const text = [&](auto const& g) {
        save_delta(one("w", g), id, folder / "1");
        CheckpointChain const chain{folder / "0", folder / "1"};
        auto const reason = refusal<FormatError>([&] { chain.load("w"); });
        CHECK(reason == refusal<FormatError>([&] { chain.load<Tensor<float>>("w"); }));
        return reason;
    };
    std::string const start = "byte 0: " + folder / "1 has rows of SelectedRows<";
    CHECK(text(SelectedRows<float>(2, {1}, {{5, 6}})) == "");
    CHECK(text(SelectedRows<float>(1, {0}, {{5, 6}})) == start + "f32>[1, 2] \"w\", which is Tensor<f32>[2, 2]");
    CHECK(text(SelectedRows<float>(4, {1, 3, 3}, {{5, 6}, {7, 8}, {9, 9}})).ends_with("1 has 1 of the 2 rows that \"w\" has got"));
    CHECK(text(SelectedRows<float>(2, {1}, {{5}})) == start + "f32>[2, 1] \"w\", which is Tensor<f32>[2, 2]");
    CHECK(text(SelectedRows<float>(2, {1}, {5})) == start + "f32>[2] \"w\", which is Tensor<f32>[2, 2]");
    CHECK(text(SelectedRows<double>(2, {1}, {{5, 6}})) == start + "f64>[2, 2] \"w\", which is Tensor<f32>[2, 2]");
}

TEST_CASE("a delta that cannot be written leaves no file", "[io]") {
    Folder const folder;
    FaultyFiles::state = {.fail = 3};
    CHECK_THROWS_AS(save_delta<FaultyFiles>(Checkpoint(), 1, folder / "1"), IoError);
    CHECK(folder.files() == 0);
}

}  // namespace test_checkpoint_chain
