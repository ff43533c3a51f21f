#include "dataset/image_codec.h"

#include "base/error.h"

#include <array>
#include <csetjmp>
#include <cstring>
#include <jerror.h>
#include <jpeglib.h>
#include <vector>

namespace lathe::dataset {
namespace {

constexpr long kMaxWorkBytes = 1L << 30;
constexpr int kMaxScans = 500;  // a progressive file can ask for endless work
constexpr unsigned kMaxExifBytes = 0xFFFF;
constexpr std::array<std::uint8_t, 6> kExifMark{'E', 'x', 'i', 'f', 0, 0};

class JpegCodec final : public ImageCodec {
public:
    explicit JpegCodec(std::FILE* file) : m_file(file) {
        m_info.err = jpeg_std_error(&m_errors);
        m_errors.error_exit = [](j_common_ptr info) { self(info).fail(); };
        m_errors.emit_message = [](j_common_ptr info, int level) { self(info).notice(level); };
        m_info.client_data = this;
        m_monitor.progress_monitor = [](j_common_ptr info) { self(info).watch(); };
    }
    ~JpegCodec() override { jpeg_destroy_decompress(&m_info); }

    bool readHeader(StoredSize& size) override {
        if (!beginReading()) return refuse();
        if (m_info.out_color_space == JCS_UNKNOWN) {
            m_why = "has a kind of colour that is not supported: save it as RGB";
            return false;
        }
        size.width = m_info.image_width;
        size.height = m_info.image_height;
        size.channels = m_info.out_color_space == JCS_GRAYSCALE ? 1 : 3;
        size.orientation = orientation();
        // a progressive file keeps all its coefficients
        const auto components = static_cast<std::uint64_t>(m_info.num_components);
        size.workBytes = jpeg_has_multiple_scans(&m_info) ? std::uint64_t{2} * size.width * size.height * components : 0;
        return true;
    }

    bool readPixels(std::span<std::uint8_t> pixels) override {
        if (!start()) return refuse();
        const std::size_t rowBytes = std::size_t{m_info.output_width} * static_cast<std::size_t>(m_info.output_components);
        if (m_info.out_color_space != JCS_CMYK) {
            LATHE_ASSERT(pixels.size() == rowBytes * m_info.output_height);
            while (m_info.output_scanline < m_info.output_height)
                if (!readRow(pixels.data() + m_info.output_scanline * rowBytes)) return refuse();
        } else {
            std::vector<std::uint8_t> row(rowBytes);
            std::uint8_t* to = pixels.data();
            LATHE_ASSERT(pixels.size() == std::size_t{3} * m_info.output_width * m_info.output_height);
            while (m_info.output_scanline < m_info.output_height) {
                if (!readRow(row.data())) return refuse();
                to = toRgb(row, to);
            }
        }
        return finish() && !m_damaged ? true : refuse();
    }

private:
    static JpegCodec& self(j_common_ptr info) { return *static_cast<JpegCodec*>(info->client_data); }

    // The functions with setjmp hold nothing that a jump would have to destroy.
    bool beginReading() {
        if (setjmp(m_jump) != 0) return false;
        jpeg_create_decompress(&m_info);
        m_info.mem->max_memory_to_use = kMaxWorkBytes;
        jpeg_save_markers(&m_info, JPEG_APP0 + 1, kMaxExifBytes);
        jpeg_stdio_src(&m_info, m_file);
        jpeg_read_header(&m_info, TRUE);
        switch (m_info.jpeg_color_space) {
            case JCS_GRAYSCALE: m_info.out_color_space = JCS_GRAYSCALE; break;
            case JCS_RGB: case JCS_YCbCr: m_info.out_color_space = JCS_RGB; break;
            case JCS_CMYK: case JCS_YCCK: m_info.out_color_space = JCS_CMYK; break;
            default: m_info.out_color_space = JCS_UNKNOWN;
        }
        m_info.progress = &m_monitor;
        return true;
    }
    bool start() {
        if (setjmp(m_jump) != 0) return false;
        return jpeg_start_decompress(&m_info) == TRUE;
    }
    bool readRow(std::uint8_t* row) {
        if (setjmp(m_jump) != 0) return false;
        JSAMPROW rows[] = {row};
        return jpeg_read_scanlines(&m_info, rows, 1) == 1;
    }
    bool finish() {
        if (setjmp(m_jump) != 0) return false;
        return jpeg_finish_decompress(&m_info) == TRUE;
    }

    [[noreturn]] void fail() {
        (*m_errors.format_message)(reinterpret_cast<j_common_ptr>(&m_info), m_message.data());
        std::longjmp(m_jump, 1);
    }
    void notice(int level) {
        if (level >= 0) return;
        ++m_errors.num_warnings;
        const int code = m_errors.msg_code;
        const bool damage = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                            code == JWRN_MUST_RESYNC || code == JWRN_NOT_SEQUENTIAL;
        if (damage && !m_damaged) (*m_errors.format_message)(reinterpret_cast<j_common_ptr>(&m_info), m_message.data());
        m_damaged = m_damaged || damage;
    }
    void watch() {
        if (m_info.input_scan_number <= kMaxScans) return;
        std::strncpy(m_message.data(), "too many scans", m_message.size() - 1);
        std::longjmp(m_jump, 1);
    }
    bool refuse() {
        m_why = std::string("is damaged or cut short (") + m_message.data() + ")";
        return false;
    }

    int orientation() const {
        for (jpeg_saved_marker_ptr marker = m_info.marker_list; marker != nullptr; marker = marker->next) {
            const std::span<const std::uint8_t> data(marker->data, marker->data_length);
            if (marker->marker == JPEG_APP0 + 1 && data.size() > kExifMark.size() &&
                std::memcmp(data.data(), kExifMark.data(), kExifMark.size()) == 0)
                return exifOrientation(data.subspan(kExifMark.size()));
        }
        return 1;
    }

    /// Four inverted channels a pixel to three.
    static std::uint8_t* toRgb(std::span<const std::uint8_t> row, std::uint8_t* to) {
        for (std::size_t i = 0; i + 3 < row.size(); i += 4)
            for (std::size_t c = 0; c < 3; ++c) *to++ = static_cast<std::uint8_t>((row[i + c] * row[i + 3] + 127) / 255);
        return to;
    }

    std::FILE* m_file;
    jpeg_decompress_struct m_info{};
    jpeg_error_mgr m_errors{};
    jpeg_progress_mgr m_monitor{};
    std::jmp_buf m_jump{};
    std::array<char, JMSG_LENGTH_MAX> m_message{};
    bool m_damaged = false;
};

}  // namespace

std::unique_ptr<ImageCodec> jpegCodec(std::FILE* file) { return std::make_unique<JpegCodec>(file); }

}  // namespace lathe::dataset
