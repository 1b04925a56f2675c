// SPDX-License-Identifier: Apache-2.0
#include "inspector/application.h"

int main(int argc, char** argv) { return stowage::inspector::run_inspector(argc, argv); }
