/**
 * What the `reference` backend runs: Σ_t x_i · conj(x_j) over the lower triangle in float64, two inputs by two at a
 * time so that sums stay in registers. Integers are exact below 2⁵³, the plan's limit, so integer and float spectra use
 * the same code. The shared cases compare it with reference.ts to the last bit, floats too.
 */
import { hostSpectra } from '../backend/host-spectra.js';
import { baselineIndex, visibilitiesCBPP, type SpectraCAT, type VisibilitiesCBPP } from '../core/axes.js';
import { nothingToClose } from '../core/closing.js';
import { SampleCounter } from '../core/presence/sample-counter.js';
import type { Correlator } from './correlator.js';
import { checkCorrelateBlock, type CorrelatePlan } from './plan.js';
import { checkSpectra, unpackRow } from './unpack.js';

/** Samples unpacked at a time: rows of 128 inputs are then 512 kB, within a core's L2 cache. */
const CHUNK = 256;

export function prepareTiledCorrelator(plan: CorrelatePlan): Correlator {
  const { channels, inputs } = plan;
  // An even number of rows lets inputs be processed two by two; a row without an input stays zero.
  const rows = inputs + (inputs % 2);
  const re = new Float64Array(rows * CHUNK);
  const im = new Float64Array(rows * CHUNK);
  /** sums : [a][a'], complex, one channel of one block: whole 2 × 2 tiles on and below the diagonal. */
  const sums = new Float64Array(rows * rows * 2);
  let visibilities = emptyVisibilities(plan);
  const counter = new SampleCounter(plan, plan.flaggedInputs);

  function sumChunk(length: number): void {
    for (let i = 0; i < rows; i += 2) {
      for (let j = 0; j <= i; j += 2) {
        addTile(sums, i * rows + j, rows, re, im, i * CHUNK, j * CHUNK, length);
      }
    }
  }

  function sumChannel(spectra: SpectraCAT, samples: number, channel: number): void {
    sums.fill(0);
    for (let first = 0; first < samples; first += CHUNK) {
      const length = Math.min(CHUNK, samples - first);
      for (let input = 0; input < inputs; input++) {
        if (plan.flaggedInputs[input] === 1) continue; // its row stays zero
        const from = (channel * inputs + input) * samples + first;
        unpackRow[plan.type](spectra, from, length, re, im, input * CHUNK);
      }
      sumChunk(length);
    }
    addInHouseOrder(plan, visibilities, channel, sums, rows);
  }

  return {
    plan,
    // eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
    accumulate: async (block) => {
      const host = hostSpectra('correlate', block);
      checkCorrelateBlock(plan, block, counter.samples);
      const spectra = host.view();
      checkSpectra(plan, spectra, block.samples);
      for (let channel = 0; channel < channels; channel++) sumChannel(spectra, block.samples, channel);
      counter.add(block.samples, block.gaps);
    },
    finish: () => {
      const { samples } = counter;
      const result = { visibilities, ...counter.finishProducts(), samples };
      visibilities = emptyVisibilities(plan);
      return Promise.resolve(result);
    },
    close: nothingToClose,
  };
}

/**
 * Adds x_i conj(x_j) of inputs i, i+1 with j, j+1 to their sums. Two by two each sample is loaded once for two
 * products, and the eight sums stay in registers.
 */
function addTile(
  sums: Float64Array,
  corner: number,
  rows: number,
  re: Float64Array,
  im: Float64Array,
  rowI: number,
  rowJ: number,
  length: number,
): void {
  const upper = 2 * corner;
  const lower = 2 * (corner + rows);
  const [nextI, nextJ] = [rowI + CHUNK, rowJ + CHUNK];
  let r00 = sums[upper];
  let i00 = sums[upper + 1];
  let r01 = sums[upper + 2];
  let i01 = sums[upper + 3];
  let r10 = sums[lower];
  let i10 = sums[lower + 1];
  let r11 = sums[lower + 2];
  let i11 = sums[lower + 3];
  for (let t = 0; t < length; t++) {
    const ar = re[rowI + t];
    const ai = im[rowI + t];
    const br = re[nextI + t];
    const bi = im[nextI + t];
    const cr = re[rowJ + t];
    const ci = im[rowJ + t];
    const dr = re[nextJ + t];
    const di = im[nextJ + t];
    r00 += ar * cr + ai * ci;
    i00 += ai * cr - ar * ci;
    r01 += ar * dr + ai * di;
    i01 += ai * dr - ar * di;
    r10 += br * cr + bi * ci;
    i10 += bi * cr - br * ci;
    r11 += br * dr + bi * di;
    i11 += bi * dr - br * di;
  }
  sums[upper] = r00;
  sums[upper + 1] = i00;
  sums[upper + 2] = r01;
  sums[upper + 3] = i01;
  sums[lower] = r10;
  sums[lower + 1] = i10;
  sums[lower + 2] = r11;
  sums[lower + 3] = i11;
}

/** From one channel's square of inputs to [c][b][p_i][p_j]. */
function addInHouseOrder(
  plan: CorrelatePlan,
  visibilities: VisibilitiesCBPP,
  channel: number,
  sums: Float64Array,
  rows: number,
): void {
  const { stations, polarisations, baselines } = plan;
  const products = polarisations ** 2;
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      for (let product = 0; product < products; product++) {
        const inputI = i * polarisations + Math.floor(product / polarisations);
        const inputJ = j * polarisations + (product % polarisations);
        const from = 2 * (inputI * rows + inputJ);
        const to = 2 * ((channel * baselines + baselineIndex(i, j)) * products + product);
        visibilities[to] += sums[from];
        visibilities[to + 1] += sums[from + 1];
      }
    }
  }
}

function emptyVisibilities({ channels, baselines, polarisations }: CorrelatePlan): VisibilitiesCBPP {
  const elements = channels * baselines * polarisations ** 2 * 2;
  return visibilitiesCBPP(new Float64Array(elements), channels, baselines, polarisations);
}
