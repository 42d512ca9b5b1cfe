// rowan/train/detail/trainer_members.hpp: the members of Trainer: what it builds, a step and its parts.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

namespace rowan::inline v0 {

template <class T, class Device>
Trainer<T, Device>::Trainer(layer::Var<T, Device> const& cost,
                            TrainOptionsOn<std::type_identity_t<Device>> const& options)
    : cost_(*cost), comm_(options.comm), exec_(options.exec), parts_(options.parts.count()),
      check_every_(options.check_every), overlap_(options.overlap && options.comm.ranks() != nullptr),
      seed_(options.seed) {
    number_ = detail::agree_on(comm_.ranks(), detail::TrainCall::trainer, [&](detail::NamedValues& same) {
        if (check_every_ < 0) throw ValueError("options.check_every", check_every_, "at least 0");
        build(options);
        if (comm_.ranks() == nullptr) return;
        detail::add_options(same, options);
        same.add("the number of steps", steps_);
        auto all = variables();  // but for rows
        std::erase_if(all, [&](Variable const* v) {
            return std::ranges::any_of(fetched_,
                                       [&](Variable const* t) { return v != t && detail::belongs_to(v->name(), *t); });
        });
        detail::add_variables(same, all, "first value");
    });
    if (overlap_) {
        comm_.ranks()->must([this] {
            comm_.ranks()->begin_overlap();
            sums_.overlap(ready());
        });
    }
}

template <class T, class Device>
void Trainer<T, Device>::build(TrainOptionsOn<Device> const& options) {
    pool_.emplace();  // here, so that memory that fails on one rank fails on all
    updates_.emplace();
    own_.emplace(cost_.scope());
    withdrawn_.scope = &*own_;
    schedule_ = options.schedule;
    detail::ScopeUse const use(cost_.scope());
    bool const apart = parts_ > 1 || comm_.ranks() != nullptr;
    if (comm_.ranks() != nullptr && !options.parts.given())
        throw Error("train: options.comm has several ranks, and options.parts is not given");
    static_cast<void>(Net<Device>::trace_and_build(cost_));  // names the variables; names of states begin with these
    tables_ = detail::table_lookups(cost_);                  // checks the net also without ranks
    if (comm_.ranks() == nullptr) tables_.clear();
    for (auto const& t : tables_) fetched_.push_back(t.table);
    auto gradients = append_backward<T, Device>(cost_, *own_);
    for (auto const& g : gradients) parameters_.push_back(g.parameter);
    for (auto const& other : options.optimizers) check_parameter(other.first, "for the optimizer that names it");
    for (auto const& rate : options.rates) check_parameter(rate.first, "for the rate of that name");
    updates_->add_gradients(*own_, std::move(gradients), options, apart);
    results_.assign(updates_->computed().begin(), updates_->computed().end());
    auto const traced = detail::trace(std::array{&cost_});
    for (Variable const* const v : options.keep) {
        if (v == nullptr || std::ranges::none_of(traced, [&](Operator const* op) {
                return std::ranges::find(op->outputs, v) != op->outputs.end();
            }))
            throw GraphError(std::string("options.keep has ")
                                 .append(v == nullptr ? std::string("a null pointer") : detail::describe(*v))
                                 .append(", which is no result of the operators that the cost needs"));
    }
    for (Operator const* op : traced)
        detail::each_next(*op, [&](Variable& now, Variable& next) {
            moving_.push_back({&now, &next, detail::rows_of_input(*op)});
        });
    totals_.assign(updates_->summed().begin(), updates_->summed().end());
    passing_.assign(updates_->read().begin(), updates_->read().end());
    for (Moving const& m : moving_) {
        results_.push_back(m.next);
        totals_.push_back(m.next);
    }
    for (auto const* list : {&results_, &totals_}) passing_.insert(passing_.end(), list->begin(), list->end());
    for (std::size_t i = 0; apart && i < results_.size(); ++i) {
        bool const trained = i < parameters_.size();
        Variable const& like = trained ? *parameters_[i] : *moving_[i - parameters_.size()].now;
        bool const own = like.sharded() && !options.clip.given();  // clipping may need the norm of all rows
        sums_.sum(
            options.parts.sums_of(*results_[i], std::string(trained ? "the gradient of " : "").append(like.name())),
            *results_[i], like, own ? &like.placement : nullptr);
    }
    std::vector<Variable*> outputs{&cost_};
    outputs.insert(outputs.end(), results_.begin(), results_.end());
    outputs.insert(outputs.end(), options.keep.begin(), options.keep.end());
    if (parts_ > 1) {
        weight_.emplace(cost_);
        counted_ = weight_->reads();
        for (Moving const& m : moving_) {
            if (m.rows) counted_.push_back(m.rows->variable);
        }
        outputs.insert(outputs.end(), counted_.begin(), counted_.end());
        std::erase_if(counted_, [&](Variable const* v) {
            return v == &cost_ || v->role() != Role::temporary || v->writers().empty();
        });
    }
    net_.emplace(Net<Device>::trace_and_build(outputs));
    for (Variable* const v : net_->inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
    }
    updates_->add_updates(*own_, options);
    updates_->each_deferred([&](Variable& table, std::shared_ptr<detail::MissedSteps> const& steps) {
        deferred_.add(cost_, table, steps, static_cast<bool>(options.average));
    });
    begin(options.resume, options.initial);
}

template <class T, class Device>
void Trainer<T, Device>::begin(Parameters const* resume, Feeds const& initial) {
    if (resume != nullptr && !initial.empty())
        throw Error("options.initial and options.resume are both given: what is resumed has no initial values");
    for (auto const& named : initial) check_parameter(named.first, "for the initial value of that name", true);
    steps_ = resume == nullptr ? 0 : resume->steps;
    first_factor_ = factor();
    updates_->prepare(steps_, *first_factor_,
                      true);  // throws if an optimizer rejects an option or the factor is not finite
    auto const all = variables();
    std::vector<Value> given;  // empty for a variable that is initialized
    for (Variable* const v : all) {
        auto const found = initial.find(v->name());
        bool const resumed = resume != nullptr && (v->role() == Role::parameter || resume->contains(v->name()));
        if (resume != nullptr && !resumed && steps_ != 0 && !updates_->begins_with_average(*v))
            detail::no_state(v->name(), steps_);
        given.push_back(resumed                  ? resume->find(v->name()).share()
                        : found != initial.end() ? found->second.value()
                                                 : Value());
        if (!resumed && found == initial.end()) continue;
        detail::check_fits(*v, given.back());
        if (v->sharded()) detail::check_shard(*v, given.back(), detail::rows_of(comm_.ranks(), *v));
    }
    if (resume != nullptr) updates_->check_states(*resume);
    auto const* const ranks = comm_.ranks();
    deferred_.catch_up_others(all);
    for (std::size_t i = 0, number = 0; i < all.size(); ++i) {
        if (all[i]->piece == 0) ++number;  // the pieces of a table have the seed of the whole
        auto const seed = detail::bits_at(seed_, number);
        if (!given[i].empty()) {
            all[i]->value() = own_copy(*all[i], given[i]);
        } else if (ranks != nullptr && all[i]->sharded()) {
            all[i]->initialize_rows(all[i]->value(), detail::rows_of(ranks, *all[i]), seed, exec_);
        } else if (all[i]->initialize) {
            all[i]->initialize(all[i]->value(), seed, exec_);
        }
    }
}

template <class T, class Device>
double Trainer<T, Device>::run(Feeds const& feeds, std::int64_t part,
                               std::function<void(Operator const&)> const& after) {
    auto const inputs = net_->inputs();
    detail::Buffer<Value> fed(inputs.size());
    if (detail::feed(inputs, feeds, fed, exec_) != feeds.size()) {  // others are declared for other nets of the scope
        for (auto const& named : feeds) detail::check_declared(cost_.scope(), named.first);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i]->role() != Role::data) continue;
        if (inputs[i]->spec().type == VarType::LOD_TENSOR && fed[i].rows() == 0)
            throw ShapeError(inputs[i]->name() + ".shape(0)", "0", "at least 1");
        inputs[i]->value() = std::move(fed[i]);
    }
    {
        std::vector<Value> seeds(seeds_.size());
        for (std::size_t k = 0; k < seeds_.size(); ++k) seeds[k].set(seed_of(k, part));
        detail::Swapped const now(seeds_, seeds);  // outside of this run, they are empty tensors
        detail::in_order(exec_, [&] { net_->run(*own_, exec_, after); });
    }
    auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
    if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", detail::shape_text(value.shape()), "[1]");
    auto const cost = static_cast<double>(dtype<T>::widen(detail::first_element(exec_, value)));
    if (!std::isfinite(cost)) throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
    return cost;
}

template <class T, class Device>
double Trainer<T, Device>::step(std::span<Feeds const> batches, StepAhead const* ahead) {
    std::optional<detail::Entered> entered;
    std::optional<detail::ScopeUse> use;
    MemoryPool::Guard const guard(*pool_);
    std::optional<detail::Emptied> after;  // whose memory the pool keeps
    auto const enter = [&] {
        entered.emplace(running_, "Trainer::step");
        use.emplace(cost_.scope());
        after.emplace(passing_);
        deferred_.catch_up_others(net_->inputs());
    };
    double const cost = run_parts(batches, ahead, std::cref(enter));  // which needs no memory before ranks agree
    updates_->change(*own_, exec_, comm_.ranks());
    ++steps_;
    for (Moving const& m : moving_) m.now->value() = std::exchange(m.next->value(), Value());
    if (ahead_) comm_.ranks()->must([this] { begin_rest(*ahead_); });
    if (check_every_ != 0 && steps_ % check_every_ == 0) check_ranks();
    return cost;
}

template <class T, class Device>
void Trainer<T, Device>::check_ranks() const {
    if (comm_.ranks() == nullptr) return;
    detail::agree_on(comm_.ranks(), detail::TrainCall::check, [&](detail::NamedValues& same) {
        auto all = variables();
        auto const leave_out = [&](Variable const& table) {
            std::erase_if(all, [&](Variable const* v) { return detail::belongs_to(v->name(), table); });
        };
        for (Variable const* const table : fetched_) leave_out(*table);
        updates_->each_deferred([&](Variable const& table, auto const&) { leave_out(table); });
        detail::add_variables(same, all, "value");
    });
}

template <class T, class Device>
Parameters Trainer<T, Device>::parameters() const {
    deferred_.flush(detail::host_exec(exec_));
    Parameters result;
    result.steps = steps_;
    for (Variable* const v : variables()) result.set(v->name(), v->value().copy());
    synchronize(exec_);
    return result;
}

template <class T, class Device>
std::vector<std::size_t> Trainer<T, Device>::ready() const {
    auto const order = net_->operators();
    auto const computed = [&](Variable const* v) {
        std::size_t n = order.size();
        while (n > 0 && std::ranges::find(order[n - 1]->outputs, v) == order[n - 1]->outputs.end()) --n;
        return n;
    };
    std::size_t weighed = 0;
    if (weight_) {
        for (Variable const* const v : weight_->reads()) weighed = std::max(weighed, computed(v));
    }
    for (Moving const& m : moving_) {
        if (m.rows) weighed = std::max(weighed, computed(m.rows->variable));
    }
    std::vector<std::size_t> all;
    for (Variable const* const v : results_) all.push_back(std::max(weighed, computed(v)));
    return all;
}

template <class T, class Device>
double Trainer<T, Device>::run_parts(std::span<Feeds const> batches, StepAhead const* ahead,
                                     std::function<void()> const& enter) {
    auto const total = static_cast<std::int64_t>(batches.size());
    auto const* const ranks = comm_.ranks();
    auto const exec = detail::host_exec(exec_);
    detail::PartRange const parts = parts_of(batches);
    bool const agreed = overlap_ && ahead != nullptr && ahead->agreed;
    bool const looks = overlap_ && ahead != nullptr && !tables_.empty(), sums_early = agreed && total > 1;
    double cost = 0;
    std::vector<double> own;
    auto const begin = [&] {
        enter();
        if (total == 0 || total > parts_)
            throw ShapeError("batches", std::to_string(total),
                             std::string("1 to options.parts = ").append(std::to_string(parts_)));
    };
    std::unique_ptr<detail::FetchedTables> fetched = std::move(ahead_);
    std::exception_ptr error;
    if (fetched != nullptr && agreed) {
        try {
            begin();
        } catch (...) {
            error = std::current_exception();
        }
        ranks->must([&] { fetched->end_rest(tables()); });
    } else if (!tables_.empty()) {
        fetched = fetch(batches, std::cref(begin));
    }
    std::vector<Value> rows;
    if (fetched) rows = std::move(fetched->rows);
    detail::NumbersOfParts numbers;
    auto const send_numbers = [&] {  // zeros of parts that have failed
        std::size_t const width = numbers_of_part();
        own.resize(width * static_cast<std::size_t>(parts.size()));
        numbers.begin(*ranks, std::move(own), width, total);
    };
    std::shared_ptr<void const> goes_on;  // what travels, beside the net
    detail::FetchedGradients back{fetched.get()};
    if (sums_early && fetched && detail::one_node_each(total, *ranks)) {
        each_fetched([&](std::size_t t, std::size_t i) {
            if (sums_.goes_to_owners(i)) back.list.push_back({t, i, false});
        });
        back.early = !back.list.empty();
    }
    auto const append_weights = [&](std::vector<double>& to) {
        weight_->append_to(to);
        for (Moving const& m : moving_) to.push_back(m.rows ? m.rows->count() : 1);
    };
    auto const weights_at = [&](std::span<double const> from) {
        return of_results(from[0], from.last(moving_.size()));
    };
    auto const run_own = [&](auto& words) {
        if (error) std::rethrow_exception(error);
        if (tables_.empty()) begin();
        words[0] = total;
        words[1] = std::bit_cast<std::int64_t>(prepare());
        deferred_.catch_up(
            exec, batches.subspan(static_cast<std::size_t>(parts.begin), static_cast<std::size_t>(parts.size())),
            fetched_);
        sums_.begin(parts);
        if (sums_early && parts.size() == 0) sums_.begin_others(exec, *ranks, parts, back);
        for (std::int64_t p = parts.begin; p < parts.end; ++p) {
            std::size_t operators = 0;
            auto const after = [&](Operator const&) {
                ++operators;
                if (!goes_on && ahead_) ahead_->progress();
                if (!goes_on && back.begun) fetched->progress();
                if (sums_early && p + 1 == parts.end) {
                    auto const weights = [&] {
                        std::vector<double> all;
                        append_weights(all);
                        return weights_at(all);
                    };
                    sums_.begin_sums(exec, operators, std::cref(weights), *ranks, back);
                    sums_.progress();
                }
            };
            std::function<void(Operator const&)> overlapped;
            if (looks || sums_early) overlapped = std::cref(after);
            cost = run(batches[static_cast<std::size_t>(p)], p, overlapped);
            if (total == 1) {
                words[2] = std::bit_cast<std::int64_t>(cost);
            } else {
                own.push_back(cost);
                std::size_t const from = own.size();
                append_weights(own);
                sums_.add(exec, weights_at(std::span<double const>(own).subspan(from)));
                for (Variable* const v : results_) v->value().clear();
            }
            for (Variable* const v : counted_) v->value().clear();
        }
        if (total == 1 || back.early) return;
        each_fetched([&](std::size_t t, std::size_t i) {
            auto const has = sums_.rows_of(i, fetched->numbers[t]);
            if (has == detail::RowsOf::others) return;
            words[2] |= std::int64_t{1} << t;
            if (has == detail::RowsOf::some) words[2] |= std::int64_t{1} << (t + 32);
            back.list.push_back({t, i, true});
        });
    };
    // What overlaps is ended by all ranks, whichever of them fails.
    auto const run_overlapped = [&](auto& words) {
        detail::Swapped const own_rows(fetched_, rows);
        if (looks) ahead_ = fetch_ahead(ahead->next, rows, *fetched);
        if (looks || sums_early) ranks->must([&] { goes_on = ranks->go_on(ahead_.get()); });
        std::exception_ptr thrown;
        try {
            run_own(words);
        } catch (...) {
            thrown = std::current_exception();
        }
        if (thrown && sums_early) ranks->must([&] { sums_.begin_others(exec, *ranks, parts, back); });
        if (sums_early) send_numbers();
        if (thrown) std::rethrow_exception(thrown);
    };
    auto const end_overlap = [&] {  // before the tables change
        goes_on = nullptr;
        if (ahead_ && !ahead_->reach()) ahead_ = nullptr;
    };
    try {
        auto const all = detail::agree(ranks, detail::TrainCall::step, run_overlapped, number_);
        rows.clear();
        detail::check_same_word(all, 0, " has another number of batches for a step than ");
        detail::check_same_word(all, 1, " has another factor of the learning rate than ");
        if (total > 1 && !back.early) {
            auto const bit = [](std::size_t b) { return [b](auto const& words) { return (words[2] >> b & 1) != 0; }; };
            for (auto& one : back.list) one.all = std::ranges::none_of(all, bit(one.table + 32));
            std::erase_if(back.list, [&](auto const& one) {  // unless all ranks have only rows that they have fetched
                return !std::ranges::all_of(all, bit(one.table));
            });
        }
        if (total > 1) {
            if (ranks != nullptr && !sums_early) send_numbers();
            cost = add_up(ranks == nullptr ? own : numbers.take(), back);
        } else {
            detail::check_same_word(all, 2, " has another batch for the only part of a step than ");
        }
    } catch (...) {
        sums_.drop();
        end_overlap();
        throw;
    }
    end_overlap();
    if (total > 1) return cost;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        if (totals_[i] != results_[i]) totals_[i]->value() = std::exchange(results_[i]->value(), Value());
    }
    return cost;
}

template <class T, class Device>
std::vector<std::vector<std::int64_t>> Trainer<T, Device>::rows_of(std::span<Feeds const> batches) const {
    auto const parts = parts_of(batches);
    std::vector<std::vector<std::int64_t>> all;
    for (auto const& t : tables_)
        all.push_back(t.rows(detail::host_exec(exec_), batches.subspan(static_cast<std::size_t>(parts.begin),
                                                                       static_cast<std::size_t>(parts.size()))));
    return all;
}

template <class T, class Device>
std::unique_ptr<detail::FetchedTables> Trainer<T, Device>::fetch(std::span<Feeds const> batches,
                                                                 std::function<void()> const& begin) const {
    auto const& ranks = *comm_.ranks();
    std::vector<std::vector<std::int64_t>> named;
    auto const find_rows = [&](auto& words) {
        begin();
        words[0] = static_cast<std::int64_t>(batches.size());
        named = rows_of(batches);
    };
    auto const all = detail::agree(&ranks, detail::TrainCall::fetch, find_rows, number_);
    detail::check_same_word(all, 0, " has another number of batches for a step than ");
    std::unique_ptr<detail::FetchedTables> fetched;
    ranks.must([&] {
        std::vector<detail::TableRows> asked;
        for (std::size_t t = 0; t < tables_.size(); ++t)
            asked.push_back({&fetched_[t]->value(), fetched_[t]->placement, named[t]});
        fetched = ranks.fetch(detail::host_exec(exec_), asked);
        begin_rest(*fetched);
        fetched->end_rest(tables());
    });
    return fetched;
}

template <class T, class Device>
std::vector<Value const*> Trainer<T, Device>::tables() const {
    std::vector<Value const*> own;
    for (Variable const* const v : fetched_) own.push_back(&v->value());
    return own;
}

template <class T, class Device>
void Trainer<T, Device>::begin_rest(detail::FetchedTables& fetched) const {
    fetched.begin_rest(tables(), [&](std::size_t t, Ids<> const& positions) {
        deferred_.catch_up(detail::host_exec(exec_), *fetched_[t], positions);
    });
}

template <class T, class Device>
std::unique_ptr<detail::FetchedTables> Trainer<T, Device>::fetch_ahead(std::span<Feeds const> next,
                                                                       std::span<Value const> tables,
                                                                       detail::FetchedTables const& now) const {
    std::vector<std::vector<std::int64_t>> named(tables_.size());
    bool told = !next.empty();
    try {
        if (told) named = rows_of(next);
    } catch (...) {  // the next step throws it
        told = false;
    }
    std::unique_ptr<detail::FetchedTables> fetched;
    comm_.ranks()->must([&] {
        std::vector<detail::TableRows> asked;
        for (std::size_t t = 0; t < tables_.size(); ++t) asked.push_back({&tables[t], fetched_[t]->placement, named[t]});
        std::vector<bool> waits(tables_.size());  // whether rows change that no batch names
        updates_->each_deferred([&](Variable const& table, auto const&) {
            auto const at = std::ranges::find(fetched_, &table);
            if (at != fetched_.end()) waits[static_cast<std::size_t>(at - fetched_.begin())] = true;
        });
        fetched = comm_.ranks()->begin_fetch(detail::host_exec(exec_), asked, told, std::move(waits), now);
    });
    return fetched;
}

template <class T, class Device>
double Trainer<T, Device>::add_up(std::vector<double> const& all, detail::FetchedGradients& fetched) {
    std::size_t const costs = 1 + weight_->size(), width = numbers_of_part();
    double cost = 0;
    std::vector<double> divisors;
    try {
        double const divisor = weight_->divisor(std::span(all).subspan(1), width);
        std::vector<double> moved(moving_.size());
        for (std::size_t at = 0; at < all.size(); at += width) {
            cost = cost + detail::product(all[at + 1], all[at]);
            for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += all[at + costs + k];
        }
        cost = detail::mean_of(cost, divisor);
        divisors = of_results(divisor, moved);
    } catch (std::bad_alloc const&) {  // on this rank alone, where the others go on; other errors are those of all
        if (comm_.ranks() != nullptr) comm_.ranks()->must([] { throw; });
        throw;
    }
    auto means = sums_.means(detail::host_exec(exec_), exec_, divisors, comm_.ranks(), fetched);
    for (std::size_t i = 0; i < means.size(); ++i) totals_[i]->value() = std::move(means[i]);
    return cost;
}

template <class T, class Device>
std::vector<Variable*> Trainer<T, Device>::variables() const {
    std::vector<Variable*> all = parameters_;
    updates_->append_states(all);
    for (Moving const& m : moving_) all.push_back(m.now);
    updates_->append_averages(all);
    return all;
}

template <class T, class Device>
Value Trainer<T, Device>::own_copy(Variable const& v, Value const& value) const {
    if (v.bring == nullptr) return value.copy();
    Value mine = value.share();
    v.bring(mine, exec_, true);
    return mine;
}

template <class T, class Device>
double Trainer<T, Device>::prepare() {
    auto const first = std::exchange(first_factor_, std::nullopt);
    double const now = first ? *first : factor();
    updates_->prepare(steps_, now, false);
    return now;
}

template <class T, class Device>
LoDTensor<std::int64_t, Device> Trainer<T, Device>::seed_of(std::size_t k, std::int64_t part) const {
    std::uint64_t now = detail::bits_at(detail::bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    if (part != 0) now = detail::bits_at(now, static_cast<std::uint64_t>(part));
    return to_device(exec_, Tensor<std::int64_t>{static_cast<std::int64_t>(now)});
}

template <class T, class Device>
std::vector<double> Trainer<T, Device>::of_results(double of_cost, std::span<double const> of_moving) const {
    std::vector<double> all(results_.size() - moving_.size(), of_cost);
    all.insert(all.end(), of_moving.begin(), of_moving.end());
    return all;
}

template <class T, class Device>
void Trainer<T, Device>::check_parameter(std::string const& name, char const* what, bool may_move) const {
    auto const has_name = [&](Variable const* v) { return v->name() == name; };
    if (std::ranges::any_of(parameters_, has_name)) return;
    if (may_move && std::ranges::any_of(moving_, has_name, &Moving::now)) return;
    throw GraphError(std::string("there is no parameter \"").append(name).append("\" ").append(what));
}

// After all definitions, which clang needs.
ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)

}  // namespace rowan::inline v0
