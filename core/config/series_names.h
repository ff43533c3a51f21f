// What programs that are not ours call their series, in the names that charts, comparison and notifications know. The one
// table of it: for frames through the socket and for TensorBoard files alike.
// Thread: a SeriesNames belongs to one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace lathe::config {

/// The standard name of what `name` means ("loss", "val_acc", "Loss/train" …), or `name` itself where it is none of them.
/// Case, and whether "/", "_", "-", "." or a space parts the words, make no difference to what is recognised.
std::string standardSeriesName(std::string_view name);

/// Fit to be kept and shown: well-formed UTF-8 without control characters, at most kMostSeriesNameBytes; a longer one keeps
/// its beginning and gets a digest of the whole, so that two long names never become one. Never empty.
std::string cleanSeriesName(std::string_view name);
constexpr std::size_t kMostSeriesNameBytes = 200;

/// Names of the series of one run. Each name of the program's has a series of its own: where two of them mean the same,
/// the first gets the standard name and later ones keep theirs (with a number behind, where that is taken too).
class SeriesNames {
public:
    /// The series for a program's name; the same for the same name.
    const std::string& of(std::string_view name);
    /// The same where it was given already, else null.
    const std::string* find(std::string_view name) const;

private:
    std::map<std::string, std::string, std::less<>> m_given;
    std::set<std::string> m_taken;
};

}  // namespace lathe::config
