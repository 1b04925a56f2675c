// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/deferred_work.h"

#include <QCoreApplication>
#include <QTimer>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using inspector::DeferredWork;

TEST_CASE("work on the window's thread is done a piece a turn, in the order of asking") {
  DeferredWork deferred;
  QObject first;
  QObject second;
  std::string done;
  // An event that came in while a piece was worked on is served before the next piece.
  deferred.ask(&first, [&] {
    done += "first ";
    QTimer::singleShot(0, &first, [&] { done += "event "; });
  });
  deferred.ask(&second, [&] { done += "second "; });
  deferred.ask(&first, [&] { done += "never "; });  // it waits for a turn already
  CHECK(done.empty());
  REQUIRE(wait_until([&] { return done.find("second") != std::string::npos; }));
  CHECK(done == "first event second ");
}

TEST_CASE("who withdraws or is gone has no turn, and the others have theirs") {
  DeferredWork deferred;
  QObject withdrawn;
  auto gone = std::make_unique<QObject>();
  QObject last;
  std::string done;
  deferred.ask(&withdrawn, [&] { done += "withdrawn "; });
  deferred.ask(gone.get(), [&] { done += "gone "; });
  deferred.ask(&last, [&] { done += "last "; });
  deferred.withdraw(&withdrawn);
  gone.reset();
  REQUIRE(wait_until([&] { return !done.empty(); }));
  CHECK(done == "last ");
  deferred.ask(&last, [&] { done += "again"; });
  REQUIRE(wait_until([&] { return done == "last again"; }));
}

}  // namespace
}  // namespace stowage::test
