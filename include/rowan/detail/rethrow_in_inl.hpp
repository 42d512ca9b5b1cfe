// rowan/detail/rethrow_in_inl.hpp: definitions of rowan/detail/rethrow_in.hpp.
#pragma once

#include <rowan/detail/rethrow_in.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE void rethrow_in(std::string place) {
    auto const field = [&](std::string const& name) { return place.append(": ").append(name); };
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
    } catch (LodError const& e) {  // its text begins with the offset
        throw LodError(e.level(), e.position(), e.value(), {e.reason(), ", in ", place});
    }
}

}  // namespace rowan::inline v0::detail

#endif
