// SPDX-License-Identifier: Apache-2.0
#include "driver/json/trace_row.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "driver/json/trace_values.h"

namespace stowage {

namespace {

// --- the fields of events and of their parts -------------------------------------------------------------------------

template <class Owner, class Value>
struct Field {
  std::string_view name;
  Value Owner::*member;
};
template <class Owner, class Value>
constexpr Field<Owner, Value> field(std::string_view name, Value Owner::*member) {
  return {name, member};
}

template <class... Fields>
struct Kind {
  std::string_view name;  ///< of an event; empty for a part of one
  std::tuple<Fields...> fields;
};
template <class... Fields>
constexpr Kind<Fields...> kind(std::string_view name, Fields... fields) {
  return {name, {fields...}};
}

constexpr auto fields_of(Of<TextRecord>) {
  using T = TextRecord;
  return kind("text", field("algorithm", &T::algorithm), field("place", &T::rule), field("outcome", &T::outcome),
              field("message", &T::message), field("values", &T::values));
}
constexpr auto fields_of(Of<Decision>) {
  return kind("", field("rule", &Decision::rule), field("reason", &Decision::reason), field("flip", &Decision::flip));
}

constexpr auto fields_of(Of<OperatorFolded>) {
  using T = OperatorFolded;
  return kind("operator-folded", field("what", &T::what), field("absorbed", &T::absorbed), field("into", &T::into));
}
constexpr auto fields_of(Of<FoldingRefused>) {
  return kind("folding-refused", field("into", &FoldingRefused::into), field("why", &FoldingRefused::why));
}
constexpr auto fields_of(Of<ChannelsBlocked>) {
  return kind("channels-blocked", field("operand", &ChannelsBlocked::operand),
              field("result", &ChannelsBlocked::result));
}
constexpr auto fields_of(Of<ChannelsKept>) { return kind("channels-kept", field("why", &ChannelsKept::why)); }
constexpr auto fields_of(Of<TracedBox>) {
  using T = TracedBox;
  return kind("", field("storage", &T::storage), field("offset", &T::offset), field("strides", &T::strides));
}
constexpr auto fields_of(Of<ViewStored>) {
  using T = ViewStored;
  return kind("view-placed", field("rule", &T::rule), field("how", &T::how), field("tensor", &T::tensor),
              field("box", &T::box), field("copied", &T::copied));
}
constexpr auto fields_of(Of<ViewRefused>) {
  return kind("view-refused", field("why", &ViewRefused::why), field("once", &ViewRefused::once));
}
constexpr auto fields_of(Of<BranchesStored>) {
  using T = BranchesStored;
  return kind("branches-placed", field("results", &T::results), field("in_row", &T::in_row),
              field("storage", &T::storage));
}
constexpr auto fields_of(Of<BranchesApart>) {
  return kind("branches-apart", field("results", &BranchesApart::results), field("why", &BranchesApart::why));
}
constexpr auto fields_of(Of<GroupAccepted>) {
  using T = GroupAccepted;
  return kind("group-accepted", field("template", &T::template_name), field("operators", &T::operators));
}
constexpr auto fields_of(Of<GroupFixed>) { return kind("group-fixed", field("operators", &GroupFixed::operators)); }
constexpr auto fields_of(Of<CandidateRefused>) {
  using T = CandidateRefused;
  return kind("candidate-refused", field("template", &T::template_name), field("operators", &T::operators),
              field("broken", &T::broken));
}
constexpr auto fields_of(Of<StartsGivenUp>) {
  using T = StartsGivenUp;
  return kind("starts-given-up", field("starts", &T::starts), field("first", &T::first), field("tries", &T::tries),
              field("groups", &T::groups));
}
constexpr auto fields_of(Of<CandidatesCut>) {
  return kind("candidates-cut", field("found", &CandidatesCut::found), field("kept", &CandidatesCut::kept));
}
constexpr auto fields_of(Of<ChainsCut>) {
  using T = ChainsCut;
  return kind("chains-cut", field("repeat", &T::repeat), field("vertex", &T::vertex), field("around", &T::around));
}
constexpr auto fields_of(Of<BeamKept>) {
  using T = BeamKept;
  return kind("beam-kept", field("first", &T::first), field("last", &T::last), field("widest", &T::widest),
              field("kept", &T::kept), field("cycles", &T::cycles), field("lower_bound", &T::lower_bound));
}
constexpr auto fields_of(Of<PartitionFound>) {
  using T = PartitionFound;
  return kind("partition-found", field("operators", &T::operators), field("segments", &T::segments),
              field("beam_segments", &T::beam_segments), field("states", &T::states), field("cycles", &T::cycles),
              field("lower_bound", &T::lower_bound), field("limited", &T::limited));
}

constexpr auto fields_of(Of<TracedLoop>) {
  return kind("", field("iterator", &TracedLoop::iterator), field("tiled", &TracedLoop::tiled));
}
constexpr auto fields_of(Of<TracedSplit>) {
  return kind("", field("iterator", &TracedSplit::iterator), field("parts", &TracedSplit::parts));
}
constexpr auto fields_of(Of<CoresSplit>) {
  using T = CoresSplit;
  return kind("cores-split", field("by", &T::by), field("split", &T::split), field("extents", &T::extents),
              field("ranges", &T::ranges));
}
constexpr auto fields_of(Of<SplitUnaligned>) {
  return kind("split-unaligned", field("reason", &SplitUnaligned::reason));
}
constexpr auto fields_of(Of<GivenToManagementCore>) {
  using T = GivenToManagementCore;
  return kind("management-core", field("rule", &T::rule), field("reason", &T::reason), field("cycles", &T::cycles));
}
constexpr auto fields_of(Of<LibraryJudged>) {
  using T = LibraryJudged;
  return kind("library-judged", field("library", &T::library), field("computes", &T::computes), field("rule", &T::rule),
              field("reason", &T::reason));
}
constexpr auto fields_of(Of<BufferCorrelated>) {
  using T = BufferCorrelated;
  return kind("buffer-correlated", field("buffer", &T::buffer), field("dimensions", &T::dimensions));
}
constexpr auto fields_of(Of<LdmState>) {
  using T = LdmState;
  return kind("", field("sizes", &T::sizes), field("classes", &T::classes), field("ldm_bytes", &T::ldm_bytes));
}
constexpr auto fields_of(Of<IteratorClassified>) {
  using T = IteratorClassified;
  return kind("", field("iterator", &T::iterator), field("found", &T::found), field("along", &T::along),
              field("across", &T::across));
}
constexpr auto fields_of(Of<IteratorsClassified>) {
  using T = IteratorsClassified;
  return kind("iterators-classified", field("when", &T::when), field("whole", &T::whole), field("changed", &T::changed),
              field("state", &T::state));
}
constexpr auto fields_of(Of<SizeTried>) {
  using T = SizeTried;
  return kind("size-tried", field("step", &T::step), field("iterator", &T::iterator), field("fits", &T::fits),
              field("range", &T::range), field("good_elements", &T::good_elements), field("room", &T::room),
              field("state", &T::state));
}
constexpr auto fields_of(Of<SizesChosen>) { return kind("sizes-chosen", field("state", &SizesChosen::state)); }
constexpr auto fields_of(Of<LdmExceeded>) {
  using T = LdmExceeded;
  return kind("ldm-exceeded", field("with_fixed_sizes", &T::with_fixed_sizes),
              field("beside_parameters", &T::beside_parameters), field("needed", &T::needed), field("room", &T::room),
              field("ldm_bytes", &T::ldm_bytes), field("largest", &T::largest),
              field("largest_bytes", &T::largest_bytes), field("largest_extents", &T::largest_extents));
}
constexpr auto fields_of(Of<BufferCount>) {
  using T = BufferCount;
  return kind("", field("buffer", &T::buffer), field("computed", &T::computed), field("count", &T::count));
}
constexpr auto fields_of(Of<LoopTried>) {
  using T = LoopTried;
  return kind("loop-tried", field("loop", &T::loop), field("counts", &T::counts), field("operations", &T::operations),
              field("transfers", &T::transfers), field("barred", &T::barred));
}
constexpr auto fields_of(Of<LoopBarred>) {
  using T = LoopBarred;
  return kind("loop-barred", field("loop", &T::loop), field("operations", &T::operations),
              field("transfers", &T::transfers));
}
constexpr auto fields_of(Of<LoopPlaced>) {
  using T = LoopPlaced;
  return kind("loop-placed", field("loop", &T::loop), field("operations", &T::operations),
              field("transfers", &T::transfers));
}
constexpr auto fields_of(Of<LoopsOrdered>) { return kind("loops-ordered", field("loops", &LoopsOrdered::loops)); }
constexpr auto fields_of(Of<TransferPlaced>) {
  using T = TransferPlaced;
  return kind("transfer-placed", field("what", &T::what), field("buffer", &T::buffer),
              field("moves_with", &T::moves_with), field("inside", &T::inside));
}

constexpr auto fields_of(Of<SplitPlanned>) {
  using T = SplitPlanned;
  return kind("split-planned", field("split", &T::split), field("published", &T::published),
              field("shares_lines", &T::shares_lines), field("cycles", &T::cycles),
              field("least_cycles", &T::least_cycles));
}
constexpr auto fields_of(Of<MoreSplitsPlanned>) {
  using T = MoreSplitsPlanned;
  return kind("more-splits-planned", field("count", &T::count), field("from_cycles", &T::from_cycles),
              field("to_cycles", &T::to_cycles));
}
constexpr auto fields_of(Of<SplitsLeftOut>) {
  using T = SplitsLeftOut;
  return kind("splits-left-out", field("why", &T::why), field("count", &T::count),
              field("least_cycles", &T::least_cycles));
}
constexpr auto fields_of(Of<NeighboursPlanned>) {
  using T = NeighboursPlanned;
  return kind("neighbours-planned", field("split", &T::split), field("planned", &T::planned),
              field("cycles", &T::cycles));
}
constexpr auto fields_of(Of<SizeChanged>) {
  using T = SizeChanged;
  return kind("", field("iterator", &T::iterator), field("before", &T::before), field("after", &T::after));
}
constexpr auto fields_of(Of<PlanImproved>) {
  using T = PlanImproved;
  return kind("plan-improved", field("split", &T::split), field("sizes", &T::sizes), field("order", &T::order),
              field("before_cycles", &T::before_cycles), field("cycles", &T::cycles));
}
constexpr auto fields_of(Of<LoadShared>) {
  using T = LoadShared;
  return kind("load-shared", field("buffer", &T::buffer), field("cores", &T::cores));
}
constexpr auto fields_of(Of<AxesMerged>) {
  using T = AxesMerged;
  return kind("axes-merged", field("iterator", &T::iterator), field("extent", &T::extent));
}
constexpr auto fields_of(Of<LanesBlocked>) {
  using T = LanesBlocked;
  return kind("lanes-blocked", field("iterator", &T::iterator), field("block", &T::block));
}
constexpr auto fields_of(Of<StagesFolded>) { return kind("stages-folded"); }

constexpr auto fields_of(Of<ReductionSplit>) {
  using T = ReductionSplit;
  return kind("reduction-split", field("iterator", &T::parts), field("cores", &T::cores));
}
constexpr auto fields_of(Of<InputCopied>) { return kind("input-copied", field("buffer", &InputCopied::buffer)); }
constexpr auto fields_of(Of<InputResident>) {
  using T = InputResident;
  return kind("input-resident", field("buffer", &T::buffer), field("along", &T::along));
}
constexpr auto fields_of(Of<SlotsTried>) {
  using T = SlotsTried;
  return kind("slots-tried", field("split", &T::split), field("buffers", &T::buffers),
              field("before_cycles", &T::before_cycles), field("cycles", &T::cycles));
}
constexpr auto fields_of(Of<BufferSlots>) {
  return kind("", field("buffer", &BufferSlots::buffer), field("slots", &BufferSlots::slots));
}
constexpr auto fields_of(Of<SlotsDeepened>) {
  using T = SlotsDeepened;
  return kind("slots-deepened", field("split", &T::split), field("buffers", &T::buffers),
              field("before_cycles", &T::before_cycles), field("cycles", &T::cycles));
}
constexpr auto fields_of(Of<PlanChosen::Published>) {
  using T = PlanChosen::Published;
  return kind("", field("split", &T::split), field("cycles", &T::cycles), field("cost", &T::cost),
              field("falls", &T::falls), field("cost_by", &T::cost_by));
}
constexpr auto fields_of(Of<PlanChosen>) {
  using T = PlanChosen;
  return kind("plan-chosen", field("split", &T::split), field("cycles", &T::cycles),
              field("is_published", &T::is_published), field("published", &T::published));
}
constexpr auto fields_of(Of<OptimumSearched>) {
  using T = OptimumSearched;
  return kind("optimum-searched", field("cycles", &T::cycles), field("least_cycles", &T::least_cycles),
              field("before_cycles", &T::before_cycles), field("planned", &T::planned), field("bounded", &T::bounded),
              field("out_of_time", &T::out_of_time), field("out_of_schedules", &T::out_of_schedules));
}
constexpr auto fields_of(Of<CheaperPlanRefused>) {
  using T = CheaperPlanRefused;
  return kind("cheaper-plan-refused", field("split", &T::split), field("cycles", &T::cycles));
}

// --- writing ---------------------------------------------------------------------------------------------------------

Json written(bool value) { return value; }
/// What is written can be read: a count beyond the largest is written as that.
Json written(std::int64_t value) { return std::clamp<std::int64_t>(value, 0, max_cycles); }
Json written(const std::string& text) { return text; }
Json written(const std::pair<std::string, std::string>& pair) { return {pair.first, pair.second}; }
template <class Tag>
Json written(Id<Tag> id) {
  return id.value;
}
template <class Value>
requires std::is_enum_v<Value> Json written(Value value) {
  return values_of(Of<Value>())[static_cast<std::size_t>(value)];
}
template <class Value>
requires requires { fields_of(Of<Value>()); }
Json written(const Value& value);
template <class Value>
Json written(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(written(value));
  return array;
}
template <class IdType, class Value>
Json written(const IdVector<IdType, Value>& table) {
  Json array = Json::array();
  for (const auto& value : table) array.push_back(written(value));
  return array;
}
template <class Value>
Json written(const std::optional<Value>& value) {
  return value ? written(*value) : Json();
}

template <class Value>
void add_fields(Json& json, const Value& value) {
  std::apply([&](const auto&... fields) { ((json[std::string(fields.name)] = written(value.*fields.member)), ...); },
             fields_of(Of<Value>()).fields);
}

template <class Value>
requires requires { fields_of(Of<Value>()); }
Json written(const Value& value) {
  Json json = Json::object();
  add_fields(json, value);
  return json;
}

// --- reading ---------------------------------------------------------------------------------------------------------

class EventReader {
 public:
  explicit EventReader(const GroupNames* names) : names_(names) {}

  template <class Value>
  requires requires { fields_of(Of<Value>()); }
  void read(const Json& json, Value& value) const {
    std::apply([&](const auto&... fields) { (read(json.at(std::string(fields.name)), value.*fields.member), ...); },
               fields_of(Of<Value>()).fields);
    check(value);
  }

 private:
  void read(const Json& json, bool& value) const { value = json.get<bool>(); }
  void read(const Json& json, std::int64_t& value) const { value = whole_number(json, 0, max_cycles); }
  void read(const Json& json, std::string& text) const { text = json.get<std::string>(); }
  void read(const Json& json, std::pair<std::string, std::string>& pair) const {
    pair = json.get<std::pair<std::string, std::string>>();
  }
  void read(const Json& json, IteratorId& id) const {
    id = IteratorId(index_in(json, names_ != nullptr ? names_->iterators.size() : 0));
  }
  void read(const Json& json, BufferId& id) const {
    id = BufferId(index_in(json, names_ != nullptr ? names_->buffers.size() : 0));
  }
  template <class Value>
  requires std::is_enum_v<Value>
  void read(const Json& json, Value& value) const {
    const auto& name = json.get_ref<const std::string&>();
    const auto values = values_of(Of<Value>());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != name) continue;
      value = static_cast<Value>(i);
      return;
    }
    throw std::invalid_argument(fmt::format("{} is none of {}", json.dump(), fmt::join(values, ", ")));
  }
  template <class Value>
  void read(const Json& json, std::vector<Value>& values) const {
    const auto& array = json.get_ref<const Json::array_t&>();
    values.resize(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) read(array[i], values[i]);
  }
  template <class IdType, class Value>
  void read(const Json& json, IdVector<IdType, Value>& table) const {
    std::vector<Value> values;
    read(json, values);
    table = IdVector<IdType, Value>(std::move(values));
  }
  template <class Value>
  void read(const Json& json, std::optional<Value>& value) const {
    if (json.is_null()) return;
    Value made{};  // emplace() asks whether there is a default constructor, which clang 14 denies of a nested struct
    read(json, made);
    value = std::move(made);
  }

  static std::size_t index_in(const Json& json, std::size_t count) {
    if (count == 0) throw std::invalid_argument("a number stands for one of nothing");
    return static_cast<std::size_t>(whole_number(json, 0, static_cast<std::int64_t>(count) - 1));
  }

  void check_count(std::size_t numbers) const {
    const std::size_t iterators = names_ != nullptr ? names_->iterators.size() : 0;
    if (numbers == iterators) return;
    throw std::invalid_argument(fmt::format("there are {} numbers for {} iterators", numbers, iterators));
  }
  template <class Value>
  void check(const Value&) const {}
  void check(const LdmState& state) const {
    check_count(state.sizes.size());
    check_count(state.classes.size());
    for (const std::int64_t size : state.sizes) {
      if (size < 1) throw std::invalid_argument("a buffer size is 0");
    }
  }
  void check(const CoresSplit& split) const {
    check_count(split.extents.size());
    check_count(split.ranges.size());
  }
  void check(const CandidateRefused& candidate) const {
    if (candidate.broken.empty()) throw std::invalid_argument("a candidate is refused by no rule");
  }

  const GroupNames* names_;
};

/// The event of a kind, tried one after the other.
template <std::size_t At = 0>
TraceEvent read_event(std::string_view kind, const Json& row, const EventReader& reader) {
  if constexpr (At == std::variant_size_v<TraceEvent>) {
    throw std::invalid_argument(fmt::format("'{}' is no kind of event", kind));
  } else {
    using Event = std::variant_alternative_t<At, TraceEvent>;
    if (fields_of(Of<Event>()).name != kind) return read_event<At + 1>(kind, row, reader);
    Event event;
    reader.read(row, event);
    return event;
  }
}

}  // namespace

Json row_of(const TraceEvent& what) {
  return std::visit(
      []<class Event>(const Event& event) {
        Json row = {{"kind", fields_of(Of<Event>()).name}};
        add_fields(row, event);
        return row;
      },
      what);
}

TraceEvent event_of(const Json& row, const GroupNames* names) {
  return read_event(row.at("kind").get_ref<const std::string&>(), row, EventReader(names));
}

}  // namespace stowage
