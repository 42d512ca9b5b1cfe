// rowan/sequence/detail/step_rows.hpp: unpack_rows, which copies the rows of all steps of a batch to one block.
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

/// Maps the elements of a level to the levels below it: element e covers the sequences [begin(l, e), begin(l, e + 1))
/// of level l, or rows if l is the number of levels.
class LevelElements {
public:
    LevelElements(Lod const& lod, std::size_t level) : lod_(lod), level_(level) {}

    std::int64_t begin(std::size_t l, std::int64_t e) const {
        for (std::size_t k = level_ + 1; k < l; ++k) e = lod_[k][static_cast<std::size_t>(e)];
        return e;
    }
    std::int64_t row(std::int64_t e) const { return begin(lod_.levels(), e); }

private:
    Lod const& lod_;
    std::size_t level_;
};

/// The layout of the steps of a batch in one contiguous block of rows: row offsets and levels of each step.
struct StepLayout {
    std::vector<std::int64_t> rows;  // the first row of each step, and the total

    struct Level {
        std::vector<std::int64_t> offsets;  // those of all steps, concatenated; each step's start at 0
        std::vector<std::int64_t> begin;    // the start of each step's offsets, and the total
    };
    std::vector<Level> levels;

    std::optional<StepOrigin> origin;  // only for steps that were unpacked with a map

    ROWAN_IF_CALLED static Lod lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t);
};

/// Makes the layout and row_starts. Step t has elements [starts[t], starts[t + 1]) of `elements`, which are sequences
/// of level + 1; if they are rows, `elements` and row_starts are not needed.
ROWAN_IF_CALLED std::shared_ptr<StepLayout const> lay_out(Lod const& lod, std::size_t level,
                                                          std::span<std::int64_t const> starts,
                                                          std::span<std::int64_t const> elements, StepOrigin origin,
                                                          std::vector<std::int64_t>& row_starts);

/// Returns the layout of the steps of a batch. Unless an element is one row, sets `row_starts` to the row offsets of
/// the packed elements and `elements` to those of the map.
template <class D>
std::shared_ptr<StepLayout const> make_layout(Lod const& lod, StepMap<D> const& map,
                                              std::vector<std::int64_t>& row_starts, Tensor<std::int64_t>& elements) {
    if (map.level() + 1 != lod.levels()) elements = StepMapAccess::host_elements(map);
    return lay_out(lod, map.level(), map.starts(), {elements.data(), elements.size()}, StepMapAccess::origin(map),
                   row_starts);
}

/// Copies the rows of all steps to one block, `packed`, and returns their layout.
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
        LevelElements const at(input.lod(), map.level());
        copy_blocks(
            exec, starts, width * sizeof(T),
            [&, e = elements.data()](std::size_t i) { return from + static_cast<std::size_t>(at.row(e[i])) * width; },
            blocks_at(to, starts, width));
    }
    return layout;
}

}  // namespace rowan::inline v0::detail

#include <rowan/sequence/detail/step_rows_inl.hpp>
