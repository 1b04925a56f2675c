// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/turns.h"

#include <QCoreApplication>
#include <QTimer>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using inspector::Turns;

TEST_CASE("work on the window's thread is done a piece a turn, in the order of asking") {
  Turns turns;
  QObject first;
  QObject second;
  std::string done;
  // An event that came in while a piece was worked on is served before the next piece.
  turns.ask(&first, [&] {
    done += "first ";
    QTimer::singleShot(0, &first, [&] { done += "event "; });
  });
  turns.ask(&second, [&] { done += "second "; });
  turns.ask(&first, [&] { done += "never "; });  // it waits for a turn already
  CHECK(done.empty());
  REQUIRE(wait_until([&] { return done.find("second") != std::string::npos; }));
  CHECK(done == "first event second ");
}

TEST_CASE("who withdraws or is gone has no turn, and the others have theirs") {
  Turns turns;
  QObject withdrawn;
  auto gone = std::make_unique<QObject>();
  QObject last;
  std::string done;
  turns.ask(&withdrawn, [&] { done += "withdrawn "; });
  turns.ask(gone.get(), [&] { done += "gone "; });
  turns.ask(&last, [&] { done += "last "; });
  turns.withdraw(&withdrawn);
  gone.reset();
  REQUIRE(wait_until([&] { return !done.empty(); }));
  CHECK(done == "last ");
  turns.ask(&last, [&] { done += "again"; });
  REQUIRE(wait_until([&] { return done == "last again"; }));
}

}  // namespace
}  // namespace stowage::test
