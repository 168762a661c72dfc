// Machine files: every figure is read, and what is wrong is named in one sentence.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <string>

#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;
using namespace fabric::sim;

namespace {

std::string piz_daint() { return std::string(workloads::machine_text("piz-daint")); }

// The text of a machine with the first `what` replaced.
std::string changed(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// The message that a text is refused with.
std::string refusal(const std::string& text) {
  const auto machine = parse_machine(text);
  REQUIRE_FALSE(machine.ok());
  CHECK(machine.code() == Code::kInvalidArgument);
  return std::string(machine.status().message());
}

}  // namespace

TEST_CASE("machine file: every machine that is compiled in is whole") {
  REQUIRE_FALSE(workloads::machine_names().empty());
  for (const std::string_view name : workloads::machine_names()) {
    CAPTURE(name);
    const auto machine = parse_machine(workloads::machine_text(name));
    if (!machine.ok()) FAIL(machine.status().message());
    CHECK(machine->name == name);
    for (const MachineParameter& parameter : parameters(*machine)) {
      CAPTURE(parameter.name);
      CHECK_FALSE(parameter.note.source.empty());
      CHECK(parameter.note.least <= parameter.value);
      CHECK(parameter.value <= parameter.note.most);
      for (const double bound : {parameter.note.least, parameter.note.most}) {
        Machine swept = *machine;
        const Status status = set_parameter(swept, parameter.name, bound);
        if (!status.ok()) FAIL_CHECK(status.message());
      }
      // An estimate has bounds, so that a sweep can show which results depend on it.
      if (parameter.note.source.starts_with("estimate") && parameter.unit != "switch") {
        CHECK(parameter.note.least < parameter.note.most);
      }
    }
  }
  CHECK(workloads::machine_text("no such machine").empty());
}

TEST_CASE("machine file: a figure is where its name says") {
  auto machine = *parse_machine(piz_daint());
  CHECK(machine.shape.ranks_per_node == 16);
  // Each name sets one figure, which is read back under that name alone.
  for (const MachineParameter& parameter : parameters(machine)) {
    CAPTURE(parameter.name);
    Machine other = machine;
    const double value = parameter.unit == "switch" ? 1 - parameter.value : parameter.value + 1;
    if (parameter.name == "jitter.mean_ns") other.jitter.max_ns = value;
    if (parameter.name == "atomicity.gap_ns") {
      other.card.atomic_ns = other.loopback_card.atomic_ns = value;
    }
    const auto before = parameters(other);
    REQUIRE(set_parameter(other, parameter.name, value).ok());
    const auto after = parameters(other);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool is_it = after[i].name == parameter.name;
      CHECK(after[i].value == (is_it ? value : before[i].value));
    }
  }
}

TEST_CASE("machine file: what is wrong is refused by the name of its key") {
  const std::string text = piz_daint();
  const std::string issue = "[card.issue_ns]\nvalue = 80\nunit = \"ns\"";
  const auto with_issue = [&](const std::string& by) { return changed(text, issue, by); };
  CHECK(refusal(with_issue("[card.isue_ns]\nvalue = 80\nunit = \"ns\"")) ==
        "card.isue_ns is unknown: no parameter of a machine is called so");
  CHECK(refusal(with_issue("[card.issue_ns]\nvalue = 80\nunit = \"us\"")) ==
        "card.issue_ns.unit must be \"ns\"");
  CHECK(refusal(with_issue("[card.issue_ns]\nvalue = -80\nunit = \"ns\"")) ==
        "card.issue_ns is -80: give a number of ns from 0 up");
  CHECK(refusal(with_issue("[card.issue_ns]\nvalue = nan\nunit = \"ns\"")) ==
        "card.issue_ns is nan: give a number of ns from 0 up");
  CHECK(refusal(with_issue("[card.issue_ns]\nvalue = 1e12\nunit = \"ns\"")) ==
        "card.issue_ns is 1000000000000: give at most 1000000000 ns");
  CHECK(refusal(with_issue("[card.issue_ns]\nvalue = \"80\"\nunit = \"ns\"")) ==
        "card.issue_ns.value must be a number");
  CHECK(refusal(with_issue("[card.issue_ns]\nunit = \"ns\"")) == "card.issue_ns.value is missing");
  CHECK(refusal(with_issue(issue + "\nvalu = 3")) ==
        "card.issue_ns.valu is unknown: a parameter has value, unit, source and range");
  const auto from = text.find("[card.issue_ns]");
  const auto to = text.find("[card.atomic_ns]");
  CHECK(refusal(text.substr(0, from) + text.substr(to)) == "card.issue_ns is missing");
  CHECK(refusal(changed(text, "range = [20, 420]", "range = [90, 200]")) ==
        "card.issue_ns.range [90, 200] does not hold the value 80");
  CHECK(refusal(changed(text, "value = 16\n", "value = 1.5\n")) ==
        "shape.ranks_per_node is 1.5: give a whole number of ranks");
  CHECK(refusal(changed(text, "value = 16\n", "value = 0\n")) ==
        "shape.ranks_per_node is 0: a node holds at least one rank");
  CHECK(refusal(changed(text, "value = false", "value = 0")) ==
        "semantics.ordered.value must be true or false");
  CHECK(refusal(changed(text, "name = \"piz-daint\"", "")) ==
        "name is missing: say what the machine is called");
  CHECK(refusal("name = ").starts_with("line 1 is not valid TOML: "));
}

TEST_CASE("machine file: a sweep cannot leave a machine that contradicts itself") {
  auto machine = *parse_machine(piz_daint());
  const auto message = [&](std::string_view name, double value) {
    return std::string(set_parameter(machine, name, value).message());
  };
  CHECK(message("atomicity.gap_ns", 51) ==
        "atomicity.gap_ns is 51: it lies within card.atomic_ns and loopback.atomic_ns, of which "
        "the lesser is 50");
  CHECK(machine.atomicity.gap_ns != 51);
  CHECK(message("card.speed", 1) ==
        "card.speed is unknown: no parameter of a machine is called so");
  CHECK(message("semantics.ordered", 2) == "semantics.ordered is a switch: give true or false");
}
