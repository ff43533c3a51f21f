#include "pages/devices_page.h"

#include "base/number_text.h"
#include "session/qt_text.h"
#include "theme/parts.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::pages {
namespace {

using session::toQt;

constexpr int kEveryMs = 2000;

double part(std::uint64_t of, std::uint64_t all) { return all > 0 ? double(of) / double(all) : 0; }

QVBoxLayout* cardColumn(QFrame* card) {
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(18, 12, 18, 14);
    column->setSpacing(4);
    return column;
}

template <typename... Metrics>
QHBoxLayout* strip(Metrics*... metrics) {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, 6, 0, 0);
    row->setSpacing(18);
    bool first = true;
    for (theme::Metric* metric : {metrics...}) {
        if (!first) row->addWidget(new theme::Rule);
        row->addWidget(metric, 1);
        first = false;
    }
    return row;
}

QString percent(double value) { return QStringLiteral("%1 %").arg(int(value + 0.5)); }

}  // namespace

DevicesPage::DevicesPage(QWidget* parent) : QWidget(parent) {
    build();
    m_timer.setInterval(kEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &DevicesPage::measure);
}

DevicesPage::~DevicesPage() { m_pool.waitForDone(); }

void DevicesPage::build() {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget;
    m_list = theme::pageColumn(body);
    m_list->addWidget(buildCpu());
    QFrame* none = theme::card();
    auto* column = cardColumn(none);
    column->addWidget(theme::label(tr("GPU"), theme::TextRole::Strong));
    m_noGpu = theme::label(tr("Looking for GPUs"), theme::TextRole::Body, "muted");
    m_noGpu->setObjectName(QStringLiteral("noGpu"));
    m_noGpu->setWordWrap(true);
    column->addWidget(m_noGpu);
    m_noGpuCard = none;
    m_list->addWidget(none);
    m_list->addStretch();
    scroll->setWidget(body);
    body->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    outer->addWidget(scroll);
}

QWidget* DevicesPage::buildCpu() {
    QFrame* card = theme::card();
    auto* column = cardColumn(card);
    m_cpuName = theme::label(tr("Processor"), theme::TextRole::Strong);
    m_cpuName->setObjectName(QStringLiteral("cpuName"));
    column->addWidget(m_cpuName);
    m_cpuDetail = theme::label({}, theme::TextRole::Caption, "muted");
    m_cpuDetail->setWordWrap(true);
    column->addWidget(m_cpuDetail);
    m_cpuLoad = new theme::Metric(tr("Processor use"));
    m_cores = new theme::Metric(tr("Cores"));
    m_memory = new theme::Metric(tr("Memory in use"));
    m_queue = new theme::Metric(tr("Load"));
    m_memory->setObjectName(QStringLiteral("memoryMetric"));
    column->addLayout(strip(m_cpuLoad, m_memory, m_cores, m_queue));
    return card;
}

DevicesPage::GpuCard DevicesPage::buildGpu(const device::Gpu& gpu) {
    GpuCard made;
    made.uuid = gpu.uuid;
    QFrame* card = theme::card();
    made.card = card;
    auto* column = cardColumn(card);
    column->addWidget(theme::label(tr("GPU %1 · %2").arg(gpu.index).arg(toQt(gpu.name)), theme::TextRole::Strong));
    QLabel* identity = theme::label(tr("%1 · bus %2 · compute capability %3.%4").arg(toQt(gpu.uuid), toQt(gpu.pciBusId)).arg(gpu.computeMajor).arg(gpu.computeMinor),
                                    theme::TextRole::Caption, "muted");
    identity->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(identity);
    made.problem = theme::label({}, theme::TextRole::Body, "warning");
    made.problem->setWordWrap(true);
    column->addWidget(made.problem);
    made.load = new theme::Metric(tr("In use"));
    made.memory = new theme::Metric(tr("Memory in use"));
    made.temperature = new theme::Metric(tr("Temperature"));
    made.power = new theme::Metric(tr("Power"));
    column->addLayout(strip(made.load, made.memory, made.temperature, made.power));
    return made;
}

void DevicesPage::show(const Reading& reading) {
    showCpu(reading);
    showGpus(reading.gpus);
}

void DevicesPage::showCpu(const Reading& reading) {
    const device::Cpu& cpu = reading.cpu;
    m_cpuName->setText(toQt(cpu.model));
    QStringList instructions;
    for (const std::string& set : cpu.instructions) instructions << toQt(set);
    m_cpuDetail->setText(instructions.join(QStringLiteral(" · ")));
    for (const device::Sample& sample : reading.samples)
        if (sample.name == "device/cpu/utilization") m_cpuLoad->setValue(percent(sample.value), tr("over the last seconds"), sample.value / 100);
    if (m_cpuLoad->value().isEmpty()) m_cpuLoad->setValue(QStringLiteral("–"), tr("measuring"), 0);
    m_cores->setValue(tr("%1 of %2").arg(cpu.usableCores).arg(cpu.physicalCores), tr("usable by runs · %n thread(s)", nullptr, int(cpu.threads)));
    const std::uint64_t used = cpu.memoryTotal - std::min(cpu.memoryTotal, cpu.memoryAvailable);
    m_memory->setValue(toQt(memoryText(used)), tr("of %1").arg(toQt(memoryText(cpu.memoryTotal))), part(used, cpu.memoryTotal));
    m_queue->setValue(QString::number(cpu.load, 'f', 2), tr("runnable threads, last minute"));
}

void DevicesPage::showGpus(const device::Gpus& gpus) {
    const bool same = gpus.list.size() == m_gpus.size() &&
                      std::equal(m_gpus.begin(), m_gpus.end(), gpus.list.begin(), [](const GpuCard& card, const device::Gpu& gpu) { return card.uuid == gpu.uuid; });
    if (!same) {
        for (const GpuCard& card : m_gpus) card.card->deleteLater();
        m_gpus.clear();
        for (const device::Gpu& gpu : gpus.list) {
            m_gpus.push_back(buildGpu(gpu));
            m_list->insertWidget(m_list->count() - 1, m_gpus.back().card);
        }
    }
    m_noGpuCard->setVisible(gpus.list.empty());
    m_noGpu->setText(gpus.none.empty() ? tr("No GPU was found; runs use the processor.") : toQt(gpus.none));
    for (std::size_t i = 0; i < gpus.list.size(); ++i) {
        const device::Gpu& gpu = gpus.list[i];
        const GpuCard& card = m_gpus[i];
        card.problem->setText(toQt(gpu.unusable));
        card.problem->setVisible(!gpu.unusable.empty());
        const QString unknown = QStringLiteral("–");
        card.load->setValue(gpu.utilization ? percent(*gpu.utilization) : unknown, {}, gpu.utilization ? *gpu.utilization / 100 : -1);
        const std::uint64_t used = gpu.memoryTotal - std::min(gpu.memoryTotal, gpu.memoryFree);
        card.memory->setValue(toQt(memoryText(used)), tr("of %1").arg(toQt(memoryText(gpu.memoryTotal))), part(used, gpu.memoryTotal));
        card.temperature->setValue(gpu.temperature ? QStringLiteral("%1 °C").arg(int(*gpu.temperature + 0.5)) : unknown);
        card.power->setValue(gpu.power ? QStringLiteral("%1 W").arg(int(*gpu.power + 0.5)) : unknown);
    }
}

void DevicesPage::measure() {
    if (m_measuring) return;
    m_measuring = true;
    session::runInBackground(
        m_pool, this,
        [this] {
            // `this` outlives the job: the destructor waits for the pool.
            if (!m_sampler) m_sampler = std::make_unique<device::Sampler>();
            return Reading{device::cpu(), device::gpus(), m_sampler->sample()};
        },
        [this](Reading reading) {
            m_measuring = false;
            show(reading);
        });
}

void DevicesPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    measure();
    m_timer.start();
}

void DevicesPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_timer.stop();
}

}  // namespace lathe::pages
