// --bindings, --unused and --files on programs whose calls are known.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <algorithm>
#include <set>

namespace tracso::test {
namespace {

/// Two libraries export `shared`; libuser was linked to the second one, the program loads the first
/// one before. libidle is needed and never called, libnothing is needed for nothing.
struct Lab {
  Workshop shop;

  explicit Lab(const std::string& flags = "-Wl,-z,lazy") {
    shop.write("one.c", "int shared(void){return 1;}\n");
    shop.write("two.c", "int shared(void){return 2;}\n");
    shop.write("idle.c", "int idle(void){return 0;}\n");
    shop.write("nothing.c", "int nothing(void){return 0;}\n");
    shop.write("user.c", "int shared(void);int user(void){return shared();}\n");
    shop.write("main.c",
               "#include <stdio.h>\n#include <unistd.h>\nint user(void);int idle(void);\n"
               "int main(int c,char**v){printf(\"%d\\n\",user());fflush(stdout);"
               "if(c>5)idle();pause();return 0;}\n");
    for (const char* name : {"one", "two", "idle", "nothing"}) {
      const std::string n = name;
      REQUIRE(
          shop.run("gcc -shared -fPIC " + n + ".c -Wl,-soname,lib" + n + ".so -o lib" + n + ".so"));
    }
    const std::string linked = flags + " -Wl,-rpath,'$ORIGIN' -L. -Wl,--no-as-needed ";
    REQUIRE(shop.run("gcc -shared -fPIC user.c " + linked +
                     "-ltwo -Wl,-soname,libuser.so -o libuser.so"));
    REQUIRE(shop.run("gcc main.c " + linked + "-lone -luser -lidle -lnothing -o program"));
  }
};

nlohmann::json asked(const std::string& option, pid_t pid) {
  const auto ran = run_tracso({option, "--json", std::to_string(pid)});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return nlohmann::json::parse(ran.out);
}

nlohmann::json binding(const nlohmann::json& all,
                       const std::string& object,
                       const std::string& of) {
  for (const auto& one : all.at("bindings")) {
    if (one.at("object") == object && one.at("symbol") == of) {
      return one;
    }
  }
  return nullptr;
}

nlohmann::json use(const nlohmann::json& all, const std::string& node) {
  for (const auto& one : all.at("libraries")) {
    if (one.at("node") == node) {
      return one;
    }
  }
  return nullptr;
}

TEST_CASE("bindings: a call that goes to another library than it was linked to is seen",
          "[live][bindings]") {
  const std::string flags = GENERATE(std::string("-Wl,-z,lazy"), std::string("-Wl,-z,now"));
  const Lab lab(flags);
  Child child({lab.shop.path("program")});
  REQUIRE(child.line() == "1");  // libone's, not libtwo's
  const auto all = asked("--bindings", child.pid());
  const auto crossed = binding(all, "libuser.so", "shared");
  REQUIRE(crossed.is_object());
  CHECK(crossed.at("provider") == "libone.so");
  CHECK(crossed.at("promised") == "libtwo.so");
  CHECK(crossed.at("interposed") == true);
  CHECK(crossed.at("bound") == true);
  const auto plain = binding(all, "program", "user");
  CHECK(plain.at("provider") == "libuser.so");
  CHECK(plain.at("interposed") == false);
  std::size_t interposed = 0;
  for (const auto& one : all.at("bindings")) {
    interposed += one.at("interposed") == true && one.at("usual").is_null() ? 1 : 0;
  }
  CHECK(interposed == 1);
  const auto text = run_tracso({"--bindings", std::to_string(child.pid())});
  CHECK(contains(text.out, "libone.so serves 1 function of libtwo.so"));
  CHECK(contains(text.out, "called by libuser.so"));
}

TEST_CASE("bindings: what has not been called is named, until it is bound at once",
          "[live][bindings]") {
  const Lab lab;
  Child child({lab.shop.path("program")});
  REQUIRE(child.line());
  const auto all = asked("--bindings", child.pid());
  CHECK(binding(all, "program", "idle").at("bound") == false);
  CHECK(binding(all, "program", "idle").at("promised") == "libidle.so");
  CHECK(binding(all, "program", "idle").at("provider").is_null());
  Child eager({lab.shop.path("program")}, {"LD_BIND_NOW=1"});
  REQUIRE(eager.line());
  CHECK(binding(asked("--bindings", eager.pid()), "program", "idle").at("bound") == true);
}

TEST_CASE("bindings: of a function not called yet it is said whom the loader would take",
          "[live][bindings]") {
  const Lab lab;
  lab.shop.write("hook.c", "int idle(void){return 9;}\n");
  REQUIRE(lab.shop.run("gcc -shared -fPIC hook.c -Wl,-soname,libhook.so -o libhook.so"));
  Child child({lab.shop.path("program")}, {"LD_PRELOAD=" + lab.shop.path("libhook.so")});
  REQUIRE(child.line());
  const auto waiting = binding(asked("--bindings", child.pid()), "program", "idle");
  CHECK(waiting.at("bound") == false);
  CHECK(waiting.at("expected") == "libhook.so");
  CHECK(waiting.at("promised") == "libidle.so");
  CHECK(waiting.at("interposed") == false);
  const auto text = run_tracso({"--bindings=idle", std::to_string(child.pid())});
  INFO(text.out);
  CHECK(contains(text.out, "  libhook.so  "));
  CHECK(contains(text.out, "would be: not called so far  promised: libidle.so"));
  Child plain({lab.shop.path("program")});
  REQUIRE(plain.line());
  CHECK(binding(asked("--bindings", plain.pid()), "program", "idle").at("expected") ==
        "libidle.so");
  CHECK_FALSE(
      contains(run_tracso({"--bindings=idle", std::to_string(plain.pid())}).out, "would be"));
}

TEST_CASE("bindings: one library, one function, and a name that is none", "[live][bindings]") {
  const Lab lab;
  Child child({lab.shop.path("program")});
  REQUIRE(child.line());
  const std::string pid = std::to_string(child.pid());
  const auto object = run_tracso({"--bindings=libuser", pid});
  CHECK(object.status == 0);
  CHECK(contains(object.out, "shared"));
  CHECK_FALSE(contains(object.out, "idle"));
  const auto function = run_tracso({"--bindings=idle", pid});
  CHECK(contains(function.out, "not called so far"));
  CHECK(contains(function.out, "libidle.so"));
  const auto wrong = run_tracso({"--bindings=libabsent", pid});
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "libabsent"));
}

TEST_CASE("bindings: a file and a document have none, and the refusal says why",
          "[live][bindings]") {
  const Lab lab;
  const auto file = run_tracso({"--bindings", lab.shop.path("program")});
  CHECK(file.status == 2);
  CHECK(contains(file.err, "running process"));
  CHECK(run_tracso({"--unused", lab.shop.path("program")}).status == 2);
  CHECK(run_tracso({"--unused", "--bindings", "1"}).status == 2);
  CHECK(run_tracso({"--bindings", "--csv", "1"}).status == 2);
}

// A program that writes into its own GOT, as hooking libraries and exploits do: what the file says,
// and what the loader once wrote, is no longer where the call goes.
TEST_CASE("bindings: a slot that was changed in memory shows where it leads now",
          "[live][bindings]") {
  const std::string flags = GENERATE(std::string("-Wl,-z,lazy"), std::string("-Wl,-z,now"));
  const Workshop shop;
  shop.write("two.c", "int shared(void){return 2;}\n");
  shop.write("hook.c", "int shared(void){return 7;}\nint other(void){return 8;}\n");
  shop.write(
      "flip.c",
      "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <link.h>\n#include <stdio.h>\n"
      "#include <string.h>\nint shared(void);extern ElfW(Dyn) _DYNAMIC[];\n"
      "static struct link_map*me;\n"
      "static void write_slot(ElfW(Rela)*r,size_t n,const ElfW(Sym)*s,const char*t,void*to){"
      "for(size_t i=0;i<n;i++)if(!strcmp(t+s[ELF64_R_SYM(r[i].r_info)].st_name,\"shared\"))"
      "*(void**)(me->l_addr+r[i].r_offset)=to;}\n"
      "static void flip(void*to){ElfW(Rela)*j=0,*r=0;ElfW(Sym)*s=0;char*t=0;size_t jn=0,rn=0;"
      "for(ElfW(Dyn)*d=_DYNAMIC;d->d_tag;d++){switch(d->d_tag){"
      "case DT_JMPREL:j=(void*)d->d_un.d_ptr;break;case DT_PLTRELSZ:jn=d->d_un.d_val/24;break;"
      "case DT_RELA:r=(void*)d->d_un.d_ptr;break;case DT_RELASZ:rn=d->d_un.d_val/24;break;"
      "case DT_SYMTAB:s=(void*)d->d_un.d_ptr;break;"
      "case DT_STRTAB:t=(void*)d->d_un.d_ptr;break;}}"
      "write_slot(j,jn,s,t,to);write_slot(r,rn,s,t,to);}\n"
      "int main(int c,char**v){char line[64];(void)c;me=_r_debug.r_map;"
      "void*h=dlopen(v[1],RTLD_NOW|RTLD_LOCAL);if(!h)return 1;"
      "do{printf(\"%d\\n\",shared());fflush(stdout);if(!fgets(line,64,stdin))return 0;"
      "line[strcspn(line,\"\\n\")]=0;flip(dlsym(h,line));}while(1);}\n");
  REQUIRE(shop.run("gcc -shared -fPIC two.c -Wl,-soname,libtwo.so -o libtwo.so"));
  REQUIRE(shop.run("gcc -shared -fPIC hook.c -Wl,-soname,libhook.so -o libhook.so"));
  REQUIRE(shop.run("gcc -w flip.c -L. -ltwo -Wl,-z,norelro -Wl,-rpath,'$ORIGIN' " + flags +
                   " -o flip -ldl"));
  Child child({shop.path("flip"), shop.path("libhook.so")});
  REQUIRE(child.line() == "2");
  const auto before = binding(asked("--bindings", child.pid()), "flip", "shared");
  CHECK(before.at("provider") == "libtwo.so");
  CHECK(before.at("interposed") == false);

  child.write("shared\n");
  REQUIRE(child.line() == "7");
  const auto all = asked("--bindings", child.pid());
  const auto after = binding(all, "flip", "shared");
  CHECK(after.at("provider") == "libhook.so");
  CHECK(after.at("promised") == "libtwo.so");
  CHECK(after.at("interposed") == true);
  CHECK(contains(run_tracso({"--bindings", std::to_string(child.pid())}).out,
                 "libhook.so serves 1 function of libtwo.so"));

  child.write("other\n");  // a function of another name: no rule of the loader leads there
  REQUIRE(child.line() == "8");
  const auto hooked = binding(asked("--bindings", child.pid()), "flip", "shared");
  CHECK(hooked.at("provider") == "libhook.so");
  CHECK(hooked.at("promised") == "libtwo.so");
}

TEST_CASE("unused: a library of which only a variable was copied is used", "[live][bindings]") {
  const Workshop shop;
  shop.write("data.c", "int only_data=7;int never(void){return 1;}\n");
  shop.write("rest.c", "int rest=1;\n");
  shop.write("main.c",
             "#include <stdio.h>\n#include <unistd.h>\nextern int only_data;"
             "int main(void){printf(\"%d\\n\",only_data);fflush(stdout);pause();return 0;}\n");
  for (const std::string name : {"data", "rest"}) {
    REQUIRE(shop.run("gcc -shared -fPIC " + name + ".c -Wl,-soname,lib" + name + ".so -o lib" +
                     name + ".so"));
  }
  REQUIRE(
      shop.run("gcc -no-pie -fno-pic main.c -L. -Wl,--no-as-needed -ldata -lrest "
               "-Wl,-z,lazy -Wl,-rpath,'$ORIGIN' -o main"));
  Child child({shop.path("main")});
  REQUIRE(child.line() == "7");
  const auto all = asked("--unused", child.pid());
  if (!contains(run_program({"readelf", "-rW", shop.path("main")}).out, "_COPY")) {
    WARN("NOT TRIED: this compiler makes no copy relocation here");
    return;
  }
  CHECK(use(all, "libdata.so").at("state") == "used");
  CHECK(contains(use(all, "libdata.so").at("reason"), "only_data"));
  CHECK(use(all, "librest.so").at("state") == "not called so far");
}

TEST_CASE("unused: used, not called so far, and unknown are told apart", "[live][bindings]") {
  const Lab lab;
  Child child({lab.shop.path("program")});
  REQUIRE(child.line());
  const auto all = asked("--unused", child.pid());
  CHECK(use(all, "libuser.so").at("state") == "used");
  // The only slot of libuser is filled: by the call, or when it was loaded; that is not guessed.
  CHECK(use(all, "libone.so").at("state") == "unknown");
  CHECK(use(all, "libidle.so").at("state") == "not called so far");
  CHECK(use(all, "libnothing.so").at("state") == "not called so far");
  CHECK(contains(use(all, "libnothing.so").at("reason"), "nobody imports"));
  // Its function is called through another library's name.
  CHECK(use(all, "libtwo.so").at("state") == "not called so far");
  CHECK(use(all, "libc.so.6").at("state") == "used");
  const auto text = run_tracso({"--unused", std::to_string(child.pid())});
  CHECK(contains(text.out, "so far"));
  Child eager({lab.shop.path("program")}, {"LD_BIND_NOW=1"});
  REQUIRE(eager.line());
  const auto unknown = asked("--unused", eager.pid());
  CHECK(use(unknown, "libidle.so").at("state") == "unknown");
  CHECK(contains(use(unknown, "libidle.so").at("reason"), "all at once"));
}

TEST_CASE("files: the mapped files, one a line or ended by NUL", "[live][bindings]") {
  const Lab lab;
  Child child({lab.shop.path("program")});
  REQUIRE(child.line());
  const auto lines = run_tracso({"--files", std::to_string(child.pid())});
  CHECK(lines.status == 0);
  CHECK(contains(lines.out, lab.shop.path("program") + "\n"));
  CHECK(contains(lines.out, lab.shop.path("libidle.so") + "\n"));
  CHECK(contains(lines.out, "/libc.so.6\n"));
  CHECK_FALSE(contains(lines.out, "[vdso]"));
  const auto nul = run_tracso({"--files0", std::to_string(child.pid())});
  std::string same = nul.out;
  std::replace(same.begin(), same.end(), '\0', '\n');
  CHECK(same == lines.out);
}

TEST_CASE("findings: two builds of one library with a crossed symbol are an error",
          "[live][findings]") {
  const Scenario scenario("16-crossed-symbols.sh");
  CHECK(contains(scenario.ran().out, "ready 1 1"));  // the second one answers 3 alone
  const auto all = document({scenario.pid()});
  bool told = false;
  for (const auto& finding : all.at("findings")) {
    if (finding.at("code") == "dup-openssl") {
      told = true;
      CHECK(finding.at("severity") == "error");
      CHECK(contains(finding.at("evidence").dump(), "EVP_answer of"));
    }
  }
  CHECK(told);
  const auto report = run_tracso({scenario.pid()});
  CHECK(contains(report.out, "2 builds of OpenSSL"));
  CHECK(contains(run_tracso({"--bindings=EVP_answer", scenario.pid()}).out,
                 "promised: libcrypto-bbbbbbbb.so.3"));
}

}  // namespace
}  // namespace tracso::test
