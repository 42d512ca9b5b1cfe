// rowan/op/declared.hpp: declared, what lists and layers know of an operator whose functions they do not see.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0::detail {

/// The declaration of one of rowan's operators: its name, slots, options, and the elements that it takes. The class of
/// the operator derives from it, and adds what computes: `infer`, `run` and the gradient. The declarations of a folder
/// stand in its declared.hpp; layers include them alone.
template <class Op>
struct declared;

template <class Op>
struct declaration {
    using type = Op;
};
template <class Op>
requires requires { typename declared<Op>::itself; }
struct declaration<Op> {
    using type = declared<Op>;
};

/// The declaration of an operator; of one that is not rowan's, its class.
template <class Op>
using declaration_of = typename declaration<Op>::type;

/// Whether the operator is declared apart from its functions. Its declared.hpp alone may name it before its class is
/// known, so that this is the same everywhere.
template <class Op>
concept has_declaration = requires {
    typename declared<Op>::itself;
};

}  // namespace rowan::inline v0::detail
