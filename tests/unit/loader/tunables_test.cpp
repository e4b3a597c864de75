#include "loader/tunables.hpp"

#include "loader/environment.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso::loader {
namespace {

constexpr std::uint16_t x86_64 = 62;

CpuFacts best_cpu() {
  CpuFacts cpu;
  cpu.machine = x86_64;
  cpu.intel = cpu.sse2 = cpu.haswell = true;
  cpu.x86_level = 4;
  return cpu;
}

std::vector<std::string> names(std::string_view tunables, unsigned minor = 38) {
  const CpuFacts cpu = with_tunables(best_cpu(), parse_cpu_tunables(tunables, ""));
  return plan_hwcaps(ElfClass::elf64, x86_64, minor, cpu).names;
}

}  // namespace

TEST_CASE("tunables: what is taken off a CPU takes its directories with it", "[loader][hwcaps]") {
  const std::vector<std::string> all{"x86-64-v4", "x86-64-v3", "x86-64-v2"};
  CHECK(names("") == all);
  CHECK(names("glibc.cpu.hwcaps=-AVX512F") == std::vector<std::string>{"x86-64-v3", "x86-64-v2"});
  CHECK(names("glibc.cpu.hwcaps=-XSAVEC,-AVX2") == std::vector<std::string>{"x86-64-v2"});
  CHECK(names("glibc.malloc.check=1:glibc.cpu.hwcaps=-SSE4_2").empty());
  CHECK(names("glibc.cpu.hwcaps=AVX2") == all);         // a feature cannot be added
  CHECK(names("glibc.cpu.hwcaps=-avx2,-F16C") == all);  // no names that the tunable knows
  CHECK(names("glibc.cpu.hwcaps=-AVX2:glibc.cpu.hwcaps=-Nothing") == all);  // the last one counts
  CHECK(names("glibc.cpu.hwcaps") == all);
}

TEST_CASE("tunables: a process shows them as the loader has cut them", "[loader][hwcaps]") {
  const test::FakeFiles files;
  const auto off = [&](const std::vector<Variable>& variables, bool secure = false) {
    return make_load_environment(files, variables, "/", secure).tunables.without;
  };
  const std::vector<Variable> cut{{"GLIBC_TUNABLES", "glibc.malloc.check=0"},
                                  {"glibc.cpu.hwcaps", "-AVX2,-FMA"}};
  CHECK(off(cut) == std::vector<std::string>{"AVX2", "FMA"});
  CHECK(off(cut, true).empty());
  CHECK(off({{"A", "b"}, {"glibc.cpu.hwcaps", "-AVX2"}}).empty());  // somebody's own variable
}

TEST_CASE("tunables: haswell is more than a level", "[loader][hwcaps]") {
  const CpuFacts cpu = with_tunables(best_cpu(), parse_cpu_tunables("glibc.cpu.hwcaps=-BMI2", ""));
  CHECK_FALSE(cpu.haswell);
  CHECK(plan_hwcaps(ElfClass::elf64, x86_64, 31, cpu).platform == "x86_64");
  CHECK(cpu.x86_level == 4);  // what a file may need of the CPU is not asked of the tunables
}

TEST_CASE("tunables: the mask of the old hwcaps", "[loader][hwcaps]") {
  const auto plan = [](std::string_view tunables, std::string_view mask) {
    CpuFacts cpu = best_cpu();
    cpu.intel = false;
    return plan_hwcaps(
        ElfClass::elf64, x86_64, 36, with_tunables(cpu, parse_cpu_tunables(tunables, mask)));
  };
  const std::vector<std::string> bare{"tls/x86_64/", "tls/", "x86_64/"};
  for (const auto& masked : {plan("", "0"),
                             plan("glibc.cpu.hwcap_mask=0x1", ""),
                             plan("glibc.cpu.hwcap_mask=05", ""),
                             plan("glibc.cpu.hwcap_mask=0", "2")}) {
    CHECK(std::vector<std::string>(masked.subdirectories.begin() + 3,
                                   masked.subdirectories.end()) == bare);
    CHECK((masked.hwcap_bits & 2U) == 0);
  }
  CHECK(plan("glibc.cpu.hwcap_mask=2", "0").subdirectories.size() > bare.size() + 3);
}

}  // namespace tracso::loader
