#include "engine/train/guard.h"

#include "engine/parallel/rank_group.h"
#include "engine/train/memory_facts.h"

#include <c10/util/Exception.h>

#include <new>
#include <utility>

namespace lathe::engine {
namespace {

/// LibTorch's CPU allocator reports exhausted memory as a plain c10::Error.
bool saysOutOfMemory(std::string_view text) {
    return text.find("can't allocate memory") != std::string_view::npos || text.find("not enough memory") != std::string_view::npos ||
           text.find("out of memory") != std::string_view::npos;
}

Error outOfMemory(const std::string& doing, std::shared_ptr<const MemoryFacts> facts) {
    return {ErrorCode::OutOfMemory,
            "The memory is exhausted while " + doing +
                ". Lower data.batch_size (and raise accumulation.micro_batches to keep the update the same), or choose a smaller model",
            {}, {}, std::move(facts)};
}

/// `said` is what the allocator said; empty: operator new, which says nothing.
Error outOfMemory(const std::string& doing, std::string_view said) {
    return outOfMemory(doing, said.empty() ? mainMemoryFacts(doing) : memoryFacts(doing, said));
}

std::string firstLine(std::string text) {
    return text.substr(0, text.find('\n'));
}

/// An operator that lacks a number format.
bool saysNoSuchType(std::string_view text) {
    return text.find("not implemented for") != std::string_view::npos &&
           (text.find("'Half'") != std::string_view::npos || text.find("'BFloat16'") != std::string_view::npos);
}

}  // namespace

Error currentException(const std::string& doing) {
    try {
        throw;
    } catch (const LostContact& e) {
        return {ErrorCode::LostContact, e.what(), {}, {"while " + doing}};
    } catch (const std::bad_alloc&) {
        return outOfMemory(doing, "");
    } catch (const c10::OutOfMemoryError& e) {
        return outOfMemory(doing, e.what_without_backtrace());
    } catch (const c10::Error& e) {
        if (saysOutOfMemory(e.what_without_backtrace())) return outOfMemory(doing, e.what_without_backtrace());
        if (saysNoSuchType(e.what_without_backtrace()))
            return {ErrorCode::Unsupported, "This model cannot compute in the chosen precision on this device (" + firstLine(e.what_without_backtrace()) +
                    "). Use precision.mode fp32", "precision.mode", {"while " + doing}};
        return {ErrorCode::Internal, "LibTorch: " + firstLine(e.what_without_backtrace()), {}, {"while " + doing}};
    } catch (const std::exception& e) {
        if (saysOutOfMemory(e.what())) return outOfMemory(doing, e.what());
        return {ErrorCode::Internal, firstLine(e.what()), {}, {"while " + doing}};
    } catch (...) {
        return {ErrorCode::Internal, "An unknown exception", {}, {"while " + doing}};
    }
}

}  // namespace lathe::engine
