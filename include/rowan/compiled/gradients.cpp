// rowan/compiled/gradients.cpp: op_kernel::gradient, which finds the gradients of the compiled library's kernels.
#include <rowan/compiled/operators.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/while_loop.hpp>

#include <algorithm>
#include <unordered_map>

namespace rowan::inline v0 {

namespace detail {

template <class... Op>
static void add_rules_of_loops(CompiledRules& rules) {
    (rules.emplace_back(&whole_kernel<Op>::value, gradient_rules<Op, void>), ...);
}

/// The rules of all kernels of this library.
static std::unordered_map<op_kernel const*, GradientRules> const& compiled_rules() {
    static auto const all = [] {
        CompiledRules list;
        add_rules_of_float(list);
        add_rules_of_double(list);
        add_rules_of_integers(list);
        add_rules_of_sampled_losses(list);
        add_rules_of_loops<rnn_op, while_op, cond_op>(list);
        return std::unordered_map<op_kernel const*, GradientRules>(list.begin(), list.end());
    }();
    return all;
}

}  // namespace detail

GradientRules op_kernel::gradient() const {
    if (!compiled_rules) return rules == nullptr ? GradientRules{} : *rules;
    auto const& all = detail::compiled_rules();
    if (auto const found = all.find(this); found != all.end()) return found->second;
    for (auto const& [kernel, its] : all) {  // of another library of the process, which has its own
        if (kernel->name == name && std::ranges::equal(kernel->dtypes, dtypes)) return its;
    }
    throw GraphError({"this library has no operator ", name, " of these element types"});
}

}  // namespace rowan::inline v0
