// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/athread_backend.h"
#include "driver/backend/backend.h"

namespace stowage {

Backends built_in_backends() {
  static const AthreadBackend athread;  // stateless
  return {&athread};
}

}  // namespace stowage
