// rowan/train/entity_f1.hpp: EntityF1, precision, recall and F1 of the entities that tags mark, of any number of batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace rowan::inline v0 {

/// How tags mark entities: plain has one tag for each type; iob (IOB2, BIO) has B and I, where B begins an entity; ioe has
/// I and E, where E ends one; iobes has B, I, E and S, where S is an entity of one row.
enum class TagScheme : std::int32_t { plain = 0, iob = 1, ioe = 2, iobes = 3 };

/// Precision, recall and F1 of entities, such as names in sentences. An entity is right if its type, its first and its
/// last row are. The number of a tag is type · n + place, where n is the number of places of the scheme, in the order of
/// its letters: {B, I}, {I, E}, {B, I, E, S}; the tag after all of these, types · n, is outside of entities.
///     EntityF1 metric(TagScheme::iob, 2);  // tags: B-PER I-PER B-LOC I-LOC O
///     for (auto const& batch : batches) metric.update(infer(path, batch.feeds, parameters), batch.tags);
///     double f1 = metric.f1();
/// Tags that no entity has, such as an I after O, mark entities as in conlleval, seqeval's default mode and Paddle's
/// chunk_eval: an entity begins where the type changes, at B and S, and after E and S; it ends before such a place. A
/// quotient whose divisor is 0 is 0.
class EntityF1 {
public:
    /// errors   ValueError if there are no types, or the scheme is none of TagScheme
    /// cost     memory for three counts per type
    EntityF1(TagScheme scheme, std::size_t types) : scheme_(scheme), right_(types), predicted_(types), present_(types) {
        if (types == 0) throw ValueError("types", 0, "at least 1");
        if (places() == 0) throw ValueError("scheme", static_cast<std::int64_t>(scheme), "a TagScheme");
    }

    /// Adds a batch of tags. The sequences are those of the last level of label; without levels, all rows are one.
    /// shapes   predicted and label [n] or [n, 1], predicted with the levels of label, or without levels
    /// errors   ShapeError if the sizes or the levels differ; IndexError if a tag is not in [0, types · places]. On error,
    ///          nothing is added
    /// cost     O(n)
    template <id_type P, id_type I>
    void update(LoDTensor<P> const& predicted, LoDTensor<I> const& label) {
        auto const& p = predicted.value();
        auto const& l = label.value();
        if (l.size() != p.size()) throw ShapeError("label.size()", l.size(), p.size());
        if (!predicted.lod().empty() && !(predicted.lod() == label.lod()))
            throw ShapeError("label.lod()", "other levels", "those of predicted");
        auto const tags = static_cast<std::int64_t>(right_.size()) * places() + 1;
        detail::check_ids(Cpu{}, "predicted", p, tags);
        detail::check_ids(Cpu{}, "label", l, tags);
        std::size_t const rows = l.dimension() == 0 ? 1 : l.shape(0), width = rows == 0 ? 1 : l.size() / rows;
        if (label.lod().empty()) return count(p.data(), l.data(), l.size());
        auto const offsets = label.lod()[label.lod().levels() - 1];
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
            count(p.data() + begin, l.data() + begin, static_cast<std::size_t>(offsets[s + 1]) * width - begin);
        }
    }
    /// Adds one sequence of tags.
    /// shapes   predicted and label [n]
    /// errors   ShapeError if the sizes differ; IndexError if a tag is not in [0, types · places]
    /// cost     O(n)
    template <id_type P, id_type I>
    void update(Tensor<P> const& predicted, Tensor<I> const& label) {
        update(LoDTensor<P>(predicted.share()), LoDTensor<I>(label.share()));
    }

    /// The fraction of the predicted entities that of one type that are right.
    /// errors   IndexError if there is no such type
    /// cost     O(1)
    double precision(std::size_t of) const { return share(at(right_, of), at(predicted_, of)); }
    /// The fraction of all predicted entities that are right: the micro average.
    /// errors   none
    /// cost     O(types)
    double precision() const { return share(total(right_), total(predicted_)); }
    /// The fraction of the labelled entities of one type that are predicted.
    /// errors   IndexError if there is no such type
    /// cost     O(1)
    double recall(std::size_t of) const { return share(at(right_, of), at(present_, of)); }
    /// The fraction of all labelled entities that are predicted.
    /// errors   none
    /// cost     O(types)
    double recall() const { return share(total(right_), total(present_)); }
    /// The harmonic mean of precision and recall of one type.
    /// errors   IndexError if there is no such type
    /// cost     O(1)
    double f1(std::size_t of) const { return share(2 * at(right_, of), at(predicted_, of) + at(present_, of)); }
    /// The harmonic mean of precision and recall of all entities, as seqeval's f1_score.
    /// errors   none
    /// cost     O(types)
    double f1() const { return share(2 * total(right_), total(predicted_) + total(present_)); }

    std::int64_t right() const { return total(right_); }          ///< the number of entities predicted as labelled
    std::int64_t predicted() const { return total(predicted_); }  ///< the number of entities that are predicted
    std::int64_t labelled() const { return total(present_); }     ///< the number of entities in the labels

    /// Forgets all batches.
    /// errors   none
    /// cost     O(types)
    void reset() {
        for (auto* counts : {&right_, &predicted_, &present_}) counts->assign(counts->size(), 0);
    }

private:
    using Counts = std::vector<std::int64_t>;

    // The letter of a place.
    static constexpr char letter(TagScheme scheme, std::int64_t place) {
        if (scheme == TagScheme::plain) return 'I';
        return (scheme == TagScheme::ioe ? "IE" : "BIES")[place];
    }
    std::int64_t places() const noexcept {
        switch (scheme_) {
            case TagScheme::plain:
                return 1;
            case TagScheme::iob:
            case TagScheme::ioe:
                return 2;
            case TagScheme::iobes:
                return 4;
        }
        return 0;
    }

    // Finds the entities of a sequence, one by one.
    template <class I>
    class Entities {
    public:
        std::size_t begin = 0, end = 0;
        std::int64_t type = 0;

        Entities(EntityF1 const& of, I const* tags, std::size_t n) : of_(of), tags_(tags), n_(n) { next(); }
        bool there() const noexcept { return begin < n_; }
        void next() {
            for (begin = end; begin < n_ && of_.outside(tags_[begin]); ++begin) {
            }
            if (begin == n_) return;
            type = std::int64_t{tags_[begin]} / of_.places();
            for (end = begin + 1; end < n_ && !of_.begins(tags_[end - 1], tags_[end]); ++end) {
            }
        }

    private:
        EntityF1 const& of_;
        I const* tags_;
        std::size_t n_;
    };

    bool outside(std::int64_t tag) const noexcept { return tag == static_cast<std::int64_t>(right_.size()) * places(); }
    // Whether the entity that has a tag ends before the next tag.
    bool begins(std::int64_t tag, std::int64_t next) const noexcept {
        if (outside(next) || next / places() != tag / places()) return true;
        char const before = letter(scheme_, tag % places()), now = letter(scheme_, next % places());
        return before == 'E' || before == 'S' || now == 'B' || now == 'S';
    }

    template <class P, class I>
    void count(P const* predicted, I const* label, std::size_t n) {
        Entities<P> p(*this, predicted, n);
        Entities<I> l(*this, label, n);
        while (p.there() || l.there()) {
            bool const same =
                p.there() && l.there() && std::tie(p.begin, p.end, p.type) == std::tie(l.begin, l.end, l.type);
            bool const first = p.there() && (!l.there() || p.begin <= l.begin);
            bool const other = l.there() && (!p.there() || l.begin <= p.begin);
            if (same) ++right_[static_cast<std::size_t>(l.type)];
            if (first) {
                ++predicted_[static_cast<std::size_t>(p.type)];
                p.next();
            }
            if (other) {
                ++present_[static_cast<std::size_t>(l.type)];
                l.next();
            }
        }
    }

    static std::int64_t at(Counts const& counts, std::size_t type) {
        if (type >= counts.size()) throw IndexError("type", type, counts.size());
        return counts[type];
    }
    static std::int64_t total(Counts const& counts) {
        std::int64_t sum = 0;
        for (std::int64_t const count : counts) sum += count;
        return sum;
    }
    static double share(std::int64_t part, std::int64_t all) {
        return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
    }

    TagScheme scheme_;
    Counts right_, predicted_, present_;  // entities by type: correctly predicted, predicted, labelled
};

}  // namespace rowan::inline v0
