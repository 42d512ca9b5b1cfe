// rowan/sequence/detail/step_rows.hpp: the rows and lower levels of the steps of an unpacked batch, in one block each.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Where the elements of a level lie in the levels below it: element e covers the sequences [begin(l, e), begin(l, e + 1)) of level l,
/// and for l == levels the rows.
class Elements {
public:
    Elements(Lod const& lod, std::size_t level) : lod_(lod), level_(level) {}

    std::int64_t begin(std::size_t l, std::int64_t e) const {
        for (std::size_t k = level_ + 1; k < l; ++k) e = lod_[k][static_cast<std::size_t>(e)];
        return e;
    }
    std::int64_t row(std::int64_t e) const { return begin(lod_.levels(), e); }

private:
    Lod const& lod_;
    std::size_t level_;
};

/// How the steps of a batch lie in one block of rows: where each begins, and its levels.
struct StepLayout {
    std::vector<std::int64_t> rows;  // where each step's rows begin, and the end

    struct Level {
        std::vector<std::int64_t> offsets;  // those of every step, each from 0 on
        std::vector<std::int64_t> begin;    // where each step's begin, and the end
    };
    std::vector<Level> levels;

    std::optional<StepOrigin> origin;  // of steps that were cut by a map

    static Lod lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t);
};

/// Step t has elements [starts[t], starts[t + 1]) of `elements`, which are sequences of the level below `level`.
void lay_out(StepLayout& layout, Lod const& lod, std::size_t level, std::span<std::int64_t const> starts,
             std::span<std::int64_t const> elements, std::vector<std::int64_t>& row_starts);

/// The layout of the steps of a batch. `row_starts` gets where the rows of each packed element begin, and `elements` what the map's are,
/// unless an element is one row.
template <class D>
std::shared_ptr<StepLayout const> make_layout(Lod const& lod, StepMap<D> const& map,
                                              std::vector<std::int64_t>& row_starts, Tensor<std::int64_t>& elements) {
    auto layout = std::make_shared<StepLayout>();
    layout->origin = StepMapAccess::origin(map);
    auto const starts = map.starts();
    std::size_t const below = map.level() + 1;
    if (below == lod.levels()) {
        layout->rows.assign(starts.begin(), starts.end());
        return layout;
    }
    elements = StepMapAccess::host_elements(map);
    lay_out(*layout, lod, map.level(), starts, {elements.data(), elements.size()}, row_starts);
    return layout;
}

/// The rows of the steps of a batch in one block, which becomes `packed`, and their layout.
template <class T, class D>
std::shared_ptr<StepLayout const> unpack_rows(D const& exec, LoDTensor<T, D> const& input, StepMap<D> const& map,
                                              Tensor<T, D>& packed) {
    std::vector<std::int64_t> starts;
    Tensor<std::int64_t> elements;
    auto layout = make_layout(input.lod(), map, starts, elements);
    std::size_t const width = input.value().row_size();
    auto shape = input.shape();
    shape[0] = static_cast<std::size_t>(layout->rows.back());
    packed = new_tensor<T>(exec, shape);
    T const* const from = input.value().data();
    T* const to = packed.data();
    if (starts.empty()) {
        take_rows(exec, shape[0], width, from, StepMapAccess::elements(map), to);
    } else {
        Elements const at(input.lod(), map.level());
        copy_blocks(
            exec, starts, width * sizeof(T),
            [&, e = elements.data()](std::size_t i) { return from + static_cast<std::size_t>(at.row(e[i])) * width; },
            [&](std::size_t i) { return to + static_cast<std::size_t>(starts[i]) * width; });
    }
    return layout;
}

}  // namespace rowan::inline v0::detail

#include <rowan/sequence/detail/step_rows_inl.hpp>
