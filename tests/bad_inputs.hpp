// tests/bad_inputs.hpp: calls with bad inputs, the error of each, and a check that they leave their arguments unchanged. What all
// operators refuse stands in op/samples.hpp.
#pragma once

#include "refused.hpp"

#include <rowan/op.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace bad_inputs {

using namespace rowan;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
using Longs = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;

/// Arguments of calls on a device, good or bad.
template <class D>
struct Arguments {
    using X = Tensor<float, D>;
    using Rows = SelectedRows<float, D>;
    static constexpr std::size_t count = 300'000;

    X table{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, moment{{1, 1}, {1, 1}, {1, 1}, {1, 1}};
    X three{{1, 2}, {3, 4}, {5, 6}}, wide{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 2, 3}}, number = on(Tensor<float>::full({}, 1));
    X none = on(Tensor<float>::zeros({0, 2})), one{{1, 2}};
    Rows g{4, {2, 0, 2}, three}, taller{5, {2, 0, 2}, three}, wider{4, {2}, X{{1, 2, 3}}}, broken = g;
    RowPlan<D> plan{D{}, g};
    LoDTensor<float, D> x{X{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {{0, 1, 1, 4}}}, rows{table}, nested{table, {{0, 1, 2}, {0, 3, 4}}}, other{three, {{0, 1, 3}}};
    LoDTensor<std::int64_t, D> ids{Tensor<std::int64_t, D>{0, 1, 2, 3}, {{0, 1, 1, 4}}}, past{Tensor<std::int64_t, D>{0, 1, 4, 3}, {{0, 1, 1, 4}}};
    Tensor<std::uint8_t, D> mask{1, 0};
    StepMap<D> map{x.lod(), 0};
    TensorArray<float, D> array = TensorArray<float, D>::unpack(x, map), holes;

    Arguments() {
        broken.value() = table;
        holes.write(0, one);
        holes.write(2, one);
    }

    template <class T>
    static Tensor<T, D> on(Tensor<T> const& t) {
        return to_device(D{}, t);
    }
    /// So many ids that several threads check them; some are bad.
    static Longs many(std::vector<std::pair<std::size_t, std::int64_t>> const& bad) {
        Longs ids(count, 3);
        for (auto const& [position, id] : bad) ids[position] = id;
        return ids;
    }
    static Tensor<std::int64_t, D> many_on(std::vector<std::pair<std::size_t, std::int64_t>> const& bad) {
        auto const ids = many(bad);
        auto t = Tensor<std::int64_t>::from_shape({ids.size()});
        std::ranges::copy(ids, t.data());
        return on(t);
    }

    template <class V>
    static decltype(auto) host(V const& v) {
        if constexpr (std::same_as<D, Cpu>) {
            return (v);
        } else {
            return to_host(v);
        }
    }
    /// Everything that a call could have changed.
    std::string seen() const {
        std::string text;
        auto const add = [&](auto const&... v) { (text.append(test::seen(host(v))), ...); };
        add(table, moment, three, wide, number, none, one, g, taller, wider, broken.value(), x, rows, nested, other, ids, past, mask);
        for (auto const* a : {&array, &holes}) {
            text.append(std::to_string(a->size()));
            for (std::size_t i = 0; i < a->size(); ++i) {
                if (a->written(i)) add(a->read(i));
            }
        }
        return text.append(test::seen(map.lod())).append(std::to_string(plan.size()));
    }
};

template <class D>
struct BadCall {
    char const* error;
    void (*call)(D const&, Arguments<D>&);
};

#define BAD(error, ...) {error, []([[maybe_unused]] D const& exec, [[maybe_unused]] Arguments<D>& a) { __VA_ARGS__; }}

template <class D>
std::vector<BadCall<D>> sparse_calls() {
    using A = Arguments<D>;
    using Dense = Tensor<float, D>;
    using Rows = SelectedRows<float, D>;
    using Ids64 = Tensor<std::int64_t, D>;
    return {
        BAD("IndexError: ids[0] = -1 is not in [0, 4)", gather(exec, a.table, {-1, 0, 1})),
        BAD("IndexError: ids[1] = 4 is not in [0, 4)", gather(exec, a.table, {0, 4, 1})),
        BAD("IndexError: ids[2] = 9223372036854775807 is not in [0, 4)", gather(exec, a.table, {0, 1, std::numeric_limits<std::int64_t>::max()})),
        BAD("IndexError: ids[1] = -2147483648 is not in [0, 4)", gather(exec, a.table, Ints{1, std::numeric_limits<std::int32_t>::min()})),
        BAD("IndexError: ids[1] = 5 is not in [0, 4)", gather(exec, a.table, Ids64{0, 5, -1})),
        BAD("IndexError: ids[0] = 0 is not in [0, 0)", gather(exec, a.none, {0})),
        BAD("ShapeError: table rank is 0, expected at least 1", gather(exec, a.number, {0})),
        BAD("ShapeError: out.shape() is [3, 2], expected [2, 2]", gather_into(exec, a.table, {0, 1}, a.three)),
        BAD("IndexError: ids[2] = 4 is not in [0, 4)", gather_into(exec, a.table, {0, 1, 4}, a.three)),
        BAD("ShapeError: out.shape() is [4, 3], expected [4, 2]", gather_into(exec, a.table, {0, 1, 2, 3}, a.wide)),
        BAD("Error: out shares memory with table", gather_into(exec, a.table, {0, 1, 2, 3}, a.table)),
        BAD("IndexError: ids[0] = -1 is not in [0, 4)", gather(exec, a.table, A::many({{0, -1}, {299'999, -2}}))),
        BAD("IndexError: ids[150000] = 4 is not in [0, 4)", gather(exec, a.table, A::many({{150'000, 4}, {150'001, -2}}))),
        BAD("IndexError: ids[299999] = 4 is not in [0, 4)", gather(exec, a.table, A::many({{299'999, 4}}))),
        BAD("IndexError: ids[30000] = 4 is not in [0, 4)", gather(exec, a.table, A::many_on({{30'000, 4}, {40'000, -2}}))),
        BAD("IndexError: ids[0] = -1 is not in [0, 4)", scatter_add(exec, a.table, {-1, 0, 1}, a.three)),
        BAD("IndexError: ids[1] = 4 is not in [0, 4)", scatter_add(exec, a.table, {0, 4, 1}, a.three)),
        BAD("IndexError: ids[2] = 4 is not in [0, 4)", scatter_add(exec, a.table, {0, 1, 4}, a.three)),
        BAD("IndexError: ids[2] = 4 is not in [0, 4)", scatter_add(exec, a.table, Ids64{0, 1, 4}, a.three)),
        BAD("ShapeError: src.shape(0) is 3, expected 2", scatter_add(exec, a.table, {0, 1}, a.three)),
        BAD("ShapeError: src.shape() is [4, 3], expected [4, 2]", scatter_add(exec, a.table, {0, 1, 2, 3}, a.wide)),
        BAD("ShapeError: src rank is 0, expected at least 1", scatter_add(exec, a.table, {0}, a.number)),
        BAD("ShapeError: dst rank is 0, expected at least 1", scatter_add(exec, a.number, {0}, a.one)),
        BAD("Error: dst shares memory with src", scatter_add(exec, a.table, {0, 1, 2, 3}, a.table)),
        BAD("ShapeError: dst.shape(0) is 4, expected 5", scatter_add(exec, a.table, a.taller)),
        BAD("ShapeError: dst.shape() is [4, 2], expected [4, 3]", scatter_add(exec, a.table, a.wider)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", scatter_add(exec, a.table, a.broken)),
        BAD("IndexError: ids[0] = 4 is not in [0, 4)", scatter_add(exec, a.table, A::many({{0, 4}, {299'999, 4}}), Dense::zeros({A::count, 2}))),
        BAD("IndexError: ids[299999] = -4 is not in [0, 4)", scatter_add(exec, a.table, A::many({{299'999, -4}}), Dense::zeros({A::count, 2}))),
        BAD("ShapeError: height is -1, expected in [0, 2^63 - 1]", Rows(exec, -1, {}, a.none)),
        BAD("IndexError: rows[1] = -1 is not in [0, 4)", Rows(exec, 4, {0, -1, 2}, a.three)),
        BAD("IndexError: rows[2] = 4 is not in [0, 4)", Rows(exec, 4, {0, 1, 4}, a.three)),
        BAD("ShapeError: value.shape(0) is 3, expected 2, the number of rows", Rows(exec, 4, {0, 1}, a.three)),
        BAD("ShapeError: value rank is 0, expected at least 1", Rows(exec, 4, {0}, a.number)),
        BAD("ShapeError: rows rank is 2, expected 1", Rows(exec, 4, Tensor<std::int64_t>{{0, 1, 2}}, a.three)),
        BAD("IndexError: rows[2] = 4 is not in [0, 4)", Rows(exec, 4, Ids64{0, 1, 4}, a.three)),
        BAD("IndexError: rows[150000] = -1 is not in [0, 4)", Rows(exec, 4, A::many({{150'000, -1}}), Dense::zeros({A::count, 2}))),
        BAD("IndexError: rows[0] = 4 is not in [0, 4)", RowPlan<D>(exec, Longs{4, 0}, 4)),
        BAD("IndexError: rows[2] = -4 is not in [0, 4)", RowPlan<D>(exec, Longs{0, 1, -4}, 4)),
        BAD("ShapeError: height is -4, expected in [0, 2^63 - 1]", RowPlan<D>(exec, Longs{0}, -4)),
        BAD("IndexError: rows[1] = -4 is not in [0, 4)", RowPlan<D>(exec, Ids64{0, -4}, 4)),
        BAD("ShapeError: rows rank is 2, expected 1", RowPlan<D>(exec, Tensor<std::int64_t>{{0, 1}}, 4)),
        BAD("IndexError: rows[299999] = 9 is not in [0, 9)", RowPlan<D>(exec, A::many({{299'999, 9}}), 9)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", merge(exec, a.broken)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", merge(exec, a.plan, a.table)),
        BAD("ShapeError: value rank is 0, expected at least 1", merge_into(exec, a.plan, a.number, a.g)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", to_dense(exec, a.broken)),
        BAD("ShapeError: dense rank is 0, expected at least 1", from_dense(exec, a.number)),
        BAD("ValueError: threshold is -1, expected 0 or more", from_dense(exec, a.table, -1)),
        BAD("ValueError: threshold is nan, expected a finite number", from_dense(exec, a.table, nan)),
        BAD("ValueError: threshold is inf, expected a finite number", from_dense(exec, a.table, inf)),
        BAD("ShapeError: b.height() is 5, expected 4", add(exec, a.g, a.taller)),
        BAD("ShapeError: b.value().shape() is [1, 3], expected [1, 2]", add(exec, a.g, a.wider)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", add(exec, a.broken, a.g)),
        BAD("ShapeError: dense.shape(0) is 4, expected 5", add(exec, a.table, a.taller)),
        BAD("ShapeError: dense.shape() is [4, 3], expected [4, 2]", add(exec, a.wide, a.g)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", scale(exec, a.broken, 2)),
        BAD("IndexError: rows[1] = 4 is not in [0, 4)", retain(exec, a.g, {0, 4})),
        BAD("IndexError: rows[0] = -1 is not in [0, 4)", retain(exec, a.g, {-1, 0})),
        BAD("ShapeError: rows rank is 2, expected 1", retain(exec, a.g, Tensor<std::int64_t>{{0, 1}})),
        BAD("ShapeError: sum of heights is 3, expected 4", split(exec, a.g, {1, 2})),
        BAD("ShapeError: heights[0] is 5, expected at most 4, what is left of the height", split(exec, a.g, {5, -1})),
        BAD("ShapeError: heights rank is 2, expected 1", split(exec, a.g, Tensor<std::int64_t>{{2, 2}})),
        BAD("ShapeError: x rank is 0, expected at least 1", squared_norm(exec, a.number)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", squared_norm(exec, a.broken)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", squared_norm(exec, a.plan, a.table)),
        BAD("IndexError: ids[2] = 4 is not in [0, 4)", lookup_table_grad(exec, {0, 1, 4}, a.three, 4)),
        BAD("IndexError: ids[0] = -2 is not in [0, 4)", lookup_table_grad(exec, {-2, 1, 3}, a.three, 4)),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected to begin with [2], the shape of ids", lookup_table_grad(exec, {0, 1}, a.three, 4)),
        BAD("ShapeError: height is -4, expected in [0, 2^63 - 1]", lookup_table_grad(exec, {0, 1, 2}, a.three, -4)),
        BAD("IndexError: padding_id = 4 is not in [0, 4)", lookup_table_grad(exec, {0, 1, 2}, a.three, 4, 4)),
        BAD("IndexError: padding_id = -1 is not in [0, 4)", lookup_table_grad(exec, {0, 1, 2}, a.three, 4, -1)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", sgd(exec, a.table, a.broken, 0.1)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", sgd(exec, a.plan, a.table, a.table, 0.1)),
        BAD("ShapeError: param rank is 0, expected at least 1", sgd(exec, a.number, a.g, 0.1)),
        BAD("ShapeError: param.shape(0) is 4, expected 5", adagrad(exec, a.table, a.moment, a.taller)),
        BAD("ShapeError: param.shape() is [4, 2], expected [4, 3]", adagrad(exec, a.table, a.moment, a.wider)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", adagrad(exec, a.table, a.moment, a.broken)),
        BAD("Error: param shares memory with state 0", adagrad(exec, a.table, a.table, a.g)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", adagrad(exec, a.plan, a.table, a.moment, a.table)),
        BAD("Error: state 0 shares memory with state 1", adam(exec, a.table, a.moment, a.moment, a.g)),
        BAD("Error: state 0 shares memory with state 1", lamb(exec, a.table, a.moment, a.moment, a.g)),
    };
}

template <class D>
std::vector<BadCall<D>> sequence_calls() {
    using Ids64 = Tensor<std::int64_t, D>;
    using Array = TensorArray<float, D>;
    return {
        BAD("LodError: lod[0][0] = 1 is not 0, where the first sequence begins", LoDTensor<float, D>(a.table, {{1, 4}})),
        BAD("LodError: lod[0][2] = 2 is less than the offset before it, 3", LoDTensor<float, D>(a.table, {{0, 3, 2, 4}})),
        BAD("LodError: lod[0][1] = 3 is not 4, the number of rows", LoDTensor<float, D>(a.table, {{0, 3}})),
        BAD("LodError: lod[0][1] = 5 is not 4, the number of rows", LoDTensor<float, D>(a.table, {{0, 5}})),
        BAD("LodError: lod[0][1] = 3 is not 1, the number of sequences of the next level", LoDTensor<float, D>(a.table, {{0, 3}, {0, 4}})),
        BAD("LodError: lod[0][0] = 0 is missing: a level has at least the offset 0", LoDTensor<float, D>(a.table, {Longs{}})),
        BAD("ShapeError: value rank is 0, expected at least 1", LoDTensor<float, D>(a.number, {{0, 1}})),
        BAD("ShapeError: sequences[2].shape() is [4, 3], expected [4, 2]", (LoDTensor<float, D>::from_sequences({a.three, a.table, a.wide}))),
        BAD("ShapeError: sequences[1] rank is 0, expected at least 1", (LoDTensor<float, D>::from_sequences({a.three, a.number}))),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 3", sequence_pool_grad(exec, a.x, a.table, Pooling::max)),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected [4, 2]", sequence_softmax_grad(exec, a.x, a.three)),
        BAD("ShapeError: x.size() is 0, expected at least 1", sequence_concat(exec, std::vector<LoDTensor<float, D>>())),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 8", sequence_concat_grad(exec, a.x, {a.x.lod(), a.x.lod()})),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 2", sequence_slice_grad(exec, a.x, a.x.lod(), {0, 0, 0}, {1, 0, 1})),
        BAD("ShapeError: out_grad.shape(0) is 3, expected 10", sequence_expand_grad(exec, a.three, a.x, a.x.lod())),
        BAD("IndexError: lengths[2] = -3 is not in [0, 9223372036854775807)", sequence_mask(exec, Ids64{1, 2, -3})),
        BAD("ShapeError: tensor shape is [2, 18446744073709551615], expected at most 2^63 - 1 bytes in all", sequence_mask(exec, {1, 2}, std::numeric_limits<std::size_t>::max())),
        BAD("ShapeError: x.lod().levels() is 0, expected at least 1", to_padded(exec, a.rows)),
        BAD("ShapeError: lengths[0] is 2, expected at least 3, the longest sequence of the level", to_padded(exec, a.x, 0, {2})),
        BAD("ShapeError: lengths.size() is 2, expected 1, the number of levels", to_padded(exec, a.x, 0, {3, 3})),
        BAD("ShapeError: padded.shape(0) is 4, expected 3", from_padded(exec, a.table, a.x.lod())),
        BAD("ShapeError: padded.shape(1) is 3, expected at least 4, the length of sequence 2 of level 0", from_padded(exec, a.wide, {1, 2, 4, 0})),
        BAD("LodError: lod[0][2] = -3 is negative, expected a length", from_padded(exec, a.wide, {1, 2, -3, 0})),
        BAD("ShapeError: padded rank is 0, expected at least 2", from_padded(exec, a.number, {1})),
        BAD("ShapeError: x.size() is 4, expected 3, the number of sequences of the map", reorder(exec, a.table, a.map)),
        BAD("ShapeError: x.size() is 2, expected 3, the number of sequences of the map", reorder(exec, a.nested, a.map)),
        BAD("ShapeError: x.size() is 4, expected 3, the number of sequences of the map", reorder_grad(exec, a.table, a.map)),
        BAD("ShapeError: value rank is 0, expected at least 1", reorder(exec, a.number, a.map)),
        BAD("ShapeError: x.size() is 4, expected the number of sequences, or of those that have a step 0", shrink(exec, a.table, a.map, 1)),
        BAD("ShapeError: out_grad.shape(0) is 3, expected 2", shrink_grad(exec, a.three, a.map, 0, 4)),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 2", shrink_grad(exec, a.table, a.map, 0, 3)),
        BAD("IndexError: level = 1 is not in [0, 1)", StepMap<D>(exec, a.x.lod(), 1)),
        BAD("ShapeError: order.size() is 2, expected 3, the number of sequences", StepMap<D>(exec, a.x.lod(), 0, {0, 1})),
        BAD("IndexError: order[1] = 3 is not in [0, 3)", StepMap<D>(exec, a.x.lod(), 0, {0, 3, 1})),
        BAD("IndexError: order[1] = -1 is not in [0, 3)", StepMap<D>(exec, a.x.lod(), 0, {0, -1, 1})),
        BAD("IndexError: order[2] = 0 is a repeated value", StepMap<D>(exec, a.x.lod(), 0, {0, 1, 0})),
        BAD("IndexError: order[1] = 2 is a repeated value", StepMap<D>(exec, a.x.lod(), 0, Ids64{2, 2, 0})),
        BAD("IndexError: index = 3 is not in [0, 3)", a.array.read(3)),
        BAD("IndexError: slots[1] was never written", a.holes.read(1)),
        BAD("ShapeError: value.shape() is [4, 3], expected [4, 2]", a.holes.write(1, a.wide)),
        BAD("ShapeError: value.shape() is [], expected [1, 2]", a.holes.write(1, a.number)),
        BAD("ShapeError: value.shape() is [3, 2], expected [1, 2]", a.holes.accumulate(0, a.three)),
        BAD("IndexError: slots[1] was never written", a.holes.stack(exec)),
        BAD("IndexError: slots[1] was never written", a.holes.concat(exec)),
        BAD("ShapeError: slots[1].shape() is [1, 2], expected [2, 2]", a.array.stack(exec)),
        BAD("ShapeError: slots[1].shape() is [1, 2], expected [2, 2]", a.array.stack(exec, 4)),
        BAD("IndexError: indices[1] = 3 is not in [0, 3)", a.holes.gather(exec, {0, 3})),
        BAD("IndexError: indices[0] = -1 is not in [0, 3)", a.holes.gather(exec, {-1})),
        BAD("IndexError: slots[1] was never written", a.holes.gather(exec, {0, 1})),
        BAD("ShapeError: value.shape(0) is 3, expected 2", a.holes.scatter({0, 0}, a.three)),
        BAD("IndexError: indices[2] = 1 is a repeated value", a.holes.scatter({1, 2, 1}, a.three)),
        BAD("IndexError: indices[2] = 3 is not in [0, 3)", Array::gather_grad(exec, {0, 1, 3}, a.three, 3)),
        BAD("IndexError: axis = 2 is not in [0, 2)", Array::unstack(exec, a.table, 2)),
        BAD("LodError: lod[0][2] = 3 is not 4, the number of rows", Array::split(a.table, {1, 2})),
        BAD("LodError: lod[0][1] = -1 is negative, expected a length", Array::split(a.table, {5, -1})),
        BAD("ShapeError: value rank is 0, expected at least 1", Array::split(a.number, {1})),
        BAD("IndexError: level = 1 is not in [0, 1)", Array::unpack(exec, a.x, {.level = 1})),
        BAD("ShapeError: input.lod().sequences(0) is 2, expected 3, the map's", Array::unpack(exec, a.other, a.map)),
        BAD("ShapeError: level is 1, expected 0, the map's", a.array.pack(exec, 1, a.map)),
        BAD("IndexError: slots[1] was never written", a.holes.pack(exec, 0, a.map)),
        BAD("ShapeError: batches.size() is 0, expected at least 1", merge_batches(exec, std::vector<LoDTensor<float, D>>())),
        BAD("ShapeError: batches[2].lod().levels() is 2, expected 1", merge_batches(exec, std::vector{a.x, a.x, a.nested})),
        BAD("ShapeError: batches[2].shape() is [4, 3], expected [4, 2]", merge_batches(exec, std::vector{a.rows, a.rows, LoDTensor<float, D>(a.wide)})),
        BAD("ShapeError: count is 0, expected at least 1", split_batch(a.x, 0)),
        BAD("ShapeError: the sum of sizes is 2, expected 3, x.size()", split_batch(a.x, {1, 1})),
        BAD("IndexError: sizes[1] = 3 is not in [0, 3)", split_batch(a.x, {1, 3})),
        BAD("IndexError: sizes[0] = -1 is not in [0, 4)", split_batch(a.x, {-1, 4})),
        BAD("IndexError: sequences[1] = 4 is not in [0, 4)", slice_sequences(a.x, 0, 2, 4)),
        BAD("IndexError: sequences[0] = 2 is not in [0, 2)", slice_sequences(a.x, 0, 2, 1)),
        BAD("IndexError: level = 1 is not in [0, 1)", slice_sequences(a.x, 1, 0, 1)),
    };
}

template <class D>
std::vector<BadCall<D>> op_calls() {
    using Dense = Tensor<float, D>;
    using Many = std::vector<Dense>;
    using Sparse = std::vector<SelectedRows<float, D>>;
    return {
        BAD("ShapeError: x.size() is 0, expected at least 1", rowan::sum(exec, Many{})),
        BAD("ShapeError: x[1].shape() is [4, 3], expected [4, 2]", rowan::sum(exec, Sparse{a.g, a.wider})),
        BAD("ShapeError: x[1]: value.shape(0) is 4, expected 3, the number of rows", rowan::sum(exec, Sparse{a.g, a.broken})),
        BAD("ShapeError: x.size() is 0, expected at least 1", concat(exec, Many{})),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected [4, 2]", relu_op::backward(exec, a.table, a.three)),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected [4, 2]", sigmoid_op::backward(exec, a.table, a.three)),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected [4, 2]", tanh_op::backward(exec, a.table, a.three)),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 3", sequence_top_k_mean_grad(exec, a.x, a.table, {.ks = {1}})),
        BAD("ShapeError: out_grad.shape() is [3, 2], expected [4, 2]", softmax_grad(exec, a.table, a.three)),
        BAD("ShapeError: out_grad.shape() is [4, 2], expected [1]", mse_op::backward(exec, a.table, a.table, a.table)),
        BAD("IndexError: label[299998] = 9 is not in [0, 9)", accuracy(exec, Dense::zeros({Arguments<D>::count, 9}), a.many_on({{299'998, 9}, {299'999, -1}}))),
        BAD("IndexError: ids[0] = -1 is not in [0, 4)", lookup_table(exec, a.table, a.many_on({{0, -1}, {1, 9}}))),
        BAD("ShapeError: out_grad.shape(0) is 4, expected 3", embedding_bag_grad(exec, a.table, a.ids, a.table)),
        BAD("IndexError: ids[2] = 4 is not in [0, 4)", embedding_bag_grad(exec, a.table, a.past, a.three)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", clip(exec, a.broken)),
        BAD("ShapeError: value.shape(0) is 4, expected 3, the number of rows", clip_by_norm(exec, a.broken)),
        BAD("ShapeError: out_grad.shape() is [4, 2], expected [2]", dropout_grad(exec, a.mask, a.table, 0.5)),
        BAD("ShapeError: out_grad.shape() is [4, 2], expected [2]", reduce_sum_op::backward(exec, a.table, a.table, {{0}})),
        BAD("ShapeError: dims[1] is UNK, expected a count", full<float>(exec, Dims{2, UNK}, 1)),
        BAD("ValueError: value is 0.5, expected a whole number that i32 holds", full<std::int32_t>(exec, Dims{2}, 0.5)),
        BAD("ValueError: x[1] is 256, expected a number whose integer part u8 holds", cast<std::uint8_t>(exec, Dense{1, 256, -1})),
        BAD("ValueError: x[2] is nan, expected a number whose integer part i32 holds", cast<std::int32_t>(exec, Dense{1, 2, static_cast<float>(nan)})),
    };
}

#undef BAD

/// The type and text of the error of a call.
template <class Call>
std::string error_of(Call const& call) {
    try {
        call();
    } catch (IndexError const& e) {
        return std::string("IndexError: ").append(e.what());
    } catch (ShapeError const& e) {
        return std::string("ShapeError: ").append(e.what());
    } catch (ValueError const& e) {
        return std::string("ValueError: ").append(e.what());
    } catch (LodError const& e) {
        return std::string("LodError: ").append(e.what());
    } catch (Error const& e) {
        return std::string("Error: ").append(e.what());
    }
    return "nothing was thrown";
}

/// Makes each call on `exec`. Its error must be the expected one, and all arguments must be unchanged.
template <class D>
void check(D const& exec, std::vector<BadCall<D>> const& calls) {
    Arguments<D> a;
    std::string const before = a.seen();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        CHECK(error_of([&] {
                  calls[i].call(exec, a);
                  synchronize(exec);  // throws for bad ids in device memory
              }) == calls[i].error);
        CHECK((a.seen() == before));
    }
}

}  // namespace bad_inputs
