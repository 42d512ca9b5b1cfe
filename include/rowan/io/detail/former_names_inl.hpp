// rowan/io/detail/former_names_inl.hpp: definitions of rowan/io/detail/former_names.hpp.
#pragma once

#include <rowan/io/detail/former_names.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/op/detail/reduction.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE ProgramDesc with_current_names(ProgramDesc program,
                                                                std::span<std::string_view const> own) {
    using Names = std::pair<std::string_view, std::string_view>;
    static constexpr std::array<Names, 2> taken{Names{"mul", "matmul_nn"},  // have another meaning now
                                                {"cross_entropy", "cross_entropy_of_probabilities"}};
    static constexpr std::array<Names, 21> former{
        Names{"brelu", "hardtanh"},
        {"broadcast_add", "add"},
        {"broadcast_div", "div"},
        {"broadcast_max", "maximum"},
        {"broadcast_min", "minimum"},
        {"broadcast_mul", "mul"},
        {"broadcast_sub", "sub"},
        {"cosine_embedding_loss", "cosine_embedding"},
        {"elementwise_mul", "mul"},
        {"fill_like", "full_like"},
        {"log_loss", "binary_cross_entropy_with_epsilon"},
        {"lookup_bag", "embedding_bag"},
        {"margin_rank_loss", "margin_ranking"},
        {"merge_rows", "interleave_rows"},
        {"mul_nt", "matmul_nt"},
        {"mul_tn", "matmul_tn"},
        {"rows_where", "nonzero_rows"},
        {"sigmoid_cross_entropy_with_logits", "binary_cross_entropy_with_logits"},
        {"softmax_with_cross_entropy", "cross_entropy"},
        {"squared_error", "mse"},
        {"weighted_bag", "weighted_embedding_bag"}};
    static constexpr std::array<std::string_view, 4> without_axis{"add", "div", "mul", "sub"};
    auto const add = [](OpDesc& op, std::string_view name, auto value) {
        if (std::ranges::find(op.attrs, name, &Attribute::name) == op.attrs.end())
            op.attrs.push_back({std::string(name), value});
    };
    auto const rename = [](OpDesc& op, auto const& names) {
        auto const found = std::ranges::find(names, op.type, &Names::first);
        if (found == names.end()) return false;
        op.type = found->second;
        return true;
    };
    bool const first = program.version.version == 1;
    for (BlockDesc& block : program.blocks) {
        for (OpDesc& op : block.ops) {
            auto const is_own = [&] { return std::ranges::find(own, op.type) != own.end(); };
            if (first && !rename(op, taken) && !is_own() && !rename(op, former)) {
                if (op.type == "sum_rows") {
                    op.type = "reduce_sum";
                    add(op, "axes", std::vector<std::int64_t>{0});
                    add(op, "keep_dims", false);
                } else if (op.type.starts_with("fill_")) {
                    op.type.replace(0, 4, "full");
                }
            }
            if ((op.type == "matmul_nn" || op.type == "matmul_nt" || op.type == "matmul_tn") && !is_own()) {
                add(op, "transpose_x", op.type == "matmul_tn");
                add(op, "transpose_y", op.type == "matmul_nt");
                op.type = "matmul";
            }
            if (!first) continue;
            if (std::ranges::find(without_axis, op.type) != without_axis.end()) add(op, "axis", std::int64_t{-1});
            if (op.type == "mse") add(op, "reduction", static_cast<std::int32_t>(Reduction::mean));
        }
    }
    return program;
}

}  // namespace rowan::inline v0::detail

#endif
