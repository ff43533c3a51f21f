// A model with its registry and the writer of its checkpoints, on a disk that tells what is made durable and fails on demand.
#pragma once

#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/train/model_state.h"
#include "loop_fixture.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <sys/stat.h>

namespace lathe::engine::test {

namespace stdfs = std::filesystem;


/// Ends this process, as a power cut would, at the call to the disk that is that far away.
struct Kill {
    int at = -1;
    bool now() { return at-- == 0; }
    void pass() {
        if (now()) ::raise(SIGKILL);
    }
};

/// What goes wrong with files, to be switched on; and a gate that holds every write back while it is shut.
struct Faults {
    Kill kill;
    int syncsLeft = -1;
    bool failReserve = false;
    void shut() {
        const std::lock_guard lock(m_mutex);
        m_isShut = true;
    }
    void open() {
        {
            const std::lock_guard lock(m_mutex);
            m_isShut = false;
        }
        m_opened.notify_all();
    }
    void pass() {
        std::unique_lock lock(m_mutex);
        m_opened.wait(lock, [this] { return !m_isShut; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_opened;
    bool m_isShut = false;
};

/// A file that tells when it was synced.
class ToldFile final : public OutputFile {
public:
    ToldFile(std::unique_ptr<OutputFile> file, std::string name, std::vector<std::string>& told, Faults& faults)
        : m_file(std::move(file)), m_name(std::move(name)), m_told(told), m_faults(faults) {}
    Result<void> write(std::span<const std::byte> bytes) override {
        m_faults.pass();
        if (m_faults.kill.now()) {
            static_cast<void>(m_file->write(bytes.first(bytes.size() / 2)));
            ::raise(SIGKILL);
        }
        return m_file->write(bytes);
    }
    Result<void> reserve(std::uint64_t bytes) override {
        if (m_faults.failReserve) return fileError("reserve room for", m_name, ENOSPC);
        return m_file->reserve(bytes);
    }
    Result<void> sync() override {
        m_faults.kill.pass();
        m_told.push_back("sync " + m_name);
        if (m_faults.syncsLeft-- == 0) return fileError("sync", m_name, EIO);
        return m_file->sync();
    }
    Result<void> close() override { return m_file->close(); }

private:
    std::unique_ptr<OutputFile> m_file;
    std::string m_name;
    std::vector<std::string>& m_told;
    Faults& m_faults;
};

/// The real file system with faults to be switched on; tells in which order things were made durable.
class FaultyFiles final : public FileSystem {
public:
    Result<std::unique_ptr<OutputFile>> create(const stdfs::path& path) override {
        faults.kill.pass();
        if (createsLeft-- == 0) return fileError("create", path.native(), ENOSPC);
        LATHE_TRY_ASSIGN(std::unique_ptr<OutputFile> file, real().create(path));
        told.push_back("create " + path.filename().string());
        return std::unique_ptr<OutputFile>(std::make_unique<ToldFile>(std::move(file), path.filename().string(), told, faults));
    }
    Result<void> makeFolder(const stdfs::path& path) override {
        faults.kill.pass();
        return real().makeFolder(path);
    }
    Result<void> rename(const stdfs::path& from, const stdfs::path& to) override {
        if (failRename) return fileError("rename", to.native(), EIO);
        faults.kill.pass();
        told.push_back("rename to " + to.filename().string());
        return real().rename(from, to);
    }
    Result<void> exchange(const stdfs::path& one, const stdfs::path& other) override {
        if (failRename) return fileError("exchange", other.native(), EIO);
        if (cannotExchange) return Error{ErrorCode::Unsupported, "It cannot", {}, {}};
        faults.kill.pass();
        told.push_back("rename to " + other.filename().string());
        return real().exchange(one, other);
    }
    Result<void> link(const stdfs::path& existing, const stdfs::path& name) override {
        if (failLink) return fileError("link", name.native(), EXDEV);
        return real().link(existing, name);
    }
    Result<void> remove(const stdfs::path& file) override {
        faults.kill.pass();
        if (failRemove) return fileError("remove", file.native(), ENOTEMPTY);
        return real().remove(file);
    }
    Result<void> syncFolder(const stdfs::path& folder) override {
        faults.kill.pass();
        told.push_back("sync " + folder.filename().string());
        if (folderSyncsLeft-- == 0) return fileError("sync folder", folder.native(), EIO);
        return real().syncFolder(folder);
    }
    Result<std::uint64_t> freeBytes(const stdfs::path& folder) override {
        if (free) return *free;
        return real().freeBytes(folder);
    }
    int createsLeft = -1, folderSyncsLeft = -1;
    bool failRename = false, failLink = false, failRemove = false, cannotExchange = false;
    std::optional<std::uint64_t> free;
    std::vector<std::string> told;
    Faults faults;
};

/// A trained model with its registry, and the writer of its checkpoints.
struct Bench {
    explicit Bench(const stdfs::path& where, std::int64_t width = 5, bool frozen = false, const std::string& prefix = {}, std::int64_t frozenWidth = 7)
        : folder(where), model(width, at::kFloat, prefix), frozenModel(frozen ? std::make_unique<ScaleModel>(frozenWidth, at::kFloat, "frozen.") : nullptr) {
        if (frozenModel) {
            frozenModel->p().set_requires_grad(false);
            model.blocks().push_back(std::move(frozenModel->blocks()[0]));
        }
        table = std::make_unique<ParamTable>(model);
        storage = std::make_unique<FlatStorage>(*table);
        section.learningRate = 0.1;
        optimizer = Optimizer::make(section, *storage).value();
        modelState = std::make_unique<ModelState>(model, *table);
        best = std::make_unique<BestValue>(BestValue::make({}, {{"loss", false}}).value());
        state.add(*modelState);
        state.add(*optimizer);
        state.add(*best);
        state.add(progress);
    }
    void train(int updates, double gradient = 0.5) {
        for (int i = 0; i < updates; ++i) {
            storage->flats()[0].gradient.narrow(0, 0, 1).fill_(gradient * (i + 1));
            optimizer->step(0.1);
            progress.counters.globalStep = progress.counters.globalStep.next();
            progress.counters.updateAttempts = progress.counters.updateAttempts.next();
        }
    }
    void makeWriter(const std::string& previous = {}, std::uint64_t memory = 1u << 30) {
        TrainerRecord record;
        record.environment["threads"] = "2";
        record.configYaml = "run:\n  seed: 1\n";
        writer = std::make_unique<CheckpointWriter>(files, CheckpointPlace{folder, "abc", 1, "hash", "single", previous}, state, record, hooks, memory);
    }
    Result<SaveOutcome> save(const std::string& previous = {}) {
        makeWriter(previous);
        return again();
    }
    Result<SaveOutcome> again() {
        begin();
        return writer->finish();
    }
    void begin() {
        const Metrics metrics{{"loss", 0.1}};
        writer->begin({progress, metrics, true, Probe{"ids", "0.5", "nan"}, "interval"});
    }

    stdfs::path folder;
    ScaleModel model;
    std::unique_ptr<ScaleModel> frozenModel;
    std::unique_ptr<ParamTable> table;
    std::unique_ptr<FlatStorage> storage;
    config::OptimizerSection section;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<ModelState> modelState;
    std::unique_ptr<BestValue> best;
    Progress progress;
    TrainState state;
    FaultyFiles files;
    RecordingHooks hooks;
    std::unique_ptr<CheckpointWriter> writer;
};

inline ino_t inodeOf(const stdfs::path& file) {
    struct stat info {};
    ::stat(file.c_str(), &info);
    return info.st_ino;
}

}  // namespace lathe::engine::test
