#pragma once
// A CPython of any version made of bytes: enough of one for the memory probe, so that versions
// which are not on this machine can be tried too.

#include "python/layouts.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tracso::test {

class FakePython {
 public:
  /// An interpreter with the modules sys and nothing else.
  explicit FakePython(const python::Layout& layout);

  using Attributes = std::vector<std::pair<std::string, std::uint64_t>>;
  enum class Table : std::uint8_t { any_key, text_keys, split };

  /// Objects; each gives its address.
  std::uint64_t text(const std::u32string& characters);
  std::uint64_t text(const std::string& ascii);
  std::uint64_t integer(std::uint32_t number);
  std::uint64_t dict(const Attributes& entries, Table table = Table::text_keys);
  std::uint64_t module(const Attributes& attributes, Table table = Table::text_keys);
  std::uint64_t spec(const std::string& origin);

  /// Adds to sys.modules.
  void add_module(const std::string& name, std::uint64_t module);
  /// Writes the runtime, its main interpreter and sys.modules; call it last. Moves the field
  /// interp.modules by `modules_moved` bytes from where the layout says.
  void finish(FakeProcess& process, std::uint32_t version, std::uint32_t modules_moved = 0);

  std::uint64_t runtime() const { return runtime_; }

 private:
  std::uint64_t take(std::uint64_t bytes, std::uint64_t type = 0);
  std::uint64_t type(const std::string& name, std::uint64_t flags);
  std::uint64_t table(const Attributes& entries, Table kind);
  std::uint64_t key(const std::string& name);

  template <class T>
  void put(std::uint64_t address, T value);
  template <class T>
  T get(std::uint64_t address) const;

  python::Layout layout_;
  std::string bytes_;
  std::uint64_t runtime_ = 0;
  std::uint64_t text_type_ = 0, integer_type_ = 0, dict_type_ = 0, module_type_ = 0, spec_type_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> keys_;
  Attributes modules_;
};

}  // namespace tracso::test
