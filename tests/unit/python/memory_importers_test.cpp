#include "python/distributions.hpp"
#include "python/import_statements.hpp"
#include "python/importers.hpp"
#include "python/may_import.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;
using namespace tracso::python;

namespace {

std::vector<std::string> names_of(std::string_view source, std::string_view package = "") {
  std::vector<std::string> names;
  for (const auto& imported : parse_imports(source, package)) {
    names.push_back(imported.name + ":" + std::to_string(imported.line) +
                    (imported.in_function ? " in function" : ""));
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("import statements: every form names what it may import", "[python]") {
  CHECK(names_of("import a") == Names{"a:1"});
  CHECK(names_of("import a.b as c, d") == Names{"a.b:1", "d:1"});
  CHECK(names_of("from a import b as c, d") == Names{"a:1", "a.b:1", "a.d:1"});
  CHECK(names_of("from a.b import *") == Names{"a.b:1"});
  CHECK(names_of("from a import (  # why\n  b,\n  c,\n)") == Names{
                                                                 "a:1",
                                                                 "a.b:1",
                                                                 "a.c:1",
                                                             });
  CHECK(names_of("from a import b, \\\n  c\nimport d") == Names{"a:1", "a.b:1", "a.c:1", "d:3"});
  CHECK(names_of("import a; import b;") == Names{"a:1", "b:1"});
  CHECK(names_of("import \xc3\xa9t\xc3\xa9") == Names{"\xc3\xa9t\xc3\xa9:1"});
}

TEST_CASE("import statements: relative names are made absolute", "[python]") {
  CHECK(names_of("from . import x", "p.q") == Names{"p.q:1", "p.q.x:1"});
  CHECK(names_of("from .. import x", "p.q") == Names{"p:1", "p.x:1"});
  CHECK(names_of("from .m.n import x", "p") == Names{"p.m.n:1", "p.m.n.x:1"});
  CHECK(names_of("from .importer import x", "p") == Names{"p.importer:1", "p.importer.x:1"});
  CHECK(names_of("from ... import x", "p.q").empty());
  CHECK(names_of("from . import x").empty());
}

TEST_CASE("import statements: strings and comments hide nothing and are none", "[python]") {
  CHECK(names_of("'''\nimport a\n'''\nimport b") == Names{"b:4"});
  CHECK(names_of("x = 'import a' # import b\nimport c") == Names{"c:2"});
  CHECK(names_of("x = r'\\' ; import a'\nimport b") == Names{"b:2"});
  CHECK(names_of("x = \"\"\"a\\\"\"\" import b\n\"\"\"; import c") == Names{"c:1"});
  CHECK(names_of("x = [\n'(',\n]\nimport a") == Names{"a:4"});
  CHECK(names_of("x = 'not closed\nimport a") == Names{"a:2"});
  CHECK(names_of("important = 1\nfromage = 2\nx.import_y()").empty());
  CHECK(names_of("\xef\xbb\xbfimport a\r\nimport b\r\n") == Names{"a:1", "b:2"});
}

TEST_CASE("import statements: those of functions are told apart", "[python]") {
  CHECK(names_of("def f():\n  import a\nimport b") == Names{"a:2 in function", "b:3"});
  CHECK(names_of("async  def f(x: int = 1):\n\timport a\n\n  # odd\nimport b") ==
        Names{"a:2 in function", "b:5"});
  CHECK(names_of("def f(): import a") == Names{"a:1 in function"});
  CHECK(names_of("class C:\n  import a\n  def f(self):\n    import b\n  import c") ==
        Names{"a:2", "b:4 in function", "c:5"});
  CHECK(names_of("try: import a\nexcept ImportError:\n  import b\nelse: import c; import d") ==
        Names{"a:1", "b:3", "c:4", "d:4"});
  CHECK(names_of("if x[1:2] == {1: 2}: import a") == Names{"a:1"});
  CHECK(names_of("def f(\n  x,\n):\n  def g():\n    pass\n  import a\nimport b") ==
        Names{"a:6 in function", "b:7"});
}

TEST_CASE("import statements: any bytes are survived", "[python]") {
  const std::string text = "from .a import (b, 'c'\ndef f(): # x\n \"\"\"d\\\nimport e;";
  for (std::size_t from = 0; from < text.size(); ++from) {
    for (std::size_t bytes = 0; bytes <= text.size() - from; ++bytes) {
      (void)parse_imports(text.substr(from, bytes), "p.q");
    }
  }
  CHECK(names_of("from").empty());
  CHECK(names_of("from . ").empty());
  CHECK(names_of("import").empty());
  CHECK(names_of(std::string("import a\0b", 10)).empty());
}

TEST_CASE("importers: the module begun last before the extension is taken", "[python]") {
  test::FakeFiles files;
  files.files["/x/early.py"] = "import _ext";
  files.files["/x/p/__init__.py"] = "\n\nfrom _ext import thing";
  files.files["/x/p/late.py"] = "import _ext";
  files.files["/x/lazy.py"] = "def f():\n  import _lazy";
  files.files["/x/p/sub.py"] = "from . import _own";
  const std::vector<PythonModule> modules{{"early", "/x/early.py", ""},
                                          {"p", "/x/p/__init__.py", ""},
                                          {"lazy", "/x/lazy.py", ""},
                                          {"_ext", "/x/_ext.so", ""},
                                          {"p.late", "/x/p/late.py", ""},
                                          {"p.sub", "/x/p/sub.py", ""},
                                          {"p._own", "/x/p/_own.so", ""},
                                          {"_lazy", "/x/_lazy.so", ""},
                                          {"_c", "/x/_c.so", ""},
                                          {"builtin", std::nullopt, "built-in"}};
  const auto found = infer_importers(modules, files);
  CHECK(found.unread == UnreadFiles{});
  CHECK(found.imports == std::vector<InferredImport>{{"_ext", "p", "/x/p/__init__.py", 3},
                                                     {"p._own", "p.sub", "/x/p/sub.py", 1},
                                                     {"_lazy", "lazy", "/x/lazy.py", 2}});
}

TEST_CASE("importers: a source that cannot be read is counted, with the reason", "[python]") {
  test::FakeFiles files;
  files.files["/x/a.py"] = "import _ext";
  const std::vector<PythonModule> modules{
      {"gone", "/x/gone.py", ""}, {"a", "/x/a.py", ""}, {"_ext", "/x/_ext.so", ""}};
  const auto found = infer_importers(modules, files);
  CHECK(found.imports == std::vector<InferredImport>{{"_ext", "a", "/x/a.py", 1}});
  CHECK(found.unread.count == 1);
  CHECK(found.unread.first.starts_with("/x/gone.py: "));
}

TEST_CASE("may import: no import statement is missed by the quick look", "[python]") {
  const WordSet words{"_ext"};
  for (const char* source : {"import _ext",
                             "import a, b._ext as c",
                             "from _ext import *",
                             "from . import _ext",
                             "from a import (  # ) why\n  b,\n  _ext)",
                             "from a import b, \\\n  _ext",
                             "from a import b, \\\r\n  _ext\r\n",
                             "from a.\\\n  _ext \\\n  import b",
                             "x = 'import (#'; from a import (\n_ext\n)",
                             "if x: import b; import _ext",
                             "import b\nimport _ext"}) {
    INFO(source);
    CHECK(may_import(source, words));
  }
  for (const char* source : {"_ext = 1",
                             "important = _ext",
                             "import _extra",
                             "import a\n_ext()",
                             "import a\n\n_ext",
                             "reimport _ext",
                             ""}) {
    INFO(source);
    CHECK_FALSE(may_import(source, words));
  }
}

TEST_CASE("importers: no more source is read than allowed", "[python]") {
  test::FakeFiles files;
  files.files["/x/a.py"] = "import _ext\n" + std::string(1000, '#');
  files.files["/x/b.py"] = "import _ext";
  const std::vector<PythonModule> modules{
      {"b", "/x/b.py", ""}, {"a", "/x/a.py", ""}, {"_ext", "/x/_ext.so", ""}};
  CHECK(infer_importers(modules, files).imports.front().module == "a");
  const auto without_large = infer_importers(modules, files, {500, 5000});
  CHECK(without_large.imports.front().module == "b");
  CHECK(without_large.unread == UnreadFiles{1, "/x/a.py: more than is ever read"});
  const auto without_any = infer_importers(modules, files, {5000, 5});
  CHECK(without_any.imports.empty());
  CHECK(without_any.unread.count == 2);
  // Without an extension module nothing is read at all.
  files.opened.clear();
  CHECK(infer_importers({{"b", "/x/b.py", ""}}, files).imports.empty());
  CHECK(files.opened.empty());
}

TEST_CASE("distributions: a module is looked up in the records of its folder", "[python]") {
  test::FakeFiles files;
  const std::string site = "/v/site-packages/";
  files.files[site + "numpy-2.1.0.dist-info/METADATA"] =
      "Metadata-Version: 2.1\nName: numpy\nVersion: 2.1.0\n\nVersion: text";
  files.files[site + "numpy-2.1.0.dist-info/RECORD"] =
      "numpy/__init__.py,sha256=x,3\nnumpy/linalg/_umath.so,,\n";
  files.files[site + "PyYAML-6.0.dist-info/METADATA"] = "Name: PyYAML\r\nVersion: 6.0\r\n";
  files.files[site + "PyYAML-6.0.dist-info/RECORD"] = "\"yaml/a,b.py\",,\nyaml/__init__.py,,\n";
  files.files[site + "old-1.0-py3.11.egg-info/PKG-INFO"] = "Name: old\nVersion: 1.0\n";
  files.files[site + "old-1.0-py3.11.egg-info/top_level.txt"] = "ancient\nold_too\n";
  files.files[site + "single-0.1.egg-info"] = "Name: single\nVersion: 0.1\n";
  const std::vector<PythonModule> modules{
      {"numpy", site + "numpy/__init__.py", ""},
      {"numpy.linalg._umath", site + "numpy/linalg/_umath.so", ""},
      {"yaml", site + "yaml/__init__.py", ""},
      {"ancient.part", site + "ancient/part.so", ""},
      {"single", site + "single.py", ""},
      {"own", site + "own.py", ""},
      {"json", "/usr/lib/python3/json/__init__.py", ""},
      {"__main__", "/home/me/run.py", ""},
      {"renamed", site + "numpy/linalg/_umath.so", ""},
      {"sys", std::nullopt, "built-in"}};
  CHECK(find_distributions(modules, files).titles ==
        std::map<std::string, std::string>{{"numpy", "numpy 2.1.0"},
                                           {"numpy.linalg._umath", "numpy 2.1.0"},
                                           {"yaml", "PyYAML 6.0"},
                                           {"ancient.part", "old 1.0"},
                                           {"single", "single 0.1"}});
}

TEST_CASE("distributions: two that share a namespace are told apart by their records", "[python]") {
  test::FakeFiles files;
  for (const std::string name : {"alpha", "beta"}) {
    const auto folder = "/s/company_" + name + "-1.dist-info/";
    files.files[folder + "METADATA"] = "Name: company-" + name + "\nVersion: 1\n";
    files.files[folder + "RECORD"] = "company/" + name + "/_core.so,,\n";
  }
  const auto found = find_distributions({{"company.alpha._core", "/s/company/alpha/_core.so", ""},
                                         {"company.beta._core", "/s/company/beta/_core.so", ""}},
                                        files)
                         .titles;
  CHECK(found.at("company.alpha._core") == "company-alpha 1");
  CHECK(found.at("company.beta._core") == "company-beta 1");
}

TEST_CASE("distributions: an unreadable folder and a read limit give nothing", "[python]") {
  test::FakeFiles files;
  files.files["/s/a-1.dist-info/METADATA"] = "Name: a\nVersion: 1\n";
  files.files["/s/a-1.dist-info/RECORD"] = "a.py,,\n";
  const std::vector<PythonModule> a{{"a", "/s/a.py", ""}};
  CHECK(find_distributions(a, files).titles.at("a") == "a 1");
  CHECK(find_distributions(a, files).unread == UnreadFiles{});
  const auto limited = find_distributions(a, files, 3);
  CHECK(limited.titles.empty());
  CHECK(limited.unread.first == "/s/a-1.dist-info/RECORD: more than is ever read");
  const auto absent = find_distributions({{"b", "/t/b.py", ""}}, files);
  CHECK(absent.titles.empty());
  CHECK(absent.unread == UnreadFiles{});
}
