// expect: rowan::Predictor: it keeps the model: Predictor predict\(std::move\(model\)\)
#include <rowan/train/predictor.hpp>
void f(rowan::LoadedModel<float> model) { rowan::Predictor const predict(model); }
