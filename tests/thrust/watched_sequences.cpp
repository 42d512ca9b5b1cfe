// tests/thrust/watched_sequences.cpp: which functions on sequences wait for the device, and that all refuse the tensors of another one.
#include "watched_calls.hpp"

#include <rowan/sequence/map_fn.hpp>

namespace watched_sequences {

using namespace watched_calls;
using rowan::Pooling;
using Array = TensorArray<float, Watched>;
using Ids = Tensor<std::int64_t>;

namespace {

Watched const d;
Lod const lod = Lod::from_lengths({{3, 0, 2}}), two = Lod::from_lengths({{2, 1}, {3, 0, 2}});
LoDTensor<float> const batch = device::some_batch<float>(lod, 3, 1), deep = device::some_batch<float>(two, 3, 2);
Tensor<float> const rows = device::filled<float>({5, 3}, 3), one_each = device::filled<float>({3, 3}, 4);

/// The steps of a batch, packed in one block, and others in blocks of their own.
Array steps_of(Tensors& on) {
    return on.next([] { return Array::unpack(rowan::to_device(d, batch)).steps; });
}
Array slots(Tensors& on) {
    Array made;
    for (int i = 0; i < 2; ++i) made.write(static_cast<std::size_t>(i), on(one_each));
    return made;
}

std::vector<Call> const calls{
    {"to_host", true, [](Tensors& on) { to_host(d, on(rows)); }},
    {"to_host of a batch", true, [](Tensors& on) { to_host(d, on(batch)); }},
    {"to_host of an array", true, [](Tensors& on) { to_host(d, steps_of(on)); }},
    {"to_host of a SelectedRows", true, [](Tensors& on) { to_host(d, on(SelectedRows<float>(9, {1, 2, 1, 0, 8}, rows))); }},
    {"a copy", false, [](Tensors& on) { auto const x = on(rows); [[maybe_unused]] auto const copy = x; }},
    {"from_sequences", false, [](Tensors& on) { LoDTensor<float, Watched>::from_sequences({on(rows), on(one_each)}); }},
    {"merge_batches", false, [](Tensors& on) { merge_batches(d, list_of(on(batch), on(batch))); }},
    {"split_batch", true, [](Tensors& on) { split_batch(rowan::to_device(d, batch), on(Ids{1, 2})); }},
    {"to_padded", false, [](Tensors& on) { to_padded(d, on(batch)); }},
    {"to_padded, lengths", true, [](Tensors& on) { to_padded(d, on(batch), 0, on(Ids{4})); }},
    {"from_padded", false, [](Tensors& on) { from_padded(d, on(device::filled<float>({3, 4, 2}, 1)), lod); }},
    {"from_padded, lengths", true, [](Tensors& on) { from_padded(d, on(device::filled<float>({3, 4, 2}, 1)), on(Ids{3, 0, 2})); }},
    {"pick_sequences", true, [](Tensors& on) { pick_sequences(d, on(batch), on(Ids{2, 0})); }},
    {"pick_sequences, ids of the host", false, [](Tensors& on) { pick_sequences(d, on(batch), {2, 0}); }},
    {"pick_sequences of rows", false, [](Tensors& on) { pick_sequences(d, LoDTensor<float, Watched>(on(rows)), {2, 0}); }},
    {"pick_sequences_grad", true, [](Tensors& on) { pick_sequences_grad(d, on(rows), on(batch), on(Ids{2, 0})); }},
    {"pick_sequences_grad, sorted", false, [](Tensors& on) { pick_sequences_grad(d, on(rows), on(batch), {0, 2}); }},
    {"reorder", false, [](Tensors& on) { reorder(d, on(batch), StepMap<Watched>(lod, 0)); }},
    {"reorder_grad", false, [](Tensors& on) { reorder_grad(d, on(one_each), StepMap<Watched>(lod, 0)); }},
    {"sequence_concat", false, [](Tensors& on) { sequence_concat(d, on(batch), on(batch)); }},
    {"sequence_concat of a range", false, [](Tensors& on) { sequence_concat(d, list_of(on(deep), on(deep)), 0); }},
    {"sequence_concat_grad", false, [](Tensors& on) { sequence_concat_grad(d, on(batch), {Lod::from_lengths({{1, 0, 2}}), Lod::from_lengths({{2, 0, 0}})}); }},
    {"sequence_erase", true, [](Tensors& on) { sequence_erase(d, on(LoDTensor<std::int64_t>({3, 1, 4, 1, 5}, lod)), on(Ids{1})); }},
    {"sequence_expand", false, [](Tensors& on) { sequence_expand(d, LoDTensor<float, Watched>(on(one_each)), lod); }},
    {"sequence_expand_grad", false, [](Tensors& on) { sequence_expand_grad(d, on(rows), LoDTensor<float, Watched>(on(one_each)), lod); }},
    {"sequence_mask", true, [](Tensors& on) { sequence_mask(d, on(Ids{3, 0, 2})); }},
    {"sequence_mask, max_length", false, [](Tensors& on) { sequence_mask(d, on(Ids{3, 0, 2}), 3); }},
    {"sequence_pool", false, [](Tensors& on) { sequence_pool(d, on(batch), Pooling::mean); }},
    {"sequence_pool, max", false, [](Tensors& on) { sequence_pool(d, on(batch), Pooling::max); }},
    {"sequence_pool_grad", false, [](Tensors& on) { sequence_pool_grad(d, on(batch), on(one_each), Pooling::max); }},
    {"sequence_reverse", false, [](Tensors& on) { sequence_reverse(d, on(batch)); }},
    {"sequence_slice", true, [](Tensors& on) { sequence_slice(d, on(batch), on(Ids{1, 0, 0}), on(Ids{2, 0, 1})); }},
    {"sequence_slice, numbers of the host", false, [](Tensors& on) { sequence_slice(d, on(batch), {1, 0, 0}, {2, 0, 1}); }},
    {"sequence_slice_grad", true, [](Tensors& on) { sequence_slice_grad(d, on(LoDTensor<float>(one_each)), lod, on(Ids{1, 0, 0}), on(Ids{2, 0, 1})); }},
    {"sequence_softmax", false, [](Tensors& on) { sequence_softmax(d, on(batch)); }},
    {"sequence_softmax_grad", false, [](Tensors& on) { sequence_softmax_grad(d, on(batch), on(rows)); }},
    {"shrink", false, [](Tensors& on) { shrink(d, on(one_each), StepMap<Watched>(lod, 0, false), 1); }},
    {"shrink of sequences", false, [](Tensors& on) { shrink(d, on(batch), StepMap<Watched>(lod, 0, false), 1); }},
    {"shrink_grad", false, [](Tensors& on) { shrink_grad(d, on(device::filled<float>({2, 3}, 1)), StepMap<Watched>(lod, 0), 1, 3); }},
    {"shrink_grad, unsorted", false, [](Tensors& on) { shrink_grad(d, on(device::filled<float>({2, 3}, 1)), StepMap<Watched>(lod, 0, false), 1, 3); }},
    {"shrink_grad of sequences", false, [](Tensors& on) { shrink_grad(d, on(LoDTensor<float>(one_each)), StepMap<Watched>(lod, 0), 1, lod); }},
    {"StepMap, sorted", false, [](Tensors&) { StepMap<Watched>(lod, 0); }},
    {"StepMap, its order", true, [](Tensors& on) { StepMap<Watched>(d, lod, 0, on(Ids{2, 0, 1})); }},
    {"StepMap::elements", false, [](Tensors& on) { on.map(lod, std::size_t{0}).elements(); }},
    {"StepMap::step", false, [](Tensors& on) { on.map(lod, std::size_t{0}).step(1); }},
    {"write", false, [](Tensors& on) { Array().write(0, on(rows), false); }},
    {"write, a slot again", false, [](Tensors& on) {
         Array x;
         x.write(0, Tensor<float, Watched>::zeros({5, 3}));
         x.write(0, on(rows), false);
     }},
    {"accumulate", false, [](Tensors& on) {
         Array x;
         x.write(0, on(rows));
         x.accumulate(0, on(rows));
     }},
    {"stack", false, [](Tensors& on) { slots(on).stack(d, 1); }},
    {"stack of a block", false, [](Tensors& on) { on.next([] { return Array::unstack(rowan::to_device(d, rows)); }).stack(d); }},
    {"TensorArray::gather", true, [](Tensors& on) { slots(on).gather(d, on(Ids{1, 1, 0})); }},
    {"TensorArray::gather_grad", true, [](Tensors& on) { Array::gather_grad(d, on(Ids{1, 1, 0}), on(one_each), 2); }},
    {"unstack", false, [](Tensors& on) { Array::unstack(d, on(rows), 1); }},
    {"TensorArray::scatter", true, [](Tensors& on) { Array().scatter(on(Ids{1, 0, 3}), on(one_each)); }},
    {"TensorArray::concat", false, [](Tensors& on) { slots(on).concat(d); }},
    {"TensorArray::concat of a block", false, [](Tensors& on) { steps_of(on).concat(d); }},
    {"TensorArray::split", true, [](Tensors& on) { Array::split(on(rows), on(Ids{4, 1})); }},
    {"unpack", false, [](Tensors& on) { Array::unpack(d, on(batch)); }},
    {"unpack, two levels", false, [](Tensors& on) { Array::unpack(d, on(deep)); }},
    {"unpack, unsorted", false, [](Tensors& on) { Array::unpack(d, on(batch), {.sort_by_length = false}); }},
    {"unpack, a map", false, [](Tensors& on) { Array::unpack(d, on(batch), on.map(lod, std::size_t{0})); }},
    {"pack of a block", false, [](Tensors& on) { steps_of(on).pack(d, 0, on.map(lod, std::size_t{0})); }},
    {"pack of slots", false, [](Tensors& on) {
         Array x;
         for (std::size_t const n : {2U, 2U, 1U}) x.write(x.size(), on(device::filled<float>({n, 3}, 1)));
         x.pack(d, 0, on.map(lod, std::size_t{0}));
     }},
    {"pack of sequences", false, [](Tensors& on) {
         auto const steps = on.next([] { return Array::unpack(rowan::to_device(d, deep)).steps; });
         steps.pack(d, 0, StepMap<Watched>(two, 0));
     }},
};

}  // namespace

TEST_CASE("functions on sequences refuse tensors of another device, and wait only where they are said to", "[thrust][watched]") {
    for (Call const& call : calls) watch(call);
}

}  // namespace watched_sequences
