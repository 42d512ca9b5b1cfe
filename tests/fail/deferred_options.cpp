// expect: rowan::Deferred: the options are SgdOptions, MomentumOptions, AdamOptions, AdaGradOptions or RmsPropOptions
#include <rowan/sparse/deferred.hpp>
#include <rowan/sparse/ftrl.hpp>

int main() { rowan::Deferred<rowan::FtrlOptions> deferred(3); }
