#include "engine/parallel/rank_group.h"

#include "engine/parallel/nccl.h"
#include "engine/parallel/rank_board.h"

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>

namespace lathe::engine {
namespace {

/// What c10d reads from the environment. Set before main(): a thread that changes the environment while another one reads it
/// ends the process, and LibTorch reads it at the first use of many of its parts.
bool setUpCollectives() {
    // The flight recorder costs time in every operation, and groups of several threads in one process race in it.
    bool isSet = ::setenv("TORCH_FR_BUFFER_SIZE", "0", 0) == 0;
    // A rank that is gone is an exception here, not the end of the process.
    isSet &= ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 1) == 0;
    isSet &= ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 1) == 0;
    return isSet;
}

[[maybe_unused]] const bool kCollectivesAreSetUp = setUpCollectives();

/// The name changed between LibTorch 2.11 and 2.15.
template <typename Group>
auto gatherInto(Group& group, at::Tensor& out, at::Tensor& in) {
    const c10d::AllgatherOptions options;
    if constexpr (requires { group.all_gather_single(out, in, options); }) return group.all_gather_single(out, in, options);
    else return group._allgather_base(out, in, options);
}

/// Whatever c10d throws while ranks work together means that one of them is gone.
template <typename Operation>
auto together(Operation&& operation) {
    try {
        return operation();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& e) {
        const std::string text = e.what();
        throw LostContact("Another rank is gone (" + text.substr(0, std::min<std::size_t>(text.find('\n'), 200)) + ")");
    }
}

/// Every rank says that it is there, so that what follows waits for nobody.
bool awaitAll(c10d::Store& store, const RankPlace& place) {
    store.set("here/" + std::to_string(place.rank), std::string("1"));
    std::vector<std::string> keys;
    for (int rank = 0; rank < place.world; ++rank) keys.push_back("here/" + std::to_string(rank));
    while (!store.check(keys)) {
        if (!place.mayWait()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

std::string textIn(c10d::Store& store, const std::string& key) {
    const std::vector<std::uint8_t> bytes = store.get(key);
    return {bytes.begin(), bytes.end()};
}

/// Shared memory where all ranks can reach it; null everywhere where one cannot.
std::unique_ptr<RankBoard> shareBoard(c10d::Store& store, const RankPlace& place) {
    std::unique_ptr<RankBoard> board;
    if (place.rank == 0) {
        board = RankBoard::make(place.world);
        store.set("board", board ? board->place() : std::string("none"));
    } else {
        board = RankBoard::open(textIn(store, "board"), place.rank, place.world);
    }
    store.set("board/" + std::to_string(place.rank), std::string(board ? "1" : "0"));
    for (int rank = 0; rank < place.world; ++rank)
        if (textIn(store, "board/" + std::to_string(rank)) != "1") return nullptr;
    return board;
}

auto glooOptions(const RankPlace& place) {
    const auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::duration_cast<std::chrono::milliseconds>(place.timeout));
    options->devices = {c10d::ProcessGroupGloo::createDeviceForInterface("lo")};
    options->threads = 2;
    return options;
}

std::span<const std::byte> bytesOf(const at::Tensor& values) { return {static_cast<const std::byte*>(values.const_data_ptr()), values.nbytes()}; }

bool fitsBoard(const at::Tensor& values) { return values.is_cpu() && values.is_contiguous() && values.nbytes() <= RankBoard::kMostBytes; }

}  // namespace

struct RankGroup::Impl {
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    std::unique_ptr<RankBoard> board;   ///< null: everything goes through the group
    std::chrono::milliseconds timeout{};
    int rank = 0, world = 1;
    std::int64_t number = 0;
    std::function<void(std::int64_t, live::Activity)> onOperation;

    /// This rank is in the next operation for as long as this lives.
    class Inside {
    public:
        explicit Inside(Impl& impl, live::Activity kind = live::Activity::Exchanging) : m_impl(impl) {
            ++m_impl.number;
            tell(kind);
        }
        ~Inside() { tell(live::Activity::None); }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        void tell(live::Activity kind) {
            if (m_impl.onOperation) m_impl.onOperation(m_impl.number, kind);
        }
        Impl& m_impl;
    };
};

namespace {

/// What is left of an operation when it is waited for.
class Later final : public RankGroup::Pending {
public:
    explicit Later(std::function<void()> rest) : m_rest(std::move(rest)) {}
    void wait() override { m_rest(); }

private:
    std::function<void()> m_rest;
};

}  // namespace

RankGroup::RankGroup(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RankGroup::~RankGroup() = default;

Result<std::unique_ptr<RankGroup>> RankGroup::connect(const RankPlace& place) {
    auto impl = std::make_unique<Impl>();
    impl->rank = place.rank;
    impl->world = place.world;
    impl->timeout = std::chrono::duration_cast<std::chrono::milliseconds>(place.timeout);
    impl->onOperation = place.onOperation;
    const Impl::Inside inside(*impl);
    const auto file = c10::make_intrusive<c10d::FileStore>(place.rendezvous.string(), place.world);
    file->setTimeout(std::chrono::duration_cast<std::chrono::milliseconds>(place.timeout));
    const auto store = c10::make_intrusive<c10d::PrefixStore>("ranks", file);
    if (!awaitAll(*store, place)) return Error{ErrorCode::Stopped, "Stopped while waiting for the other ranks", {}, {}};
    impl->board = together([&] { return shareBoard(*store, place); });
    const auto options = glooOptions(place);   // what fails here and above is this rank's own trouble
    const auto gloo = together([&] { return c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.world, options); });
    impl->group = c10::make_intrusive<c10d::ProcessGroup>(store, place.rank, place.world);
    impl->group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
    if (place.cuda) {
        LATHE_TRY_ASSIGN(const auto nccl, makeNccl(ncclLibrary(), *store, place.rank, place.world, impl->timeout));
        impl->group->setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
    }
    impl->group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
    impl->group->setGroupName("lathe");
    return std::unique_ptr<RankGroup>(new RankGroup(std::move(impl)));
}

/// Two ranks sum what is small over shared memory, when it is waited for.
std::unique_ptr<RankGroup::Pending> RankGroup::startSum(const at::Tensor& values) {
    if (m_impl->board && m_impl->world == 2 && fitsBoard(values))
        return std::make_unique<Later>([this, values] {
            const at::NoGradGuard noGrad;
            const Impl::Inside inside(*m_impl, live::Activity::Reducing);
            together([&] { m_impl->board->exchange(bytesOf(values), m_impl->timeout.count()); });
            auto* theirs = const_cast<std::byte*>(m_impl->board->of(1 - m_impl->rank).data());
            values.add_(at::from_blob(theirs, values.sizes(), values.options()));
        });
    std::vector<at::Tensor> list{values};
    return std::make_unique<Later>([this, work = together([&] { return m_impl->group->allreduce(list); })] {
        const Impl::Inside inside(*m_impl, live::Activity::Reducing);
        together([&] { return work->wait(); });
    });
}

at::Tensor RankGroup::gather(const at::Tensor& mine) {
    const Impl::Inside inside(*m_impl);
    at::Tensor in = mine.contiguous(), out = at::empty({in.numel() * m_impl->world}, in.options());
    if (m_impl->board && fitsBoard(in)) {
        together([&] { m_impl->board->exchange(bytesOf(in), m_impl->timeout.count()); });
        for (int rank = 0; rank < m_impl->world && in.nbytes() > 0; ++rank)
            std::memcpy(static_cast<std::byte*>(out.mutable_data_ptr()) + static_cast<std::size_t>(rank) * in.nbytes(), m_impl->board->of(rank).data(), in.nbytes());
        return out;
    }
    together([&] { return gatherInto(*m_impl->group, out, in)->wait(); });
    return out;
}

void RankGroup::send(const at::Tensor& values, int to) {
    const Impl::Inside inside(*m_impl, live::Activity::Reducing);
    std::vector<at::Tensor> list{values};
    together([&] { return m_impl->group->send(list, to, 0)->wait(); });
}

void RankGroup::receive(at::Tensor values, int from) {
    const Impl::Inside inside(*m_impl, live::Activity::Reducing);
    std::vector<at::Tensor> list{std::move(values)};
    together([&] { return m_impl->group->recv(list, from, 0)->wait(); });
}

void RankGroup::exchange(const at::Tensor& mine, at::Tensor theirs, int with) {
    const Impl::Inside inside(*m_impl, live::Activity::Reducing);
    std::vector<at::Tensor> out{mine}, in{std::move(theirs)};
    // On GPUs both stand in one queue, so that one of the two has to receive first.
    const bool receivesFirst = !mine.is_cpu() && m_impl->rank > with;
    together([&] {
        const auto first = receivesFirst ? m_impl->group->recv(in, with, 0) : m_impl->group->send(out, with, 0);
        const auto second = receivesFirst ? m_impl->group->send(out, with, 0) : m_impl->group->recv(in, with, 0);
        return second->wait() && first->wait();
    });
}

void RankGroup::broadcast(at::Tensor values, int from) {
    const Impl::Inside inside(*m_impl);
    std::vector<at::Tensor> list{std::move(values)};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    together([&] { return m_impl->group->broadcast(list, options)->wait(); });
}

}  // namespace lathe::engine
