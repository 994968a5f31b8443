// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// SVG pictures as GLib's parser of XML sees them.

#include <glib.h>

#include <map>
#include <string>
#include <vector>

namespace test {

struct SvgElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< directly in it

  double number(const char* attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? -1 : g_ascii_strtod(found->second.c_str(), nullptr);
  }
};

struct Svg {
  std::string fault;                 ///< why it can't be read; empty: it can
  std::vector<SvgElement> elements;  ///< in the order in which they begin

  std::vector<SvgElement> named(const std::string& name) const {
    std::vector<SvgElement> out;
    for (const SvgElement& element : elements)
      if (element.name == name) out.push_back(element);
    return out;
  }

  /// Whether a text that is drawn has these words in it.
  bool says(const std::string& words) const {
    for (const SvgElement& element : named("text"))
      if (element.text.find(words) != std::string::npos) return true;
    return false;
  }
};

inline Svg read_svg(const std::string& text) {
  struct Reading {
    Svg svg;
    std::vector<std::size_t> open;
  } reading;
  GMarkupParser parser = {};
  parser.start_element = [](GMarkupParseContext*, const gchar* name, const gchar** names,
                            const gchar** values, gpointer data, GError**) {
    auto& r = *static_cast<Reading*>(data);
    SvgElement element{name, {}, {}};
    for (; *names; ++names, ++values) element.attributes[*names] = *values;
    r.open.push_back(r.svg.elements.size());
    r.svg.elements.push_back(element);
  };
  parser.end_element = [](GMarkupParseContext*, const gchar*, gpointer data, GError**) {
    static_cast<Reading*>(data)->open.pop_back();
  };
  parser.text = [](GMarkupParseContext*, const gchar* words, gsize length, gpointer data,
                   GError**) {
    auto& r = *static_cast<Reading*>(data);
    if (!r.open.empty()) r.svg.elements[r.open.back()].text.append(words, length);
  };
  GMarkupParseContext* context =
      g_markup_parse_context_new(&parser, static_cast<GMarkupParseFlags>(0), &reading, nullptr);
  GError* error = nullptr;
  if (!g_markup_parse_context_parse(context, text.c_str(), static_cast<gssize>(text.size()),
                                    &error) ||
      !g_markup_parse_context_end_parse(context, &error))
    reading.svg.fault = error->message;
  g_clear_error(&error);
  g_markup_parse_context_free(context);
  // Well-formed or not, GLib lets it pass.
  if (text.find("]]>") != std::string::npos) reading.svg.fault = "]]> in a text";
  return reading.svg;
}

}  // namespace test
