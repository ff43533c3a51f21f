#include "theme/style_sheet.h"

namespace lathe::theme {
namespace {

// Roles are given by the dynamic property "role", so that object names stay free for tests and scripts.
constexpr auto kSheet = R"(
QToolTip { background: @raised; color: @text; border: 1px solid @strong; padding: 5px 7px; }
QFrame[role="card"] { background: @surface; border: 1px solid @border; border-radius: 6px; }
QFrame[role="message"] { background: @raised; border: 1px solid @strong; border-radius: 6px; }
QWidget[role="rail"] { background: @surface; border-right: 1px solid @border; }
QWidget[role="topbar"] { background: @surface; border-bottom: 1px solid @border; }
QToolButton[role="nav"] { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 0 10px; color: @muted; text-align: left; }
QToolButton[role="nav"]:hover { background: @hover; color: @text; }
QToolButton[role="nav"]:checked { background: @selection; color: @text; font-weight: 600; }
QToolButton[role="nav"]:focus { border-color: @accent; }
QToolButton[role="flat"] { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 3px 7px; color: @muted; }
QToolButton[role="flat"][words="true"] { padding: 3px 0 3px 7px; }
QToolButton[role="flat"]:hover { background: @hover; color: @text; }
QToolButton[role="flat"]:checked { background: @selection; color: @text; }
QToolButton[role="flat"]:focus { border-color: @accent; }
QToolButton[role="flat"]:disabled { color: @faint; }
QToolButton::menu-indicator { image: none; width: 0; }
QPushButton { background: @raised; border: 1px solid @strong; border-radius: 5px; padding: 4px 12px; min-height: 20px; }
QPushButton:hover { background: @hover; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @faint; border-color: @border; background: @surface; }
QPushButton[primary="true"] { background: @accent; color: @onaccent; border-color: @accent; font-weight: 600; }
QPushButton[primary="true"]:hover { background: @accenthover; }
QPushButton[primary="true"]:focus { border-color: @text; }
QPushButton[primary="true"]:disabled { background: @hover; color: @faint; border-color: @border; }
QPushButton[danger="true"] { color: @danger; }
QPushButton[danger="true"]:disabled { color: @faint; }
QPushButton[role="link"] { background: transparent; border: 1px solid transparent; text-align: left; color: @muted; padding: 3px 8px; }
QPushButton[role="link"]:hover { background: @hover; color: @text; }
QPushButton[role="link"]:focus { border-color: @accent; }
QPushButton[role="link"]:disabled { background: transparent; color: @faint; }
QPushButton::menu-indicator { image: none; width: 0; }
QLineEdit, QComboBox, QPlainTextEdit, QTextEdit { background: @field; border: 1px solid @strong; border-radius: 5px; padding: 3px 7px; min-height: 20px; selection-background-color: @accent; selection-color: @onaccent; }
QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus, QTextEdit:focus { border-color: @accent; }
QLineEdit[invalid="true"], QComboBox[invalid="true"] { border-color: @danger; }
QLineEdit:disabled, QComboBox:disabled { color: @faint; background: @window; }
QPlainTextEdit[role="plain"] { border: none; background: @surface; padding: 0; font-family: "JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono"; font-size: 12px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: @raised; border: 1px solid @strong; selection-background-color: @selection; selection-color: @text; outline: none; padding: 3px; }
QMenu { background: @raised; border: 1px solid @strong; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 10px; border-radius: 4px; }
QMenu::item:selected { background: @selection; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 4px 6px; }
QMenu::icon { padding-left: 8px; }
QHeaderView { background: @surface; border: none; }
QHeaderView::section { background: @surface; color: @muted; border: none; border-bottom: 1px solid @border; padding: 6px 8px 6px 11px; font-weight: 500; }
QTableView, QTreeView, QListView { background: @surface; border: 1px solid transparent; border-radius: 5px; outline: none; selection-background-color: @selection; selection-color: @text; gridline-color: @border; }
QTableView:focus, QTreeView:focus, QListView:focus { border-color: @accent; }
QTableView::item, QTreeView::item { border: none; padding-left: 8px; padding-right: 8px; }
QListView::item { border: none; padding: 4px 8px; }
QListView::item:selected, QTableView::item:selected, QTreeView::item:selected { background: @selection; color: @text; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent; padding: 7px 4px 6px 4px; margin-right: 18px; font-weight: 500; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:focus { color: @accent; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @strong; border-radius: 3px; margin: 2px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QScrollArea { background: transparent; border: none; }
QSplitter::handle { background: transparent; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="faint"] { color: @faint; }
QLabel[role="error"] { color: @danger; }
QLabel[role="warning"] { color: @warning; }
QLabel[role="success"] { color: @success; }
QProgressBar { background: @track; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QSlider { min-height: 20px; }
QSlider::groove:horizontal { background: @track; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @raised; border: 1px solid @strong; width: 12px; height: 12px; margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:focus { border-color: @accent; }
)";

}  // namespace

QString styleSheet(const Colors& c) {
    QString sheet = QString::fromLatin1(kSheet);
    // Longer names first: "@accenthover" must not be read as "@accent" with a tail.
    const std::pair<const char*, QColor> names[] = {
        {"@accenthover", c.dark ? c.accent.lighter(112) : c.accent.darker(112)}, {"@onaccent", c.onAccent}, {"@accent", c.accent},
        {"@selection", c.selection}, {"@surface", c.surface}, {"@success", c.success}, {"@warning", c.warning}, {"@raised", c.raised},
        {"@strong", c.borderStrong}, {"@border", c.border}, {"@window", c.window}, {"@danger", c.danger}, {"@hover", c.hover},
        {"@muted", c.muted}, {"@faint", c.faint}, {"@field", c.field}, {"@track", c.track}, {"@text", c.text}};
    for (const auto& [name, color] : names) sheet.replace(QLatin1String(name), color.name());
    return sheet;
}

}  // namespace lathe::theme
