/** What a night's chain keeps on a card, before it starts: refused where it cannot fit. Pure. */
import { pitchBytesFor } from '../../../backend/cuda/spectra.js';
import { baselineCount, spectraSizeBytes } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import { formatBytes } from '../../../core/units.js';
import type { ImagePlan } from '../../../image/index.js';
import type { KurtosisPlan } from '../../../kurtosis/index.js';
import { flaggerBytes } from '../../../kurtosis/on-card.js';
import type { RingPlan } from '../../../receive/index.js';
import { CELL_BLOCKS, shapeOf, SPECTRA_BLOCKS } from '../../../receive/on-card.js';
import type { LiveSettings } from '../../live/settings.js';
import { isDelayed } from '../../tracking.js';
import { IN_FLIGHT } from '../plan.js';

/** What this chain cannot do: the host's chain does it, on the same card. Nothing that was asked for is left out. */
export function beyondCard({
  delays,
  fineChannels,
  vanVleck,
  flags,
  imaging,
  further,
}: Pick<LiveSettings, 'delays' | 'fineChannels' | 'vanVleck' | 'flags' | 'imaging' | 'further'>):
  string | undefined {
  if (delays && isDelayed(delays)) return 'inputs are delayed';
  if (fineChannels !== undefined) return 'channels are made finer';
  if (vanVleck) return 'rounding is corrected (van Vleck)';
  if (flags && flags.rules.length > 0) return 'channels, times or pairs are flagged';
  if (imaging?.vanVleck) return 'rounding is corrected (van Vleck)';
  if (imaging?.autos !== undefined) return 'autocorrelations of images are chosen';
  if ((imaging?.rules?.length ?? 0) > 0) return 'channels, times or pairs of images are flagged';
  if (further) return 'there are further products';
  if (typeof imaging?.calibrated === 'function') return 'gains change in time';
  return undefined;
}

export interface LiveCardPlan {
  readonly ring: RingPlan;
  readonly polarisations: 1 | 2;
  readonly imaging?: { readonly road: 'visibilities' | 'direct'; readonly plan: ImagePlan };
  readonly integrations: 'kept' | 'for nobody';
  readonly kurtosis?: KurtosisPlan;
}

export interface CardPart {
  readonly what: string;
  readonly bytes: number;
}

/** The imagers' grids at the most (image/direct/cuda/folded.ts, image/visibilities/cuda/prepare.ts). */
const DIRECT_GRID_BYTES = 3 * 2 ** 30;
const VISIBILITY_GRID_BYTES = 2 ** 30;
/** The largest part of the free memory that is asked for. */
const MOST_OF_FREE = 0.95;
const DOUBLE = 8;
const COMPLEX_DOUBLE = 16;
const COMPLEX_INT = 8;

/** Whether anything is correlated at all. */
export const correlates = ({ imaging, integrations }: LiveCardPlan): boolean =>
  integrations === 'kept' || imaging?.road === 'visibilities';

/** Every part that must lie on the card. Kernels of pairs, which are kept where there is room, are not among them. */
export function liveCardParts(plan: LiveCardPlan): CardPart[] {
  const { ring, polarisations, imaging } = plan;
  const shape = shapeOf(ring);
  const { type, channels, inputs, capacity } = shape;
  const rows = channels * inputs;
  const baselines = baselineCount(inputs / polarisations);
  const products = channels * baselines * polarisations ** 2;
  const cellBytes = rows * capacity * spectraSizeBytes(type);
  const spectraBytes = rows * (pitchBytesFor(type, capacity) + (type === 'ci4' ? capacity + 16 : 0));
  const parts: CardPart[] = [
    { what: 'packets', bytes: CELL_BLOCKS * cellBytes },
    { what: 'spectra', bytes: SPECTRA_BLOCKS * spectraBytes },
  ];
  if (plan.kurtosis) parts.push({ what: 'powers of windows', bytes: flaggerBytes(plan.kurtosis, shape) });
  if (correlates(plan)) {
    parts.push({
      what: 'sums and counts of baselines',
      bytes: products * (COMPLEX_DOUBLE + COMPLEX_INT) + 2 * channels * baselines * DOUBLE,
    });
  }
  if (plan.integrations === 'kept') {
    parts.push({ what: 'integrations', bytes: 2 * products * COMPLEX_DOUBLE });
  }
  if (imaging) {
    const { pixels, products: planes, stations, kernelSize } = imaging.plan;
    const imageBytes = DOUBLE * channels * planes * pixels ** 2;
    const tables = channels * (stations * kernelSize ** 2 * COMPLEX_DOUBLE + baselines * 12);
    parts.push(
      { what: 'images', bytes: (IN_FLIGHT + 1) * imageBytes },
      {
        what: 'grids',
        bytes: tables + (imaging.road === 'direct' ? DIRECT_GRID_BYTES : VISIBILITY_GRID_BYTES),
      },
    );
  }
  return parts;
}

export const partsBytes = (parts: readonly CardPart[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** Refuses a plan that the card has no room for, with the numbers. */
export function checkFits(
  parts: readonly CardPart[],
  card: { readonly name: string; readonly freeBytes: number },
): void {
  const bytes = partsBytes(parts);
  if (bytes <= MOST_OF_FREE * card.freeBytes) return;
  const list = parts.map(({ what, bytes: one }) => `${what} ${formatBytes(one)}`).join(', ');
  refuse(
    'live',
    `the chain needs ${formatBytes(bytes)} of ${card.name}, which has ${formatBytes(card.freeBytes)} free: ${list}`,
    'take fewer --pixels, receive fewer channels, or choose --backend cpu',
  );
}
