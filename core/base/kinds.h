// Things that are chosen by name, and what makes them: those that are built in and those that plug-ins bring, under
// "plug-in/name".
// Thread: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace lathe {

template <typename Maker>
class Kinds {
public:
    using Map = std::map<std::string, Maker, std::less<>>;
    explicit Kinds(Map builtIn) : m_makers(std::move(builtIn)) {}

    /// False where the name is taken.
    bool add(const std::string& name, Maker maker) { return m_makers.emplace(name, std::move(maker)).second; }
    /// Takes away all names that begin with this.
    void forget(std::string_view prefix) {
        std::erase_if(m_makers, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    }
    const Maker* find(std::string_view name) const {
        const auto found = m_makers.find(name);
        return found == m_makers.end() ? nullptr : &found->second;
    }
    const Map& all() const { return m_makers; }
    /// "linear, mlp, resnet18".
    std::string names() const {
        std::string text;
        for (const auto& [name, maker] : m_makers) text += (text.empty() ? "" : ", ") + name;
        return text;
    }

private:
    Map m_makers;
};

}  // namespace lathe
