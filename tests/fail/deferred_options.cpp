// expect: rowan::Deferred: the options are SgdOptions, MomentumOptions, AdamOptions or RmsPropOptions
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/deferred.hpp>

int main() { rowan::Deferred<rowan::AdaGradOptions> deferred(3); }
