// The real disk, but the n-th call fails; and from then on all others too, if wanted.
#pragma once

#include "base/file_system.h"

#include <cerrno>
#include <memory>
#include <utility>

namespace lathe::test {

class FailingFileSystem final : public FileSystem {
public:
    /// `failAt`: 1 is the first call that changes something.
    FailingFileSystem(int failAt, bool fromThenOn, int errnoValue = ENOSPC) : m_failAt(failAt), m_fromThenOn(fromThenOn), m_errno(errnoValue) {}
    int calls() const { return m_calls; }
    bool failRemove = false;

    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override {
        LATHE_TRY(count("create", path));
        LATHE_TRY_ASSIGN(auto file, FileSystem::real().create(path));
        return std::unique_ptr<OutputFile>(std::make_unique<File>(*this, std::move(file), path));
    }
    Result<void> makeFolder(const std::filesystem::path& path) override {
        LATHE_TRY(count("create folder", path));
        return FileSystem::real().makeFolder(path);
    }
    Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
        LATHE_TRY(count("rename", from));
        return FileSystem::real().rename(from, to);
    }
    Result<void> exchange(const std::filesystem::path& one, const std::filesystem::path& other) override {
        LATHE_TRY(count("exchange", one));
        return FileSystem::real().exchange(one, other);
    }
    Result<void> link(const std::filesystem::path& existing, const std::filesystem::path& name) override {
        LATHE_TRY(count("link", name));
        return FileSystem::real().link(existing, name);
    }
    Result<void> remove(const std::filesystem::path& file) override {
        if (failRemove) return fileError("remove", file.native(), ENOTEMPTY);
        return FileSystem::real().remove(file);
    }
    Result<void> syncFolder(const std::filesystem::path& folder) override {
        LATHE_TRY(count("sync folder", folder));
        return FileSystem::real().syncFolder(folder);
    }
    Result<std::uint64_t> freeBytes(const std::filesystem::path& folder) override { return FileSystem::real().freeBytes(folder); }

private:
    class File final : public OutputFile {
    public:
        File(FailingFileSystem& owner, std::unique_ptr<OutputFile> file, std::filesystem::path path)
            : m_owner(owner), m_file(std::move(file)), m_path(std::move(path)) {}
        Result<void> write(std::span<const std::byte> bytes) override {
            LATHE_TRY(m_owner.count("write", m_path));
            return m_file->write(bytes);
        }
        Result<void> reserve(std::uint64_t bytes) override {
            LATHE_TRY(m_owner.count("reserve", m_path));
            return m_file->reserve(bytes);
        }
        Result<void> sync() override {
            LATHE_TRY(m_owner.count("sync", m_path));
            return m_file->sync();
        }
        Result<void> close() override {
            LATHE_TRY(m_owner.count("close", m_path));
            return m_file->close();
        }

    private:
        FailingFileSystem& m_owner;
        std::unique_ptr<OutputFile> m_file;
        std::filesystem::path m_path;
    };

    Result<void> count(const char* action, const std::filesystem::path& path) {
        ++m_calls;
        if (m_calls == m_failAt || (m_fromThenOn && m_calls > m_failAt)) return fileError(action, path.native(), m_errno);
        return {};
    }

    int m_failAt, m_calls = 0;
    bool m_fromThenOn;
    int m_errno;
};

}  // namespace lathe::test
