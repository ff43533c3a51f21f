// A model's parameters and buffers as registered state, tied weights once.
#pragma once

#include "engine/model/param_table.h"
#include "engine/train/train_state.h"

namespace lathe::engine {

class ModelState final : public Stateful {
public:
    ModelState(const Model& model, const ParamTable& table) : m_model(model), m_table(table) {}
    std::string stateName() const override { return "model"; }
    std::vector<StateTensor> stateTensors() const override {
        std::vector<StateTensor> all;
        for (const ParamRow& row : m_table.rows()) all.push_back({row.name, "parameter", row.tensor, !row.trainable});
        for (const NamedTensor& buffer : m_model.buffers()) all.push_back({buffer.name, "buffer", buffer.tensor, false});
        return all;
    }

private:
    const Model& m_model;
    const ParamTable& m_table;
};

}  // namespace lathe::engine
