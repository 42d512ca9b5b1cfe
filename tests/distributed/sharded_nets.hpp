// tests/distributed/sharded_nets.hpp: a net with a table, whole or sharded, its batches, and hashes of what it learns.
#pragma once

#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/parameters.hpp>

#include "inputs.hpp"
#include "parts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sharded {

using namespace rowan;

constexpr std::int64_t height = 300, width = 3;

/// Three lookups in one table, one with a padding and one with weights; moving statistics, dropout and dense parameters; in a scope that is
/// the thread's.
struct Net1 {
    Scope scope;
    ScopeGuard guard{scope};
    layer::Var<float> predict, cost;

    explicit Net1(bool shards, Placement const& placement = {}) : predict(make(shards, placement)), cost(cost_of(predict)) {}

    static layer::Var<float> make(bool shards, Placement const& placement) {
        auto const table =
            layer::embedding_table({.height = height, .width = width, .name = "table", .sharded = shards, .placement = placement});
        auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), table, {.padding_id = 5});
        auto const words = layer::data<std::int32_t>("bags", {UNK}, 1);
        auto const bags = layer::embedding_bag(words, table, {.pool = Pooling::mean, .unknown = 8});
        auto const weighted = layer::embedding_bag(words, layer::data<float>("weights", {UNK}), table, {.pool = Pooling::sqrt, .unknown = 8});
        auto const both = layer::dropout(layer::batch_norm(layer::concat({rows, bags, weighted}, {.axis = 1}), {.name = "norm"}), {.probability = 0.25});
        return layer::fc(both, {.output_size = 2, .name = "fc"});
    }
    static layer::Var<float> cost_of(layer::Var<float> const& predict) {
        auto const error = predict - layer::data<float>("y", {UNK, 2});
        return layer::reduce_mean(error * error);
    }
};

/// Rows in turn, ranges, a whole table on a rank, and what is the default.
inline std::vector<Placement> placements() {
    return {{.block = 1, .first = 2}, {.block = 100, .first = 1}, {.block = height, .first = 3}, {}};
}

/// Batch i, of 2 to 6 rows; few ids are frequent, and some words are not in the table.
inline Feeds batch(std::int64_t i) {
    inputs::Random random(static_cast<std::uint64_t>(i) + 7);
    auto const n = static_cast<std::size_t>(2 + random.below(5));
    std::vector<std::int64_t> ids;
    std::vector<std::int32_t> words;
    std::vector<std::int64_t> ends{0};
    auto y = Tensor<float>::from_shape({n, 2});
    for (std::size_t k = 0; k < n; ++k) {
        ids.push_back(random.below(2) == 0 ? random.below(9) : random.below(height));
        for (std::int64_t w = random.below(4); w > 0; --w)
            words.push_back(static_cast<std::int32_t>(random.below(random.below(2) == 0 ? 4 : height + 90)));
        ends.push_back(static_cast<std::int64_t>(words.size()));
        for (std::size_t j = 0; j < 2; ++j) y(k, j) = 0.3F * static_cast<float>(random.below(100));
    }
    auto weights = Tensor<float>::from_shape({words.size()});
    for (auto& w : weights) w = 0.25F * static_cast<float>(1 + random.below(8));
    return {{"ids", ids}, {"bags", LoDTensor<std::int32_t>(Tensor<std::int32_t>(words), Lod{ends})}, {"weights", weights}, {"y", y}};
}

inline Feeds no_rows() {
    return {{"ids", Tensor<std::int64_t>::from_shape({0})},
            {"bags", LoDTensor<std::int32_t>(Tensor<std::int32_t>::from_shape({0}), Lod{{0}})},
            {"weights", Tensor<float>::from_shape({0})},
            {"y", Tensor<float>::from_shape({0, 2})}};
}

inline std::vector<Feeds> batches(std::int64_t begin, std::int64_t end) {
    std::vector<Feeds> all;
    for (std::int64_t i = begin; i < end; ++i) all.push_back(batch(i));
    return all;
}

/// Of parameters: `rows` is a sum over the rows of tables and of their states, so that those of ranks add up.
struct Hash {
    std::uint64_t rows = 0, others = 0, count = 0;
    bool operator==(Hash const&) const = default;
};

/// Row numbers count from the whole table, also where only the rows of a rank are there.
inline Hash hash_of(Parameters const& p) {
    Hash h{.others = static_cast<std::uint64_t>(p.steps)};
    for (auto const& [name, value] : p) {
        auto const table = name.substr(0, name.find('@'));
        bool const of_table = table == "table" || table == "small" || table.starts_with("tables_");
        bool const some = p.find(table).spec().type == VarType::SELECTED_ROWS;
        auto tensor = value.spec().type == VarType::SELECTED_ROWS ? value.row_values() : value.share();
        auto const e = tensor.elements();
        if (!of_table) {
            h.others = parts::bits(e.bytes, h.others);
            continue;
        }
        auto const rows = static_cast<std::size_t>(e.dims[0]);
        std::vector<std::int64_t> numbers;
        if (some) numbers = p.find(table).row_numbers();
        for (std::size_t i = 0; i < rows; ++i) {
            std::uint64_t const row = some ? static_cast<std::uint64_t>(numbers[i]) : i;
            std::size_t const bytes = e.bytes.size() / rows;
            h.rows += parts::bits(std::as_bytes(e.bytes).subspan(i * bytes, bytes), row * 31 + name.size());
            ++h.count;
        }
    }
    return h;
}

/// Of all ranks, if what is not sharded is the same on all.
inline Hash together(std::vector<Hash> const& all) {
    Hash sum{.others = all[0].others};
    for (Hash const& h : all) {
        sum.rows += h.rows;
        sum.count += h.count;
        if (h.others != sum.others) return {};
    }
    return sum;
}

}  // namespace sharded
