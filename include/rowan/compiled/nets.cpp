// rowan/compiled/nets.cpp: of the compiled library what is no operator and needs no nanopb: functions, containers, nets, layers.
#include <rowan/compiled/define.hpp>
#include <rowan/rowan.hpp>
