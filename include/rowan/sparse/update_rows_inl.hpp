// rowan/sparse/update_rows_inl.hpp: definitions of rowan/sparse/update_rows.hpp.
#pragma once

#include <rowan/sparse/update_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string state_name(std::size_t i) { return i == 0 ? "param" : "state " + std::to_string(i - 1); }

ROWAN_FUNCTION void check_state(char const* field, ShapedBytes const& param, ShapedBytes const& state) {
    if (state.shape != param.shape) {
        throw ShapeError({field, ".shape()"}, shape_text(state.shape),
                         {shape_text(param.shape), ", the shape of param"});
    }
}

ROWAN_CALLED_FUNCTION void check_targets(ShapedBytes const& grad, std::optional<std::int64_t> height,
                                         std::span<ShapedBytes const> written, bool one_shape) {
    if (!height && grad.shape.empty()) throw ShapeError("grad rank", "0", "at least 1");
    std::size_t const rows = height ? static_cast<std::size_t>(*height) : grad.shape[0];
    for (std::size_t i = 0; i < written.size(); ++i) {
        auto const& shape = written[i].shape;
        if (shape.empty()) throw ShapeError({state_name(i), " rank"}, "0", "at least 1");
        if (shape[0] != rows) throw ShapeError({state_name(i), ".shape(0)"}, shape[0], rows);
    }
    check_trailing_dims("param", written[0].shape, grad.shape);
    for (std::size_t i = 0; i < written.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (overlap(written[j].bytes, written[i].bytes))
                throw Error({state_name(j), " shares memory with ", state_name(i)});
        }
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
        auto const bytes = written[i].bytes;
        bool const is_grad = !height && bytes.data() == grad.bytes.data() && bytes.size() == grad.bytes.size();
        if (overlap(bytes, grad.bytes) && !is_grad) {
            throw Error(
                {state_name(i), " shares memory with ", height ? "the gradient's value" : "other elements of grad"});
        }
    }
    for (std::size_t i = 1; one_shape && i < written.size(); ++i) {
        check_state(state_name(i).c_str(), written[0], written[i]);
    }
}

}  // namespace rowan::inline v0::detail

#endif
