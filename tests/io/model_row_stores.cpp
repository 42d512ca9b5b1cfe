// tests/io/model_row_stores.cpp: nets whose tables stay in their files.
#include <rowan/io/row_stores.hpp>

#include "io/files.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/sparse/quantize_rows.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/train.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test_model_row_stores {

namespace {

using namespace rowan;
using test::Folder;

Tensor<float> table_of(std::size_t height, std::size_t width) {
    auto table = Tensor<float>::from_shape({height, width});
    for (std::size_t i = 0; i < table.size(); ++i)
        table.data()[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1001) / 64;
    return table;
}

}  // namespace

TEST_CASE("a net answers from tables that stay in its file", "[open_rows]") {
    Folder const folder;
    Scope scope;
    ScopeGuard const guard(scope);
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const one = layer::embedding(words, {.height = 60, .width = 16});
    auto const sums = layer::sequence_pool(one, {.pool = Pooling::sum});
    Parameters parameters;
    Value v;
    std::string const name = "lookup_table_0.w_0";
    auto const quantized = quantize_rows(table_of(60, 16), RowFormat::int8);
    v.set(LoDTensor<float>(dequantize_rows(quantized), Lod()));
    parameters.set(name, v.share());
    Feeds const batch{{"words", LoDTensor<std::int64_t>::from_nested({{1, 59}, {}, {7}})}};
    auto const expected = infer(sums, batch, parameters);
    v.set(RowStore<float>(quantized));
    parameters.set(name, v.share());
    CHECK(infer(sums, batch, parameters).value() == expected.value());

    save_model(sums, parameters, folder / "model");
    CHECK_THROWS_WITH(
        load_model(folder / "model"),
        (folder / "model") + ": " + name +
            " is rows of int8, expected a table that LoadOptions::open opens, such as row_stores<float>()");
    for (RowAccess const access : {RowAccess::mapped, RowAccess::direct, RowAccess::resident}) {
        Predictor const predictor(load_model(folder / "model", {.open = row_stores<float>({}, {.access = access})}));
        CHECK(predictor(batch).value() == expected.value());
        CHECK_THROWS_AS(predictor({{"words", LoDTensor<std::int64_t>::from_nested({{60}})}}), IndexError);
    }
    v.set(LoDTensor<float>(dequantize_rows(quantized), Lod()));
    parameters.set(name, v.share());
    save_model(sums, parameters, folder / "model");
    Predictor const opened(load_model(folder / "model", {.open = row_stores<float>({name})}));
    CHECK(opened(batch).value() == expected.value());
    CHECK_THROWS_AS(load_model(folder / "model", {.open = row_stores<float>({"other"})}), GraphError);
    {  // a save between the opening of a model and that of its tables
        CheckpointFile const before(folder / "model");
        Checkpoint other;
        other.add("a", Tensor<float>::zeros({7}));
        other.add(name, Tensor<float>::zeros({60, 16}));
        save_checkpoint(other, folder / "model");
        auto const table = row_stores<float>({name}, {.access = RowAccess::direct})(before, name);
        CHECK(dequantize_rows(table.get<RowStore<float>>()) == dequantize_rows(quantized));
    }

    v.set(RowStore<float>(quantize_rows(table_of(61, 16), RowFormat::int8)));
    parameters.set(name, v.share());
    CHECK_THROWS_AS(Predictor(sums, parameters), ShapeError);
    auto const cost = layer::reduce_sum(sums);
    parameters.set(name, [&] {
        Value store;
        store.set(RowStore<float>(quantized));
        return store;
    }());
    auto const reader = [&](std::int64_t) { return std::vector<Feeds>{batch}; };
    CHECK_THROWS_AS(train(cost, reader, {.epochs = 1, .initial = parameters.only({name})}), TypeError);
}

}  // namespace test_model_row_stores
