#include "python/asyncio_offsets.hpp"

#include "support/catch.hpp"

#include <array>

namespace tracso::python {
namespace {

using Words = std::array<std::uint64_t, asyncio_offsets_words>;

// As Debian's 3.14.8 has them.
constexpr Words words{288, 152, 80, 109, 110, 144, 168, 400000, 9336, 1600, 680, 688, 696};

}  // namespace

TEST_CASE("asyncio offsets: where the links and the heads of the lists are", "[python]") {
  CHECK(asyncio_offsets(words) == AsyncioOffsets{168, 9336, 696});
}

TEST_CASE("asyncio offsets: what lies outside of its structure, or nowhere, is no offset",
          "[python]") {
  for (const std::size_t link : {std::size_t{6}, std::size_t{8}, std::size_t{12}}) {
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, std::uint64_t{4}, UINT64_MAX - 7, std::uint64_t{400000}}) {
      Words changed = words;
      changed[link] = wrong;
      INFO(link << " " << wrong);
      CHECK_FALSE(asyncio_offsets(changed));
    }
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{9}}) {
    for (const std::uint64_t wrong : {std::uint64_t{0}, UINT64_MAX}) {
      Words changed = words;
      changed[size] = wrong;
      CHECK_FALSE(asyncio_offsets(changed));
    }
  }
}

}  // namespace tracso::python
