// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/timeline_file.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace gst_stripe {

namespace {

bool ends_in(const std::string& path, const char* ending) {
  return g_str_has_suffix(path.c_str(), ending) != FALSE;
}

std::string folder_of(const std::string& path) {
  gchar* folder = g_path_get_dirname(path.c_str());
  std::string name = folder;
  g_free(folder);
  return name;
}

// A file beside it is made as the writing will make one, and removed: permissions alone don't tell,
// as in /proc, or in a folder of a file system without space.
void check_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (!g_file_test(folder.c_str(), G_FILE_TEST_IS_DIR))
    throw TimelineError(false, "there is no folder " + folder);
  std::string beside = path + ".XXXXXX";
  const int file = g_mkstemp(beside.data());
  if (file < 0)
    throw TimelineError(false,
                        "no file can be made in the folder " + folder + ": " + g_strerror(errno));
  close(file);
  g_unlink(beside.c_str());
}

// Where a link leads to: the file is replaced, and the link is to stay.
std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  const std::string real = resolved ? resolved : path;
  free(resolved);
  return real;
}

void write_file(const std::string& path, const std::string& text) {
  GError* error = nullptr;
  if (g_file_set_contents(path.c_str(), text.data(), static_cast<gssize>(text.size()), &error))
    return;
  const std::string message = error->message;
  g_error_free(error);
  throw TimelineError(false, message);
}

}  // namespace

void check_timeline_path(const std::string& path) {
  if (!ends_in(path, ".json") && !ends_in(path, ".svg"))
    throw TimelineError(true, path + " ends neither in .json nor in .svg");
  GStatBuf status;
  if (g_stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) throw TimelineError(false, path + " is no regular file");
    if (g_access(path.c_str(), W_OK) != 0)
      throw TimelineError(false, path + " can't be written: " + g_strerror(errno));
  } else if (errno != ENOENT) {
    throw TimelineError(false, path + " can't be written: " + g_strerror(errno));
  }
  check_folder(real_path(path));
}

TimelineFile::TimelineFile(std::string path, int frames, int warm_up, stripe::Timeline frame)
    : path_(std::move(path)), recorder_(frames, warm_up), timeline_(std::move(frame)) {}

void TimelineFile::set_settings(std::string settings) {
  const std::lock_guard lock(mutex_);
  timeline_.settings = std::move(settings);
}

void TimelineFile::add(stripe::FrameTimes times) {
  const std::lock_guard lock(mutex_);
  if (!written_) recorder_.add(std::move(times));
}

void TimelineFile::write(bool now) {
  stripe::Timeline timeline;
  {
    const std::lock_guard lock(mutex_);
    if (written_ || recorder_.is_empty() || (!now && !recorder_.is_complete())) return;
    written_ = true;
    timeline = std::move(timeline_);
    recorder_.move_into(timeline);
  }
  write_file(real_path(path_),
             ends_in(path_, ".json") ? to_trace_json(timeline) : to_svg(timeline));
}

}  // namespace gst_stripe
