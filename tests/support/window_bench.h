// The real main window on a workspace of its own: settings redirected, questions answered and notifications kept by the
// test, and, where asked, a script in the place of lathe-trainer that writes down how it was called.
#pragma once

#include "patience.h"
#include "pages/prompts.h"
#include "shell/english.h"
#include "shell/main_window.h"

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QTest>

#include <deque>
#include <memory>

// A window on a busy machine may take its time: facts are waited for longer than Qt Test does by itself.
#undef QTRY_VERIFY
#define QTRY_VERIFY(fact) QTRY_VERIFY_WITH_TIMEOUT((fact), 30000)
#undef QTRY_VERIFY2
#define QTRY_VERIFY2(fact, message) QTRY_VERIFY2_WITH_TIMEOUT((fact), (message), 30000)
#undef QTRY_COMPARE
#define QTRY_COMPARE(actual, expected) QTRY_COMPARE_WITH_TIMEOUT((actual), (expected), 30000)

namespace lathe::tests {

class AnsweringPrompts : public pages::Prompts {
public:
    void ask(QObject*, const pages::Question& question, std::function<void(int)> answer) override {
        asked.push_back(question);
        questions << question.title + QLatin1Char('\n') + question.text;
        const int choice = choices.empty() ? -1 : choices.front();
        if (!choices.empty()) choices.pop_front();
        answer(choice);
    }
    void askText(QObject*, const pages::TextQuestion& question, std::function<void(std::optional<QString>)> answer) override {
        questions << question.title + QLatin1Char('\n') + question.label;
        std::optional<QString> text;
        if (!texts.empty()) text = texts.front();
        if (!texts.empty()) texts.pop_front();
        if (text && question.problem && !question.problem(*text).isEmpty()) text.reset();
        answer(text);
    }

    void askSheet(QObject*, const pages::SheetQuestion& question, std::function<void(std::optional<pages::SheetAnswer>)> answer) override {
        questions << question.title + QLatin1Char('\n') + question.verbs.join(QLatin1Char(' '));
        std::optional<pages::SheetAnswer> chosen;
        if (!sheets.empty()) chosen = sheets.front();
        if (!sheets.empty()) sheets.pop_front();
        answer(chosen);
    }

    std::vector<pages::Question> asked;
    std::deque<int> choices;
    std::deque<pages::SheetAnswer> sheets;
    std::deque<QString> texts;
    QStringList questions;
};

class KeepingNotifier : public shell::Notifier {
public:
    void notify(const QString& title, const QString& text, bool) override { said << title + QLatin1Char('\n') + text; }
    QStringList said;
};

class WindowBench {
public:
    WindowBench() {
        // The queue and the device locks of whoever runs the tests are none of theirs.
        qputenv("XDG_STATE_HOME", folder.filePath(QStringLiteral("state")).toUtf8());
        qputenv("LATHE_DEVICE_LOCKS", folder.filePath(QStringLiteral("devices")).toUtf8());
        static const bool once = [] {
            shell::installEnglish();
            theme::apply(theme::Mode::Light);
            return true;
        }();
        Q_UNUSED(once);
    }

    std::filesystem::path workspace() const { return folder.path().toStdString(); }

    /// Opens the window, or opens it again after close().
    shell::MainWindow& open(bool restore = false) {
        settings = std::make_unique<session::Settings>(folder.filePath(QStringLiteral("window.ini")));
        window = std::make_unique<shell::MainWindow>(workspace(), shell::MainWindow::Surroundings{*settings, prompts, notifier});
        if (!script.isEmpty()) window->launcher().setProgram(script.toStdString());
        if (restore) window->restore();
        window->show();
        if (!QTest::qWaitForWindowExposed(window.get())) qFatal("the window does not appear");
        window->activateWindow();
        if (!QTest::qWaitForWindowActive(window.get())) qFatal("the window does not become active");
        return *window;
    }
    void close() {
        window->close();
        window.reset();
        settings.reset();
    }

    /// From now on this stands in for lathe-trainer: it appends its arguments to a file and answers `json`.
    void useScript(const QString& json, int exitCode = 0) {
        script = folder.filePath(QStringLiteral("trainer.sh"));
        QFile file(script);
        if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate)) qFatal("cannot write the script");
        file.write(QStringLiteral("#!/bin/sh\necho \"$@\" >> '%1'\necho '%2'\nexit %3\n").arg(calledFile(), json).arg(exitCode).toUtf8());
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        if (window) window->launcher().setProgram(script.toStdString());
    }
    QString called() const {
        QFile file(calledFile());
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    template <typename Widget>
    Widget* find(const char* name) const {
        auto* found = window->findChild<Widget*>(QLatin1String(name));
        if (found == nullptr) qFatal("no %s", name);
        return found;
    }
    template <typename Widget>
    void click(const char* name) const {
        QTest::mouseClick(find<Widget>(name), Qt::LeftButton);
    }

    QTemporaryDir folder;
    AnsweringPrompts prompts;
    KeepingNotifier notifier;
    std::unique_ptr<session::Settings> settings;
    std::unique_ptr<shell::MainWindow> window;
    QString script;

private:
    QString calledFile() const { return folder.filePath(QStringLiteral("called.txt")); }
};

}  // namespace lathe::tests
