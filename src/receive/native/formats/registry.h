// Every packet format's parser: one line each. They give the same verdicts as packets/*.ts, which
// scripts/fuzz-packets.js compares; names, numbers and epochs are compared by every build.
#pragma once
#include "chips.h"
#include "mwa.h"
#include "snap2.h"
#include "spead_digitiser.h"
#include "spead_feng.h"
#include "vdif.h"

namespace corella::receive {

inline constexpr const Parser *parsers[] = {&speadFeng, &speadDigitiser, &vdif, &vdifVtp, &mwa, &snap2, &chips};

/** Null where there is none. */
constexpr const Parser *parserNumbered(int64_t code) {
  for (const Parser *parser : parsers)
    if (parser->code == code) return parser;
  return nullptr;
}

}  // namespace corella::receive
