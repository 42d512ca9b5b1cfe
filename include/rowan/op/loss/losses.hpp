// rowan/op/loss/losses.hpp: element-wise losses.
#pragma once

#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/pointwise_loss.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/loss/functions.hpp>

namespace rowan::inline v0 {

ROWAN_LOSS_OP(huber)
ROWAN_LOSS_OP(smooth_l1)

ROWAN_LOSS_OP(binary_cross_entropy_with_logits)
ROWAN_LOSS_OP(binary_cross_entropy)

ROWAN_LOSS_OP(binary_cross_entropy_with_epsilon)
ROWAN_LOSS_OP(hinge)

ROWAN_LOSS_OP(kl_div)
ROWAN_LOSS_OP(margin_ranking)

ROWAN_LOSS_OP(cosine_embedding)

}  // namespace rowan::inline v0
