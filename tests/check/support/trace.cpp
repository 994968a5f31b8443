// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace test {
namespace {

using Type = Json::Type;
using RowId = std::pair<int, int>;

bool is_count(const Json* number) {
  return number && number->is(Type::number) && number->number >= 0 &&
         number->number == std::floor(number->number);
}

/// What every event must have.
std::string event_fault(const Json& event) {
  if (!event.is(Type::object)) return "an event is no object";
  const Json* ph = event.find("ph", Type::string);
  const Json* name = event.find("name", Type::string);
  const Json* args = event.find("args");
  if (!ph || !name || name->string.empty()) return "an event without ph or name";
  if (!is_count(event.find("pid")) || !is_count(event.find("tid")))
    return name->string + " without pid or tid";
  if (args && !args->is(Type::object)) return name->string + " has args that are no object";
  if (ph->string != "X" && ph->string != "M") return "an event of phase " + ph->string;
  if (ph->string == "M") return {};
  for (const char* field : {"ts", "dur"}) {
    const Json* number = event.find(field, Type::number);
    if (!number || number->number < 0) return name->string + " has no " + field;
  }
  return {};
}

RowId row_of(const Json& event) {
  return {static_cast<int>(event.find("pid")->number), static_cast<int>(event.find("tid")->number)};
}

std::int64_t nanoseconds(const Json& event, const char* field) {
  return std::llround(event.find(field)->number * 1000);
}

int count_in(const Json& args, const char* field) {
  const Json* number = args.find(field);
  return is_count(number) ? static_cast<int>(number->number) : -1;
}

class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) {}

  std::string read(const std::string& text) {
    const std::optional<Json> json = parse_json(text);
    if (!json || !json->is(Type::object)) return "no object of JSON";
    const Json* events = json->find("traceEvents", Type::array);
    if (!events) return "no array traceEvents";
    const Json* unit = json->find("displayTimeUnit");
    if (unit && unit->string != "ms" && unit->string != "ns") return "an unknown unit of time";
    if (const Json* other = json->find("otherData")) trace_.other = *other;
    for (const Json& event : events->items) {
      const std::string fault = event_fault(event);
      if (!fault.empty()) return fault;
    }
    for (const Json& event : events->items) read_name(event);
    for (const Json& event : events->items) {
      const std::string fault = read_span(event);
      if (!fault.empty()) return fault;
    }
    for (const std::string& row : trace_.rows) {
      const std::string fault = row_fault(row);
      if (!fault.empty()) return fault;
    }
    return {};
  }

 private:
  void read_name(const Json& event) {
    if (event.find("ph")->string != "M") return;
    const std::string& what = event.find("name")->string;
    const Json* name =
        event.find("args") ? event.find("args")->find("name", Type::string) : nullptr;
    if (what == "process_name" && name) processes_.insert(row_of(event).first);
    if (what != "thread_name" || !name) return;
    names_[row_of(event)] = name->string;
    trace_.rows.push_back(name->string);
  }

  std::string read_span(const Json& event) {
    if (event.find("ph")->string != "X") return {};
    const std::string& name = event.find("name")->string;
    const auto row = names_.find(row_of(event));
    if (row == names_.end() || !processes_.contains(row->first.first))
      return name + " in a row or process without a name";
    const Json* args = event.find("args");
    if (!args || count_in(*args, "frame") < 0) return name + " says no frame";
    const std::int64_t begin = nanoseconds(event, "ts");
    trace_.spans.push_back({row->second, name, count_in(*args, "frame"), count_in(*args, "stripe"),
                            begin, begin + nanoseconds(event, "dur")});
    return {};
  }

  // Readers draw a row as a stack of calls.
  std::string row_fault(const std::string& row) const {
    std::vector<TraceSpan> spans;
    for (const TraceSpan& span : trace_.spans)
      if (span.row == row) spans.push_back(span);
    std::sort(spans.begin(), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<TraceSpan> open;
    for (const TraceSpan& span : spans) {
      while (!open.empty() && open.back().end <= span.begin) open.pop_back();
      if (!open.empty() && open.back().end < span.end)
        return "in row " + row + " " + open.back().name + " of frame " +
               std::to_string(open.back().frame) + " ends within " + span.name + " of frame " +
               std::to_string(span.frame);
      open.push_back(span);
    }
    return {};
  }

  Trace& trace_;
  std::set<int> processes_;
  std::map<RowId, std::string> names_;
};

/// Upload, kernel, download of a stripe, in order.
std::string stripe_fault(const Trace& trace, int frame, int stripe, bool mapped) {
  std::vector<TraceSpan> work;
  for (const TraceSpan& span : trace.spans)
    if (span.frame == frame && span.stripe == stripe) work.push_back(span);
  const std::vector<std::string> wanted =
      mapped ? std::vector<std::string>{"kernel"}
             : std::vector<std::string>{"upload", "kernel", "download"};
  const std::string name =
      "stripe " + std::to_string(stripe) + " of frame " + std::to_string(frame);
  if (work.size() != wanted.size())
    return name + " has " + std::to_string(work.size()) + " pieces of work";
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].name != wanted[i]) return name + " has a " + work[i].name + " out of order";
    if (work[i].row != work[0].row) return name + " changes its stream";
    if (i > 0 && work[i].begin < work[i - 1].end) return name + " runs at the same time as itself";
  }
  return {};
}

}  // namespace

std::vector<int> Trace::frames() const {
  std::set<int> numbers;
  for (const TraceSpan& span : spans) numbers.insert(span.frame);
  return {numbers.begin(), numbers.end()};
}

std::vector<TraceSpan> Trace::named(const std::string& name, int frame) const {
  std::vector<TraceSpan> out;
  for (const TraceSpan& span : spans)
    if (span.name == name && (frame < 0 || span.frame == frame)) out.push_back(span);
  return out;
}

Trace read_trace(const std::string& text) {
  Trace trace;
  trace.fault = Reader(trace).read(text);
  return trace;
}

std::string frames_fault(const Trace& trace, const std::vector<int>& frames, int stripes,
                         bool mapped, bool pushed) {
  if (trace.frames() != frames) return "other frames";
  for (const int frame : frames) {
    const std::string name = "frame " + std::to_string(frame);
    std::set<int> numbers;
    for (const TraceSpan& span : trace.spans)
      if (span.frame == frame && span.stripe >= 0) numbers.insert(span.stripe);
    if (static_cast<int>(numbers.size()) != stripes || *numbers.rbegin() != stripes - 1)
      return name + " has not its stripes";
    for (const int stripe : numbers) {
      const std::string fault = stripe_fault(trace, frame, stripe, mapped);
      if (!fault.empty()) return fault;
    }
    for (const char* row : {"submit", "wait", "push"})
      if (trace.named(row, frame).size() != (std::string(row) != "push" || pushed ? 1u : 0u))
        return name + " has not one " + row;
  }
  return {};
}

}  // namespace test
