// rowan/graph/detail/lock_names.hpp: lock_names, for those who name variables of scopes.
#pragma once

#include <rowan/graph/scope.hpp>

#include <mutex>

namespace rowan::inline v0::detail {

/// Locks the names of a scope, of the scopes that enclose it, and of all scopes in these, until its destruction.
ROWAN_IF_CALLED std::unique_lock<std::mutex> lock_names(Scope const& scope);

}  // namespace rowan::inline v0::detail
