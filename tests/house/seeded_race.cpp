// SPDX-License-Identifier: Apache-2.0
// A race on purpose: shows that a run of the tests under the thread sanitizer can go red.
#include <cstdio>
#include <thread>

int main() {
  int counter = 0;
  const auto work = [&counter] {
    for (int i = 0; i < 1000; ++i) ++counter;
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  std::printf("%d\n", counter);
}
