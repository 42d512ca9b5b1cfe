// rowan/layer/embedding.hpp: layer::embedding, lookups of ids or bags of ids in a trainable table.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/initializer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/selected_rows.hpp>
#include <rowan/layer/table_kind.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/placement.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// The settings of an embedding and its table.
struct EmbeddingOptions {
    std::int64_t height = UNK;  ///< number of rows of the table; must be given, but for one by keys
    std::int64_t width = UNK;   ///< number of elements per row; must be given
    std::optional<std::int64_t> padding_id =
        {};  ///< id whose row reads as zeros, or is left out of bags, and is not trained
    /// row that ids read which the table does not have, in training and in serving; without it they are errors
    std::optional<std::int64_t> unknown = {};
    Initializer table = {-0.1, 0.1};  ///< initial values of the table, e.g. layer::Normal{.stddev = 0.02}
    std::string name = {};            ///< name of the table
    /// the rows that exist at first, e.g. {{10, 20, 30}}: the table is a SelectedRows, see layer::selected_rows;
    /// without it all rows exist
    std::optional<std::vector<std::int64_t>> rows = {};
    /// whether the ranks that train together share out the rows: see layer::sharded_table
    bool sharded = false;
    /// where the rows are and what names them, such as layer::Keyed{} or layer::InFile{.path = "rows.rowan"}
    TableKind kind = {};
    /// of a sharded table: which rank has which rows, such as one that rowan::plan gives, and whether columns are cut
    Placement placement = {};
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The dims of a table.
/// errors   ShapeError if one is not given
ROWAN_IF_CALLED Dims table_dims(layer::EmbeddingOptions const& options);

/// A table of options.kind, of elements with this number.
/// errors   ShapeError if the width, or without keys the height, is not given; GraphError if an option is given that the
///          kind does not have, or the net is for a device
ROWAN_IF_CALLED Variable& new_table_of_kind(layer::EmbeddingOptions const& options, std::int32_t wire, bool on_host);

/// Throws a GraphError if `given`, .padding_id or .unknown, is for a table by keys.
ROWAN_IF_CALLED void check_lookup(Variable const& table, bool given);

/// What reads a table at ids: of a table by keys, their rows.
/// errors   GraphError if keys are not data or of another type than that of an earlier call, strings are read by another
///          table, or only some of several tables are by keys
ROWAN_IF_CALLED Variable& ids_in(std::vector<Variable*> const& tables, Variable& ids);
template <class Options>
Variable& ids_in(Variable& table, Variable& ids, Options const& options) {
    check_lookup(table, options.padding_id || options.unknown);
    return ids_in({&table}, ids);
}

/// The type of ids of a lookup: of strings, that of their rows.
template <class I>
using id_of = std::conditional_t<std::is_same_v<I, std::string>, std::int64_t, I>;

/// A sharded table, or one of the pieces of which each has some of its columns.
template <class T, class Device>
layer::Var<T, Device> sharded_piece(layer::EmbeddingOptions const& options, int piece) {
    if (!std::is_same_v<Device, Cpu>)
        throw GraphError("layer::embedding: rows of a sharded table lie in the memory of the CPU");
    if (options.rows) throw GraphError("layer::embedding: a sharded table has all rows: give either .sharded or .rows");
    int const pieces = options.placement.columns;
    Dims const whole = table_dims(options), dims{whole[0], whole[1] / pieces};
    std::string name = options.name;
    if (pieces > 1 && !name.empty()) name.append(".").append(std::to_string(piece));
    auto const table = layer::selected_rows<T, Device>({}, dims, options.table, name);
    auto const make = [whole, dims, piece, first = options.table.of(whole)](
                          Value& value, std::span<std::int64_t const> rows, std::optional<std::uint64_t> seed,
                          AnyExec exec) {
        first_rows<T, Device>(value, dims, first, rows, seed, exec, static_cast<std::size_t>(whole[1]),
                              static_cast<std::size_t>(piece * dims[1]));
    };
    table->placement = options.placement.piece(piece);
    table->piece = piece;
    table->initialize_rows = make;
    table->initialize = [=](Value& value, std::optional<std::uint64_t> seed, AnyExec exec) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(dims[0]));
        std::iota(all.begin(), all.end(), 0);
        make(value, all, seed, exec);
    };
    return table;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Creates a table that is a SelectedRows, of which each of the ranks that train together has some rows: see
/// layer::Comm. Blocks of 64 rows are dealt to ranks in turn, or as options.placement says, and no rank ever holds the
/// table. A process that trains alone has all rows. What is trained has the bits of a whole table, for any number of
/// ranks and any placement.
///
///     on 3 ranks      row 0 … 63    64 … 127    128 … 191    192 … 255   …
///     of rank                  0           1            2            0   …
///
/// Nets read it by embedding and embedding_bag, whose ids are layer::data or, in the step of a recurrent layer, elements
/// of it. A step of training begins with the exchange of the rows that its ids name: rows fetched earlier would lack
/// what the step before has changed.
/// shapes   [options.height, options.width]
/// errors   as layer::parameter; ShapeError if height or width is not given, or a number of options.placement is bad;
///          GraphError if it cuts columns, the net is for a device, or options.rows is given
/// cost     one parameter in the net; in training, 8 bytes for each row besides its elements and states
template <class T = float, class Device = Cpu>
Var<T, Device> sharded_table(EmbeddingOptions const& options) {
    options.placement.check();
    if (std::is_same_v<Device, Cpu> && options.placement.columns != 1)  // on others, it is an error in any case
        throw GraphError(
            "layer::embedding_table: a table whose columns are cut is no single parameter: give the options to "
            "layer::embedding or layer::embedding_bag");
    return rowan::detail::sharded_piece<T, Device>(options, 0);
}

/// Creates a table, which several embeddings may share.
/// shapes   [options.height, options.width]
/// errors   as layer::parameter; ShapeError if height or width is not given; with options.rows as layer::selected_rows,
///          with options.sharded as sharded_table
/// cost     one parameter in the net
template <class T = float, class Device = Cpu>
Var<T, Device> embedding_table(EmbeddingOptions const& options) {
    if (options.kind.maker() != nullptr) {
        Variable& v = rowan::detail::new_table_of_kind(options, dtype<T>::wire, std::is_same_v<Device, Cpu>);
        v.bring = rowan::detail::bring_to<T, Device>();
        return Var<T, Device>(v);
    }
    if (options.sharded) return sharded_table<T, Device>(options);
    Dims const dims = rowan::detail::table_dims(options);
    if (options.rows) return selected_rows<T, Device>(*options.rows, dims, options.table, options.name);
    return parameter<T, Device>(dims, options.table, options.name);
}

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The operator that reads a table, with its attributes.
struct TableReader {
    op_kernel const& kernel;
    Variable& ids;
    Attributes attributes;
    bool given = false;  // .padding_id or .unknown

    Variable& operator()(Variable& table) const {
        check_lookup(table, given);
        return first_result(kernel, {&table, &ids_in({&table}, ids)}, attributes);
    }
};

/// The pieces of a table whose columns are cut.
/// errors   ShapeError if a number of options.placement is bad, or it does not divide the width
ROWAN_IF_CALLED int table_pieces(layer::EmbeddingOptions const& options);

/// What `read` makes of a new table; if its columns are cut, of each of the pieces, joined.
template <class T, class Device>
layer::Var<T, Device> read_new_table(layer::EmbeddingOptions const& options, TableReader const& read) {
    if constexpr (std::is_same_v<Device, Cpu>) {  // on others, a sharded table is an error
        if (options.sharded && options.placement.columns != 1) {
            int const pieces = table_pieces(options);
            LayerRollback added;
            std::vector<Variable*> joined;
            for (int i = 0; i < pieces; ++i) joined.push_back(&read(*sharded_piece<T, Device>(options, i)));
            auto const axis = static_cast<std::int64_t>(joined[0]->spec().dims.size()) - 1;
            auto& op = default_scope().new_op<concat_op, Device, T>(std::move(joined), {.axis = axis});
            added.keep();
            return layer::Var<T, Device>(*op.outputs[0]);
        }
    }
    LayerRollback added;
    layer::Var<T, Device> const result(read(*layer::embedding_table<T, Device>(options)));
    added.keep();
    return result;
}

ROWAN_TEMPLATE(layer::Var<float> read_new_table(layer::EmbeddingOptions const&, TableReader const&))
ROWAN_TEMPLATE(layer::Var<double> read_new_table(layer::EmbeddingOptions const&, TableReader const&))

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Returns one row of the table for each id. The table's gradient is row-sparse; what computes a table, such as
/// layer::transpose, gets it as a dense tensor.
///     layer::embedding(words, {.height = 10'000, .width = 64, .unknown = 0})    // words of no row read row 0
///     layer::embedding(users, {.width = 16, .kind = layer::Keyed{}})            // keys: integers or strings
/// A sharded table with placement.columns = k becomes k tables, `name`.0, `name`.1, …, of width / k, each with the first
/// values that these columns have in the whole table, and the rows are joined. What is trained has the bits of a whole
/// table, unless an optimizer or clip computes something from all columns, such as a norm or the row-wise AdaGrad: it
/// sees each piece alone. A net that loads it has as many pieces.
/// shapes   ids [...] -> ids.shape + [width], with the levels of ids
/// errors   as embedding_table, if it creates the table; ShapeError if placement.columns does not divide the width; when
///          the net runs, as rowan::lookup_table
/// cost     as rowan::lookup_table, when the net runs; for the gradient as rowan::lookup_table_grad
template <class I, class T, class Device>
Var<T, Device> embedding(Var<I, Device> const& ids, Var<T, Device> const& table, LookupOptions const& options = {}) {
    using Id = rowan::detail::id_of<I>;
    static_assert(id_type<Id>,
                  "rowan::layer::embedding: ids are integers: declare them with layer::data<std::int64_t>(name, dims)");
    return apply<lookup_table_op>(options, table, Var<Id, Device>(rowan::detail::ids_in(*table, *ids, options)));
}
template <class T = float, class I, class Device>
Var<T, Device> embedding(Var<I, Device> const& ids, EmbeddingOptions const& options) {
    namespace d = rowan::detail;
    using Id = d::id_of<I>;
    static_assert(id_type<Id>,
                  "rowan::layer::embedding: ids are integers: declare them with layer::data<std::int64_t>(name, dims)");
    LookupOptions const lookup{.padding_id = options.padding_id, .unknown = options.unknown};
    return d::read_new_table<T, Device>(options,
                                        {kernel_of<lookup_table_op, Device, T, Id>::value, *ids, d::owned(lookup)});
}

// Mistakes, which do not compile.
template <class T = float, class I, class Device, std::integral... Sizes>
requires(sizeof...(Sizes) != 0) auto embedding(Var<I, Device> const& ids, Sizes...) {
    static_assert(sizeof...(Sizes) == 0,
                  "rowan::layer::embedding: options have names: layer::embedding(ids, {.height = 100, .width = 8})");
    return ids;
}
template <class T = float, rowan::detail::no_var X>
auto embedding(X const& ids, EmbeddingOptions const&) {
    rowan::detail::check_vars<X>();
    return ids;
}

/// PyTorch's EmbeddingBag: one row for each sequence of ids, the sum, mean, … of their rows, without those of
/// padding_id. Either options may give padding_id and unknown. Columns of a sharded table are cut as embedding says.
/// shapes   ids [n] with levels -> [sequences, width]
/// errors   ShapeError if ids have no levels or their rank is not 1; as embedding_table, if it creates the table; when
///          the net runs, as rowan::embedding_bag
/// cost     as rowan::embedding_bag, when the net runs
template <class I, class T, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, Var<T, Device> const& table, BagOptions const& options) {
    using Id = rowan::detail::id_of<I>;
    return apply<embedding_bag_op>(options, table, Var<Id, Device>(rowan::detail::ids_in(*table, *ids, options)));
}
template <class T = float, class I, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, EmbeddingOptions const& options, BagOptions bag) {
    if (!bag.padding_id) bag.padding_id = options.padding_id;
    if (!bag.unknown) bag.unknown = options.unknown;
    namespace d = rowan::detail;
    bool const given = bag.padding_id || bag.unknown;
    return d::read_new_table<T, Device>(
        options, {kernel_of<embedding_bag_op, Device, T, d::id_of<I>>::value, *ids, d::owned(std::move(bag)), given});
}

/// One row for each sequence of ids: the sum, mean, … of their rows, each multiplied by the weight of its id, as
/// TensorFlow's embedding_lookup_sparse. The weights have a gradient, too.
/// shapes   ids [n] with levels, weight [n], table [h, width] -> [sequences, width]
/// errors   ShapeError if ids have no levels or their rank is not 1; when the net runs, as rowan::embedding_bag
/// cost     as rowan::embedding_bag with weights, when the net runs
template <class I, class T, class Device>
Var<T, Device> embedding_bag(Var<I, Device> const& ids, Var<T, Device> const& weight, Var<T, Device> const& table,
                             BagOptions const& options) {
    Var<rowan::detail::id_of<I>, Device> const at(rowan::detail::ids_in(*table, *ids, options));
    return apply<weighted_embedding_bag_op>(options, table, at, weight);
}

ROWAN_TEMPLATE(Var<float> sharded_table(EmbeddingOptions const&))
ROWAN_TEMPLATE(Var<double> sharded_table(EmbeddingOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_table(EmbeddingOptions const&))
ROWAN_TEMPLATE(Var<double> embedding_table(EmbeddingOptions const&))
ROWAN_TEMPLATE(Var<float> embedding<float>(Var<std::int64_t> const&, EmbeddingOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_bag<float>(Var<std::int64_t> const&, EmbeddingOptions const&, BagOptions))
ROWAN_TEMPLATE(Var<float> embedding(Var<std::int64_t> const&, Var<float> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_bag(Var<std::int64_t> const&, Var<float> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<float> embedding(Var<std::int32_t> const&, Var<float> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<float> embedding_bag(Var<std::int32_t> const&, Var<float> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<double> embedding(Var<std::int64_t> const&, Var<double> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<double> embedding_bag(Var<std::int64_t> const&, Var<double> const&, BagOptions const&))
ROWAN_TEMPLATE(Var<double> embedding(Var<std::int32_t> const&, Var<double> const&, LookupOptions const&))
ROWAN_TEMPLATE(Var<double> embedding_bag(Var<std::int32_t> const&, Var<double> const&, BagOptions const&))

}  // namespace rowan::inline v0::layer

#include <rowan/layer/embedding_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>
#endif
