/**
 * Missing data, named instead of hidden. A gap is a box of samples that never arrived; whoever fills a block
 * writes zeros there, so that they add nothing, and lists the box, so that nobody counts them. Before
 * correlation gaps cover whole stations (`wholeStations`): half a station's sample is nobody's sample.
 */
import {
  baselineCount,
  baselineIndex,
  elementsPerSpectra,
  type CountsCB,
  type SpectraCAT,
  type SpectraType,
} from './axes.js';

/** Half-open ranges; times are samples from the start of the block. */
export interface VoltageGap {
  readonly firstInput: number;
  readonly endInput: number;
  readonly firstSample: number;
  readonly endSample: number;
}

export interface SpectraGap extends VoltageGap {
  readonly firstChannel: number;
  readonly endChannel: number;
}

export interface CountShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly samples: number;
}

/** Samples inside the gaps, over all inputs. */
export const samplesIn = (gaps: readonly VoltageGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample), 0);

/** The same of channelised data, where every channel's samples count. */
export const channelSamplesIn = (gaps: readonly SpectraGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.endChannel - gap.firstChannel) * samplesIn([gap]), 0);

/** Writes zeros where gaps are, as whoever fills a block must. */
export function zeroGaps(
  spectra: SpectraCAT,
  shape: { readonly type: SpectraType; readonly inputs: number; readonly samples: number },
  gaps: readonly SpectraGap[],
): void {
  const elements = elementsPerSpectra(shape.type);
  for (const gap of gaps) {
    for (let c = gap.firstChannel; c < gap.endChannel; c++) {
      for (let a = gap.firstInput; a < gap.endInput; a++) {
        const row = (c * shape.inputs + a) * shape.samples;
        spectra.fill(0, (row + gap.firstSample) * elements, (row + gap.endSample) * elements);
      }
    }
  }
}

/** The same gaps widened to every polarisation of the stations they touch; zero what they cover. */
export function wholeStations<Gap extends VoltageGap>(gaps: readonly Gap[], polarisations: 1 | 2): Gap[] {
  return gaps.map((gap) => ({
    ...gap,
    firstInput: Math.floor(gap.firstInput / polarisations) * polarisations,
    endInput: Math.ceil(gap.endInput / polarisations) * polarisations,
  }));
}

/**
 * Adds to counts[c][b] how many of a block's samples both stations of each baseline really have.
 * `flaggedInputs[a]` is 1 for an input left out; a station flagged in all its inputs counts nothing.
 * Channels are taken in runs between gap edges, and only pairs with a gap are compared sample by sample.
 */
export function addSampleCounts(
  counts: CountsCB,
  shape: CountShape,
  gaps: readonly SpectraGap[],
  flaggedInputs: Uint8Array,
): void {
  const { channels, stations, polarisations, samples } = shape;
  const baselines = baselineCount(stations);
  const dead = Array.from({ length: stations }, (_, s) =>
    flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1),
  );
  const edges = [
    ...new Set([0, channels, ...gaps.flatMap((gap) => [gap.firstChannel, gap.endChannel])]),
  ].sort((x, y) => x - y);
  for (let run = 0; run + 1 < edges.length; run++) {
    const here = gaps.filter((gap) => gap.firstChannel <= edges[run] && gap.endChannel > edges[run]);
    const missing = stationMasks(here, shape);
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        if (dead[i] || dead[j]) continue;
        const present = samples - countEither(missing[i], missing[j]);
        for (let c = edges[run]; c < edges[run + 1]; c++)
          counts[c * baselines + baselineIndex(i, j)] += present;
      }
    }
  }
}

/** For each station with a gap, one byte a sample: 1 where it is missing. */
function stationMasks(
  gaps: readonly SpectraGap[],
  { stations, polarisations, samples }: CountShape,
): (Uint8Array | undefined)[] {
  const masks = new Array<Uint8Array | undefined>(stations).fill(undefined);
  for (const gap of wholeStations(gaps, polarisations)) {
    for (let s = gap.firstInput / polarisations; s < gap.endInput / polarisations; s++) {
      (masks[s] ??= new Uint8Array(samples)).fill(1, gap.firstSample, gap.endSample);
    }
  }
  return masks;
}

function countEither(x: Uint8Array | undefined, y: Uint8Array | undefined): number {
  let either = 0;
  const length = (x ?? y)?.length ?? 0;
  for (let t = 0; t < length; t++) either += (x?.[t] ?? 0) | (y?.[t] ?? 0);
  return either;
}
