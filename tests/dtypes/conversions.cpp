// tests/dtypes/conversions.cpp: each value is widened when it is read and narrowed once when it is stored.
#include "own_types.hpp"
#include "refused.hpp"

#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

namespace test_conversions {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor;
using test::counting;

constexpr std::size_t rows = 700, unique = 9, height = 40, width = 16;  // whole registers of any instruction set

struct Arguments {
    SelectedRows<counting> g;
    Tensor<counting> table = Tensor<counting>::full({height, width}, {1});
    Tensor<counting> state = Tensor<counting>::full({height, width}, {2});
    Tensor<counting> per_row = Tensor<counting>::full({height}, {2});

    Arguments() {
        std::vector<std::int64_t> ids(rows);
        for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<std::int64_t>(i < unique ? i * 4 : 12);
        g = SelectedRows<counting>(height, ids, Tensor<counting>::full({rows, width}, {0.5F}));
    }
};

struct Counts {
    std::size_t widened, narrowed;
    friend bool operator==(Counts, Counts) = default;
    friend std::ostream& operator<<(std::ostream& out, Counts c) { return out << c.widened << " widened, " << c.narrowed << " narrowed"; }
};

template <class Call>
Counts counts(Call const& call) {
    Arguments x;
    counting::widened = 0;
    counting::narrowed = 0;
    call(x);
    return {counting::widened, counting::narrowed};
}

}  // namespace

TEST_CASE("sums of duplicates are narrowed once per stored element", "[dtypes]") {
    CHECK(counts([](Arguments& x) { merge(x.g); }) == Counts{rows * width, unique * width});
    CHECK(counts([](Arguments& x) { adagrad(x.table, x.state, x.g, {}); }) == Counts{(rows + 2 * unique) * width, 2 * unique * width});
    CHECK(counts([](Arguments& x) { momentum(x.table, x.state, x.g, {}); }) == Counts{(rows + 2 * unique) * width, 2 * unique * width});
    CHECK(counts([](Arguments& x) { rowwise_adagrad(x.table, x.per_row, x.g, {}); }) ==
          Counts{(rows + unique) * width + unique, unique * width + unique});
    CHECK(counts([](Arguments& x) { squared_norm(x.g); }) == Counts{rows * width, 0});
}

TEST_CASE("functions that add row by row narrow once per added row", "[dtypes]") {
    CHECK(counts([](Arguments& x) { scatter_add(x.table, x.g); }) == Counts{2 * rows * width, rows * width});
    CHECK(counts([](Arguments& x) { sgd(x.table, x.g, 0.5); }) == Counts{2 * rows * width, rows * width});
    CHECK(counts([](Arguments& x) { scale(x.g, 0.5); }) == Counts{rows * width, rows * width});
}

TEST_CASE("functions that only move rows convert nothing", "[dtypes]") {
    CHECK(counts([](Arguments& x) {
        rowan::gather(x.table, x.g.rows());
        rowan::lookup_table_grad(x.g.rows(), x.g.value(), height, 12);
        rowan::add(x.g, x.g);
        rowan::retain(x.g, {12});
        rowan::split(x.g, {4, height - 4});
        rowan::RowPlan<> const plan(x.g);
    }) == Counts{0, 0});
}

}  // namespace test_conversions
