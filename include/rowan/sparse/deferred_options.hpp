// rowan/sparse/deferred_options.hpp: DeferredOptions, how rows make up for steps.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0 {

/// How rows make up for the steps that they have missed.
enum class CatchUp {
    exact,        ///< step by step, with the bits of dense updates
    closed_form,  ///< all steps at once, with nearly the same numbers
};

/// The options of Deferred.
struct DeferredOptions {
    CatchUp catch_up = CatchUp::exact;  ///< how rows make up for missed steps
};

}  // namespace rowan::inline v0
