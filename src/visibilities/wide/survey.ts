/** Properties of the data found before imaging: times, the range of w, smearing, losses. */
import type { Backend } from '../../backend/backend.js';
import type { WeightsRC } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import type { OnProgress } from '../../core/progress.js';
import {
  boundsOf,
  type HandTally,
  type WideBounds,
  type WideGeometry,
  type WideProduct,
} from '../../image/index.js';
import { altitudeDeg, skyFrame, type SkyFrame } from '../../sky/frame.js';
import { fixedCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import type { SkyDisc } from '../../sky/discs.js';
import type { StationKinds } from '../../sky/beams/powers.js';
import type { Telescope } from '../../telescope/telescope.js';
import {
  stationPositions,
  type Calibrated,
  type CalibratedAt,
  type Response,
  prepareBins,
  readRows,
  type Integrations,
  type RowReader,
  smearingOf,
  type Smearing,
} from '../../stages/index.js';
import {
  choosePixels,
  longestWavelengths,
  type Held,
  type WidePixels,
  type WideSettings,
} from './settings.js';

const WHERE = 'image';

export interface WideSetup extends Held {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Whether fringes were stopped during correlation; by default `running`. */
  readonly fringes?: 'stopped' | 'running';
  /** To record each kind's share in the image. */
  readonly kinds?: StationKinds;
  /** Of a series: divided out by default. */
  readonly response?: Response;
  /** Blank in the image. */
  readonly discs?: readonly SkyDisc[];
  /** Called with a description of each step. */
  readonly onStep?: (step: string) => void;
  /** Progress within a long step. */
  readonly onProgress?: OnProgress;
}

/** Position and time range of all data. */
export interface WideSpan {
  readonly start: Instant;
  readonly durationS: number;
  /** Of all integrations together, without the gaps between them. */
  readonly exposureS: number;
  readonly integrations: number;
  readonly visibilities: number;
}

/** Known once all integrations have been read. */
export interface WideSurvey extends WideSpan {
  readonly centre: PhaseCentre;
  /** Instants with integrations (prepareBins). */
  readonly moments: readonly Instant[];
  readonly bounds: WideBounds;
  readonly smearing: Smearing;
  readonly hands: HandTally;
  readonly frame: SkyFrame;
  readonly pixels: WidePixels;
  /** channelWeights : [c], 0 for a channel without data; of the first product. */
  readonly channelWeights: Float64Array;
  /** The same of every product. */
  readonly planeWeights: readonly Float64Array[];
}

/**
 * Reads all data once, for all products: times, the range of w, smearing; rows are kept in memory if they fit. Facts
 * that could differ between products are those of the first.
 */
export async function surveyRows(
  integrations: Integrations,
  setup: WideSetup,
  settings: WideSettings,
  products: readonly WideProduct[],
): Promise<{ readonly reader: RowReader; readonly survey: WideSurvey }> {
  const { telescope, frequenciesHz } = setup;
  setup.onStep?.('read');
  const centre =
    settings.centre.kind === 'local'
      ? await fixedAtMiddle(integrations, telescope, settings.centre)
      : settings.centre;
  const pixels = choosePixels(settings.field, longestWavelengths(stationPositions(telescope), frequenciesHz));
  let start: Instant | undefined;
  let end: Instant | undefined;
  let count = 0;
  let exposureS = 0;
  const smearing = { bandwidth: 0, time: 0 };
  const hands: HandTally = { both: 0, one: 0, second: 0 };
  const bins = prepareBins();
  const look = (integration: Integration): void => {
    bins.add(integration);
    start ??= integration.start;
    end = addSeconds(integration.start, integration.durationS);
    exposureS += integration.durationS;
    // The first, second, fourth, eighth …: sufficient for the slow rotation of the sky.
    if (Number.isInteger(Math.log2(Math.max(1, count)))) {
      const one = smearingOf(integration, {
        telescope,
        frequenciesHz,
        channelWidthHz: setup.channelWidthHz,
        centre,
        halfWidth: (pixels.pixels / 2) * pixels.pixelCosine,
        fringes: setup.fringes ?? 'running',
      });
      smearing.bandwidth = Math.max(smearing.bandwidth, one.bandwidth);
      smearing.time = Math.max(smearing.time, one.time);
    }
    count++;
  };
  const reader = readRows(
    integrations,
    {
      telescope,
      frequenciesHz,
      centre,
      hands,
      precision: (settings.accuracy ?? 1) < LEAST_SINGLE ? 'float64' : 'float32',
      calibrated: setup.calibrated,
      kinds: setup.kinds,
    },
    products,
    look,
  );
  const seen = products.map((): WideBounds[] => []);
  const planeWeights = products.map(() => new Float64Array(frequenciesHz.length));
  for await (const { plane, rows } of reader.all()) {
    seen[plane].push(boundsOf([rows satisfies WideGeometry]));
    addWeights(planeWeights[plane], rows.weights);
  }
  const lost = products.find((_, plane) => seen[plane].length === 0);
  if (!start || !end || lost !== undefined) {
    const product = lost ?? products[0];
    refuse(
      WHERE,
      /^(I|XX)$/.test(product)
        ? 'no data are left: every cross-correlation is flagged, missing or without gains'
        : `no data are left of ${product}: it is flagged, missing or without gains on every pair`,
      'look at the flags with corella inspect',
    );
  }
  const durationS = secondsBetween(start, end);
  const frame = skyFrame(telescope.site, addSeconds(start, durationS / 2));
  const moments = bins.moments();
  refuseBelow(centre, telescope, moments);
  // Of all products, since a pair may lack some: one plan grids them all.
  const ranges = seen.flat();
  const bounds = {
    leastWLambda: Math.min(...ranges.map(({ leastWLambda }) => leastWLambda)),
    mostWLambda: Math.max(...ranges.map(({ mostWLambda }) => mostWLambda)),
    visibilities: seen[0].reduce((sum, { visibilities }) => sum + visibilities, 0),
  };
  return {
    reader,
    survey: {
      start,
      durationS,
      exposureS,
      integrations: count,
      visibilities: bounds.visibilities,
      centre,
      moments,
      bounds,
      smearing,
      hands,
      frame,
      pixels,
      channelWeights: planeWeights[0],
      planeWeights,
    },
  };
}

/** sums : [c] += weights : [r][c] */
function addWeights(sums: Float64Array, weights: WeightsRC): void {
  const channels = sums.length;
  for (let at = 0; at < weights.length; at += channels)
    for (let c = 0; c < channels; c++) sums[c] += weights[at + c];
}

/** As in plan.ts: below this accuracy planes are float64, and so are rows. */
const LEAST_SINGLE = 3e-5;

/** Converts a direction fixed to the ground to its sky position at the middle of the data. */
async function fixedAtMiddle(
  integrations: Integrations,
  telescope: Telescope,
  centre: PhaseCentre,
): Promise<PhaseCentre> {
  let start: Instant | undefined;
  let end: Instant | undefined;
  for await (const one of integrations()) {
    start ??= one.start;
    end = addSeconds(one.start, one.durationS);
  }
  if (!start || !end) refuse(WHERE, 'no integration', 'the file is damaged or cut short: copy it again');
  const frame = skyFrame(telescope.site, addSeconds(start, secondsBetween(start, end) / 2));
  return fixedCentre(centre.name, centre.position(frame));
}

function refuseBelow(centre: PhaseCentre, { site }: Telescope, moments: readonly Instant[]): void {
  const highestDeg = moments.reduce(
    (most, moment) => Math.max(most, altitudeDeg(centre.directionEnu(skyFrame(site, moment)))),
    -90,
  );
  if (highestDeg > 0) return;
  refuse(
    WHERE,
    `${centre.name} is ${(-highestDeg).toFixed(1)}° below the horizon${moments.length > 1 ? ' at the best' : ''}`,
    'choose another centre with products.images.centre, or look at the times with corella inspect',
  );
}
