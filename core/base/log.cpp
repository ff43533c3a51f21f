#include "base/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace lathe::log {
namespace {

constexpr std::size_t kMaxBytes = 8u << 20;
constexpr std::size_t kRotatedFiles = 2;

std::mutex g_mutex;
std::shared_ptr<spdlog::logger> g_logger;

std::shared_ptr<spdlog::logger> logger() {
    const std::lock_guard lock(g_mutex);
    if (!g_logger) {
        g_logger = std::make_shared<spdlog::logger>("lathe", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        g_logger->set_pattern("lathe: %l: %v");
    }
    return g_logger;
}

}  // namespace

void toFile(const std::filesystem::path& file) {
    try {
        auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kMaxBytes, kRotatedFiles);
        auto made = std::make_shared<spdlog::logger>("lathe", std::move(sink));
        made->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
        made->flush_on(spdlog::level::info);
        made->set_error_handler([](const std::string&) {});  // a full disk: whoever has more to tell than the log tells it
        const std::lock_guard lock(g_mutex);
        g_logger = std::move(made);
    } catch (const spdlog::spdlog_ex& problem) {
        error(problem.what());  // the old destination still works
    }
}

void write(Level level, std::string_view text) {
    static constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                            spdlog::level::warn, spdlog::level::err};
    logger()->log(kLevels[static_cast<int>(level)], text);
}

}  // namespace lathe::log
