// Devices: processor, memory and GPUs of this machine, measured while the page is shown.
#pragma once

#include "device/devices.h"
#include "session/background.h"

#include <QTimer>
#include <QWidget>

#include <memory>
#include <vector>

class QLabel;
class QVBoxLayout;

namespace lathe::theme {
class Metric;
}

namespace lathe::pages {

class DevicesPage : public QWidget {
    Q_OBJECT

public:
    explicit DevicesPage(QWidget* parent = nullptr);
    ~DevicesPage() override;

    struct Reading {
        device::Cpu cpu;
        device::Gpus gpus;
        std::vector<device::Sample> samples;
    };
    /// Shows a reading; public so that machines with other devices can be shown in tests.
    void show(const Reading& reading);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    struct GpuCard {
        std::string uuid;
        QWidget* card = nullptr;
        QLabel* problem = nullptr;
        theme::Metric *load = nullptr, *memory = nullptr, *temperature = nullptr, *power = nullptr;
    };
    QWidget* buildCpu();
    void build();
    GpuCard buildGpu(const device::Gpu& gpu);
    void measure();
    void showCpu(const Reading& reading);
    void showGpus(const device::Gpus& gpus);

    session::SerialPool m_pool;
    std::unique_ptr<device::Sampler> m_sampler;  ///< used on the pool's thread only
    bool m_measuring = false;
    QTimer m_timer;
    QVBoxLayout* m_list = nullptr;
    QLabel* m_cpuName = nullptr;
    QLabel* m_cpuDetail = nullptr;
    theme::Metric *m_cpuLoad = nullptr, *m_cores = nullptr, *m_memory = nullptr, *m_queue = nullptr;
    QLabel* m_noGpu = nullptr;
    QWidget* m_noGpuCard = nullptr;
    std::vector<GpuCard> m_gpus;
};

}  // namespace lathe::pages
