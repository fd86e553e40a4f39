// The parser of every packet format: one line each. They must give the same results as packets/*.ts, which
// scripts/fuzz-packets.js compares; every build compares names, numbers and epochs.
#pragma once
#include "chips.h"
#include "mwa.h"
#include "snap2.h"
#include "spead_digitiser.h"
#include "spead_feng.h"
#include "vdif.h"

namespace corella::receive {

inline constexpr const Parser *parsers[] = {&speadFeng, &speadDigitiser, &vdif, &vdifVtp, &mwa, &snap2, &chips};

/** Null if there is none. */
constexpr const Parser *parserNumbered(int64_t code) {
  for (const Parser *parser : parsers)
    if (parser->code == code) return parser;
  return nullptr;
}

}  // namespace corella::receive
