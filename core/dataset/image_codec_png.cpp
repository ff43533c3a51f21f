#include "dataset/image_codec.h"

#include "base/error.h"

#include <array>
#include <csetjmp>
#include <cstring>
#include <png.h>
#include <vector>

namespace lathe::dataset {
namespace {

constexpr png_alloc_size_t kMaxChunkBytes = png_alloc_size_t{8} << 20;
constexpr png_uint_32 kMaxChunks = 1000;

class PngCodec final : public ImageCodec {
public:
    explicit PngCodec(std::FILE* file) : m_file(file) {
        m_png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, [](png_structp png, png_const_charp message) {
            static_cast<PngCodec*>(png_get_error_ptr(png))->fail(message);
        }, [](png_structp, png_const_charp) {});
        if (m_png != nullptr) m_info = png_create_info_struct(m_png);
    }
    ~PngCodec() override { png_destroy_read_struct(&m_png, &m_info, nullptr); }

    bool readHeader(StoredSize& size) override {
        if (m_info == nullptr) {
            m_why = "cannot be decoded: memory is exhausted";
            return false;
        }
        if (!beginReading()) return refuse();
        size.width = png_get_image_width(m_png, m_info);
        size.height = png_get_image_height(m_png, m_info);
        size.channels = (png_get_color_type(m_png, m_info) & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
        size.orientation = orientation();
        return true;
    }

    bool readPixels(std::span<std::uint8_t> pixels) override {
        if (!prepare()) return refuse();
        const std::size_t height = png_get_image_height(m_png, m_info);
        const std::size_t rowBytes = png_get_rowbytes(m_png, m_info);
        LATHE_ASSERT(pixels.size() == rowBytes * height);
        std::vector<png_bytep> rows(height);
        for (std::size_t y = 0; y < height; ++y) rows[y] = pixels.data() + y * rowBytes;
        return readRows(rows.data()) ? true : refuse();
    }

private:
    // The functions with setjmp hold nothing that a jump would have to destroy.
    bool beginReading() {
        if (setjmp(m_jump) != 0) return false;
        png_set_user_limits(m_png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // image_file.cpp checks the size
        png_set_chunk_malloc_max(m_png, kMaxChunkBytes);
        png_set_chunk_cache_max(m_png, kMaxChunks);
        png_init_io(m_png, m_file);
        png_read_info(m_png, m_info);
        return true;
    }
    bool prepare() {
        if (setjmp(m_jump) != 0) return false;
        png_set_palette_to_rgb(m_png);
        png_set_expand_gray_1_2_4_to_8(m_png);
        png_set_scale_16(m_png);
        png_set_strip_alpha(m_png);
        png_set_interlace_handling(m_png);
        png_read_update_info(m_png, m_info);
        return true;
    }
    bool readRows(png_bytep* rows) {
        if (setjmp(m_jump) != 0) return false;
        png_read_image(m_png, rows);
        png_read_end(m_png, nullptr);
        return true;
    }

    [[noreturn]] void fail(const char* message) {
        std::strncpy(m_message.data(), message, m_message.size() - 1);
        std::longjmp(m_jump, 1);
    }
    bool refuse() {
        m_why = std::string("is damaged or cut short (") + m_message.data() + ")";
        return false;
    }

    int orientation() {
        png_bytep data = nullptr;
        png_uint_32 bytes = 0;
        if (png_get_eXIf_1(m_png, m_info, &bytes, &data) == 0 || data == nullptr) return 1;
        return exifOrientation({data, bytes});
    }

    std::FILE* m_file;
    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
    std::jmp_buf m_jump{};
    std::array<char, 200> m_message{};
};

}  // namespace

std::unique_ptr<ImageCodec> pngCodec(std::FILE* file) { return std::make_unique<PngCodec>(file); }

}  // namespace lathe::dataset
