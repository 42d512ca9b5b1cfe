// tests/fuzz/program.cpp: reads bytes as a program, and runs it within limits on small batches and parameters.
#include <rowan/io/from_program.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/layer/infer.hpp>

#include "fuzz.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace rowan;

constexpr std::int64_t most_elements = 256;

/// Calls f with a type for the element types that programs of dtypes<float> use.
template <class F>
void with_type(std::int32_t wire, F const& f) {
    if (wire == dtype<float>::wire) f(float());
    if (wire == dtype<std::int64_t>::wire) f(std::int64_t());
    if (wire == dtype<std::int32_t>::wire) f(std::int32_t());
    if (wire == dtype<bool>::wire) f(bool());
}

/// A small tensor as the spec says: unknown dims are 4, and of several levels each has two sequences.
template <class T>
std::optional<LoDTensor<T>> small(VarSpec const& spec) {
    typename Tensor<T>::shape_type shape;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < spec.dims.size(); ++i) {
        std::int64_t const dim = spec.dims[i] == UNK ? 4 : spec.dims[i];
        if (dim < 0 || dim > most_elements || (elements *= dim) > most_elements) return std::nullopt;
        shape.push_back(static_cast<std::size_t>(dim));
    }
    if (spec.lod_level > 4 || (spec.lod_level != 0 && shape.empty())) return std::nullopt;
    auto tensor = Tensor<T>::from_shape(shape);
    std::int64_t next = 0;
    for (T& x : tensor) x = static_cast<T>(++next % 3);
    std::vector<std::vector<std::int64_t>> offsets(spec.lod_level, {0, 1, 2});
    if (spec.lod_level == 0) return LoDTensor<T>(std::move(tensor));
    auto const rows = static_cast<std::int64_t>(shape[0]);
    offsets.back() = {0, rows / 3, rows};
    return LoDTensor<T>(std::move(tensor), Lod(offsets));
}

void run(ProgramDesc const& program) {
    Scope scope;
    scope.limits = {.iterations = 100, .bytes = 1 << 18};
    auto const outputs = from_program(program, scope);
    static_cast<void>(to_program(outputs));  // what was read can be written
    Feeds feeds;
    Parameters parameters;
    for (auto const& v : scope.variables()) {
        if (v->role() != Role::data && v->role() != Role::parameter) continue;
        bool made = false;
        with_type(v->spec().dtype, [&]<class T>(T) {
            auto value = small<T>(v->spec());
            if (!value || v->spec().type != VarType::LOD_TENSOR) return;
            made = true;
            if (v->role() == Role::data) {
                feeds.emplace(v->name(), std::move(*value));
            } else {
                Value held;
                held.set(std::move(*value));
                parameters.set(v->name(), std::move(held));
            }
        });
        if (!made) return;
    }
    for (Variable* const v : outputs) {
        if (v->spec().type != VarType::LOD_TENSOR) continue;
        try {
            with_type(v->spec().dtype, [&]<class T>(T) { static_cast<void>(infer(layer::Var<T>(*v), feeds, parameters, Cpu{1})); });
        } catch (Error const&) {
        }
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        run(decode<ProgramDesc>(fuzz::bytes(data, size)));
    } catch (Error const&) {
    }
    return 0;
}
