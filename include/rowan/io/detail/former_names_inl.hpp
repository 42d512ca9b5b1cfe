// rowan/io/detail/former_names_inl.hpp: definitions of rowan/io/detail/former_names.hpp.
#pragma once

#include <rowan/io/detail/former_names.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ProgramDesc with_current_names(ProgramDesc program, std::span<std::string_view const> own) {
    if (program.version.version != 1) return program;
    using Names = std::pair<std::string_view, std::string_view>;
    static constexpr std::array<Names, 2> taken{Names{"mul", "matmul_nn"},  // have another meaning now
                                                {"cross_entropy", "cross_entropy_of_probabilities"}};
    static constexpr std::array<Names, 14> former{
        Names{"brelu", "hardtanh"},
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
        {"weighted_bag", "weighted_embedding_bag"}};
    auto const rename = [](OpDesc& op, auto const& names) {
        auto const found = std::ranges::find(names, op.type, &Names::first);
        if (found == names.end()) return false;
        op.type = found->second;
        return true;
    };
    for (BlockDesc& block : program.blocks) {
        for (OpDesc& op : block.ops) {
            if (rename(op, taken) || std::ranges::find(own, op.type) != own.end() || rename(op, former)) continue;
            if (op.type == "sum_rows") {
                op.type = "reduce_sum";
                op.attrs.insert(op.attrs.end(), {{"axes", std::vector<std::int64_t>{0}}, {"keep_dims", false}});
            } else if (op.type.starts_with("fill_")) {
                op.type.replace(0, 4, "full");
            }
        }
    }
    return program;
}

}  // namespace rowan::inline v0::detail

#endif
