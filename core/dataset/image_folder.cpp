#include "dataset/source.h"
#include "dataset/wording.h"

namespace lathe::dataset {

Result<std::unique_ptr<Dataset>> openImageFolder(const Source& source) {
    return Error{ErrorCode::Unsupported, "Folders of images cannot be read yet", source.key, {}};
}

}  // namespace lathe::dataset
