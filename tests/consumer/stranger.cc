#include <crossilo/codes/hamming.h>
#include <crossilo/methods/method.h>

#include <cstdio>

int main() {
  const uint64_t query = 0b111, code = 0;
  uint16_t distance = 0;
  crossilo::HammingDistances(&query, &code, 1, 1, &distance);
  std::printf("distance %d, %zu methods\n", distance, crossilo::AllMethods().size());
}
