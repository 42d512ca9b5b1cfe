// tests/sparse/sparse_ids.cpp: ids outside [0, height), in every function that accepts ids. They were bugs in other
// libraries: negative ids (R1: CVE-2020-15212, R19, R20, R21), the id equal to the height (R22), ids far beyond it (R9:
// CVE-2022-35939, R15, R16, R18), and a bad id between valid ones, where a part was written (R11, R12).
#include "refused.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace test_sparse_ids {

namespace {

using rowan::Cpu, rowan::Ids, rowan::IndexError, rowan::SelectedRows, rowan::Tensor;
using test::refused, test::refusal;

struct Arguments {
    Arguments(std::int64_t h, std::size_t n, std::size_t width)
        : height(h), table(test::ramp<float>({static_cast<std::size_t>(h), width})), rows(test::ramp<float>({n, width})),
          out(Tensor<float>::zeros({n, width})), g(h, {0, h - 1, 0}, test::ramp<float>({3, width})) {}

    std::int64_t height;
    Tensor<float> table;
    Tensor<float> rows;
    Tensor<float> out;
    SelectedRows<float> g;
};

struct Call {
    char const* name;
    char const* field;
    std::function<void(Cpu, Ids<>, Arguments&)> run;
};

Call const calls[] = {
    {"SelectedRows", "rows", [](Cpu, Ids<> ids, Arguments& x) { SelectedRows<float>(x.height, ids, x.rows); }},
    {"RowPlan", "rows", [](Cpu exec, Ids<> ids, Arguments& x) { rowan::RowPlan<>(exec, ids, x.height); }},
    {"gather", "ids", [](Cpu exec, Ids<> ids, Arguments& x) { gather(exec, x.table, ids); }},
    {"gather_into", "ids", [](Cpu exec, Ids<> ids, Arguments& x) { gather_into(exec, x.table, ids, x.out); }},
    {"scatter_add", "ids", [](Cpu exec, Ids<> ids, Arguments& x) { scatter_add(exec, x.table, ids, x.rows); }},
    {"lookup_table_grad", "ids", [](Cpu exec, Ids<> ids, Arguments& x) { lookup_table_grad(exec, ids, x.rows, x.height); }},
    {"lookup_table_grad with padding", "ids",
     [](Cpu exec, Ids<> ids, Arguments& x) { lookup_table_grad(exec, ids, x.rows, x.height, 0); }},
    {"retain", "rows", [](Cpu exec, Ids<> ids, Arguments& x) { retain(exec, x.g, ids); }},
};

std::string text(char const* field, std::size_t position, std::int64_t value, std::int64_t height) {
    return field + ("[" + std::to_string(position)) + "] = " + std::to_string(value) + " is not in [0, " + std::to_string(height) + ")";
}

}  // namespace

TEMPLATE_TEST_CASE("R22: an id outside [0, height) throws at any position", "[bad_input]", std::int32_t, std::int64_t) {
    auto const height = GENERATE(std::int64_t{1}, std::int64_t{4});
    Arguments x(height, 5, 2);
    std::vector<TestType> ids(5, static_cast<TestType>(height - 1));
    ids[1] = 0;
    for (Call const& call : calls) {
        CAPTURE(call.name, height);
        for (std::size_t const position : std::vector<std::size_t>{0, 2, 4}) {
            for (std::int64_t const bad : {std::int64_t{-1}, height, height + 1, std::int64_t{std::numeric_limits<TestType>::min()},
                                           std::int64_t{std::numeric_limits<TestType>::max()}}) {
                auto wrong = ids;
                wrong[position] = static_cast<TestType>(bad);
                auto const error = refused<IndexError>([&](Cpu exec) { call.run(exec, wrong, x); }, x.table, x.rows, x.out, x.g, wrong);
                CHECK(error.what() == text(call.field, position, bad, height));
                CHECK(error.field() == call.field);
                CHECK(error.position() == position);
                CHECK(error.value() == bad);
                CHECK(error.bound() == height);
            }
        }
        CHECK_NOTHROW(call.run(Cpu{}, ids, x));
    }
}

TEMPLATE_TEST_CASE("of several bad ids, the error names the first, on any number of threads", "[bad_input]", std::int32_t,
                   std::int64_t) {
    std::size_t const n = 300'000;
    Arguments x(1000, n, 1);
    std::vector<TestType> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<TestType>(i * 7919 % 1000);
    using list = std::vector<std::size_t>;
    for (auto const& bad : {list{n - 1}, list{65'535, 65'536, n - 1}, list{200'000, 131'072, 199'999}, list{0, 70'000}}) {
        auto wrong = ids;
        for (std::size_t const position : bad) wrong[position] = static_cast<TestType>(position % 2 == 0 ? -5 : 1000);
        std::size_t const lowest = *std::ranges::min_element(bad);
        for (Call const& call : calls) {
            CAPTURE(call.name);
            CHECK(refusal<IndexError>([&](Cpu exec) { call.run(exec, wrong, x); }, x.table, x.out) ==
                  text(call.field, lowest, wrong[lowest], 1000));
        }
    }
}

TEST_CASE("ids are compared with any height", "[bad_input]") {
    auto const height = GENERATE(std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max());
    auto const value = test::ramp<float>({3, 2});
    SelectedRows<float> const g(height, {height - 1, 0, height - 1}, value);
    CHECK(rowan::merge(g).rows()[1] == height - 1);
    std::function<void(Cpu, Ids<>)> const each[] = {
        [&](Cpu, Ids<> ids) { SelectedRows<float>(height, ids, value); },
        [&](Cpu exec, Ids<> ids) { rowan::RowPlan<>(exec, ids, height); },
        [&](Cpu exec, Ids<> ids) { lookup_table_grad(exec, ids, value, height); },
        [&](Cpu exec, Ids<> ids) { retain(exec, g, ids); },
    };
    for (auto const& call : each) {
        for (std::int64_t const bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), height}) {
            if (bad == std::numeric_limits<std::int64_t>::max()) continue;
            auto const error = refused<IndexError>([&](Cpu exec) { call(exec, {height - 1, bad, bad}); }, g, value);
            CHECK(error.position() == 1);
            CHECK(error.value() == bad);
            CHECK(error.bound() == height);
        }
        CHECK_NOTHROW(call(Cpu{}, {height - 1, 0, height - 1}));
    }
}

TEST_CASE("a table of height 0 accepts no id", "[bad_input]") {
    auto const table = Tensor<float>::zeros({0, 2});
    CHECK(refusal<IndexError>([&](Cpu exec) { gather(exec, table, {0}); }, table) == "ids[0] = 0 is not in [0, 0)");
    CHECK(refusal<IndexError>([&](Cpu) { SelectedRows<float>(0, {0}, Tensor<float>::zeros({1, 2})); }) == "rows[0] = 0 is not in [0, 0)");
    CHECK(refusal<IndexError>([&](Cpu exec) { lookup_table_grad(exec, {}, Tensor<float>::zeros({0, 2}), 0, 0); }) ==
          "padding_id = 0 is not in [0, 0)");
    CHECK(rowan::gather(table, {}).shape() == Tensor<float>::shape_type{0, 2});
}

}  // namespace test_sparse_ids
