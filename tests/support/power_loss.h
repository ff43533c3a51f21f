// What a disk may hold after the power was lost: a model of files and folders that is fed with the calls that a piece of work
// made, and keeps apart what was synced and what was only written. Unsynced writes may be missing, in another order, or torn
// at 512 bytes or 4 KiB; unsynced names (made, renamed, removed) may be missing, in another order too; a file may have its
// length without its bytes.
// After Pillai and others, "All File Systems Are Not Created Equal" (OSDI 2014): nothing is assumed but that a rename is one
// step and that fsync makes a file's content, or a folder's names, last.
// Thread: one.
#pragma once

#include "syscall_tracer.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace lathe::test {

class DiskModel {
public:
    /// Holds what lies in `folder`, all of it synced.
    explicit DiskModel(const std::filesystem::path& folder);

    /// A call that was made in that folder.
    void take(const SystemCall& call);
    /// Writes into the empty folder `target` what may be left if the power is lost now. `everythingLost`: only what was synced.
    void lose(std::mt19937_64& random, bool everythingLost, const std::filesystem::path& target) const;

private:
    using Content = std::vector<std::byte>;
    struct Write {
        std::uint64_t offset = 0;
        Content bytes;
        std::optional<std::uint64_t> length;   ///< a truncation instead
    };
    struct Node {
        bool isFolder = false;
        Content durable;
        std::vector<Write> pending;
        std::map<std::string, int> names;      ///< as programs see them now
        std::map<std::string, int> kept;       ///< as synced
    };
    /// One step that names take together: (folder, name) means this node from now on, or nothing (-1).
    struct Renaming {
        struct Piece {
            int folder = 0, node = -1;
            std::string name;
        };
        std::vector<Piece> pieces;
    };

    int nodeAt(const std::string& path) const;
    /// Folder and name of a path; the folder is -1 where it is not known.
    std::pair<int, std::string> placeOf(const std::string& path) const;
    void rename(std::vector<Renaming::Piece> pieces);
    void makeNode(const std::string& path, bool isFolder);
    void syncFolder(int folder);
    static void apply(const Write& write, Content& content);
    Content contentAfter(const Node& node, std::mt19937_64& random, bool everythingLost) const;
    std::vector<bool> chosenNames(std::mt19937_64& random, bool everythingLost) const;
    int load(const std::filesystem::path& folder);

    std::string m_root;
    std::vector<Node> m_nodes;
    std::vector<Renaming> m_pending;
};

}  // namespace lathe::test
