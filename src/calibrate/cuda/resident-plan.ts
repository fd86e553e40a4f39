/** The kernels around the iterations of a calibration that stays on the card, and the structures they take. */
import { structure } from '../../backend/cuda/arguments.js';
import type { KernelRequest } from '../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../backend/cuda/sources.js';

/** A solve's pairs are summed in this many parts: enough to fill a card, few enough to add up in one thread. */
export const CHUNKS = 32;
/** struct Pairs of resident-pairs.cu. */
export const PAIRS = {
  visibilities: 0,
  counts: 8,
  usedBaselines: 16,
  flags: 24,
  phasors: 32,
  fluxes: 40,
  data: 48,
  model: 56,
  weights: 64,
  bits: 72,
  faults: 80,
  firstChannel: 88,
  sources: 92,
  bytes: 96,
} as const;
/** struct Handed of resident-gains.cu. */
export const HANDED = {
  gains: 0,
  before: 8,
  sizes: 16,
  missed: 24,
  reasons: 32,
  good: 40,
  reference: 48,
  turned: 56,
  factors: 64,
  solved: 72,
  lastChange: 80,
  residual: 88,
  bytes: 96,
} as const;

/** What comes before and after the iterations where gains stay on the card. */
export const planResident = (plan: { readonly stations: number; readonly polarisations: 1 | 2 }) => {
  const shared = {
    headers: {
      ...commonHeaders('integers.cuh', 'baselines.cuh'),
      'resident.cuh': readSource(import.meta.url, 'resident.cuh'),
    },
    defines: { STATIONS: plan.stations, POLARISATIONS: plan.polarisations, CHUNKS },
  };
  const pointers = (count: number) => Array.from({ length: count }, () => 'pointer' as const);
  return {
    pairs: {
      name: 'resident-pairs.cu',
      source: readSource(import.meta.url, 'resident-pairs.cu'),
      ...shared,
      entries: {
        fillPhasors: [...pointers(4), 'i32', 'i32', 'i32'],
        fillPairs: [structure('Pairs', PAIRS)],
      },
    },
    gains: {
      name: 'resident-gains.cu',
      source: readSource(import.meta.url, 'resident-gains.cu'),
      ...shared,
      entries: {
        dropStations: [...pointers(5), 'i32', 'i32'],
        weighPairs: [...pointers(5), 'i32'],
        firstGuess: [...pointers(6), 'i32'],
        missPairs: [...pointers(6), 'i32'],
        chooseReference: [...pointers(3), 'i32', 'i32'],
        handGains: [structure('Handed', HANDED)],
      },
    },
  } as const satisfies Record<string, KernelRequest>;
};
