#include "python/path_probe_rules.hpp"
#include "support/catch.hpp"

#include <set>
#include <vector>

using namespace tracso::python;

namespace {

using Name = std::optional<std::string>;

Name name_of(const std::string& path,
             const std::vector<std::string>& search_path = {},
             const std::set<std::string>& packages = {}) {
  return module_of_path(path, search_path, [&](const std::string& directory) {
    return packages.count(directory) != 0;
  });
}

}  // namespace

TEST_CASE("path rules: an ABI tag makes a file name a module", "[python][path]") {
  CHECK(extension_name("_ssl.cpython-311-x86_64-linux-gnu.so") == ExtensionName{"_ssl", true});
  CHECK(extension_name("_ssl.cpython-38d-x86_64-linux-gnu.so") == ExtensionName{"_ssl", true});
  CHECK(extension_name("_x.cpython-313t-aarch64-linux-musl.so") == ExtensionName{"_x", true});
  CHECK(extension_name("_rust.abi3.so") == ExtensionName{"_rust", true});
  CHECK(extension_name("_f.pypy39-pp73-x86_64-linux-gnu.so") == ExtensionName{"_f", true});
  CHECK(extension_name("_f.pypy3-71-x86_64-linux-gnu.so") == ExtensionName{"_f", true});
  CHECK(extension_name("libfoo.abi3.so") == ExtensionName{"libfoo", true});
  CHECK(extension_name("30fcd23745efe32ce681__mypyc.cpython-311-x86_64-linux-gnu.so") ==
        ExtensionName{"30fcd23745efe32ce681__mypyc", true});
}

TEST_CASE("path rules: a plain name may be a module", "[python][path]") {
  CHECK(extension_name("_imaging.so") == ExtensionName{"_imaging", false});
  CHECK(extension_name("m\xc3\xb6"
                       "dul.so") == ExtensionName{"m\xc3\xb6"
                                                  "dul",
                                                  false});
}

TEST_CASE("path rules: libraries are no modules", "[python][path]") {
  for (const std::string_view name : {"libfoo.so",
                                      "libfoo.so.1",
                                      "libz.so.1.2.13",
                                      "libopenblas64_p-r0-15028c96.3.21.so",
                                      "a-b.so",
                                      "a-b.cpython-311-x86_64-linux-gnu.so",
                                      "foo.bar.so",
                                      ".so",
                                      ".cpython-311-x86_64-linux-gnu.so",
                                      "foo",
                                      "foo.py",
                                      "ld-linux-x86-64.so.2",
                                      ""}) {
    INFO(name);
    CHECK_FALSE(extension_name(name));
  }
}

TEST_CASE("path rules: the usual places", "[python][path]") {
  const std::string tag = ".cpython-311-x86_64-linux-gnu.so";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"/usr/lib/python3.11/lib-dynload/_ssl" + tag, "_ssl"},
      {"/usr/lib/python3/dist-packages/numpy/linalg/_umath_linalg" + tag,
       "numpy.linalg._umath_linalg"},
      {"/usr/lib/python3/dist-packages/apt_pkg" + tag, "apt_pkg"},
      {"/usr/local/lib/python3.11/site-packages/torch/_C" + tag, "torch._C"},
      {"/usr/lib64/python3.9/site-packages/a/b" + tag, "a.b"},
      {"/home/u/.local/lib/python3.11/site-packages/lxml/etree" + tag, "lxml.etree"},
      {"/opt/conda/envs/ml/lib/python3.10/site-packages/pandas/_libs/lib" + tag,
       "pandas._libs.lib"},
      {"/srv/app/venv/lib/python3.12/site-packages/cryptography/hazmat/bindings/_rust.abi3.so",
       "cryptography.hazmat.bindings._rust"},
      {"/x/.pyenv/versions/3.8.18/lib/python3.8/lib-dynload/_json" + tag, "_json"},
      {"/x/site-packages/PIL/_imaging.so", "PIL._imaging"},
      {"/x/site-packages/pkg/__init__" + tag, "pkg"},
      {"/x/site-packages/google/protobuf/pyext/_message" + tag, "google.protobuf.pyext._message"},
      {"/x/site-packages/foo-1.0-py3.8-linux-x86_64.egg/foo/_bar" + tag, "foo._bar"},
      {"/home/u/.cache/Python-Eggs/foo-1.0-py3.8.egg-tmp/foo/_bar" + tag, "foo._bar"},
      {"/tmp/_MEIx3kQ9a/numpy/core/_multiarray_umath" + tag, "numpy.core._multiarray_umath"},
      {"/tmp/_MEIx3kQ9a/lib-dynload/_ssl" + tag, "_ssl"},
      {"/usr/lib/python3.11/vendor/_speed" + tag, "vendor._speed"},
      {"/usr/lib/pypy3.9/lib_pypy/_sqlite3_cffi.pypy39-pp73-x86_64-linux-gnu.so", "_sqlite3_cffi"},
      {"/x/site-packages/a/site-packages/b/c" + tag, "b.c"}};
  for (const auto& [path, name] : cases) {
    INFO(path);
    CHECK(name_of(path) == name);
  }
}

TEST_CASE("path rules: libraries that packages bring along are no modules", "[python][path]") {
  for (const std::string path :
       {"/x/site-packages/numpy.libs/libgfortran-040039e1.so.5.0.0",
        "/x/site-packages/numpy.libs/libopenblas.so",
        "/x/site-packages/torch/lib/libtorch_cpu.so",
        "/x/site-packages/nvidia/cublas/lib/libcublas.so.12",
        "/x/site-packages/foo.libs/plugin.so",
        "/x/site-packages/some-dir/plugin.so",
        "/usr/lib/x86_64-linux-gnu/libssl.so.3",
        "/usr/lib/x86_64-linux-gnu/gconv/EUC.so",
        "/usr/lib/python3.11/config-3.11-x86_64-linux-gnu/libpython3.11.so"}) {
    INFO(path);
    CHECK_FALSE(name_of(path));
  }
}

TEST_CASE("path rules: elsewhere the packages are those with an __init__.py", "[python][path]") {
  const std::string path = "/srv/app/src/fast/core/_loop.cpython-312-x86_64-linux-gnu.so";
  CHECK(name_of(path) == "_loop");
  CHECK(name_of(path, {}, {"/srv/app/src/fast/core"}) == "core._loop");
  CHECK(name_of(path, {}, {"/srv/app/src/fast/core", "/srv/app/src/fast"}) == "fast.core._loop");
  // A gap ends the package.
  CHECK(name_of(path, {}, {"/srv/app/src/fast"}) == "_loop");
  CHECK(name_of("/srv/fast/__init__.cpython-312-x86_64-linux-gnu.so", {}, {"/srv/fast"}) == "fast");
  CHECK_FALSE(name_of("/srv/fast/__init__.cpython-312-x86_64-linux-gnu.so"));
  CHECK(name_of("/m.abi3.so") == "m");
}

TEST_CASE("path rules: elsewhere a plain name proves nothing", "[python][path]") {
  CHECK_FALSE(name_of("/srv/fast/plugin.so", {}, {"/srv/fast"}));
}

TEST_CASE("path rules: PYTHONPATH is a root, the longest one wins", "[python][path]") {
  const std::string path = "/srv/app/src/fast/core/_loop.cpython-312-x86_64-linux-gnu.so";
  CHECK(name_of(path, {"/srv/app/src"}) == "fast.core._loop");
  CHECK(name_of(path, {"/srv/app/src/"}) == "fast.core._loop");
  CHECK(name_of(path, {"/srv/app/src", "/srv/app/src/fast"}) == "core._loop");
  CHECK(name_of("/srv/app/src/plain.so", {"/srv/app/src"}) == "plain");
  CHECK(name_of(path, {"/srv/app/sr", "relative", ""}) == "_loop");
  // site-packages below it is nearer.
  CHECK(name_of("/srv/x/site-packages/a/b.abi3.so", {"/srv"}) == "a.b");
}

TEST_CASE("path rules: a directory that cannot be a package leaves the other rule",
          "[python][path]") {
  const std::string path = "/x/site-packages/some-dir/pkg/_m.cpython-311-x86_64-linux-gnu.so";
  CHECK(name_of(path, {}, {"/x/site-packages/some-dir/pkg"}) == "pkg._m");
  CHECK(name_of(path) == "_m");
}

TEST_CASE("path rules: deep and odd paths end", "[python][path]") {
  std::string deep;
  for (int i = 0; i < 2000; ++i) {
    deep += "/a";
  }
  const auto always = [](const std::string&) { return true; };
  CHECK(module_of_path(deep + "/m.abi3.so", {}, always));
  CHECK(module_of_path("//m.abi3.so", {}, always) == "m");
  CHECK(module_of_path("m.abi3.so", {}, always) == "m");
  CHECK(module_of_path("/x/site-packages//a//m.abi3.so", {}, always) == "a.m");
}
