// Qt headers that most files of the window need, compiled once. Never a module header such as QtWidgets.
#pragma once

#include <QApplication>
#include <QDateTime>
#include <QHash>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QString>
#include <QTimer>
#include <QVBoxLayout>
#include <QWidget>

#include <functional>
#include <memory>
#include <string>
#include <vector>
