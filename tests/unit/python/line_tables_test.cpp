// The line tables of code objects: recorded ones of every form with the lines that their own
// interpreter saw, and such as no compiler makes.

#include "python/line_tables.hpp"

#include "support/catch.hpp"
#include "support/line_tables.hpp"

#include <array>
#include <limits>
#include <string>

using namespace tracso;
using python::line_of_instruction;

namespace {

// Printed by tests/live/python_line_tables.py, for one function each: loops, a comprehension over
// several lines, two "with", "finally", calls over several lines, a gap of 130 empty lines.
constexpr std::array recorded = {
    "8 1 0002020102ff04020c01080102ff040202fe08030201060102ff02010201040102ff1c03047f00060201"
    "020102fe 106 0:3 2:4 4:3 8:5 20:6 28:7 30:6 34:8 36:6 44:9 46:10 52:11 54:10 56:11 58:12"
    " 62:13 64:12 92:15 96:148 98:149 100:150 102:148",
    "8 6 0601020104fe 20 0:6 6:7 8:8 12:6",
    "9 1 0002020102ff04020c01080102ff040202fe08030201060102ff02010201040102ff4203087f00060201"
    "020102fe 148 0:3 2:4 4:3 8:5 20:6 28:7 30:6 34:8 36:6 44:9 46:10 52:11 54:10 56:11 58:12"
    " 62:13 64:12 130:15 138:148 140:149 142:150 144:148",
    "9 6 0601020104fe 20 0:6 6:7 8:8 12:6",
    "10 1 0202020104ff0c020801020104ff020208fe02030601020102ff02010401020106ff1cfe02801c00028"
    "00805007f02060201020104fe 148 0:3 2:4 4:3 8:5 20:6 28:7 30:6 34:8 36:6 44:9 46:10 52:11 "
    "54:10 56:11 58:12 62:13 64:12 70:10 98:0 100:10 128:0 130:15 138:148 140:149 142:150 144"
    ":148",
    "10 6 0600020102010afe 20 0:6 6:7 8:8 10:6",
    "11 1 8000e00d12d80d13f103010e148045e50d12903189588c58f000030518f0000305188801d8080df0000"
    "21215f000021215d81b21f003021215f100021215f400021215e01516f405021218f10002091888058805f00"
    "6060512d80d12f0000309159063d80d13f003030915d8171add0c0f9003d81013f103010d15f400010d15f00"
    "0010d15f005030915f000030915f000030915f100030915f400030915f000030915f000030915f000030915f"
    "000030915f000030915f000030915f8f8f8f000030915f000030915f000030915f000030915f000030915f00"
    "0030915f000030915f100030915f400030915f000030915f000030915f000030915f000030915f000030915f"
    "000030915f8f8f8f000030915f000030915f000030915f000030915f00a000d128845f888458809880988098"
    "809f54a04000c0fd80809d80809f105030c06f400030c06f000030506 276 0:1 2:3 4:4 6:3 12:5 46:6 "
    "52:7 54:6 70:8 72:6 90:9 92:10 98:11 100:10 102:11 104:12 118:13 120:12 136:10 168:0 174"
    ":10 214:0 220:10 228:15 232:0 234:15 244:148 256:149 258:150 260:148",
    "11 6 8000f000021215f000021215f000021215d81617d81213f0050212159021f000021215f000021215f00"
    "0021215 22 0:6 8:7 10:8 12:6",
    "12 1 8000e00d12d80d13f103010e148045e40d1290318b58f2000305188801d8080dd81b21f603021215d81"
    "617d91213f205001314f200021215e01516f105021218f1000209188905f003030518f008060512d80d12f00"
    "00309159063d80d13f003030915d8171adc0c0f9003d81013f403010d15f705030915f700030915f00a000d1"
    "2f44a04000c0fd80809d80809f305030c06f000030506f9f25d04021215f708030915f000030915faf700030"
    "915f000030915fbf10a000d12fa 258 0:1 2:3 4:4 6:3 12:5 40:6 42:7 44:6 58:7 60:8 64:6 76:8 "
    "78:6 90:5 92:9 94:10 100:11 102:10 104:11 106:12 118:13 120:12 130:10 162:15 164:148 174"
    ":149 176:150 178:148 188:0 192:6 198:10 216:0 222:10 240:0 248:15 252:0",
    "13 1 8000e00d12d80d13f103010e148045e40d1290318e588801d8080dd91b21f303021215d91b219061dc1"
    "213f705001314d91b21f103021215e01516f105021218f1000209188a05f103000e16f008060512d90d12906"
    "3d90d139073dc0c0f9003d81013f403010d15f703000e14f703000e13f00a000d12f44a04000c0fd80809d80"
    "809f305030c06f000030506f9f25d04021215f70a000e148d56faf703000e138d55fbf10a000d12fa 300 0:"
    "1 2:3 4:4 6:3 12:5 40:6 42:7 46:6 54:7 60:8 70:6 86:7 90:6 94:8 96:6 110:5 114:9 116:10 "
    "122:11 128:12 140:13 142:12 152:11 168:10 184:15 186:148 196:149 198:150 200:148 210:0 2"
    "14:6 220:11 248:0 254:10 282:0 290:15 294:0",
};

std::uint32_t line(std::uint32_t minor, const std::string& hex, std::int64_t offset) {
  return line_of_instruction(minor, test::from_hex(hex), 10, offset);
}

}  // namespace

TEST_CASE("line tables: recorded ones say what their interpreter said", "[python][chain]") {
  for (const auto* text : recorded) {
    const auto check = test::check_line_table(text);
    CHECK(check.difference == "");
    CHECK(check.instructions >= 8);
  }
}

TEST_CASE("line tables: code that has not begun is at its first line", "[python][chain]") {
  for (const std::uint32_t minor : {8U, 10U, 11U, 14U}) {
    CHECK(line(minor, "", -1) == 10);
    CHECK(line(minor, "", -2) == 10);
  }
}

TEST_CASE("line tables: instructions without a line have none", "[python][chain]") {
  CHECK(line(10, "02020480", 0) == 12);
  CHECK(line(10, "02020480", 2) == 0);
  CHECK(line(10, "0202048002ff", 6) == 11);  // -1 counts from the last range that has a line
  CHECK(line(11, "f8", 0) == 0);
  CHECK(line(11, "d80000f8d90000", 2) == 0);
  CHECK(line(11, "d80000f8d90000", 4) == 12);
}

TEST_CASE("line tables: what lies behind the table has no line", "[python][chain]") {
  CHECK(line(10, "0202", 2) == 0);
  CHECK(line(11, "d00000", 2) == 0);
  CHECK(line(8, "0202", 1000) == 12);  // here the last range has no end
}

TEST_CASE("line tables: broken ones give some line or none, and end", "[python][chain]") {
  CHECK(line(8, "02", 2) == 10);   // half a pair
  CHECK(line(8, "0080", 0) == 0);  // line -118
  CHECK(line(10, "02", 0) == 0);
  CHECK(line(11, "e8", 0) == 10);    // a delta is announced and missing
  CHECK(line(11, "f07f", 0) != 10);  // a number that does not end
  CHECK(line(11, "f07f7f7f7f7f7f7f7f7f7f7f", 0) == 0);
  CHECK(line(11, "000000", 0) == 10);  // an entry without its highest bit
  CHECK(line_of_instruction(11, {}, std::numeric_limits<std::uint32_t>::max(), -1) == 0);
  CHECK(line_of_instruction(8, {}, std::numeric_limits<std::uint32_t>::max(), 0) == 0);
  CHECK(line(11, "d00000", std::numeric_limits<std::int64_t>::max()) == 0);
}
