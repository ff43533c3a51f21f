#include "engine/model/model.h"
#include "rundir/safetensors_header.h"

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace lathe::engine {
namespace {

std::optional<at::ScalarType> numberType(const std::string& dtype) {
    static const std::map<std::string, at::ScalarType> kTypes = {{"F64", at::kDouble}, {"F32", at::kFloat},  {"F16", at::kHalf}, {"BF16", at::kBFloat16},
                                                                 {"I64", at::kLong},   {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},
                                                                 {"U8", at::kByte}};
    const auto found = kTypes.find(dtype);
    return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

std::string shapeText(at::IntArrayRef shape) {
    std::string text;
    for (const std::int64_t side : shape)
        text += (text.empty() ? "" : "x") + std::to_string(side);
    return text.empty() ? "a single number" : text;
}

/// Names of one kind of trouble; all of them up to a length that still fits a screen.
class NameList {
public:
    explicit NameList(std::string title) : m_title(std::move(title)) {}
    void add(const std::string& name) {
        if (++m_count <= 60)
            m_text += (m_text.empty() ? "" : ", ") + name;
    }
    std::string text() const {
        if (m_count == 0)
            return {};
        return "; " + m_title + ": " + m_text + (m_count > 60 ? " and " + std::to_string(m_count - 60) + " more" : "");
    }

private:
    std::string m_title, m_text;
    std::size_t m_count = 0;
};

/// What does not fit, as a sentence; empty when everything fits.
std::string mismatch(const rundir::SafetensorsHeader& header, const Model& model) {
    NameList missing("missing in the file"), extra("not in the model"), other("of another shape or type");
    std::set<std::string> known;
    const auto check = [&](const NamedTensor& named, bool required) {
        known.insert(named.name);
        const auto found = header.tensors.find(named.name);
        if (found == header.tensors.end()) {
            if (required)
                missing.add(named.name);
            return;
        }
        const auto type = numberType(found->second.dtype);
        if (found->second.shape != named.tensor.sizes().vec())
            other.add(named.name + " (file " + shapeText(found->second.shape) + ", model " + shapeText(named.tensor.sizes()) + ")");
        else if (!type || at::isFloatingType(*type) != at::isFloatingType(named.tensor.scalar_type()))
            other.add(named.name + " (file " + found->second.dtype + ")");
    };
    for (const NamedTensor& named : model.parameters())
        check(named, true);
    for (const NamedTensor& named : model.buffers())
        check(named, false);
    for (const auto& [name, range] : header.tensors)
        if (!known.contains(name) && !name.ends_with("num_batches_tracked"))
            extra.add(name);
    return missing.text() + extra.text() + other.text();
}

class File {
public:
    explicit File(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// 0, or why not: an errno, or ENODATA when the file ends too early.
    int read(std::uint64_t begin, std::uint64_t count, char* to) const {
        if (m_fd < 0)
            return EBADF;
        while (count > 0) {
            const ssize_t n = ::pread(m_fd, to, count, static_cast<off_t>(begin));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return n < 0 ? errno : ENODATA;
            begin += static_cast<std::uint64_t>(n);
            count -= static_cast<std::uint64_t>(n);
            to += n;
        }
        return 0;
    }

private:
    int m_fd;
};

}  // namespace

Result<void> loadWeights(Model& model, const std::string& safetensorsFile) {
    const auto header = rundir::readSafetensorsHeader(safetensorsFile);
    if (!header)
        return header.error();
    if (const std::string problems = mismatch(*header, model); !problems.empty())
        return Error{ErrorCode::Config, safetensorsFile + " does not fit the model" + problems, "model.weights", {}};

    if (model.parameters().empty() || model.parameters().front().tensor.is_meta()) return {};
    const at::NoGradGuard noGrad;
    const File file(safetensorsFile);
    std::vector<NamedTensor> all = model.parameters();
    for (NamedTensor& buffer : model.buffers())
        all.push_back(std::move(buffer));
    for (const NamedTensor& named : all) {
        const auto found = header->tensors.find(named.name);
        if (found == header->tensors.end())
            continue;
        // Read, not mapped: a file that shrinks meanwhile gives an error and no signal.
        const at::Tensor staged = at::empty(named.tensor.sizes(), *numberType(found->second.dtype));
        LATHE_ASSERT(found->second.end - found->second.begin == staged.nbytes());
        if (const int reason = file.read(found->second.begin, staged.nbytes(), static_cast<char*>(staged.mutable_data_ptr())))
            return fileError("read", safetensorsFile, reason);
        named.tensor.copy_(staged);
    }
    return {};
}

}  // namespace lathe::engine
