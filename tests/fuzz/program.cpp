// tests/fuzz/program.cpp: reads bytes as a program, and runs it within limits on small batches and parameters.
#include <rowan/io/from_program.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/train/infer.hpp>

#include "fuzz.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
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

/// Calls f with a reference to every dim of the variables, and then to every integer of the attributes.
template <class F>
void each_number(ProgramDesc& program, F const& f) {
    auto const dims = [&](TensorDesc& desc) { std::ranges::for_each(desc.dims, f); };
    for (BlockDesc& block : program.blocks) {
        for (VarDesc& v : block.vars) {
            if (v.lod_desc) dims(v.lod_desc->tensor);
            if (v.selected_rows_desc) dims(*v.selected_rows_desc);
            if (v.tensor_array_desc) dims(v.tensor_array_desc->tensor);
        }
    }
    for (BlockDesc& block : program.blocks) {
        for (OpDesc& op : block.ops) {
            for (Attribute& a : op.attrs) {
                std::visit([&]<class V>(V& value) {
                    if constexpr (std::is_same_v<V, std::int32_t> || std::is_same_v<V, std::int64_t>) f(value);
                    if constexpr (std::is_same_v<V, std::vector<std::int32_t>> || std::is_same_v<V, std::vector<std::int64_t>>) std::ranges::for_each(value, f);
                }, a.value);
            }
        }
    }
}

/// Replaces a number by one at which products and sums overflow. One time in two only there, otherwise everywhere, and
/// its multiples by those of the new number, so that the dims of different variables still fit each other.
void mutate(ProgramDesc& program, unsigned seed) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), greatest = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t two31 = std::int64_t{1} << 31, two32 = two31 << 1, two62 = std::int64_t{1} << 62;
    constexpr std::array edges{std::int64_t{0}, std::int64_t{1}, UNK, -two31, two31 - 1, two31, two32, two62 / 4, two62 / 3, two62, greatest / 3, greatest / 4, greatest, least};
    std::minstd_rand random(seed);
    auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::size_t count = 0;
    each_number(program, [&](auto&) { ++count; });
    if (count == 0) return;
    std::size_t const place = below(count);
    std::int64_t const to = edges[below(edges.size())];
    std::int64_t from = 0;
    bool const one = below(2) == 0;
    std::size_t i = 0;
    each_number(program, [&](auto& x) {
        if (i++ != place) return;
        from = x;
        if (one) x = static_cast<std::remove_reference_t<decltype(x)>>(to);
    });
    if (one || from < 2) return;
    each_number(program, [&](auto& x) {
        if (x <= 0 || x % from != 0 || x / from > 4) return;
        auto const times = static_cast<std::uint64_t>(x / from) * static_cast<std::uint64_t>(to);  // may wrap around
        x = static_cast<std::remove_reference_t<decltype(x)>>(times);
    });
}

}  // namespace

/// Mutates the bytes, or the numbers of the program that they encode.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    if (seed % 2 == 0) {
        try {
            auto program = decode<ProgramDesc>(fuzz::bytes(data, size));
            mutate(program, seed / 2);
            auto const bytes = encode(program);
            if (bytes.size() > most) return size;
            std::ranges::copy(bytes, reinterpret_cast<std::byte*>(data));
            return bytes.size();
        } catch (Error const&) {  // not a program
        }
    }
    return LLVMFuzzerMutate(data, size, most);
}

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        run(decode<ProgramDesc>(fuzz::bytes(data, size)));
    } catch (Error const&) {
    }
    return 0;
}
