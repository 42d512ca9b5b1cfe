// tests/thrust/net_rows.cpp: tables of which only some rows exist, and steps of several batches, on a device.
#include "nets.hpp"

#include <rowan/layer/selected_rows.hpp>

namespace test_net_rows {

namespace {

using namespace nets;

std::vector<Feeds> batches() {
    std::vector<Feeds> all;
    for (device::Rows const& ids : {device::Rows{7, 2, 7}, device::Rows{9}, device::Rows{2, 5, 5, 9}})
        all.push_back({{"ids", ids}, {"y", device::filled<float>({ids.size(), 3}, 5)}});
    return all;
}

// The trained table and its state, on the host.
template <class D>
std::pair<rowan::SelectedRows<float>, rowan::Tensor<float>> trained() {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const rows = layer::embedding<float>(
        layer::data<std::int64_t, D>("ids", {UNK}),
        {.height = 10, .width = 3, .padding_id = 5, .name = "table", .rows = device::Rows{9, 2, 7}});
    auto const cost = layer::mse(rows, layer::data<float, D>("y", {UNK, 3}));
    rowan::TrainOptionsOn<D> options{
        .optimizer = layer::OptimizerOn<D>(layer::AdaGrad{}, rowan::dtypes<float>{}),
        .clip = layer::GradientClipOn<D>(layer::ClipByNorm{.max_norm = 0.1}, rowan::dtypes<float>{}),
        .parts = {2, rowan::dtypes<float>{}},
        .epochs = 3};
    auto const learned = rowan::train(
        cost, [](std::int64_t) { return batches(); }, options);
    CHECK(learned.steps == 6);
    return {rowan::to_host(learned.template get_rows<float, D>("table")),
            rowan::to_host(learned.template get<float, D>("table@adagrad.moment"))};
}

}  // namespace

TEMPLATE_TEST_CASE("a table of some rows is trained on a device to the host's bits, with steps of several batches",
                   "[thrust][net]", ROWAN_NET_DEVICES) {
    auto const want = trained<rowan::Cpu>(), got = trained<TestType>();
    CHECK(want.first == got.first);
    CHECK(device::same_bits(want.second, got.second));
}

TEMPLATE_TEST_CASE("find_rows finds rows of a table on a device", "[thrust][find_rows]", ROWAN_NET_DEVICES) {
    using D = TestType;
    auto const table =
        rowan::to_device<D>(rowan::SelectedRows<float>(40, {30, 10, 20}, rowan::Tensor<float>{{5, 6}, {1, 2}, {3, 4}}));
    CHECK(device::same_bits(rowan::find_rows(table, rowan::to_device<D>(rowan::Tensor<std::int64_t>{20, 30})),
                            rowan::Tensor<std::int64_t>{2, 0}));
    CHECK_THROWS_WITH(rowan::find_rows(table, rowan::to_device<D>(rowan::Tensor<std::int64_t>{20, 31})),
                      "ids[1] = 31 is not a row of the table");
}

}  // namespace test_net_rows
