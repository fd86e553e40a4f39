/**
 * The oracle of every correlator: V_ij = Σ_t x_i · conj(x_j) as in docs/conventions.md, in plain loops and float64. It
 * shares only the order of baselines with the code that it tests.
 */
import { baselineIndex, countsCB, countsCBPP, visibilitiesCBPP, type SpectraCAT } from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import type { CorrelationResult } from './correlator.js';
import type { CorrelatePlan } from './plan.js';

export interface CorrelateBlock {
  /** spectra : [c][a][t]; zero inside every gap. */
  readonly spectra: SpectraCAT;
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
}

export function correlateReference(
  plan: CorrelatePlan,
  blocks: readonly CorrelateBlock[],
): CorrelationResult {
  const { channels, stations, polarisations, baselines, inputs } = plan;
  const visibilities = new Float64Array(channels * baselines * polarisations ** 2 * 2);
  const counts = new Float64Array(channels * baselines);
  const own = new Float64Array(channels * baselines * polarisations ** 2);
  for (const block of blocks) {
    const { samples } = block;
    const [re, im] = unpack(plan, block);
    const present = presence(plan, block);
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++) {
          const b = c * baselines + baselineIndex(i, j);
          for (let pi = 0; pi < polarisations; pi++) {
            for (let pj = 0; pj < polarisations; pj++) {
              const x = (c * inputs + i * polarisations + pi) * samples;
              const y = (c * inputs + j * polarisations + pj) * samples;
              let [sumRe, sumIm] = [0, 0];
              for (let t = 0; t < samples; t++) {
                sumRe += re[x + t] * re[y + t] + im[x + t] * im[y + t];
                sumIm += im[x + t] * re[y + t] - re[x + t] * im[y + t];
              }
              const product = (b * polarisations + pi) * polarisations + pj;
              const to = 2 * product;
              for (let t = 0; t < samples; t++) own[product] += present[x + t] * present[y + t];
              counts[b] = Math.max(counts[b], own[product]);
              visibilities[to] += sumRe;
              visibilities[to + 1] += sumIm;
            }
          }
        }
      }
    }
  }
  return {
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, polarisations),
    counts: countsCB(counts, channels, baselines),
    ...(blocks.some(({ gaps }) => gaps.some((gap) => isHalf(gap, polarisations))) && {
      productCounts: countsCBPP(own, channels, baselines, polarisations),
    }),
    samples: blocks.reduce((sum, block) => sum + block.samples, 0),
  };
}

/** Real and imaginary parts : [c][a][t]; zero for flagged inputs. */
function unpack({ type, inputs, flaggedInputs }: CorrelatePlan, { spectra, samples }: CorrelateBlock) {
  const length = type === 'ci4' ? spectra.length : spectra.length / 2;
  const part = (of: (n: number) => number): Float64Array =>
    Float64Array.from({ length }, (_, n) =>
      flaggedInputs[Math.floor(n / samples) % inputs] === 1 ? 0 : of(n),
    );
  if (type !== 'ci4') return [part((n) => spectra[2 * n]), part((n) => spectra[2 * n + 1])];
  const signed = (nibble: number): number => (nibble > 7 ? nibble - 16 : nibble);
  return [part((n) => signed(Math.floor(spectra[n] / 16))), part((n) => signed(spectra[n] % 16))];
}

/** Whether a gap covers only one polarisation of a station. */
const isHalf = ({ firstInput, endInput }: SpectraGap, polarisations: 1 | 2): boolean =>
  firstInput % polarisations !== 0 || endInput % polarisations !== 0;

/** present : [c][a][t], 1 where an input's sample arrived and the input is in use. */
function presence(plan: CorrelatePlan, { gaps, samples }: CorrelateBlock): Uint8Array {
  const { channels, inputs, flaggedInputs } = plan;
  const present = new Uint8Array(channels * inputs * samples).fill(1);
  for (let c = 0; c < channels; c++) {
    for (let a = 0; a < inputs; a++) {
      const row = (c * inputs + a) * samples;
      if (flaggedInputs[a] === 1) present.fill(0, row, row + samples);
    }
  }
  for (const gap of gaps) {
    for (let c = gap.firstChannel; c < gap.endChannel; c++) {
      for (let a = gap.firstInput; a < gap.endInput; a++) {
        const row = (c * inputs + a) * samples;
        present.fill(0, row + gap.firstSample, row + gap.endSample);
      }
    }
  }
  return present;
}
