// tests/io/model_selected_rows.cpp: files of nets with tables of which only some rows exist.
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/model.hpp>

#include "catch.hpp"
#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/train.hpp>
#include <rowan/sparse/add.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace test_model_selected_rows {

using namespace rowan;

namespace {

struct File {
    std::string path = std::string("rowan_rows_").append(std::to_string(::getpid())).append(".rowan");
    ~File() { std::remove(path.c_str()); }
};

using Rows = std::vector<std::int64_t>;

layer::Var<float> table_of(std::int64_t height, Rows const& rows) {
    return layer::embedding(layer::data<std::int64_t>("ids", {UNK}),
                            {.height = height, .width = 2, .name = "table", .rows = rows});
}

Feeds const batch{{"ids", Tensor<std::int64_t>{7, 3, 7}}, {"y", Tensor<float>::full({3, 2}, 0.5F)}};

}  // namespace

TEST_CASE("a model with a table of some rows is loaded alone, into its net, and to train on", "[model]") {
    File const file, state{"rowan_rows_state_" + std::to_string(::getpid())};
    test::DefaultScope scope;
    auto const predict = table_of(1000, {7, 3});
    auto const cost = layer::mse(predict, layer::data<float>("y", {UNK, 2}));
    auto const reader = [](std::int64_t) { return std::vector(2, batch); };
    auto const learned = train(cost, reader, {.optimizer = layer::Adam{}});
    auto const want = infer(predict, batch, learned);
    save_model(predict, learned, file.path);
    CHECK(Predictor(load_model(file.path))(batch) == want);
    CHECK(Predictor(load_model(file.path, {.map = true}))(batch) == want);
    CHECK(infer(predict, batch, load_model(predict, file.path)) == want);
    CHECK(CheckpointFile(file.path).load<SelectedRows<float>>("table") == learned.get_rows<float>("table"));

    save_parameters(learned, state.path);
    auto const loaded = load_parameters(state.path);
    CHECK(loaded.get_rows<float>("table") == learned.get_rows<float>("table"));
    auto const more = train(cost, reader, {.optimizer = layer::Adam{}, .resume = &loaded});
    CHECK(more.get_rows<float>("table") ==
          train(cost, reader, {.optimizer = layer::Adam{}, .epochs = 2}).get_rows<float>("table"));

    // The rows are those of the file, not those with which the net was built.
    test::DefaultScope other;
    auto const again = table_of(1000, {});
    CHECK(infer(again, {{"ids", batch.at("ids")}}, load_model(again, file.path)) == want);
}

TEST_CASE("a table in a file that does not fit the net is refused", "[model]") {
    File const file;
    {
        test::DefaultScope scope;
        auto const predict = table_of(1000, {7, 3});
        auto const cost = layer::mse(predict, layer::data<float>("y", {UNK, 2}));
        save_model(predict, Trainer(cost).parameters(), file.path);
    }
    test::DefaultScope scope;
    auto const wide = table_of(999, {1});
    CHECK_THROWS_WITH(load_model(wide, file.path),
                      Catch::Matchers::Contains("table.shape() is [1000, 2], expected [999, 2]"));
    test::DefaultScope other;
    auto const dense =
        layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = 1000, .width = 2, .name = "table"});
    CHECK_THROWS_AS(load_model(dense, file.path), TypeError);
}

TEST_CASE("a program whose data are a table of some rows is stored", "[model]") {
    File const file;
    test::DefaultScope scope;
    auto const out =
        layer::embedding(layer::data<std::int64_t>("ids", {UNK}), layer::selected_rows<float>("rows", {UNK, 2}));
    save_model(out, {}, file.path);
    Feeds const feeds{{"ids", Tensor<std::int64_t>{30}},
                      {"rows", SelectedRows<float>(31, {10, 30}, Tensor<float>{{1, 2}, {3, 4}})}};
    CHECK((Predictor(load_model(file.path))(feeds).value() == Tensor<float>{{3, 4}}));
}

}  // namespace test_model_selected_rows
