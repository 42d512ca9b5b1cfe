// rowan/train/predictor_inl.hpp: definitions of rowan/train/predictor.hpp.
#pragma once

#include <rowan/train/predictor.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/process_mutex.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/trained_tables.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Memory pools, each for one call at a time.
class IdlePools {
public:
    struct Return {
        IdlePools* to;
        void operator()(MemoryPool* pool) const noexcept {
            std::unique_ptr<MemoryPool> idle(pool);
            std::lock_guard const lock(process_mutex<IdlePools>());
            to->idle_.push_back(std::move(idle));
        }
    };
    using Lent = std::unique_ptr<MemoryPool, Return>;

    ROWAN_IF_CALLED Lent lend() {
        {
            std::lock_guard const lock(process_mutex<IdlePools>());
            if (!idle_.empty()) {
                Lent pool(idle_.back().release(), Return{this});
                idle_.pop_back();
                return pool;
            }
            idle_.reserve(made_ + 1);  // so that Return does not allocate
            ++made_;
        }
        return Lent(new MemoryPool, Return{this});
    }

private:
    std::vector<std::unique_ptr<MemoryPool>> idle_;
    std::size_t made_ = 0;
};

/// A net with given parameters, made ready once: a Predictor of any number of outputs of any types.
class NetPredictor {
public:
    ROWAN_IF_CALLED NetPredictor(std::span<Variable* const> outputs, Parameters const& parameters,
                                 PredictorOptions const& options, DeviceExec const& exec)
        : net_(outputs), options_(options), pools_(std::make_unique<IdlePools>()) {
        for (Variable const* v : outputs) {
            if (v->writers().empty()) throw GraphError({v->name(), " is written by no operator"});
            out_.push_back(net_.number(*v));
        }
        std::unordered_set<std::size_t> later;
        again_.resize(out_.size());
        for (std::size_t i = out_.size(); i-- > 0;) again_[i] = !later.insert(out_[i]).second;
        auto const inputs = net_.inputs();
        given_.resize(inputs.size());
        places_.resize(net_.variables(), nullptr);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Variable& v = *inputs[i];
            if (v.role() == Role::data) continue;
            if (v.role() == Role::places) {
                tables_of(*role_of(v).tables[0]).add(i, v, parameters);
                continue;
            }
            if (v.role() == Role::parameter) {
                check_up_to_date(v, parameters);
                bool const from_file = TrainedTables::is_in_file(v) && !parameters.contains(v.name());
                Value const value = from_file ? tables_of(v).rows(v, parameters) : parameters.find(v.name()).share();
                check_fits(v, value);
                given_[i] = value.share();
                if (v.bring != nullptr) v.bring(given_[i], exec, false);
            } else if (v.role() == Role::seed) {  // dropout returns its input
                exec.set(given_[i], {});
            } else {
                given_[i] = v.value().share();
            }
            places_[i] = &given_[i];
        }
        synchronize(exec);
    }

    /// Sets one result for each output.
    ROWAN_IF_CALLED void run(Feeds const& feeds, std::span<Value> results, DeviceExec const& exec) const {
        IdlePools::Lent pool;
        std::optional<MemoryPool::Guard> guard;  // ends before the pool is returned
        if (current_pool() == nullptr) guard.emplace(*(pool = pools_->lend()));
        Buffer<Value> values(places_.size());
        Buffer<Value*> places(places_);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i] == nullptr) places[i] = &values[i];
        }
        std::size_t const read = feed(net_.inputs(), feeds, values, exec);
        if (tables_ != nullptr) tables_->find(exec.host(), feeds, values);
        if (read != feeds.size() && options_.refuse_other_feeds) check_read(feeds);
        in_order(exec, [&] { net_.run(std::span<Value* const>(places), exec); });
        synchronize(exec);
        for (std::size_t i = 0; i < out_.size(); ++i) {
            results[i] = again_[i] ? values[out_[i]].share() : std::move(values[out_[i]]);
        }
    }

private:
    ROWAN_IF_CALLED void check_read(Feeds const& feeds) const {
        for (auto const& named : feeds) {
            bool read = false;
            for (Variable const* v : net_.inputs())
                read = read || (v->role() == Role::data && v->name() == named.first);
            read = read || (tables_ != nullptr && tables_->reads(named.first));
            if (!read)
                throw GraphError({"the batch has a value for \"", named.first, "\", which the net does not read"});
        }
    }

    ROWAN_IF_CALLED TableInputs& tables_of(Variable const& table) {
        if (tables_ == nullptr) tables_ = role_of(table).kind->tables()->new_inputs();
        return *tables_;
    }

    NetOrder net_;
    PredictorOptions options_;
    std::shared_ptr<TableInputs> tables_;  // by keys and in files, or null
    std::vector<std::size_t> out_;         // the numbers of the outputs
    std::vector<bool> again_;              // for each, whether it is asked for once more
    Buffer<Value> given_;                  // by number: parameters and constants
    Buffer<Value*> places_;                // by number: those in given_, or nullptr for values of a call
    std::unique_ptr<IdlePools> pools_;
};

ROWAN_CALLED_FUNCTION void destroy(NetPredictor* predictor) noexcept { delete predictor; }

ROWAN_CALLED_FUNCTION Owner<NetPredictor> make_predictor(std::span<Variable* const> outputs,
                                                         Parameters const& parameters, PredictorOptions const& options,
                                                         DeviceExec const& exec) {
    return Owner<NetPredictor>(new NetPredictor(outputs, parameters, options, exec));
}

ROWAN_CALLED_FUNCTION void predict(NetPredictor const& net, Feeds const& feeds, std::span<Value> results,
                                   DeviceExec const& exec) {
    net.run(feeds, results, exec);
}

}  // namespace rowan::inline v0::detail

#endif
