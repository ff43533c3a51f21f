#include "pages/run_numbers.h"

#include "base/number_text.h"
#include "charts/axis_map.h"
#include "pages/run_kind.h"
#include "pages/state_look.h"
#include "session/qt_text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace lathe::pages {
namespace {

using session::toQt;

const QString kNothing = QStringLiteral("–");

struct Text {
    Q_DECLARE_TR_FUNCTIONS(RunNumbers)
};

QString number(double value) { return charts::shortNumber(value); }

/// "eval/accuracy" as people say it.
QString metricWords(const std::string& metric) {
    QString words = toQt(metric);
    words.remove(QStringLiteral("eval/"));
    return words.replace(QLatin1Char('_'), QLatin1Char(' '));
}

/// The series that stands for the loss: ours, or one of another program that is called so.
std::string lossName(const session::RunSession& session) {
    if (kindOf(session.summary()) == RunKind::Training) return "train/loss";
    const std::vector<std::string> names = session.data().names();
    const auto called = [&](const std::string& part) {
        return std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name == part || name.ends_with("/" + part); });
    };
    auto found = called("loss");
    if (found == names.end()) found = std::find_if(names.begin(), names.end(), [](const std::string& name) { return name.find("loss") != std::string::npos; });
    return found == names.end() ? "train/loss" : *found;
}

}  // namespace

double smoothedLatest(const session::RunData& data, const std::string& name, double weight) {
    const session::Piece* newest = nullptr;
    const std::vector<session::Piece> pieces = data.pieces(name);
    for (const session::Piece& piece : pieces)
        if (!piece.abandoned && piece.series != nullptr && piece.series->size() > 0) newest = &piece;
    if (newest == nullptr) return NAN;
    const std::size_t end = std::min(newest->end, newest->series->size());
    // What lies further back than this weighs less than a thousandth.
    const auto reach = std::size_t(std::min(5000.0, weight > 0 ? std::ceil(std::log(1e-3) / std::log(weight)) : 1.0));
    const std::size_t begin = std::max(newest->begin, end > reach ? end - reach : 0);
    double sum = 0, mass = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const double value = double(newest->series->at(i));
        if (!std::isfinite(value)) continue;
        sum = weight * sum + (1 - weight) * value;
        mass = weight * mass + (1 - weight);
    }
    return mass > 0 ? sum / mass : NAN;
}

StripValue stepValue(const session::RunSession& session) {
    const QLocale locale;
    const std::int64_t step = session.counters().globalStep.value();
    StripValue out{Text::tr("Step"), locale.toString(qint64(step)), {}, -1};
    if (const auto planned = session.plannedUpdates(); planned && *planned > 0) {
        const double part = double(step) / double(*planned);
        out.below = Text::tr("of %1 · %2 %").arg(locale.toString(qint64(*planned))).arg(int(part * 100));
        out.fill = std::clamp(part, 0.0, 1.0);
    } else if (session.isPlanKnown()) {
        out.below = Text::tr("no end planned");
    }
    return out;
}

StripValue timeValue(const session::RunSession& session, std::int64_t nowNs) {
    const rundir::Summary& summary = session.summary();
    if (!session.isAlive()) {
        const double took = summary.activeSeconds;
        return {Text::tr("Training time"), took > 0 ? toQt(durationText(took)) : kNothing, summary.endedNs > 0 ? Text::tr("ended %1").arg(ageText(summary.endedNs, nowNs)) : QString()};
    }
    const session::Eta eta = session.eta();
    StripValue out{Text::tr("Time left"), eta.text(), {}};
    if (session.standing().state == rundir::State::Paused) out.below = Text::tr("paused");
    else if (session.standsStill() && session.standing().snag != session::Snag::Unsupervised) out.below = Text::tr("does not get on");
    else if (eta.seconds) out.below = Text::tr("ends %1").arg(QDateTime::fromMSecsSinceEpoch(nowNs / 1'000'000 + qint64(*eta.seconds * 1000)).toString(QStringLiteral("hh:mm")));
    if (out.value.isEmpty()) out.value = kNothing;
    return out;
}

StripValue lossValue(const session::RunSession& session, double smoothing) {
    const std::string name = lossName(session);
    const double smoothed = smoothedLatest(session.data(), name, smoothing);
    StripValue out{name == "train/loss" ? Text::tr("Train loss") : toQt(name), std::isnan(smoothed) ? kNothing : number(smoothed), {}};
    if (const auto latest = session.data().latest(name))
        out.below = smoothing > 0 ? Text::tr("newest %1 · smoothed").arg(number(latest->value)) : Text::tr("newest");
    return out;
}

StripValue bestValue(const session::RunSession& session) {
    const auto& best = session.summary().best;
    if (!best) return {Text::tr("Best evaluation"), kNothing, session.isPlanKnown() ? Text::tr("none yet") : QString()};
    const bool part = metricWords(best->metric) == QLatin1String("accuracy");
    const QString value = part ? QStringLiteral("%1 %").arg(best->value * 100, 0, 'f', 2) : number(best->value);
    return {Text::tr("Best eval %1").arg(metricWords(best->metric)), value, Text::tr("step %1").arg(QLocale().toString(qint64(best->step)))};
}

StripValue speedValue(const session::RunSession& session) {
    const double smoothed = smoothedLatest(session.data(), "train/samples_per_second", 0.9);
    StripValue out{Text::tr("Samples/s"), std::isnan(smoothed) || session.standsStill() ? kNothing : number(smoothed), {}};
    if (const auto rate = session.eta().updatesPerSecond; rate && session.isAlive()) out.below = Text::tr("%1 updates/s").arg(number(*rate));
    return out;
}

StripValue deviceValue(const session::RunSession& session) {
    StripValue out{Text::tr("Device"), kNothing, {}};
    const auto& events = session.events();
    const auto told = std::find_if(events.rbegin(), events.rend(), [](const store::EventRow& row) { return row.event.kind == "environment"; });
    if (told == events.rend()) return out;
    const QJsonObject facts = QJsonDocument::fromJson(QByteArray::fromStdString(told->event.json)).object();
    const QString device = facts.value(QStringLiteral("device")).toString();
    const bool cpu = device == QLatin1String("cpu");
    if (!device.isEmpty()) out.value = cpu ? QStringLiteral("CPU") : QStringLiteral("GPU");
    const QString threads = facts.value(QStringLiteral("threads")).toString();
    out.below = cpu ? facts.value(QStringLiteral("CPU")).toString() : device;
    if (cpu && !threads.isEmpty()) out.below += QStringLiteral(" · ") + Text::tr("%n thread(s)", nullptr, threads.toInt());
    return out;
}

QString riskText(const session::RunSession& session, std::int64_t nowNs) {
    if (!session.isAlive() || kindOf(session.summary()) != RunKind::Training) return {};
    const session::CheckpointItem* newest = nullptr;
    for (const session::CheckpointItem& item : session.checkpoints())
        if (item.info.problem.empty() && item.onSurvivingLine && (newest == nullptr || item.info.wallNs > newest->info.wallNs)) newest = &item;
    const std::int64_t step = session.counters().globalStep.value();
    if (newest == nullptr) return step > 0 ? Text::tr("no checkpoint yet · %Ln update(s) at risk", nullptr, int(step)) : QString();
    const std::int64_t risk = std::max<std::int64_t>(0, step - newest->info.step.value());
    return Text::tr("last checkpoint %1 · %Ln update(s) at risk", nullptr, int(risk)).arg(ageText(newest->info.wallNs, nowNs));
}

}  // namespace lathe::pages
