#include "theme/theme.h"

#include "theme/style_sheet.h"
#include "theme/system_scheme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <QToolTip>

namespace lathe::theme {
namespace {

Colors lightColors() {
    Colors c;
    c.window = "#F4F5F7"; c.surface = "#FFFFFF"; c.raised = "#FFFFFF"; c.field = "#FFFFFF";
    c.border = "#DFE2E7"; c.borderStrong = "#C3C9D2"; c.grid = "#ECEEF2"; c.track = "#E3E7EC";
    c.text = "#1C2430"; c.muted = "#5A6675"; c.faint = "#6A7683";
    c.accent = "#0B62B8"; c.onAccent = "#FFFFFF"; c.selection = "#DCE9F8"; c.hover = "#EBEEF2";
    c.success = "#1A7F4B"; c.warning = "#9A6200"; c.danger = "#C2341D"; c.paused = "#6B52B5";
    c.curves = {"#0072B2", "#D55E00", "#009E73", "#B5548B", "#9900FF", "#7E0D00", "#552936", "#460D9C"};
    return c;
}

Colors darkColors() {
    Colors c;
    c.dark = true;
    c.window = "#15181C"; c.surface = "#1C2026"; c.raised = "#252A32"; c.field = "#171A1F";
    c.border = "#2C323B"; c.borderStrong = "#434B57"; c.grid = "#262B33"; c.track = "#2C323B";
    c.text = "#E4E8ED"; c.muted = "#9BA6B3"; c.faint = "#808B98";
    c.accent = "#4C9FEA"; c.onAccent = "#0B1520"; c.selection = "#213C59"; c.hover = "#262C34";
    c.success = "#4CC38A"; c.warning = "#E3A83B"; c.danger = "#F2745C"; c.paused = "#A893EE";
    c.curves = {"#4FA8E8", "#F08A4B", "#3CC49A", "#DB8ABF", "#9148FF", "#D4114C", "#EBEB13", "#ACF799"};
    return c;
}

Mode currentMode = Mode::System;
Colors currentColors = lightColors();

QPalette paletteOf(const Colors& c) {
    QPalette p;
    p.setColor(QPalette::Window, c.window);
    p.setColor(QPalette::WindowText, c.text);
    p.setColor(QPalette::Base, c.surface);
    p.setColor(QPalette::AlternateBase, c.hover);
    p.setColor(QPalette::Text, c.text);
    p.setColor(QPalette::Button, c.raised);
    p.setColor(QPalette::ButtonText, c.text);
    p.setColor(QPalette::BrightText, c.danger);
    p.setColor(QPalette::Highlight, c.accent);
    p.setColor(QPalette::HighlightedText, c.onAccent);
    p.setColor(QPalette::Link, c.accent);
    p.setColor(QPalette::LinkVisited, c.accent);
    p.setColor(QPalette::PlaceholderText, c.faint);
    p.setColor(QPalette::ToolTipBase, c.raised);
    p.setColor(QPalette::ToolTipText, c.text);
    p.setColor(QPalette::Mid, c.borderStrong);
    p.setColor(QPalette::Light, c.dark ? c.raised : c.surface);
    p.setColor(QPalette::Dark, c.borderStrong);
    p.setColor(QPalette::Shadow, c.dark ? QColor(Qt::black) : c.borderStrong);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, c.faint);
    return p;
}

/// The first of the wanted families that is installed, with the others behind it for missing letters.
QStringList installed(const QStringList& wanted) {
    const QStringList have = QFontDatabase::families();
    QStringList found;
    for (const QString& family : wanted)
        if (have.contains(family)) found << family;
    return found;
}

}  // namespace

const Colors& colors() { return currentColors; }

QColor curveColor(int index) { return currentColors.curves[index % currentColors.curves.size()]; }

Mode mode() { return currentMode; }

void apply(Mode mode) {
    currentMode = mode;
    const bool dark = mode == Mode::Dark || (mode == Mode::System && systemPrefersDark());
    currentColors = dark ? darkColors() : lightColors();
    if (QApplication::style()->name() != QLatin1String("fusion")) QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    const QPalette palette = paletteOf(currentColors);
    QApplication::setPalette(palette);
    QApplication::setFont(textFont(TextRole::Body));
    QToolTip::setPalette(palette);
    QToolTip::setFont(textFont(TextRole::Body));
    qApp->setStyleSheet(styleSheet(currentColors));
}

void followSystem() {
    watchSystemScheme([] {
        if (currentMode == Mode::System) apply(Mode::System);
    });
}

QFont textFont(TextRole role) {
    static const QStringList sans = installed({QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")});
    static const QStringList mono = installed({QStringLiteral("JetBrains Mono"), QStringLiteral("Noto Sans Mono"), QStringLiteral("DejaVu Sans Mono")});
    QFont font;
    const QStringList& families = role == TextRole::Mono ? mono : sans;
    if (!families.isEmpty()) font.setFamilies(families);
    if (role == TextRole::Mono) font.setStyleHint(QFont::Monospace);
    font.setStyleStrategy(QFont::PreferAntialias);
    font.setHintingPreference(QFont::PreferNoHinting);
    switch (role) {
    case TextRole::Caption: font.setPixelSize(11); break;
    case TextRole::Body: font.setPixelSize(13); break;
    case TextRole::Strong: font.setPixelSize(13); font.setWeight(QFont::DemiBold); break;
    case TextRole::Title: font.setPixelSize(16); font.setWeight(QFont::DemiBold); break;
    case TextRole::Display: font.setPixelSize(20); font.setWeight(QFont::DemiBold); break;
    case TextRole::Mono: font.setPixelSize(12); break;
    }
    return font;
}

}  // namespace lathe::theme
