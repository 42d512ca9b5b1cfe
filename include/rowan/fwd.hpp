// rowan/fwd.hpp: forward declarations of the public class templates, with their default arguments.
#pragma once

#include <rowan/version.hpp>

/// Row-sparse tensors, ragged sequences, operators, nets and files.
namespace rowan::inline v0 {

struct Cpu;

template <class T>
struct dtype;

template <class Device = Cpu>
class Ids;

template <class T, class Device = Cpu>
class Tensor;

template <class T, class Device = Cpu>
class SelectedRows;

template <class Device = Cpu>
class RowPlan;

template <class Options, class Device = Cpu>
class Deferred;

template <class T = float>
class RowStore;

class Lod;

template <class T, class Device = Cpu>
class LoDTensor;

class Strings;

template <class Device = Cpu>
class StepMap;

template <class T, class Device = Cpu>
class TensorArray;

}  // namespace rowan::inline v0
