// examples/python/settle.hpp: settle, which sets the dims of a net that was built before its data had any.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/net.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace python {

/// Sets the unknown dims of data from `dims_of`, by name, and infers all dims that follow, also those of parameters.
/// errors   ShapeError if data has another rank; the errors of infer. Then nothing has changed
inline void settle(rowan::Variable& output,
                   std::function<std::optional<rowan::Dims>(std::string const&)> const& dims_of) {
    auto const net = rowan::Net<>::trace_and_build(output);
    std::map<rowan::Variable*, rowan::VarSpec> specs;
    for (rowan::Variable* const v : net.inputs()) {
        rowan::Dims& dims = specs.emplace(v, v->spec()).first->second.dims;
        auto const known = v->role() == rowan::Role::data ? dims_of(v->name()) : std::nullopt;
        if (!known || dims.product_from(1) != rowan::UNK) continue;
        if (known->size() != dims.size()) {
            std::ostringstream actual, expected;
            actual << *known;
            expected << dims;
            throw rowan::ShapeError({v->name(), ".shape()"}, actual.str(), expected.str());
        }
        for (std::size_t i = 1; i < dims.size(); ++i) {
            if (dims[i] == rowan::UNK) dims[i] = (*known)[i];
        }
    }
    for (rowan::Operator const* op : net.operators()) {
        std::vector<rowan::VarSpec> in;
        for (rowan::Variable* const v : op->inputs) {
            rowan::VarSpec& spec = specs.at(v);
            if (v->set_width) spec.dims[0] = in[0].dims[1];  // the weight of a layer fc
            in.push_back(spec);
        }
        auto const made = op->kernel->infer(in, op->attributes);
        for (std::size_t i = 0; i < made.size(); ++i) specs.emplace(op->outputs[i], made[i]);
    }
    for (auto const& [v, spec] : specs) {
        if (v->set_width && spec.dims[0] != rowan::UNK) {
            v->set_width(*v, spec.dims[0]);
            v->set_width = nullptr;
        }
        v->settle(spec);
    }
}

/// errors   GraphError if a parameter of the net needs an unknown width of data
inline void expect_settled(rowan::Variable& output) {
    auto const net = rowan::Net<>::trace_and_build(output);
    for (rowan::Variable const* v : net.inputs()) {
        if (v->role() == rowan::Role::parameter && !v->initialize)
            throw rowan::GraphError({"the dims of the parameter \"", v->name(), "\" are not known: give the data its shape, or train with a batch"});
    }
}

}  // namespace python
