// tests/thrust/watched_rows.cpp: which functions on rows wait for the device, and that all refuse the tensors of another one.
#include <rowan/sparse.hpp>
#include <rowan/thrust.hpp>

#include "watched_calls.hpp"

namespace watched_rows {

using namespace watched_calls;
using Ids = Tensor<std::int64_t>;
using Plan = rowan::RowPlan<Watched>;

namespace {

Watched const d;
SelectedRows<float> const gradient = device::gradient<float>(6, 9, 3, 30, 1);
Tensor<float> const table = device::positive<float>({9, 3}, 2), dense = device::filled<float>({9, 3}, 3), per_row = device::positive<float>({9}, 4);

Plan plan(Tensors& on) {
    return on.next([] { return Plan(rowan::to_device(d, gradient)); });
}

/// Rows have missed a step.
rowan::Deferred<rowan::AdaGradOptions, Watched> deferred(Tensors& on) {
    return on.next([] {
        auto p = rowan::to_device(d, table), m = rowan::to_device(d, table);
        rowan::Deferred<rowan::AdaGradOptions, Watched> made(9);
        made.step(d, rowan::to_device(d, gradient), {}, p, m);
        return made;
    });
}

std::vector<Call> calls() {
    std::vector<Call> all{
        {"SelectedRows", false, [](Tensors& on) { SelectedRows<float, Watched>(d, 9, on(Ids{8, 0}), on(device::filled<float>({2, 3}, 1))); }},
        {"a copy of a SelectedRows", false, [](Tensors& on) { auto const g = on(gradient); [[maybe_unused]] auto const copy = g; }},
        {"add", false, [](Tensors& on) { add(d, on(gradient), on(gradient)); }},
        {"add to a tensor", false, [](Tensors& on) { add(d, on(table), on(gradient)); }},
        {"find_rows of ids", true, [](Tensors& on) { find_rows(d, on(gradient), on(Ids{gradient.rows()[0]})); }},
        {"find_rows of a gradient", true, [](Tensors& on) { find_rows(d, on(gradient), on(gradient)); }},
        {"from_dense", true, [](Tensors& on) { from_dense(d, on(dense)); }},
        {"gather", false, [](Tensors& on) { gather(d, on(table), on(Ids{1, 8})); }},
        {"gather, ids of the host", false, [](Tensors& on) { gather(d, on(table), {1, 8}); }},
        {"gather_into", false, [](Tensors& on) { auto out = on(device::filled<float>({2, 3}, 1)); gather_into(d, on(table), on(Ids{1, 8}), out); }},
        {"lookup_table_grad", false, [](Tensors& on) { lookup_table_grad(d, on(Ids{1, 8}), on(device::filled<float>({2, 3}, 1)), 9); }},
        {"lookup_table_grad, padding", true, [](Tensors& on) { lookup_table_grad(d, on(Ids{1, 8}), on(device::filled<float>({2, 3}, 1)), 9, 8); }},
        {"merge", true, [](Tensors& on) { merge(d, on(gradient)); }},
        {"merge, a plan", true, [](Tensors& on) { merge(d, plan(on), on(gradient.value())); }},
        {"merge_into", true, [](Tensors& on) { SelectedRows<float, Watched> out; merge_into(d, on(gradient), out); }},
        {"merge_into, a plan", true, [](Tensors& on) { SelectedRows<float, Watched> out; merge_into(d, plan(on), on(gradient.value()), out); }},
        {"retain", true, [](Tensors& on) { retain(d, on(gradient), on(Ids{1, 4})); }},
        {"RowPlan", false, [](Tensors& on) { Plan(d, on(gradient)); }},
        {"RowPlan::rows", true, [](Tensors&) { Plan(rowan::to_device(d, gradient)).rows(); }},
        {"RowPlan::offsets", true, [](Tensors&) { Plan(rowan::to_device(d, gradient)).offsets(); }},
        {"RowPlan::positions", false, [](Tensors& on) { [[maybe_unused]] Tensor<std::int64_t, Watched> const alias = plan(on).positions(), copy = alias; }},
        {"scale", false, [](Tensors& on) { scale(d, on(gradient), 2); }},
        {"scatter_add", false, [](Tensors& on) { auto to = on(table); scatter_add(d, to, on(Ids{1, 8}), on(device::filled<float>({2, 3}, 1))); }},
        {"scatter_add of a SelectedRows", false, [](Tensors& on) { auto to = on(table); scatter_add(d, to, on(gradient)); }},
        {"split", true, [](Tensors& on) { split(d, on(gradient), {4, 5}); }},
        {"squared_norm", true, [](Tensors& on) { squared_norm(d, on(dense)); }},
        {"squared_norm of a SelectedRows", true, [](Tensors& on) { squared_norm(d, on(gradient)); }},
        {"squared_norm, a plan", true, [](Tensors& on) { squared_norm(d, plan(on), on(gradient.value())); }},
        {"TouchedRows::add", true, [](Tensors& on) { rowan::TouchedRows(9).add(on(Ids{1, 8})); }},
        {"to_dense", false, [](Tensors& on) { to_dense(d, on(gradient)); }},
        {"Deferred::step", false, [](Tensors& on) { auto p = on(table), m = on(table); deferred(on).step(d, on(gradient), {}, p, m); }},
        {"Deferred::step, dense", true, [](Tensors& on) { auto p = on(table), m = on(table); deferred(on).step(d, on(dense), {}, p, m); }},
        {"Deferred::catch_up", false, [](Tensors& on) { auto p = on(table), m = on(table); deferred(on).catch_up(d, on(Ids{1, 8}), p, m); }},
        {"Deferred::flush", true, [](Tensors& on) { auto p = on(table), m = on(table); deferred(on).flush(d, p, m); }},
        {"Deferred::missed", true, [](Tensors& on) { deferred(on).missed(d, 3); }},
        {"Deferred::renew", false, [](Tensors& on) { deferred(on).renew(d, on(Ids{1, 8})); }},
        {"Deferred::resize", false, [](Tensors& on) { deferred(on).resize(d, 12); }},
    };
    // Each optimizer with a SelectedRows, a plan, and a dense gradient.
    auto const add = [&](std::string const& name, bool waits, auto const& step) {
        all.push_back({name, waits, [=](Tensors& on) { auto p = on(table); step(on, p, on(gradient)); }});
        all.push_back({name + ", dense", waits, [=](Tensors& on) { auto p = on(table); step(on, p, on(dense)); }});
        all.push_back({name + ", a plan", waits, [=](Tensors& on) { auto p = on(table); step(on, p, on(gradient.value()), plan(on)); }});
    };
    add("adadelta", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); adadelta(d, plan..., p, a, b, g); });
    add("adagrad", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table); adagrad(d, plan..., p, a, g); });
    add("adam", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); adam(d, plan..., p, a, b, g); });
    add("adamax", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); adamax(d, plan..., p, a, b, g); });
    add("ftrl", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); ftrl(d, plan..., p, a, b, g); });
    add("lamb", true, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); lamb(d, plan..., p, a, b, g); });
    add("momentum", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table); momentum(d, plan..., p, a, g); });
    add("rmsprop", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table); rmsprop(d, plan..., p, a, b, g); });
    add("centered rmsprop", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(table), b = on(table), c = on(table); rmsprop(d, plan..., p, a, b, c, g); });
    add("rowwise_adagrad", false, [](Tensors& on, auto& p, auto const& g, auto const&... plan) { auto a = on(per_row); rowwise_adagrad(d, plan..., p, a, g); });
    add("sgd", false, [](Tensors&, auto& p, auto const& g, auto const&... plan) { sgd(d, plan..., p, g, 0.5); });
    add("sgd, weight decay", false, [](Tensors&, auto& p, auto const& g, auto const&... plan) { sgd(d, plan..., p, g, {.learning_rate = 0.5, .weight_decay = 0.25}); });
    return all;
}

}  // namespace

TEST_CASE("functions on rows refuse tensors of another device, and wait only where they are said to", "[thrust][watched]") {
    for (Call const& call : calls()) watch(call);
}

}  // namespace watched_rows
