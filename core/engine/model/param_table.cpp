#include "engine/model/param_table.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace lathe::engine {

std::int64_t ParamRow::numel() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

ParamTable::ParamTable(Model& model) {
    for (const auto& block : model.blocks()) {
        for (const NamedTensor& parameter : block->parameters()) {
            LATHE_ASSERT(!find(parameter.name));
            const auto same = std::find_if(m_rows.begin(), m_rows.end(), [&](const ParamRow& row) { return row.tensor.is_same(parameter.tensor); });
            if (same != m_rows.end()) {
                same->aliases.push_back(parameter.name);
                continue;
            }
            ParamRow row;
            row.name = parameter.name;
            row.shape = parameter.tensor.sizes().vec();
            row.dtype = parameter.tensor.scalar_type();
            row.block = block->index();
            row.trainable = parameter.tensor.requires_grad();
            row.tensor = parameter.tensor;
            m_rows.push_back(std::move(row));
        }
    }
}

Result<std::unique_ptr<ParamTable>> ParamTable::make(Model& model, const config::OptimizerSection& section) {
    auto table = std::make_unique<ParamTable>(model);
    std::vector<plan::ParamFacts> facts;
    for (const ParamRow& row : table->m_rows) facts.push_back({row.name, row.aliases, row.shape.size(), row.numel(), row.block});
    LATHE_TRY_ASSIGN(plan::ParamGroups groups, plan::groupParams(section, facts));
    for (std::size_t i = 0; i < table->m_rows.size(); ++i) {
        ParamRow& row = table->m_rows[i];
        row.group = groups.of[i];
        if (!groups.groups[row.group].frozen) continue;
        row.tensor.requires_grad_(false);
        row.trainable = false;
    }
    table->m_groups = std::move(groups.groups);
    return table;
}

const ParamRow* ParamTable::find(std::string_view name) const {
    for (const ParamRow& row : m_rows)
        if (row.name == name || std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
            return &row;
    return nullptr;
}

std::int64_t ParamTable::totalElements() const {
    std::int64_t total = 0;
    for (const ParamRow& row : m_rows)
        total += row.numel();
    return total;
}

}  // namespace lathe::engine
