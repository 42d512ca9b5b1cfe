// tests/dtypes/every_algorithm.cpp: a fixed-point type and a dual number in tensors, gradients and all algorithms,
// compared with plain loops.
#include "own_types.hpp"
#include "refused.hpp"

#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/argsort.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/shape/one_hot.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/matrix/row_dot.hpp>
#include <rowan/op/sequence/sequence_scatter.hpp>
#include <rowan/op/sequence/sequence_top_k_mean.hpp>
#include <rowan/op/reduce/top_k.hpp>
#include <rowan/op/shape/transpose.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <map>

namespace test_every_algorithm {

namespace {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;
using test::dual, test::fixed, test::times;

template <class T>
using sum_of = typename rowan::dtype<T>::sum;

template <class T>
T number(int i) {
    sum_of<T> x(((i * 37) % 101 - 50) / 8.0);
    if constexpr (std::is_same_v<T, dual>) x.d = (i * 13 % 29 - 14) / 4.0;
    return rowan::dtype<T>::narrow(x);
}

template <class T>
Tensor<T> numbers(typename Tensor<T>::shape_type const& shape, int first) {
    auto t = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = number<T>(first + static_cast<int>(i));
    return t;
}

/// Squares of numbers plus 1/2, which have square roots.
template <class T>
Tensor<T> positives(typename Tensor<T>::shape_type const& shape, int first) {
    auto t = numbers<T>(shape, first);
    for (T& x : t) {
        auto const s = rowan::dtype<T>::widen(x);
        x = rowan::dtype<T>::narrow(s * s + sum_of<T>(0.5));
    }
    return t;
}

/// 40 rows over a height of 8, with many duplicates, of 21 numbers each.
template <class T>
struct Case {
    static constexpr std::size_t height = 8, rows = 40, width = 21;
    std::vector<std::int32_t> ids;
    Tensor<T> table = numbers<T>({height, 3, 7}, 5);
    Tensor<T> value = numbers<T>({rows, 3, 7}, 77);
    SelectedRows<T> g;
    std::map<std::size_t, std::vector<sum_of<T>>> sums;  // of each row, in input order

    Case() {
        for (std::size_t i = 0; i < rows; ++i) ids.push_back(static_cast<std::int32_t>(i * i % 7));
        g = SelectedRows<T>(height, ids, value);
        for (std::size_t i = 0; i < rows; ++i) {
            auto [at, first] = sums.try_emplace(static_cast<std::size_t>(ids[i]));
            for (std::size_t k = 0; k < width; ++k) {
                auto const x = rowan::dtype<T>::widen(value.row(i)[k]);
                if (first) at->second.push_back(x);
                else at->second[k] = at->second[k] + x;
            }
        }
    }

    Tensor<T> dense() const {
        auto t = numbers<T>({height, 3, 7}, 0);
        for (std::size_t i = 0; i < height; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                t.row(i)[k] = rowan::dtype<T>::narrow(sums.contains(i) ? sums.at(i)[k] : sum_of<T>(0.0));
            }
        }
        return t;
    }
};

/// Compares the three forms of `step(param, states..., grad)` with `formula(g, p, s...)` on each summed element.
template <class T, std::size_t states, class Sparse, class Planned, class Formula>
void check_optimizer(Sparse const& step, Planned const& planned, Formula const& formula) {
    using D = rowan::dtype<T>;
    Case<T> const c;
    std::array<Tensor<T>, states + 1> start{c.table};
    for (std::size_t s = 1; s <= states; ++s) start[s] = positives<T>({8, 3, 7}, 200 * static_cast<int>(s));
    if constexpr (states == 3) {  // the squared mean is small compared with the mean of squares
        for (T& x : start[2] = numbers<T>({8, 3, 7}, 400)) x = D::narrow(D::widen(x) / sum_of<T>(16.0));
    }
    auto want = start;
    auto const update = [&](std::array<Tensor<T>, states + 1>& x, std::size_t row, std::vector<sum_of<T>> const& sum) {
        for (std::size_t k = 0; k < c.width; ++k) {
            std::array<sum_of<T>, states + 1> wide;
            for (std::size_t s = 0; s <= states; ++s) wide[s] = D::widen(x[s].row(row)[k]);
            std::apply([&](auto&... each) { formula(sum[k], each...); }, wide);
            for (std::size_t s = 0; s <= states; ++s) x[s].row(row)[k] = D::narrow(wide[s]);
        }
    };
    for (auto const& [row, sum] : c.sums) update(want, row, sum);

    for (int const threads : {1, 2}) {
        auto got = start;
        std::apply([&](auto&... x) { step(Cpu{threads}, x..., c.g); }, got);
        CHECK((got == want));
        got = start;
        std::apply([&](auto&... x) { planned(Cpu{threads}, RowPlan<>(c.g), x..., c.value); }, got);
        CHECK((got == want));
    }

    auto const dense = c.dense();
    auto got = start;
    want = start;
    for (std::size_t i = 0; i < c.height; ++i) {
        std::vector<sum_of<T>> row;
        for (T const& x : dense.row(i)) row.push_back(D::widen(x));
        update(want, i, row);
    }
    std::apply([&](auto&... x) { step(Cpu{2}, x..., dense); }, got);
    CHECK((got == want));
}

#define STEP(name, ...) [](Cpu e, auto&&... x) { name(e, x... __VA_OPT__(, ) __VA_ARGS__); }

}  // namespace

TEMPLATE_TEST_CASE("containers hold a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    Tensor<T> t{{1, 2}, {0.5, -3}};
    CHECK(t(1, 0) == rowan::dtype<T>::narrow(sum_of<T>(0.5)));
    CHECK(Tensor<T>::full({2}, number<T>(3))(1) == number<T>(3));
    CHECK(Tensor<T>::zeros({2, 2}).size() == 4);
    Tensor<T> copy = t;
    CHECK(copy == t);
    t.share()(0, 0) = number<T>(9);
    CHECK(t(0, 0) == number<T>(9));
    CHECK(!(copy == t));
    CHECK(t.slice(1, 2) == Tensor<T>{{0.5, -3}});

    SelectedRows<T> g(3, {2, 0}, std::move(copy));
    CHECK(g.value()(0, 1) == rowan::dtype<T>::narrow(sum_of<T>(2.0)));
    CHECK(SelectedRows<T>(g) == g);
}

TEMPLATE_TEST_CASE("gather, scatter, merge and split work on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using D = rowan::dtype<T>;
    Case<T> const c;
    auto const gathered = rowan::gather(c.table, c.ids);
    bool same = true;
    for (std::size_t i = 0; i < c.rows; ++i) same &= std::ranges::equal(gathered.row(i), c.table.row(static_cast<std::size_t>(c.ids[i])));
    CHECK(same);
    CHECK(rowan::lookup_table_grad(c.ids, c.value, 8) == c.g);
    auto out = Tensor<T>::zeros(c.value.shape());
    rowan::gather_into(c.table, c.ids, out);
    CHECK(out == gathered);

    auto want = c.table;
    for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t k = 0; k < c.width; ++k) {
            T& to = want.row(static_cast<std::size_t>(c.ids[i]))[k];
            to = D::narrow(D::widen(to) + D::widen(c.value.row(i)[k]));
        }
    }
    auto got = c.table;
    rowan::scatter_add(got, c.g);
    CHECK(got == want);
    got = c.table;
    rowan::scatter_add(Cpu{2}, got, c.ids, c.value);
    CHECK(got == want);
    CHECK(rowan::add(c.table, c.g) == want);

    auto const merged = rowan::merge(c.g);
    CHECK(merged.rows().size() == c.sums.size());
    CHECK(rowan::to_dense(merged) == c.dense());
    CHECK(rowan::merge(RowPlan<>(c.g), c.value) == merged);
    CHECK(rowan::merge(merged) == merged);
    CHECK(rowan::to_dense(rowan::add(c.g, merged)) != rowan::to_dense(merged));

    CHECK(rowan::retain(c.g, {0}).rows().size() == static_cast<std::size_t>(std::ranges::count(c.ids, 0)));
    auto const parts = rowan::split(c.g, {1, 7});
    CHECK(parts[0].value() == rowan::retain(c.g, {0}).value());
    CHECK(rowan::from_dense(c.dense()) == merged);
    CHECK(rowan::from_dense(c.dense(), 1e6).rows().empty());
}

TEMPLATE_TEST_CASE("scale and norms work on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using D = rowan::dtype<T>;
    Case<T> const c;
    auto const scaled = rowan::scale(c.g, 0.3);
    bool same = true;
    for (std::size_t i = 0; i < c.value.size(); ++i) {
        same &= scaled.value().data()[i] == D::narrow(times(D::widen(c.value.data()[i]), sum_of<T>(0.3)));
    }
    CHECK(same);

    std::vector<sum_of<T>> rows;
    for (auto const& [row, sum] : c.sums) {
        std::array<sum_of<T>, 16> part{};
        for (std::size_t k = 0; k < c.width; ++k) part[k % 16] = part[k % 16] + times(sum[k], sum[k]);
        for (std::size_t half = 8; half != 0; half /= 2) {
            for (std::size_t k = 0; k < half; ++k) part[k] = part[k] + part[k + half];
        }
        rows.push_back(part[0]);
    }
    auto norm = rows[0];
    for (std::size_t k = 1; k < rows.size(); ++k) norm = norm + rows[k];
    CHECK(rowan::squared_norm(c.g) == norm);
    CHECK(rowan::squared_norm(Cpu{2}, RowPlan<>(c.g), c.value) == norm);
}

TEMPLATE_TEST_CASE("reductions, extrema, running sums and products of batches work on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    auto const of = [](auto... x) { return Tensor<T>::from_values({sizeof...(x)}, std::vector<T>{rowan::dtype<T>::narrow(sum_of<T>(x))...}); };
    auto const x = of(1.5, -2.0, 3.0, 0.0, 3.0, 2.0).reshaped({2, 3}), ones = of(1.0, 1.0);
    rowan::ReduceOptions const rows{.axes = {1}};
    CHECK(rowan::reduce_sum(x, rows) == of(2.5, 5.0));
    CHECK(rowan::reduce_mean(of(2.0, 4.0), {}) == of(3.0).reshaped({}));
    CHECK(rowan::reduce_max(x, rows) == of(3.0, 3.0));
    CHECK(rowan::reduce_min(x, rows) == of(-2.0, 0.0));
    CHECK(rowan::reduce_prod(x, rows) == of(-9.0, 0.0));
    CHECK(rowan::reduce_max_op::backward(Cpu{}, x, rowan::reduce_max(x), of(4.0).reshaped({}), {}) == of(0.0, 0.0, 2.0, 0.0, 2.0, 0.0).reshaped({2, 3}));
    CHECK(rowan::reduce_prod_op::backward(Cpu{}, x, ones, rows) == of(-6.0, 4.5, -3.0, 6.0, 0.0, 0.0).reshaped({2, 3}));
    CHECK((rowan::argmax(x) == Tensor<std::int64_t>{2, 1}));
    CHECK((rowan::argsort(x) == Tensor<std::int64_t>{{1, 0, 2}, {0, 2, 1}}));
    CHECK(std::get<0>(rowan::top_k(x, {.k = 2})) == of(3.0, 1.5, 3.0, 2.0).reshaped({2, 2}));
    LoDTensor<std::int64_t> const places({2, 2, 0}, Lod{{0, 2, 3}});
    CHECK(rowan::sequence_scatter(LoDTensor<T>(x), places, of(1.0, 0.5, 2.0)).value() == of(1.5, -2.0, 4.5, 2.0, 3.0, 2.0).reshaped({2, 3}));
    CHECK(rowan::sequence_top_k_mean(LoDTensor<T>(x, Lod{{0, 2}}), {.ks = {2}}).value() == of(0.75, 0.5, 2.5).reshaped({1, 3}));
    CHECK(rowan::cumsum(x) == of(1.5, -0.5, 2.5, 0.0, 3.0, 5.0).reshaped({2, 3}));
    CHECK(rowan::sign(x) == of(1.0, -1.0, 1.0, 0.0, 1.0, 1.0).reshaped({2, 3}));
    CHECK(rowan::floor(of(1.5, -0.5)) == of(1.0, -1.0));
    CHECK(rowan::ceil(of(1.5, -1.5)) == of(2.0, -1.0));
    CHECK(rowan::round(of(1.5, 2.5, -0.75, 3.25)) == of(2.0, 2.0, -1.0, 3.0));
    CHECK(rowan::sin(of(0.0, 0.0)) == of(0.0, 0.0));
    CHECK(rowan::cos(of(0.0)) == of(1.0));
    CHECK(rowan::one_hot<T>(Tensor<std::int64_t>{1}, {.depth = 2}) == of(0.0, 1.0).reshaped({1, 2}));
    CHECK(rowan::row_dot(x, x) == of(15.25, 13.0).reshaped({2, 1}));
    CHECK(rowan::matmul(x.reshaped({2, 1, 3}), x.reshaped({2, 3, 1})) == of(15.25, 13.0).reshaped({2, 1, 1}));
    CHECK(rowan::transpose(x) == of(1.5, 0.0, -2.0, 3.0, 3.0, 2.0).reshaped({3, 2}));
}

TEMPLATE_TEST_CASE("sgd and adagrad work on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using S = sum_of<T>;
    Case<T> const c;
    auto want = c.table;
    for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t k = 0; k < c.width; ++k) {
            T& p = want.row(static_cast<std::size_t>(c.ids[i]))[k];
            auto const step = times(S(0.3), rowan::dtype<T>::widen(c.value.row(i)[k]));
            p = rowan::dtype<T>::narrow(rowan::dtype<T>::widen(p) - step);
        }
    }
    auto got = c.table;
    rowan::sgd(got, c.g, 0.3);
    CHECK(got == want);

    want = c.table;  // planned: the sums
    for (auto const& [row, sum] : c.sums) {
        for (std::size_t k = 0; k < c.width; ++k) {
            T& p = want.row(row)[k];
            p = rowan::dtype<T>::narrow(rowan::dtype<T>::widen(p) - times(S(0.3), sum[k]));
        }
    }
    got = c.table;
    rowan::sgd(Cpu{2}, RowPlan<>(c.g), got, c.value, 0.3);
    CHECK(got == want);

    auto const dense = c.dense();
    want = c.table;
    for (std::size_t i = 0; i < want.size(); ++i) {
        T& p = want.data()[i];
        p = rowan::dtype<T>::narrow(rowan::dtype<T>::widen(p) - times(S(0.3), rowan::dtype<T>::widen(dense.data()[i])));
    }
    got = c.table;
    rowan::sgd(Cpu{2}, got, dense, 0.3);
    CHECK(got == want);
    check_optimizer<T, 1>(STEP(rowan::adagrad, {.learning_rate = 0.3}), STEP(rowan::adagrad, {.learning_rate = 0.3}), [](S g, S& p, S& m) {
        using std::sqrt;
        m = m + times(g, g);
        p = p - times(S(0.3), g) / (sqrt(m) + S(1e-6));
    });
}

TEMPLATE_TEST_CASE("row-wise adagrad works on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using S = sum_of<T>;
    using D = rowan::dtype<T>;
    using std::sqrt;
    Case<T> const c;
    auto const start = positives<T>({8}, 3);
    auto want = c.table, want_moment = start;
    auto const update = [&](std::size_t row, std::vector<S> const& sum) {
        std::array<S, 16> part{};
        for (std::size_t k = 0; k < c.width; ++k) part[k % 16] = part[k % 16] + times(sum[k], sum[k]);
        for (std::size_t half = 8; half != 0; half /= 2) {
            for (std::size_t k = 0; k < half; ++k) part[k] = part[k] + part[k + half];
        }
        S const m = D::widen(want_moment(row)) + part[0] / S(21.0);
        want_moment(row) = D::narrow(m);
        for (std::size_t k = 0; k < c.width; ++k) {
            T& p = want.row(row)[k];
            p = D::narrow(D::widen(p) - times(S(0.3), sum[k]) / (sqrt(m) + S(1e-6)));
        }
    };
    auto const check = [&](auto const& step) {
        auto got = c.table, moment = start;
        step(got, moment);
        CHECK(got == want);
        CHECK(moment == want_moment);
    };
    for (auto const& [row, sum] : c.sums) update(row, sum);
    check([&](auto& p, auto& m) { rowan::rowwise_adagrad(p, m, c.g, {.learning_rate = 0.3}); });
    check([&](auto& p, auto& m) { rowan::rowwise_adagrad(Cpu{2}, RowPlan<>(c.g), p, m, c.value, {.learning_rate = 0.3}); });

    auto const dense = c.dense();
    want = c.table;
    want_moment = start;
    for (std::size_t i = 0; i < c.height; ++i) {
        std::vector<S> row;
        for (T const& x : dense.row(i)) row.push_back(D::widen(x));
        update(i, row);
    }
    check([&](auto& p, auto& m) { rowan::rowwise_adagrad(Cpu{2}, p, m, dense, {.learning_rate = 0.3}); });
}

TEMPLATE_TEST_CASE("lamb works on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using S = sum_of<T>;
    using D = rowan::dtype<T>;
    using std::sqrt;
    Case<T> const c;
    auto const before = positives<T>({8, 3, 7}, 3);
    auto const check = [&](Tensor<T> const& dense, auto const& step) {
        auto want = c.table, m = before, v = before;
        std::vector<S> r;
        double of_param = 0, of_r = 0;
        auto const squared = [](S x) { return static_cast<double>(x) * static_cast<double>(x); };
        for (std::size_t i = 0; i < want.size(); ++i) {
            S const g = D::widen(dense.data()[i]), p = D::widen(want.data()[i]);
            S const next = times(S(0.9), D::widen(m.data()[i])) + times(S(1 - 0.9), g);
            S const square = times(S(0.999), D::widen(v.data()[i])) + times(S(1 - 0.999), times(g, g));
            m.data()[i] = D::narrow(next);
            v.data()[i] = D::narrow(square);
            S const root = sqrt(square / S(1 - 0.999 * (0.999 * 0.999))) + S(1e-6);
            r.push_back(next / S(1 - 0.9 * (0.9 * 0.9)) / root + times(S(0.01), p));
            of_param += squared(p);
            of_r += squared(r.back());
        }
        auto got = c.table, moment1 = before, moment2 = before;
        step(got, moment1, moment2);
        CHECK((moment1 == m && moment2 == v));
        for (std::size_t i = 0; i < want.size(); ++i) {
            double const p = static_cast<double>(D::widen(want.data()[i])) - 0.3 * std::sqrt(of_param / of_r) * static_cast<double>(r[i]);
            CHECK(std::abs(static_cast<double>(D::widen(got.data()[i])) - p) < 1e-4);  // the norms are sums of another order
        }
    };
    auto const dense = c.dense();
    rowan::LambOptions const options{.learning_rate = 0.3, .step = 3};
    check(dense, [&](auto&... x) { rowan::lamb(x..., dense, options); });
    check(dense, [&](auto&... x) { rowan::lamb(Cpu{2}, x..., dense, options); });
    check(rowan::to_dense(c.g), [&](auto&... x) { rowan::lamb(x..., c.g, options); });
    check(rowan::to_dense(c.g), [&](auto&... x) { rowan::lamb(Cpu{2}, RowPlan<>(c.g), x..., c.value, options); });
}

TEMPLATE_TEST_CASE("momentum, adam, adamax, adadelta, rmsprop and ftrl work on a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using S = sum_of<T>;
    using std::pow, std::sqrt;
    check_optimizer<T, 1>(STEP(rowan::momentum, {.learning_rate = 0.3, .nesterov = true, .weight_decay = 0.1}),
                          STEP(rowan::momentum, {.learning_rate = 0.3, .nesterov = true, .weight_decay = 0.1}), [](S g, S& p, S& v) {
        g = g + times(S(0.1), p);
        v = times(S(0.9), v) + g;
        p = p - times(S(0.3), g + times(S(0.9), v));
    });
    check_optimizer<T, 2>(STEP(rowan::adam, {.learning_rate = 0.3, .step = 3}), STEP(rowan::adam, {.learning_rate = 0.3, .step = 3}),
                          [](S g, S& p, S& m, S& v) {
        m = times(S(0.9), m) + times(S(1 - 0.9), g);
        v = times(S(0.999), v) + times(S(1 - 0.999), times(g, g));
        S const mean = m / S(1 - 0.9 * (0.9 * 0.9));
        S const root = sqrt(v / S(1 - 0.999 * (0.999 * 0.999))) + S(1e-8);
        p = p - times(S(0.3), mean) / root;
    });
    check_optimizer<T, 2>(STEP(rowan::adamax, {.learning_rate = 0.3, .step = 3}), STEP(rowan::adamax, {.learning_rate = 0.3, .step = 3}),
                          [](S g, S& p, S& m, S& u) {
        m = times(S(0.9), m) + times(S(1 - 0.9), g);
        S const size = (g > S(0) ? g : S(0) - g) + S(1e-8), before = times(S(0.999), u);
        u = size > before ? size : before;
        p = p - times(S(0.3 / (1 - 0.9 * (0.9 * 0.9))), m / u);
    });
    check_optimizer<T, 2>(STEP(rowan::adadelta, {.epsilon = 0.1}), STEP(rowan::adadelta, {.epsilon = 0.1}), [](S g, S& p, S& s, S& d) {
        s = times(S(0.9), s) + times(S(1 - 0.9), times(g, g));
        S const step = times(sqrt(d + S(0.1)) / sqrt(s + S(0.1)), g);
        d = times(S(0.9), d) + times(S(1 - 0.9), times(step, step));
        p = p - times(S(1), step);
    });
    auto const rms = [](S g, S variance, S& p, S& v) {
        v = times(S(0.5), v) + times(S(0.3), g) / sqrt(variance + S(1e-6));
        p = p - v;
    };
    check_optimizer<T, 2>(STEP(rowan::rmsprop, {.learning_rate = 0.3, .momentum = 0.5}), STEP(rowan::rmsprop, {.learning_rate = 0.3, .momentum = 0.5}),
                          [=](S g, S& p, S& ms, S& v) {
        ms = times(S(0.9), ms) + times(S(1 - 0.9), times(g, g));
        rms(g, ms, p, v);
    });
    check_optimizer<T, 3>(STEP(rowan::rmsprop, {.learning_rate = 0.3, .momentum = 0.5}), STEP(rowan::rmsprop, {.learning_rate = 0.3, .momentum = 0.5}),
                          [=](S g, S& p, S& ms, S& mg, S& v) {
        ms = times(S(0.9), ms) + times(S(1 - 0.9), times(g, g));
        mg = times(S(0.9), mg) + times(S(1 - 0.9), g);
        rms(g, ms - times(mg, mg), p, v);
    });
    for (double const power : {-0.5, -0.75}) {
        rowan::FtrlOptions const options{.learning_rate = 0.3, .l1 = 0.2, .l2 = 0.1, .lr_power = power};
        auto const step = [=](Cpu e, auto&&... x) { rowan::ftrl(e, x..., options); };
        check_optimizer<T, 2>(step, step, [=](S g, S& p, S& s, S& l) {
            auto const grown = [&](S x) { return power == -0.5 ? sqrt(x) : S(pow(x, S(-power))); };
            S const n = s + times(g, g), l1 = S(0.2 + 1e-10), zero = S(0.0);
            l = l + g - times((grown(n) - grown(s)) / S(0.3), p);
            S const y = grown(n) / S(0.3) + S(2 * (0.1 + 1e-10));
            p = (l > zero ? l : zero - l) > l1 ? (l > zero ? l1 - l : zero - l1 - l) / y : zero;
            s = n;
        });
    }
}

TEMPLATE_TEST_CASE("a custom rule gets the sums of a custom element type", "[dtypes]", fixed, dual) {
    using T = TestType;
    using S = sum_of<T>;
    auto const rule = [](std::span<S const> g, std::span<T> p) {
        for (std::size_t k = 0; k < g.size(); ++k) p[k] = rowan::dtype<T>::narrow(g[k]);
    };
    auto const step = [&](Cpu e, auto& p, auto const& grad) { update_rows(e, grad, rule, p); };
    auto const planned = [&](Cpu e, auto const& plan, auto& p, auto const& value) { update_rows(e, plan, value, rule, p); };
    check_optimizer<T, 0>(step, planned, [](S g, S& p) { p = g; });
}

TEST_CASE("a table, a state and a gradient can have different custom types", "[dtypes]") {
    Tensor<fixed> param{{1, 2}, {3, 4}};
    Tensor<double> moment{{0, 0}, {0, 0}};
    rowan::adagrad(param, moment, SelectedRows<float>(2, {1, 1}, {{1, 2}, {2, 2}}), {.learning_rate = 1.0, .epsilon = 0.0});
    CHECK(param == Tensor<fixed>{{1, 2}, {2, 3}});
    CHECK(moment == Tensor<double>{{0, 0}, {9, 16}});
}

TEST_CASE("an optimizer differentiates itself on dual numbers", "[dtypes]") {
    double const g = 0.25, epsilon = 0.125, rate = 0.5;
    Tensor<dual> param{{3}};
    Tensor<dual> moment{{0}};
    auto const value = Tensor<dual>::full({1, 1}, dual(g, 1));  // the derivative is by g
    rowan::adagrad(param, moment, SelectedRows<dual>(1, {0}, value), {.learning_rate = rate, .epsilon = epsilon});
    CHECK(param(0, 0).v == 3 - rate * g / (g + epsilon));
    CHECK(param(0, 0).d == Approx(-rate * epsilon / ((g + epsilon) * (g + epsilon))));
    CHECK(moment(0, 0) == dual(g * g, 2 * g));
}

}  // namespace test_every_algorithm
