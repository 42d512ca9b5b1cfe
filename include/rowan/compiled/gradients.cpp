// rowan/compiled/gradients.cpp: op_kernel::gradient, which finds the gradients of the compiled library's kernels.
#include <rowan/compiled/operators.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/while_loop.hpp>

#include <unordered_map>

namespace rowan::inline v0 {

namespace detail {

template <class... Op>
static void add_rules_of_loops(CompiledRules& rules) {
    (rules.emplace_back(&whole_kernel<Op>::value, gradient_rules<Op, void>), ...);
}

}  // namespace detail

GradientRules op_kernel::gradient() const {
    if (!compiled_rules) return rules == nullptr ? GradientRules{} : *rules;
    static auto const all = [] {
        detail::CompiledRules list;
        detail::add_rules_of_float(list);
        detail::add_rules_of_double(list);
        detail::add_rules_of_integers(list);
        detail::add_rules_of_sampled_losses(list);
        detail::add_rules_of_loops<detail::rnn_op, detail::while_op, detail::cond_op>(list);
        return std::unordered_map<op_kernel const*, GradientRules>(list.begin(), list.end());
    }();
    return all.at(this);
}

}  // namespace rowan::inline v0
