// What the kernels of a calibration that stays on the card share. Channels come in groups, as many as memory holds: solves,
// k = (c - firstChannel) POLARISATIONS + p, are the group's unless an array is said to be of all solves.
//
// Set by the plan: STATIONS, POLARISATIONS, CHUNKS (a solve's pairs are summed in so many parts, always the same ones, so that
// the result does not depend on which block comes first).
#pragma once
#include "baselines.cuh"

constexpr int64_t BASELINES = (int64_t)STATIONS * (STATIONS + 1) / 2;
constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int TILE = 16, TILES = (STATIONS + TILE - 1) / TILE;
constexpr int THREADS = 256;

// What a pair is good for: a bit for each of 16 neighbours; `own`: the station itself, where its own power takes part.
struct __align__(8) Bits {
  uint16_t used, modelled, signals, own;
};
// Why a station is left out (LeftOutReason).
constexpr uint8_t KEPT = 0, FLAGGED = 1, NO_BASELINES = 2, NO_MODEL = 3, NO_SIGNAL = 4, APART = 5, OPEN = 6;
// What is wrong with a pair: the lowest 4 b + fault of a solve is kept, all ones where nothing is.
constexpr uint64_t BAD_COUNT = 0, BAD_VISIBILITY = 1, BAD_MODEL = 2, NO_FAULT = ~0ull;
