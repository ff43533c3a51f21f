#include "power_loss.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>

namespace lathe::test {

namespace stdfs = std::filesystem;

DiskModel::DiskModel(const stdfs::path& folder) : m_root(stdfs::canonical(folder).string()) { load(m_root); }

int DiskModel::load(const stdfs::path& folder) {
    const int number = static_cast<int>(m_nodes.size());
    m_nodes.push_back({});
    m_nodes.back().isFolder = true;
    std::map<std::string, int> names;
    for (const auto& entry : stdfs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory()) {
            names[name] = load(entry.path());
        } else if (entry.is_regular_file()) {
            names[name] = static_cast<int>(m_nodes.size());
            m_nodes.push_back({});
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
            m_nodes.back().durable.resize(text.size());
            std::memcpy(m_nodes.back().durable.data(), text.data(), text.size());
        }
    }
    m_nodes[static_cast<std::size_t>(number)].names = names;
    m_nodes[static_cast<std::size_t>(number)].kept = std::move(names);
    return number;
}

int DiskModel::nodeAt(const std::string& path) const {
    const std::string relative = stdfs::path(path).lexically_normal().lexically_relative(m_root).string();
    if (relative.empty() || relative.starts_with("..")) return -1;
    int node = 0;
    for (const stdfs::path& part : stdfs::path(relative)) {
        if (part == "." || part.empty()) continue;
        const auto& names = m_nodes[static_cast<std::size_t>(node)].names;
        const auto found = names.find(part.string());
        if (found == names.end()) return -1;
        node = found->second;
    }
    return node;
}

std::pair<int, std::string> DiskModel::placeOf(const std::string& path) const {
    stdfs::path plain = stdfs::path(path).lexically_normal();
    if (!plain.has_filename()) plain = plain.parent_path();
    return {nodeAt(plain.parent_path().string()), plain.filename().string()};
}

void DiskModel::rename(std::vector<Renaming::Piece> pieces) {
    for (const Renaming::Piece& piece : pieces) {
        if (piece.folder < 0) return;
        auto& names = m_nodes[static_cast<std::size_t>(piece.folder)].names;
        if (piece.node < 0) names.erase(piece.name);
        else names[piece.name] = piece.node;
    }
    m_pending.push_back({std::move(pieces)});
}

void DiskModel::makeNode(const std::string& path, bool isFolder) {
    if (nodeAt(path) >= 0) return;
    const auto [folder, name] = placeOf(path);
    if (folder < 0) return;
    m_nodes.push_back({});
    m_nodes.back().isFolder = isFolder;
    rename({{folder, static_cast<int>(m_nodes.size()) - 1, name}});
}

/// What the names in it stand for lasts; so does every earlier step that such a step builds on.
void DiskModel::syncFolder(int folder) {
    std::vector<bool> lasts(m_pending.size(), false);
    std::vector<std::pair<int, std::string>> touched;
    for (std::size_t i = m_pending.size(); i-- > 0;) {
        const auto& pieces = m_pending[i].pieces;
        lasts[i] = std::any_of(pieces.begin(), pieces.end(), [&](const Renaming::Piece& piece) {
            return piece.folder == folder || std::find(touched.begin(), touched.end(), std::pair(piece.folder, piece.name)) != touched.end();
        });
        if (!lasts[i]) continue;
        for (const Renaming::Piece& piece : pieces) touched.emplace_back(piece.folder, piece.name);
    }
    std::vector<Renaming> rest;
    for (std::size_t i = 0; i < m_pending.size(); ++i) {
        if (!lasts[i]) {
            rest.push_back(std::move(m_pending[i]));
            continue;
        }
        for (const Renaming::Piece& piece : m_pending[i].pieces) {
            auto& kept = m_nodes[static_cast<std::size_t>(piece.folder)].kept;
            if (piece.node < 0) kept.erase(piece.name);
            else kept[piece.name] = piece.node;
        }
    }
    m_pending = std::move(rest);
}

void DiskModel::apply(const Write& write, Content& content) {
    if (write.length) return content.resize(*write.length);
    if (content.size() < write.offset + write.bytes.size()) content.resize(write.offset + write.bytes.size());
    std::copy(write.bytes.begin(), write.bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(write.offset));
}

void DiskModel::take(const SystemCall& call) {
    if (call.result < 0) return;
    const int at = nodeAt(call.path);
    const auto node = [&]() -> Node& { return m_nodes[static_cast<std::size_t>(at)]; };
    if (call.name == "open" || call.name == "openat") {
        if ((call.flags & O_TRUNC) != 0 && at >= 0) node().pending.push_back({0, {}, 0});
        else if ((call.flags & O_CREAT) != 0) makeNode(call.path, false);
    } else if (call.isWrite() && at >= 0 && call.offset >= 0) {
        Content bytes = call.data;
        bytes.resize(std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(call.result)));
        node().pending.push_back({static_cast<std::uint64_t>(call.offset), std::move(bytes), {}});
    } else if ((call.name == "ftruncate" || call.name == "truncate") && at >= 0) {
        node().pending.push_back({0, {}, static_cast<std::uint64_t>(call.offset)});
    } else if (call.isSync() && at >= 0) {
        for (const Write& write : node().pending) apply(write, node().durable);
        node().pending.clear();
        if (node().isFolder) syncFolder(at);
    } else if (call.name == "mkdir" || call.name == "mkdirat") {
        makeNode(call.path, true);
    } else if (call.name == "unlink" || call.name == "unlinkat" || call.name == "rmdir") {
        const auto [folder, name] = placeOf(call.path);
        rename({{folder, -1, name}});
    } else if (call.name.starts_with("rename") && at >= 0) {
        const auto [from, oldName] = placeOf(call.path);
        const auto [to, newName] = placeOf(call.second);
        const bool isExchange = call.name == "renameat2" && (call.flags & RENAME_EXCHANGE) != 0;
        rename({{from, isExchange ? nodeAt(call.second) : -1, oldName}, {to, at, newName}});
    } else if (call.name.starts_with("link") && at >= 0) {
        const auto [to, newName] = placeOf(call.second);
        rename({{to, at, newName}});
    }
}

DiskModel::Content DiskModel::contentAfter(const Node& node, std::mt19937_64& random, bool everythingLost) const {
    Content content = node.durable;
    const auto how = everythingLost ? 0 : random() % 5;   // nothing · all · some · some, one torn · lengths without bytes
    if (how == 0) return content;
    const std::size_t torn = how == 3 && !node.pending.empty() ? random() % node.pending.size() : node.pending.size();
    for (std::size_t i = 0; i < node.pending.size(); ++i) {
        Write write = node.pending[i];
        if ((how == 2 || how == 3) && i != torn && random() % 2 == 0) continue;
        if (how == 4) std::fill(write.bytes.begin(), write.bytes.end(), std::byte{0});
        if (i != torn) {
            apply(write, content);
            continue;
        }
        const std::size_t sector = random() % 2 == 0 ? 512 : 4096;
        for (std::size_t begin = 0; begin < write.bytes.size(); begin += sector) {
            if (random() % 2 == 0) continue;
            const std::size_t end = std::min(begin + sector, write.bytes.size());
            apply({write.offset + begin, Content(write.bytes.begin() + static_cast<std::ptrdiff_t>(begin), write.bytes.begin() + static_cast<std::ptrdiff_t>(end)), {}}, content);
        }
    }
    return content;
}

/// Nothing, the first few in order (as journals keep them), or any; of those about one name the earlier ones come along.
std::vector<bool> DiskModel::chosenNames(std::mt19937_64& random, bool everythingLost) const {
    std::vector<bool> chosen(m_pending.size(), false);
    const auto how = everythingLost ? 0 : random() % 3;
    const std::size_t first = how == 1 ? random() % (m_pending.size() + 1) : 0;
    std::vector<std::pair<int, std::string>> needed;
    for (std::size_t i = m_pending.size(); i-- > 0;) {
        const auto& pieces = m_pending[i].pieces;
        const bool isNeeded = std::any_of(pieces.begin(), pieces.end(), [&](const Renaming::Piece& piece) {
            return std::find(needed.begin(), needed.end(), std::pair(piece.folder, piece.name)) != needed.end();
        });
        chosen[i] = isNeeded || (how == 1 && i < first) || (how == 2 && random() % 2 == 0);
        if (!chosen[i]) continue;
        for (const Renaming::Piece& piece : pieces) needed.emplace_back(piece.folder, piece.name);
    }
    return chosen;
}

void DiskModel::lose(std::mt19937_64& random, bool everythingLost, const stdfs::path& target) const {
    std::vector<std::map<std::string, int>> names;
    for (const Node& node : m_nodes) names.push_back(node.kept);
    const auto chosen = chosenNames(random, everythingLost);
    for (std::size_t i = 0; i < m_pending.size(); ++i) {
        if (!chosen[i]) continue;
        for (const Renaming::Piece& piece : m_pending[i].pieces) {
            if (piece.node < 0) names[static_cast<std::size_t>(piece.folder)].erase(piece.name);
            else names[static_cast<std::size_t>(piece.folder)][piece.name] = piece.node;
        }
    }
    std::vector<std::pair<int, stdfs::path>> folders = {{0, target}};
    while (!folders.empty()) {
        const auto [number, place] = folders.back();
        folders.pop_back();
        for (const auto& [name, child] : names[static_cast<std::size_t>(number)]) {
            const Node& node = m_nodes[static_cast<std::size_t>(child)];
            if (node.isFolder) {
                stdfs::create_directory(place / name);
                folders.emplace_back(child, place / name);
                continue;
            }
            if (name.ends_with("-shm")) continue;   // memory of processes that are gone
            const Content content = contentAfter(node, random, everythingLost);
            std::ofstream(place / name, std::ios::binary).write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
        }
    }
}

}  // namespace lathe::test
