// rowan/detail/run_feeds.hpp: nets run on batches: what train and infer share.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/detail/trace.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Gives every data variable of a net its value.
/// errors   GraphError if the batch lacks one
inline void feed(std::span<Variable* const> inputs, Feeds const& feeds) {
    for (Variable* const v : inputs) {
        if (v->role() == Role::data && !feeds.contains(v->name()))
            throw GraphError(std::string("the batch does not bring the variable \"").append(v->name()).append("\""));
    }
    for (Variable* const v : inputs) {
        if (v->role() == Role::data) v->value() = feeds.find(v->name())->second.value();
    }
}

/// Gives variables back the values that they had.
class KeptValues {
public:
    explicit KeptValues(std::span<Variable* const> variables) : variables_(variables.begin(), variables.end()) {
        for (Variable* const v : variables_) values_.push_back(std::exchange(v->value(), Value()));
    }
    KeptValues(KeptValues const&) = delete;
    KeptValues& operator=(KeptValues const&) = delete;
    ~KeptValues() {
        for (std::size_t i = 0; i < variables_.size(); ++i) variables_[i]->value() = std::move(values_[i]);
    }

private:
    std::vector<Variable*> variables_;
    std::vector<Value> values_;
};

/// A net with its backward pass and the operators of an optimizer.
template <class T, class Device>
class Trainer {
public:
    /// errors   GraphError if `others` names what is no parameter of the net
    Trainer(Variable& cost, layer::Optimizer const& optimizer,
            std::map<std::string, layer::Optimizer> const& others = {})
        : cost_(cost) {
        static_cast<void>(Net<Device>::trace_and_build(cost));  // names, which those of states begin with
        auto const gradients = append_backward<T, Device>(cost);
        std::vector<Variable*> outputs{&cost};
        for (auto const& g : gradients) {
            outputs.push_back(g.gradient);
            parameters_.push_back(g.parameter);
        }
        net_ = Net<Device>::trace_and_build(outputs);
        for (auto const& other : others) {
            if (std::ranges::none_of(parameters_, [&](Variable const* v) { return v->name() == other.first; }))
                throw GraphError(std::string("there is no parameter \"")
                                     .append(other.first)
                                     .append("\" for an optimizer of its own"));
        }
        for (auto const& g : gradients) {
            auto const other = others.find(g.parameter->name());
            updates_.push_back((other == others.end() ? optimizer : other->second).add(g));
            changes_.append(*updates_.back().op);
        }
    }

    /// First values, or those of an earlier training.
    void begin(std::uint64_t seed, Parameters const* resume) {
        steps_ = resume == nullptr ? 0 : resume->steps;
        std::uint64_t number = 0;
        for (Variable* const v : variables()) {
            std::uint64_t const own = mix_bits(seed + 0x9E3779B97F4A7C15U * ++number);
            if (resume != nullptr && (v->role() == Role::parameter || resume->contains(v->name()))) {
                v->value() = resume->find(v->name()).copy();
            } else if (v->initialize) {
                v->initialize(v->value(), own);
            }
        }
    }

    /// One batch. Parameters change only if its cost is finite.
    double step(Feeds const& feeds, Device exec) {
        MemoryPool::Guard const guard(pool_);
        feed(net_.inputs(), feeds);
        for (Variable const* v : net_.inputs()) {
            if (v->role() != Role::data) continue;
            Value const& value = v->value();
            if ((value.lod().empty() ? value.rows() : value.lod().sequences(0)) == 0)
                throw ShapeError(v->name() + ".shape(0)", "0", "at least 1: an empty batch teaches nothing");
        }
        Scope& scope = cost_.scope();
        net_.run(scope, exec);
        auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
        if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", shape_text(value.shape()), "[1]");
        auto const cost = static_cast<double>(dtype<T>::widen(value.data()[0]));
        if (!std::isfinite(cost))
            throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
        for (auto const& update : updates_) update.set_step(steps_ + 1);
        changes_.run(scope, exec);
        ++steps_;
        return cost;
    }

    Parameters parameters() const {
        Parameters result;
        result.steps = steps_;
        for (Variable* const v : variables()) result.set(v->name(), v->value().copy());
        return result;
    }

private:
    std::vector<Variable*> variables() const {
        std::vector<Variable*> all = parameters_;
        for (auto const& update : updates_) all.insert(all.end(), update.states.begin(), update.states.end());
        return all;
    }

    Variable& cost_;
    MemoryPool pool_;
    Net<Device> net_, changes_;
    std::vector<Variable*> parameters_;
    std::vector<layer::Optimizer::Update> updates_;
    std::int64_t steps_ = 0;
};

}  // namespace rowan::inline v0::detail
