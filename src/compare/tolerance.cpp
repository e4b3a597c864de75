#include "compare/tolerance.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"

namespace tracso {
namespace {

Error wrong(std::string_view text) {
  return {ErrorKind::usage,
          "read the tolerance",
          std::string(text),
          "it has none of the forms",
          "forms: 10%, +2MB, 10%+2MB, 0"};
}

}  // namespace

bool Tolerance::allows(std::uint64_t before, std::uint64_t after) const {
  if (after <= before) {
    return true;
  }
  const std::uint64_t growth = after - before;
  const bool over_percent =
      percent && static_cast<double>(growth) * 100 > static_cast<double>(before) * *percent;
  const bool over_amount = amount && growth > *amount;
  return (percent || amount) && !((over_percent || !percent) && (over_amount || !amount));
}

Result<Tolerance> parse_tolerance(std::string_view text) {
  Tolerance tolerance;
  tolerance.text = std::string(text);
  std::string_view rest = trim(text);
  if (const std::size_t sign = rest.find('%'); sign != std::string_view::npos) {
    tolerance.percent = parse_decimal(rest.substr(0, sign));
    if (!tolerance.percent || *tolerance.percent > 1e6) {
      return wrong(text);
    }
    rest.remove_prefix(sign + 1);
    if (rest.empty()) {
      return tolerance;
    }
    if (rest.front() != '+') {
      return wrong(text);
    }
  }
  if (rest.starts_with('+')) {
    rest.remove_prefix(1);
  }
  tolerance.amount = parse_size(rest);
  return tolerance.amount ? Result<Tolerance>(tolerance) : wrong(text);
}

}  // namespace tracso
