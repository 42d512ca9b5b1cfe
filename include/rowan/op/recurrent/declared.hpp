// rowan/op/recurrent/declared.hpp: the cells of GRU and LSTM: names and slots, without what computes.
#pragma once

#include <rowan/op/operator_of.hpp>

#include <string_view>

namespace rowan::inline v0 {

struct gru_unit_op;
struct lstm_unit_op;

namespace detail {

template <>
struct declared<gru_unit_op>
    : builtin_op<gru_unit_op, slots<slot::x, slot::h_prev, slot::w, slot::b>, slots<slot::h, slot::saved>> {
    static constexpr std::string_view name = "gru_unit", brief = "The state of a GRU after one step.";
};

template <>
struct declared<lstm_unit_op> : builtin_op<lstm_unit_op, slots<slot::x, slot::h_prev, slot::c_prev, slot::w, slot::b>,
                                           slots<slot::h, slot::c, slot::saved>> {
    static constexpr std::string_view name = "lstm_unit";
    static constexpr std::string_view brief =
        "The output of an LSTM after one step, and its state, which is output and cell side by side.";
};

}  // namespace detail

}  // namespace rowan::inline v0
