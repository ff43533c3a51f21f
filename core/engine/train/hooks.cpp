#include "engine/train/hooks.h"

namespace lathe::engine {

std::string_view name(Point point) {
    switch (point) {
    case Point::TrainStart: return "train start";
    case Point::WindowStart: return "window start";
    case Point::MicroStep: return "micro-step";
    case Point::Update: return "update";
    case Point::EvalStart: return "evaluation start";
    case Point::EvalBatch: return "evaluation batch";
    case Point::EvalEnd: return "evaluation end";
    case Point::BeforeSave: return "before save";
    case Point::AfterSave: return "after save";
    case Point::Exception: return "exception";
    case Point::TrainEnd: return "train end";
    }
    return "";
}

}  // namespace lathe::engine
