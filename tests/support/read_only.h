// A folder that cannot be written while this object lives, also for root.
#pragma once

#include <filesystem>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lathe::test {

class ReadOnlyFolder {
public:
    explicit ReadOnlyFolder(std::filesystem::path folder) : m_folder(std::move(folder)) {
        if (::geteuid() != 0) {
            m_works = ::chmod(m_folder.c_str(), 0500) == 0;
        } else if (::mount(m_folder.c_str(), m_folder.c_str(), nullptr, MS_BIND, nullptr) == 0) {
            m_mounted = true;
            m_works = ::mount(nullptr, m_folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
        }
    }
    ~ReadOnlyFolder() {
        if (m_mounted) ::umount2(m_folder.c_str(), MNT_DETACH);
        if (::geteuid() != 0) ::chmod(m_folder.c_str(), 0700);
    }
    ReadOnlyFolder(const ReadOnlyFolder&) = delete;
    ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;
    bool works() const { return m_works; }  ///< false: root without the right to mount

private:
    std::filesystem::path m_folder;
    bool m_works = false, m_mounted = false;
};

}  // namespace lathe::test
