#include "crossilo/base/digest.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

// FIPS 180-2, appendix B.1.
TEST(Digest, AgreesWithTheStandard) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace crossilo
