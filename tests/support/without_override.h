// Root reads and lists what its mode forbids. Here it does not, so that tests run as root meet EACCES as everybody does.
#pragma once

#include <array>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lathe::test {

/// In this thread, while this object lives.
class WithoutOverride {
public:
    WithoutOverride() {
        m_works = ::syscall(SYS_capget, &m_header, m_before.data()) == 0;
        auto less = m_before;
        less[0].effective &= ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
        m_works = m_works && ::syscall(SYS_capset, &m_header, less.data()) == 0;
    }
    ~WithoutOverride() {
        if (m_works) ::syscall(SYS_capset, &m_header, m_before.data());
    }
    WithoutOverride(const WithoutOverride&) = delete;
    WithoutOverride& operator=(const WithoutOverride&) = delete;
    bool works() const { return m_works; }

private:
    __user_cap_header_struct m_header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> m_before{};
    bool m_works = false;
};

/// In every program that this one starts from now on. False where root may not give that up.
inline bool programsAreWithoutOverride() {
    if (::geteuid() != 0) return true;
    return ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) == 0 && ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0) == 0;
}

}  // namespace lathe::test
