// rowan/graph/net_inl.hpp: definitions of rowan/graph/net.hpp.
#pragma once

#include <rowan/graph/net.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string describe(Operator const& op) {
    std::string text(op.code->name);
    char const* comma = "(";
    for (Variable const* v : op.inputs) text.append(std::exchange(comma, ", ")).append(v->name());
    return text.append(op.inputs.empty() ? "()" : ")");
}

ROWAN_FUNCTION void throw_named(Operator const& op) {
    auto const field = [&](std::string const& name) { return describe(op).append(": ").append(name); };
    try {
        throw;
    } catch (IndexError const& e) {
        throw e.moved_to(field(e.field()), e.position());
    } catch (ShapeError const& e) {
        throw ShapeError(field(e.field()), e.actual(), e.expected());
    } catch (TypeError const& e) {
        throw TypeError(field(e.field()), e.actual(), e.expected());
    } catch (ValueError const& e) {
        throw ValueError(field(e.field()), e.value(), e.expected());
    } catch (LodError const& e) {  // begins with the offset
        throw LodError(e.level(), e.position(), e.value(),
                       std::string(e.reason()).append(", in ").append(describe(op)));
    }
}

}  // namespace rowan::inline v0::detail

#endif
