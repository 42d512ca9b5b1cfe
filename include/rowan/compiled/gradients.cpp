// rowan/compiled/gradients.cpp: op_kernel::gradient, which finds the gradients of the compiled library's kernels.
#include <rowan/compiled/operators.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/while_loop.hpp>

#include <string>
#include <unordered_map>

namespace rowan::inline v0 {

namespace detail {

template <class... Op>
static void add_rules_of_loops(CompiledRules& rules) {
    (rules.emplace_back(&whole_kernel<Op>::value, gradient_rules<Op, void>), ...);
}

GradientRules find_compiled_rules(op_kernel const& kernel) {
    static auto const all = [] {
        CompiledRules list;
        add_rules_of_float(list);
        add_rules_of_double(list);
        add_rules_of_integers(list);
        add_rules_of_sampled_losses(list);
        add_rules_of_loops<rnn_op, while_op, cond_op>(list);
        return std::unordered_map<op_kernel const*, GradientRules>(list.begin(), list.end());
    }();
    return all.at(&kernel);
}

}  // namespace detail

GradientRules op_kernel::gradient() const {
    if (!compiled_rules) return rules == nullptr ? GradientRules{} : *rules;
    if (find_rules == nullptr)
        throw GraphError(std::string("the operator ")
                             .append(name)
                             .append(" is one of another library of this process, which has no gradients"));
    return find_rules(*this);
}

}  // namespace rowan::inline v0
