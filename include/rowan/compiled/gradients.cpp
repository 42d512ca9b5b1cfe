// rowan/compiled/gradients.cpp: op_kernel::gradient, which finds the gradients of the compiled library's kernels.
#include <rowan/compiled/operators.hpp>

#include <unordered_map>

namespace rowan::inline v0 {

GradientRules op_kernel::gradient() const {
    if (!compiled_rules) return rules == nullptr ? GradientRules{} : *rules;
    static auto const all = [] {
        detail::CompiledRules list;
        detail::add_rules_of_float(list);
        detail::add_rules_of_double(list);
        detail::add_rules_of_integers(list);
        detail::add_rules_of_sampled_losses(list);
        return std::unordered_map<op_kernel const*, GradientRules>(list.begin(), list.end());
    }();
    return all.at(this);
}

}  // namespace rowan::inline v0
