// tests/op/sequence_attention.cpp: the attention of ragged sequences against PyTorch, and its gradients.
#include <rowan/op/sequence/sequence_attention.hpp>

#include "check_gradients.hpp"

#include <rowan/core/bfloat16.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

namespace test_sequence_attention {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_attention, rowan::sequence_attention_op, rowan::SequenceAttentionOptions, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK;

static_assert(sequence_attention_op::infer(tensor_spec<float>({UNK, 4}, 2), tensor_spec<float>({UNK, 4}, 1), tensor_spec<float>({UNK, 6}), {2}) == tensor_spec<float>({UNK, 6}, 2));

LoDTensor<double> batch(std::size_t width, Lod const& lod, std::uint64_t seed) { return {test::values({static_cast<std::size_t>(lod.rows()), width}, seed), lod}; }

/// Attention by its formula, query by query.
Tensor<double> slow_attention(LoDTensor<double> const& query, LoDTensor<double> const& key, Tensor<double> const& value, std::size_t heads, bool causal) {
    auto const queries = query.lod()[query.lod().levels() - 1], keys = key.lod()[key.lod().levels() - 1];
    std::size_t const d = query.shape()[1] / heads, e = value.shape()[1] / heads;
    auto out = Tensor<double>::zeros({query.shape()[0], value.shape()[1]});
    for (std::size_t s = 0; s + 1 < queries.size(); ++s) {
        for (auto q = queries[s]; q < queries[s + 1]; ++q) {
            for (std::size_t h = 0; h < heads; ++h) {
                double total = 0;
                for (auto k = keys[s]; k < keys[s + 1] && (!causal || k - keys[s] <= q - queries[s]); ++k) {
                    double score = 0;
                    for (std::size_t c = h * d; c < (h + 1) * d; ++c) score += query.value()(q, c) * key.value()(k, c);
                    double const w = std::exp(score / std::sqrt(static_cast<double>(d)));
                    total += w;
                    for (std::size_t c = h * e; c < (h + 1) * e; ++c) out(q, c) += w * value(k, c);
                }
                for (std::size_t c = h * e; total > 0 && c < (h + 1) * e; ++c) out(q, c) /= total;
            }
        }
    }
    return out;
}

void check_near(Tensor<double> const& a, Tensor<double> const& b, double tolerance = 1e-13) {
    REQUIRE(a.shape() == b.shape());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a.data()[i] - b.data()[i]) <= tolerance);
}

TEST_CASE("sequence_attention has the values and gradients of PyTorch's scaled_dot_product_attention", "[op][golden]") {
    LoDTensor<double> const query({{1, 2}, {0.5, -1}, {3, 0}}, Lod{{0, 2, 3}}), key({{1, 0}, {-1, 1}, {0.25, 2}, {2, -2}}, Lod{{0, 3, 4}});
    Tensor<double> const value{{1, 2, 3, 4}, {-1, 0.5, 2, 0}, {4, 1, -2, 1}, {0, 3, 1, -1}}, grad{{1, -1, 2, 0.5}, {0.25, 1, -1, 2}, {1, 2, 3, 4}};
    auto const out = sequence_attention(query, key, value);  // of torch 2, for each sequence alone
    check_near(out.value(), {{3.330836238415908, 1.041822735099006, -1.2471907682178962, 1.1672909403960232}, {1.05122808243213, 1.6144639080639143, 2.1776997336956985, 2.92842096983606}, {0, 3, 1, -1}});
    CHECK(out.lod() == query.lod());
    auto const [q, k, v] = sequence_attention_grad(query, key, value, grad);
    check_near(q, {{0.13687269473703356, -0.908792497959922}, {1.7264975892734378, -0.7967588988092791}, {0, 0}});
    check_near(k, {{0.8104881303321395, -0.05437525489574262}, {-0.3138043132997182, 1.129576606902051}, {-0.49668381703242176, -1.075201352006308}, {0, 0}});
    check_near(v, {{0.25851875862506946, 0.6158476835102201, -0.5322022133122085, 1.440809042515469}, {0.12616009302017034, 0.08641302109062361, -0.002767550892612075, 0.38193971767627605}, {0.8653211483547604, -0.7022607046008437, 1.5349697642048206, 0.6772512398082553}, {1, 2, 3, 4}});
    SequenceAttentionOptions const causal{.heads = 2, .causal = true};
    check_near(sequence_attention(query, key, value, causal).value(), {{1, 2, 3, 4}, {0.46211715726000974, 1.5965878679450074, 2.7310585786300052, 2.9242343145200196}, {0, 3, 1, -1}});
    auto const [cq, ck, cv] = sequence_attention_grad(query, key, value, grad, causal);
    check_near(cq, {{0, 0}, {0.7864477329659274, -1.376283532690373}, {0, 0}});
    check_near(ck, {{0.19661193324148185, -1.376283532690373}, {-0.19661193324148188, 1.376283532690373}, {0, 0}, {0, 0}});
    check_near(cv, {{1.1827646446575013, -0.2689414213699951, 1.2689414213699952, 1.9621171572600098}, {0.06723535534249879, 0.26894142136999516, -0.26894142136999516, 0.5378828427399903}, {0, 0, 0, 0}, {1, 2, 3, 4}});
    check_near(sequence_attention(query, key, value, {.scale = 1e4}).value(), {{4, 1, -2, 1}, {1, 2, 3, 4}, {0, 3, 1, -1}});
}

TEST_CASE("sequence_attention equals its formula for sequences of all lengths", "[op]") {
    Lod const queries = Lod::from_lengths({{3, 0, 1, 2, 130, 64, 65, 1}}), keys = Lod::from_lengths({{2, 1, 0, 5, 70, 64, 200, 1}});
    for (std::size_t const heads : {1u, 3u}) {
        for (bool const causal : {false, true}) {
            auto const query = batch(6, queries, 1), key = batch(6, keys, 2), value = batch(9, keys, 3);
            check_near(sequence_attention(query, key, value.value(), {.heads = static_cast<std::int64_t>(heads), .causal = causal}).value(), slow_attention(query, key, value.value(), heads, causal));
        }
    }
    LoDTensor<rowan::bfloat16> const x({{1, 2}, {2, 0}}, Lod{{0, 2}});
    CHECK(sequence_attention(x, x, Tensor<rowan::bfloat16>{{2}, {2}}).value() == Tensor<rowan::bfloat16>{{2}, {2}});
    CHECK(sequence_attention(batch(0, Lod{{0, 1}}, 1), batch(0, Lod{{0, 2}}, 1), Tensor<double>{{1}, {2}}).value() == Tensor<double>{{1.5}});
    CHECK(sequence_attention(batch(2, Lod{{0, 0}}, 1), batch(2, Lod{{0, 2}}, 1), Tensor<double>{{1}, {2}}).shape() == Tensor<double>::shape_type{0, 1});
}

TEST_CASE("the gradients of more than one block of queries equal central differences", "[op]") {
    LoDTensor<double> const x = batch(2, Lod::from_lengths({{70, 3}}), 1);
    test::check_gradients<sequence_attention_op>(std::tuple(x, batch(2, x.lod(), 2), batch(1, x.lod(), 3)), SequenceAttentionOptions{.causal = true});
}

TEST_CASE("keys that a causal query does not see, and queries that do not see a key, may be NaN or infinite", "[op]") {
    Lod const lod = Lod::from_lengths({{90, 70}});
    SequenceAttentionOptions const options{.heads = 2, .causal = true};
    auto const query = batch(4, lod, 1), key = batch(4, lod, 2), value = batch(6, lod, 3), grad = batch(6, lod, 4);
    auto const out = sequence_attention(query, key, value.value(), options);
    auto const [q, k, v] = sequence_attention_grad(query, key, value.value(), grad.value(), options);
    auto const same = [](Tensor<double> const& a, Tensor<double> const& b, std::size_t begin, std::size_t end) { return a.slice(begin, end) == b.slice(begin, end); };
    for (double const bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (std::size_t const row : {1u, 40u, 63u, 64u, 89u}) {
            auto other_key = key, other_value = value, other_query = query;
            auto other_grad = grad;
            for (std::size_t c = 0; c < 4; ++c) other_key.value()(row, c) = bad;
            for (std::size_t c = 0; c < 6; ++c) other_value.value()(row, c) = bad;
            auto const seen = sequence_attention(query, other_key, other_value.value(), options);
            CHECK((same(seen.value(), out.value(), 0, row) && same(seen.value(), out.value(), 90, 160)));
            CHECK(std::isnan(seen.value()(row, 0)));
            auto const grads = sequence_attention_grad(query, other_key, other_value.value(), grad.value(), options);
            CHECK((same(std::get<0>(grads), q, 0, row) && same(std::get<0>(grads), q, 90, 160)));
            for (std::size_t c = 0; c < 4; ++c) other_query.value()(row, c) = bad;
            for (std::size_t c = 0; c < 6; ++c) other_grad.value()(row, c) = bad;
            auto const late = sequence_attention_grad(other_query, key, value.value(), other_grad.value(), options);
            CHECK((same(std::get<1>(late), k, row + 1, 160) && same(std::get<2>(late), v, row + 1, 160)));
        }
    }
}

TEST_CASE("sequence_attention throws for bad inputs", "[op][bad]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}}, Lod{{0, 1, 2}});
    CHECK_THROWS_WITH(sequence_attention(x, LoDTensor<float>({{1, 2}}, Lod{{0, 1}}), Tensor<float>{{1}}), "key sequences is 1, expected 2, the number of sequences of query");
    CHECK_THROWS_WITH(sequence_attention(x, x, Tensor<float>{{1}}), "value.shape(0) is 1, expected 2");
    CHECK_THROWS_WITH(sequence_attention(x, x, x.value(), {.heads = 0}), "sequence_attention: heads is 0, expected at least 1");
    CHECK_THROWS_WITH(sequence_attention(x, x, Tensor<float>{{1}, {1}}, {.heads = 2}), "sequence_attention: value.shape(1) is 1, expected a multiple of heads, 2");
    CHECK_THROWS_WITH(sequence_attention(x, x, x.value(), {.scale = std::numeric_limits<double>::infinity()}), "sequence_attention: scale is inf, expected a finite number");
    CHECK_THROWS_WITH(sequence_attention_op::run(Cpu{}, x, x, LoDTensor<float>(x.value(), Lod{{0, 0, 2}})), "value sequences is others, expected those of key, or none");
}

}  // namespace test_sequence_attention
