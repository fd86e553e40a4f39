/** Visibilities in memory, for tests of inspect's text and pictures. */
import { baselineCount, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import type { Picture } from '../draw/index.js';
import type { VisibilityFile, VisibilityHeader } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import type { Telescope } from '../telescope/telescope.js';

export interface Sample {
  readonly c: number;
  readonly i: number;
  readonly j: number;
  readonly p: number;
}

/** Only parallel products; the others are zero. `value` returns re and im, or undefined for missing data. */
export function integrationOf(
  startS: number,
  { stations, channels }: { readonly stations: number; readonly channels: number },
  value: (sample: Sample) => readonly [re: number, im: number] | undefined,
): Integration {
  const baselines = baselineCount(stations);
  const visibilities = visibilitiesCBPP(new Float64Array(channels * baselines * 8), channels, baselines, 2);
  const counts = countsCB(new Float64Array(channels * baselines), channels, baselines);
  for (let c = 0; c < channels; c++)
    for (let i = 0, b = 0; i < stations; i++)
      for (let j = 0; j <= i; j++, b++)
        for (let p = 0; p < 2; p++) {
          const found = value({ c, i, j, p });
          if (!found) continue;
          counts[c * baselines + b] = 10;
          visibilities.set(
            found.map((part) => 10 * part),
            2 * ((c * baselines + b) * 4 + 3 * p),
          );
        }
  return {
    start: instant(startS),
    durationS: 4,
    channels,
    stations,
    polarisations: 2,
    visibilities,
    counts,
    flaggedInputs: new Uint8Array(2 * stations),
  };
}

export function fileOf(
  integrations: readonly Integration[],
  frequenciesHz: Float64Array,
  telescope: Telescope = trio,
): VisibilityFile {
  const header: VisibilityHeader = {
    telescope,
    polarisations: 2,
    frequenciesHz,
    channelWidthHz: 1e6,
    phaseCentre: { raDeg: 80, decDeg: -26 },
    object: 'a field',
    history: [],
  };
  return {
    kind: 'visibilities',
    path: 'memory',
    format: 'test',
    details: {},
    telescope,
    header,
    integrationCount: integrations.length,
    integrations: async function* () {
      for (const one of integrations) yield await Promise.resolve(one);
    },
    close: () => Promise.resolve(),
  };
}

export const wordsOf = ({ shapes }: Picture): string[] =>
  shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.words] : []));
