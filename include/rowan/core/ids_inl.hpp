// rowan/core/ids_inl.hpp: definitions of rowan/core/ids.hpp.
#pragma once

#include <rowan/core/ids.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <atomic>

namespace rowan::inline v0::detail {

struct IdsInRange {
    Cpu exec;
    char const* field;
    std::int64_t bound;

    template <class I>
    void operator()(std::span<I const> list) const {
        std::atomic<bool> good{true};
        parallel_work(exec, list.size(), list.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
            if (has_bad_id(list.subspan(begin, end - begin), 0, bound)) good = false;
        });
        if (!good) bad_id(field, list, 0, bound);
    }
};

struct CopyOfIds {
    std::int64_t* to;

    template <class I>
    void operator()(std::span<I const> list) const {
        std::copy(list.begin(), list.end(), to);
    }
};

ROWAN_CALLED_FUNCTION void copy_ids(Ids<> const& ids, std::int64_t* to) { ids.visit(CopyOfIds{to}); }

ROWAN_CALLED_FUNCTION void check_ids(Cpu exec, char const* field, Ids<> const& ids, std::int64_t bound) {
    ids.visit(IdsInRange{exec, field, bound});
}

}  // namespace rowan::inline v0::detail

#endif
