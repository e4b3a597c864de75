#include "calls/cpp_signature.hpp"

#include "base/demangle.hpp"
#include "support/catch.hpp"

#include <string>

using namespace tracso;
using namespace tracso::calls;

namespace {

// A letter for each argument; "-": nothing is said. Behind a slash what is known of the result.
std::string shape(const std::string& name) {
  const auto signature = cpp_signature(name);
  if (!signature) {
    return "-";
  }
  std::string text;
  for (const Type& type : signature->arguments) {
    switch (type.role) {
      case Role::boolean:
        text += 'b';
        break;
      case Role::character:
        text += 'c';
        break;
      case Role::signed_number:
        text += "?12?4???8"[type.size];
        break;
      case Role::unsigned_number:
        text += "?QR?S???T"[type.size];
        break;
      case Role::floating:
        text += type.size == 4 ? 'f' : 'd';
        break;
      case Role::reference:
        text += 't';
        break;
      case Role::text_object:
        text += 's';
        break;
      case Role::text_view:
        text += 'v';
        break;
      case Role::pointer:
        text += 'p';
        break;
      default:
        text += '?';
    }
  }
  text += signature->more ? "..." : "";
  return text + (signature->may_return_in_memory           ? "/?"
                 : signature->result.role == Role::nothing ? "/void"
                                                           : "/known");
}

const std::string string =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

}  // namespace

TEST_CASE("C++ names: types of arguments", "[calls]") {
  CHECK(shape("f()") == "/?");
  CHECK(shape("f(int, unsigned int, long, unsigned long, short, unsigned short)") == "4S8T2R/?");
  CHECK(shape("f(bool, char, signed char, unsigned char, float, double)") == "bc1Qfd/?");
  CHECK(shape("f(char const*, char*, void*, Foo*, char const**)") == "tpppp/?");
  CHECK(shape("f(" + string + " const&, " + string + "&, " + string + ", " + string + "&&)") ==
        "ssss/?");
  CHECK(shape("f(std::basic_string_view<char, std::char_traits<char> >, int)") == "v4/?");
  CHECK(shape("f(std::string const&)") == "p/?");  // of the old ABI, whose layout is another
  CHECK(shape("f(int, Foo, int)") == "4.../?");    // nobody knows how a Foo is passed
  CHECK(shape("f(int, long double, int)") == "4.../?");
  CHECK(shape("f(char const*, ...)") == "t.../?");
  CHECK(shape("f(int (*)(int, char), int)") == "p4/?");
  CHECK(shape("f(int (Foo::*)(int), int)") == ".../?");
  CHECK(shape("f(std::map<int, int, std::less<int> > const&, int)") == "p4/?");
  CHECK(shape("f(decltype(nullptr))") == "p/?");
  CHECK(shape("f[abi:cxx11](int)") == "4/?");
}

TEST_CASE("C++ names: who has an object, and what is not known", "[calls]") {
  CHECK(shape("Foo::f(int)") == "-");  // static or not, or of a namespace
  CHECK(shape("Foo::f(int) const") == "p4/?");
  CHECK(shape("Foo::f(int) &&") == "p4/?");
  CHECK(shape("Foo::Foo(int)") == "p4/void");
  CHECK(shape("a::Foo<int>::Foo(int)") == "p4/void");
  CHECK(shape("Foo::~Foo()") == "p/void");
  CHECK(shape("Foo::operator=(Foo const&)") == "pp/known");
  CHECK(shape("Foo::operator()(int)") == "p4/?");
  CHECK(shape("Foo::operator[](unsigned long) const") == "pT/?");
  CHECK(shape("Foo::operator new(unsigned long)") == "-");
  CHECK(shape("Foo::operator bool() const") == "p/?");
  CHECK(shape("(anonymous namespace)::f(int)") == "4/?");
  CHECK(shape("std::terminate()") == "/?");
  CHECK(shape("operator new(unsigned long)") == "T/?");
  CHECK(shape("operator<(Foo const&, Foo const&)") == "pp/?");
  CHECK(shape("operator->*(Foo const&, int)") == "p4/?");
}

TEST_CASE("C++ names: templates tell what they return", "[calls]") {
  CHECK(shape("void f<int>(int)") == "4/void");
  CHECK(shape("int f<int, (char)65>(char const*)") == "t/known");
  CHECK(shape("Foo f<int>(int)") == "4/?");
  CHECK(
      shape(
          "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)") ==
      "pt/known");
  CHECK(shape(demangled("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc")) == "pt/known");
  CHECK(shape(demangled("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEPKc")) ==
        "pt/?");
}

TEST_CASE("C++ names: what is none", "[calls]") {
  for (const char* name : {"",
                           "(",
                           ")",
                           "()",
                           "vtable for Foo",
                           "f",
                           "f(int",
                           "f(int) [clone .cold]",
                           "guard variable for f()::x",
                           "<>::(",
                           "a::",
                           "operator"}) {
    INFO(name);
    CHECK(shape(name) == "-");
  }
}
