// tests/static/op.cpp: kinds, element types, shapes and levels of chains of operators, and lookups of operators by
// name, at compile time.
#include <rowan/op.hpp>
#include <rowan/op/detail/input_types.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace {

using rowan::bfloat16, rowan::selected_rows_spec, rowan::tensor_spec, rowan::UNK, rowan::VarSpec;

// words -> rows of a table -> mean of each sentence -> fully connected -> tanh -> scores -> loss, and the backward pass
constexpr VarSpec words = tensor_spec<std::int64_t>({UNK}, 1), label = tensor_spec<std::int32_t>({UNK});
constexpr VarSpec table = tensor_spec<float>({53'080, 64}), w = tensor_spec<float>({64, 45}), b = tensor_spec<float>({45});
constexpr VarSpec rows = rowan::lookup_table_op::infer(table, words);
static_assert(rows == tensor_spec<float>({UNK, 64}, 1));  // as many levels as the words have
constexpr VarSpec pooled = rowan::sequence_pool_op::infer(rows, {rowan::Pooling::mean});
static_assert(pooled == tensor_spec<float>({UNK, 64}));  // one less
constexpr VarSpec scores = rowan::fc_op::infer(rowan::tanh_op::infer(pooled), w, b);
static_assert(scores == tensor_spec<float>({UNK, 45}));
constexpr auto loss = rowan::cross_entropy_op::infer(scores, label, {});
static_assert(loss[0] == tensor_spec<float>({1}) && loss[1] == scores);

constexpr VarSpec scores_grad = rowan::cross_entropy_op::infer_backward(loss[1], label, loss[0], {});
static_assert(scores_grad == scores);
static_assert(rowan::matrix_grad_op<true>::infer(pooled, scores_grad) == w && rowan::bias_grad_op::infer(scores_grad) == b);
constexpr VarSpec pooled_grad = rowan::gradient_operator<rowan::tanh_op>::infer(pooled, rowan::matrix_grad_op<false>::infer(scores_grad, w))[0];
static_assert(pooled_grad == pooled);
constexpr VarSpec table_grad = rowan::lookup_table_grad_op::infer(table, words, rows);
static_assert(table_grad == selected_rows_spec<float>({53'080, 64}));  // a table's gradient is always row-sparse

// integers beside elements of another type, of which the levels alone are used
static_assert(std::is_same_v<rowan::detail::input_types<rowan::nonzero_rows_op, float, std::int64_t>, rowan::detail::type_list<std::int64_t, float>>);
static_assert(rowan::detail::has_compiled_kernel<rowan::nonzero_rows_op, std::int32_t, double>);

// the kinds of the inputs of optimizers and sums
static_assert(rowan::adagrad_op::infer(table, table, table_grad).empty() && rowan::sgd_op::infer(table, table).empty());
static_assert(rowan::sum_op::infer(std::array{table_grad, table_grad}) == table_grad);
static_assert(rowan::sum_op::infer(std::array{table_grad, table}) == table);  // dense if one of them is
static_assert(rowan::scale_op::infer(table_grad, {.factor = 0.5}) == table_grad);
static_assert(rowan::embedding_bag_op::infer(table, words) == pooled && rowan::embedding_bag_op::infer_backward(table, words, pooled) == table_grad);
static_assert(rowan::embedding_bags_op::infer(std::array{table, table}, words) == tensor_spec<float>({UNK, 128}));

// paragraphs of sentences of words: each pooling removes a level, repeating rows restores it
constexpr VarSpec deep = rowan::lookup_table_op::infer(table, tensor_spec<std::int32_t>({UNK}, 2));
static_assert(deep.lod_level == 2 && rowan::relu_op::infer(deep) == deep);
constexpr VarSpec sentences = rowan::sequence_pool_op::infer(deep);
static_assert(sentences == tensor_spec<float>({UNK, 64}, 1) && rowan::sequence_pool_op::infer(sentences).lod_level == 0);
static_assert(rowan::fc_op::infer(deep, w, b) == tensor_spec<float>({UNK, 45}, 2));

// a step of a cell: shapes of state and gates
constexpr VarSpec gates = rowan::fc_op::infer(pooled, tensor_spec<float>({64, 192}), tensor_spec<float>({192}));
constexpr auto step = rowan::gru_unit_op::infer(gates, tensor_spec<float>({UNK, 64}), tensor_spec<float>({64, 192}), tensor_spec<float>({192}));
static_assert(step[0] == tensor_spec<float>({UNK, 64}));

// known dims remain known, another input supplies unknown ones, element types are kept
static_assert(rowan::add_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({5, UNK})) == tensor_spec<float>({5, 3}));
static_assert(rowan::fc_op::infer(tensor_spec<bfloat16>({7, 2}), tensor_spec<bfloat16>({UNK, 4}), tensor_spec<bfloat16>({UNK})) ==
              tensor_spec<bfloat16>({7, 4}));
static_assert(rowan::mse_op::infer(tensor_spec<double>({UNK, 3}), tensor_spec<double>({5, 3})) == tensor_spec<double>({1}));
static_assert(rowan::cast_op<double>::infer(deep) == tensor_spec<double>({UNK, 64}, 2));

// names are found at compile time; each builtin operator finds itself and says what it does, and a registry has no objects
struct names_itself {
    std::string_view name;
    template <class Op>
    constexpr bool operator()(Op) const {
        if constexpr (rowan::detail::is_builtin<Op>) {
            if (Op::brief.empty() || !Op::brief.ends_with('.')) return false;
        }
        return Op::name == name && rowan::operation<Op>;
    }
};
static_assert(std::is_empty_v<rowan::builtin_ops> && rowan::builtin_ops::size > 60);
static_assert([] {
    for (std::string_view const name : rowan::builtin_ops::names) {
        if (!rowan::builtin_ops::dispatch(name, names_itself{name})) return false;
    }
    return true;
}());
static_assert(rowan::builtin_ops::has<rowan::sgd_op> && !rowan::registry<rowan::sgd_op>::has<rowan::fc_op>);

}  // namespace
