// rowan/train/detail/trainer_build_inl.hpp: what an AnyTrainer builds, and its parameters.
#pragma once

#include <rowan/train/detail/any_trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/near_name.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/train/detail/feed.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE AnyTrainer::AnyTrainer(Variable& cost, CostType const& type, DeviceExec const& exec,
                                                        TrainSettings const& options)
    : cost_(cost), ranks_(options.ranks), patience_(ranks_.get(), options.patience), type_(type), exec_(exec),
      parts_(options.parts.count()), check_every_(options.check_every), overlap_(options.overlap && ranks_ != nullptr),
      seed_(options.seed) {
    number_ = agree_on(ranks_.get(), TrainCall::trainer, [&](NamedValues& same) {
        patience_.check();
        if (check_every_ < 0) throw ValueError("options.check_every", check_every_, "at least 0");
        build(options);
        if (ranks_ != nullptr) (this->*functions_->tell_ranks)(same, options);
    });
    if (ranks_ != nullptr) (this->*functions_->begin_ranks)();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void AnyTrainer::build(TrainSettings const& options) {
    pool_.emplace();  // here, so that memory that fails on one rank fails on all
    updates_.emplace();
    own_.emplace(cost_.scope());
    withdrawn_.scope = &*own_;
    schedule_ = options.schedule;
    ScopeUse const use(cost_.scope());
    bool const apart = parts_ > 1 || ranks_ != nullptr;
    if (apart) functions_ = options.parts.functions();
    if (apart && functions_ == nullptr)
        throw Error("train: options.comm has several ranks, and options.parts is not given");
    static_cast<void>(NetOrder(std::array{&cost_}));  // names the variables; names of states begin with these
    tables_ = table_lookups(cost_);                   // checks the net also without ranks
    if (ranks_ == nullptr) tables_.clear();
    for (auto const& t : tables_) sharded_.push_back(t.table);
    auto gradients = append_gradients(type_.gradients, cost_, *own_);
    for (auto const& g : gradients) parameters_.push_back(g.parameter);
    std::unordered_map<Variable const*, std::size_t> numbers;
    for (std::size_t i = 0; i < parameters_.size(); ++i) numbers.emplace(parameters_[i], i);
    for (std::size_t t = 0; t < sharded_.size(); ++t) {
        if (auto const at = numbers.find(sharded_[t]); at != numbers.end()) with_gradients_.emplace_back(t, at->second);
    }
    check_parameters(options.optimizers, "for the optimizer that names it");
    check_parameters(options.rates, "for the rate of that name");
    updates_->add_gradients(*own_, std::move(gradients), options, apart);
    results_.assign(updates_->computed().begin(), updates_->computed().end());
    auto const traced = trace(std::array{&cost_});
    std::unordered_set<Variable const*> made;
    for (Operator const* op : traced) made.insert(op->outputs.begin(), op->outputs.end());
    for (Variable const* const v : options.keep) {
        if (v == nullptr || !made.contains(v))
            throw GraphError({"options.keep has ", v == nullptr ? std::string("a null pointer") : describe(*v),
                              ", which is no result of the operators that the cost needs"});
    }
    for (Operator const* op : traced)
        each_next(*op, [&](Variable& now, Variable& next) { moving_.push_back({&now, &next, op}); });
    totals_.assign(updates_->summed().begin(), updates_->summed().end());
    passing_.assign(updates_->read().begin(), updates_->read().end());
    for (Moving const& m : moving_) {
        results_.push_back(m.next);
        totals_.push_back(m.next);
    }
    for (auto const* list : {&results_, &totals_}) passing_.insert(passing_.end(), list->begin(), list->end());
    std::vector<Variable*> outputs{&cost_};
    outputs.insert(outputs.end(), results_.begin(), results_.end());
    outputs.insert(outputs.end(), options.keep.begin(), options.keep.end());
    if (apart) (this->*functions_->build)(options, outputs);
    net_.emplace(NetOrder(outputs));
    losses_.emplace(cost_, net_->operators());
    for (Variable* const v : net_->inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
        if (v->role() == Role::places && std::ranges::find(parameters_, role_of(*v).tables[0]) == parameters_.end())
            throw GraphError(
                {role_of(*v).tables[0]->name(), " is a table by keys, which the cost reads and does not train"});
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        Variable const& v = *parameters_[i];
        if (role_of(v).kind == nullptr) continue;
        if (trained_ == nullptr) {
            trained_ = role_of(v).kind->tables();
            trained_->find(parameters_, traced, net_->inputs());
        }
        if (ranks_ != nullptr && role_of(v).kind->in_file)
            throw GraphError({v.name(), " is in a file, which one process trains"});
        if (role_of(v).kind->in_file && options.stop)
            throw GraphError(
                {"options.stop: ", v.name(), " is in a file, which does not keep the rows of the best epoch"});
        if (options.average)
            throw GraphError({"options.average: ", v.name(), " is by keys or in a file, without averages"});
        if (role_of(v).kind->in_file && updates_->read()[i]->spec().type != VarType::SELECTED_ROWS)
            throw GraphError({v.name(),
                              " is in a file, and its gradient is dense: nets read it by lookups, and its "
                              "optimizer is lazy or layer::Deferred"});
    }
    updates_->add_updates(*own_, options);
    updates_->each_deferred([&](Variable& table, std::shared_ptr<MissedSteps> const& steps) {
        if (deferred_ == nullptr) deferred_ = steps->new_tables();
        deferred_->add(table, steps, options.average ? nullptr : &cost_);
    });
    begin(options.resume, options.initial);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void AnyTrainer::begin(Parameters const* resume, Feeds const* given) {
    if (resume != nullptr && given != nullptr)
        throw Error("options.initial and options.resume are both given: what is resumed has no initial values");
    Feeds const none, &initial = given == nullptr ? none : *given;
    check_parameters(initial, "for the initial value of that name", true);
    steps_ = resume == nullptr ? 0 : resume->steps;
    first_factor_ = factor();
    updates_->prepare(steps_, *first_factor_,
                      true);  // throws if an optimizer rejects an option or the factor is not finite
    auto const all = variables();
    auto const from_average = updates_->begin_with_average();
    std::vector<Value> firsts;  // empty for a variable that is initialized
    for (Variable* const v : all) {
        if (TrainedTables::is_in_file(*v)) {
            firsts.emplace_back();
            continue;
        }
        auto const found = initial.find(v->name());
        bool const resumed = resume != nullptr && (v->role() == Role::parameter || resume->contains(v->name()));
        if (resume != nullptr && !resumed && steps_ != 0 && !from_average.contains(v)) no_state(v->name(), steps_);
        firsts.push_back(resumed                  ? resume->find(v->name()).share()
                         : found != initial.end() ? found->second.value()
                                                  : Value());
        if (!resumed && found == initial.end()) continue;
        check_fits(*v, firsts.back());
        if (v->sharded()) check_shard(*v, firsts.back(), detail::rows_of(ranks_.get(), *v));
    }
    if (resume != nullptr) updates_->check_states(*resume);
    for (Variable const* const v : parameters_) {
        if (resume != nullptr && (deferred_ == nullptr || !deferred_->contains(*v))) check_up_to_date(*v, *resume);
    }
    auto const* const ranks = ranks_.get();
    catch_up_others(all);
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0, number = 0; i < all.size(); ++i) {
        if (all[i]->piece == 0) ++number;  // the pieces of a table have the seed of the whole
        seeds.push_back(bits_at(seed_, number));
    }
    if (trained_ != nullptr) trained_->make(all, seeds, resume, initial);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (TrainedTables::has(*all[i])) continue;
        if (!firsts[i].empty()) {
            all[i]->value() = own_copy(*all[i], firsts[i]);
        } else if (ranks != nullptr && all[i]->sharded()) {
            all[i]->initialize_rows(all[i]->value(), detail::rows_of(ranks, *all[i]), seeds[i], exec_);
        } else if (all[i]->initialize) {
            all[i]->initialize(all[i]->value(), seeds[i], exec_);
        }
    }
    if (resume != nullptr && deferred_ != nullptr) deferred_->load(*resume);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void AnyTrainer::flush(bool files) const {
    if (trained_ != nullptr) trained_->show(deferred_.get());
    if (deferred_ != nullptr) deferred_->flush(exec_.host(), files);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters AnyTrainer::parameters(Saving saving) const {
    flush(saving != Saving::with_others);
    Parameters result;
    result.steps = steps_;
    for (Variable* const v : variables())
        result.set(v->name(), TrainedTables::is_in_file(*v) ? v->value().share() : v->value().copy());
    if (trained_ != nullptr) trained_->save(result, saving);
    if (deferred_ != nullptr) deferred_->save(result);
    synchronize(exec_);
    return result;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<Variable*> AnyTrainer::variables() const {
    std::vector<Variable*> all = parameters_;
    updates_->append_states(all);
    for (Moving const& m : moving_) all.push_back(m.now);
    updates_->append_averages(all);
    return all;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Value AnyTrainer::own_copy(Variable const& v, Value const& value) const {
    if (v.bring == nullptr) return value.copy();
    Value mine = value.share();
    v.bring(mine, exec_, true);
    return mine;
}

ROWAN_CALLED_FUNCTION std::int64_t AnyTrainer::seed_of(std::size_t k, std::int64_t part) const {
    std::uint64_t now = bits_at(bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    if (part != 0) now = bits_at(now, static_cast<std::uint64_t>(part));
    return static_cast<std::int64_t>(now);
}

template <class Named>
void AnyTrainer::check_parameters(Named const& given, char const* what, bool may_move) const {
    if (given.empty()) return;
    std::unordered_set<std::string_view> names;
    std::unordered_set<std::string_view> keyed;
    for (Variable const* const v : parameters_) {
        names.insert(v->name());
        if (may_move && role_of(*v).kind != nullptr) keyed.insert(v->name());
    }
    for (Moving const& m : moving_) {
        if (may_move) names.insert(m.now->name());
    }
    for (auto const& [name, value] : given) {
        if (names.contains(name)) continue;
        if (is_table_part(name) && keyed.contains(std::string_view(name).substr(0, name.rfind('#')))) continue;
        throw GraphError({"there is no parameter \"", name, "\" ", what, near_text(name, names)});
    }
}

}  // namespace rowan::inline v0::detail

#endif
