// Event files made in tests: events framed by hand, so that each can be damaged on purpose.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "tensorboard/event.h"
#include "tensorboard/record_file.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace lathe::test {

inline constexpr double kWall = 1'700'000'000.0;

inline Bytes versionRecord(double wall = kWall) {
    Bytes payload, out;
    tensorboard::encodeFileVersion(payload, wall);
    tensorboard::frameRecord(out, payload);
    return out;
}

inline Bytes startRecord(std::int64_t step, double wall = kWall) {
    Bytes payload, out;
    tensorboard::encodeStart(payload, wall, step);
    tensorboard::frameRecord(out, payload);
    return out;
}

inline Bytes scalarRecord(std::int64_t step, const std::string& tag, float value, std::optional<double> wall = {}) {
    Bytes payload, out;
    tensorboard::encodeScalar(payload, wall.value_or(kWall + static_cast<double>(step)), step, tag, value);
    tensorboard::frameRecord(out, payload);
    return out;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
    putBytes(left, right);
    return left;
}

inline void appendTo(const std::filesystem::path& file, std::span<const std::byte> bytes) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// What a call that must not fail gives, as a value of its own: fit for the head of a loop.
template <typename T>
T taken(Result<T> result) {
    return std::move(result).value();
}

inline Bytes fromHex(const std::string& hex) {
    Bytes out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return out;
}

}  // namespace lathe::test
