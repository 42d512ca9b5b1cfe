// rowan/distributed/detail/process_group.hpp: ProcessGroup, a communicator of any type.
#pragma once

#include <rowan/distributed/communicator.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// An exchange of bytes that has begun.
class Transfer {
public:
    Transfer() = default;
    Transfer(Transfer const&) = delete;
    Transfer& operator=(Transfer const&) = delete;
    virtual ~Transfer() = default;
    virtual void wait() = 0;
    virtual bool test() = 0;  // whether wait() would return at once, or false
};

class ProcessGroup;
class ListTransfer;

/// Nodes of a communicator of any type.
struct NodeGroups {
    std::unique_ptr<ProcessGroup const> node, across;
    std::vector<int> begins;

    std::size_t count() const { return begins.size() - 1; }
    /// The places that every node has: the size of the smallest.
    ROWAN_IF_CALLED std::size_t places() const;
};

/// A communicator of any type, so that what is above it is compiled once. Its functions are those of the concept.
class ProcessGroup {
public:
    ProcessGroup() = default;
    ProcessGroup(ProcessGroup const&) = delete;
    ProcessGroup& operator=(ProcessGroup const&) = delete;
    virtual ~ProcessGroup();

    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual void sum(std::span<std::int64_t> words) const = 0;
    virtual void allgather(std::span<std::byte const> in, std::span<std::byte> out) const = 0;
    virtual void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const = 0;
    virtual std::unique_ptr<Transfer> alltoallv(std::size_t unit, std::span<std::byte const> in,
                                                std::span<std::size_t const> counts, std::span<std::byte> out,
                                                std::span<std::size_t const> out_counts) const = 0;
    virtual std::unique_ptr<Transfer> allgatherv(std::size_t unit, std::span<std::byte const> in,
                                                 std::span<std::byte> out,
                                                 std::span<std::size_t const> counts) const = 0;
    virtual void barrier() const = 0;
    [[noreturn]] virtual void abort(std::string_view text) const = 0;
    virtual std::unique_ptr<NodeGroups> nodes() const = 0;  // null: one node
    virtual int few_ranks() const = 0;
    virtual std::unique_ptr<ProcessGroup const> duplicate() const = 0;
    /// What the ranks come to next, and how long this one waits there, for a communicator that wants to know.
    virtual void expect(std::string_view, std::chrono::milliseconds) const {}
    virtual bool can_expect() const { return false; }  // whether it does
    virtual bool progress() const { return false; }

    mutable std::shared_ptr<ListTransfer> joined;  // within begin_as_one, its lists
};

template <communicator C>
class GroupOf final : public ProcessGroup {
public:
    explicit GroupOf(C const& comm) : comm_(comm) {}

    int rank() const override { return comm_.rank(); }
    int size() const override { return comm_.size(); }
    void sum(std::span<std::int64_t> words) const override { comm_.sum(words); }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const override { comm_.allgather(in, out); }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const override { comm_.alltoall(in, out); }
    std::unique_ptr<Transfer> alltoallv(std::size_t unit, std::span<std::byte const> in,
                                        std::span<std::size_t const> counts, std::span<std::byte> out,
                                        std::span<std::size_t const> out_counts) const override {
        return open([&] { return comm_.alltoallv(unit, in, counts, out, out_counts); });
    }
    std::unique_ptr<Transfer> allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                                         std::span<std::size_t const> counts) const override {
        return open([&] { return comm_.allgatherv(unit, in, out, counts); });
    }
    void barrier() const override { comm_.barrier(); }
    void expect(std::string_view what, std::chrono::milliseconds patience) const override {
        if constexpr (requires { comm_.expect(what, patience); }) comm_.expect(what, patience);
    }
    bool can_expect() const override {
        return requires(std::chrono::milliseconds patience) { comm_.expect({}, patience); };
    }
    bool progress() const override {
        if constexpr (requires { comm_.progress(); }) {
            return comm_.progress();
        } else {
            return false;
        }
    }
    [[noreturn]] void abort(std::string_view text) const override {
        comm_.abort(text);
        std::terminate();  // abort does not return
    }
    std::unique_ptr<NodeGroups> nodes() const override {
        if constexpr (requires { comm_.nodes(); }) {
            if (auto all = comm_.nodes()) {
                using Group = GroupOf<decltype(all->node)>;
                return std::unique_ptr<NodeGroups>(new NodeGroups{
                    std::make_unique<Group>(all->node), std::make_unique<Group>(all->across), std::move(all->begins)});
            }
        }
        return nullptr;
    }
    int few_ranks() const override {
        if constexpr (requires { C::few_ranks; }) {
            return C::few_ranks;
        } else {
            return 512;
        }
    }
    std::unique_ptr<ProcessGroup const> duplicate() const override {
        if constexpr (requires { comm_.duplicate(); }) {
            return std::make_unique<GroupOf<decltype(comm_.duplicate())>>(comm_.duplicate());
        } else {
            static_assert(
                !requires { comm_.alltoallv(1, {}, {}, {}, {}).test(); },
                "rowan: a communicator whose exchanges have test() needs duplicate(), too");
            return std::make_unique<GroupOf>(comm_);
        }
    }

private:
    /// Its own memory is allocated before the exchange begins.
    template <class Begin>
    static std::unique_ptr<Transfer> open(Begin const& begin) {
        struct Open final : Transfer {
            void wait() override { result->wait(); }
            bool test() override {
                if constexpr (requires { result->test(); }) {
                    return result->test();
                } else {
                    return false;
                }
            }
            std::optional<std::invoke_result_t<Begin const&>> result;
        };
        auto transfer = std::make_unique<Open>();
        transfer->result.emplace(begin());
        return transfer;
    }

    C comm_;
};

/// Words and elements as bytes.
template <class V>
std::span<std::byte const> bytes_of(V const& v) {
    return std::as_bytes(std::span(v.data(), v.size()));
}
template <class V>
std::span<std::byte> bytes_of(V& v) {
    return std::as_writable_bytes(std::span(v.data(), v.size()));
}

/// An order of things in which those of each rank are together, and how many each has.
struct ByRank {
    ROWAN_IF_CALLED ByRank(std::span<int const> ranks, std::size_t size);
    std::vector<std::size_t> counts, order;
};

/// The sum of what each rank brings.
ROWAN_IF_CALLED std::size_t total(std::span<std::size_t const> counts);

/// What each rank has for this one, if this one has send[r] for rank r.
/// cost     one alltoall of 8 bytes
ROWAN_IF_CALLED std::vector<std::size_t> exchange_counts(ProcessGroup const& group, std::span<std::size_t const> send);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/process_group_inl.hpp>
