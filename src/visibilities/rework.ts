/**
 * Parts of a visibility file, and its averages: times, channels, antennas, pairs, products; flags removed;
 * means over time and frequency. Visibilities here have running fringes: averaging stops them at the phase centre and
 * restarts them at the mean time and frequency, so sources away from the centre are smeared, as in any average. With a
 * new phase centre, averaging uses that one.
 */
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import {
  gather,
  writtenProducts,
  type StoredProduct,
  type VisibilityFile,
  type VisibilityHeader,
} from '../formats/index.js';
import { skyFrame, type SkyPosition } from '../sky/frame.js';
import { storedOf } from '../stages/index.js';

export interface Rework {
  /** By the middles of integrations; `from` is included, `to` is not. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** Indices of the file's channels and stations, rising. */
  readonly channels?: readonly number[];
  readonly stations?: readonly number[];
  /** Pairs of indices of the file's stations. */
  readonly pairs?: readonly (readonly [number, number])[];
  /** AIPS codes. */
  readonly products?: readonly number[];
  /** Whether flagged values with data count again. */
  readonly unflag?: boolean;
  readonly averageS?: number;
  readonly averageChannels?: number;
  /** Phase centre for averaging; by default the file's own. */
  readonly phaseCentre?: SkyPosition;
}

export function reworkVisibilities(file: VisibilityFile, work: Rework): VisibilityFile {
  const plan = planOf(file, work);
  return {
    ...file,
    header: plan.header,
    telescope: plan.header.telescope,
    integrations: async function* (): AsyncGenerator<Integration> {
      let bin: Bin | undefined;
      let origin: Instant | undefined;
      for await (const integration of file.integrations('reused')) {
        const middle = addSeconds(integration.start, integration.durationS / 2);
        if (work.from && secondsBetween(work.from, middle) < 0) continue;
        if (work.to && secondsBetween(work.to, middle) >= 0) continue;
        if (work.averageS === undefined) {
          const one = openBin(plan, 0);
          addTo(one, plan, integration, middle);
          yield closeBin(one, plan, integration);
          continue;
        }
        origin ??= integration.start;
        const number = Math.floor(secondsBetween(origin, middle) / work.averageS);
        if (bin && bin.number !== number) yield closeBin(bin, plan);
        if (bin?.number !== number) bin = openBin(plan, number);
        addTo(bin, plan, integration, middle);
      }
      if (bin) yield closeBin(bin, plan);
    },
  };
}

/** A product; `hand` is the polarisation in the file if it is the only product. */
interface Taken extends StoredProduct {
  readonly hand?: 0 | 1;
}

interface Plan {
  readonly work: Rework;
  readonly from: VisibilityHeader;
  readonly header: VisibilityHeader;
  readonly channels: readonly number[];
  readonly stations: readonly number[];
  /** Number of the file's channels in each output channel. */
  readonly each: number;
  /** [b] of the output. */
  readonly wanted: Uint8Array;
  readonly products: readonly Taken[];
  readonly averages: boolean;
}

function planOf(file: VisibilityFile, work: Rework): Plan {
  const { header } = file;
  const channels = work.channels ?? Array.from(header.frequenciesHz, (_, c) => c);
  const paired = work.pairs ? [...new Set(work.pairs.flat())].sort((x, y) => x - y) : undefined;
  const all = header.telescope.stations.map((_, s) => s);
  const stations = (work.stations ?? all).filter((s) => !paired || paired.includes(s));
  if (channels.length === 0 || stations.length === 0)
    refuse(file.path, 'has nothing left of what was chosen', 'choose channels and antennas that it holds');
  const each = work.averageChannels ?? 1;
  if (channels.length % each !== 0)
    refuse(
      'average-channels',
      `${channels.length} channels do not divide into ${each}`,
      `choose a divisor, or leave out ${channels.length % each} with \`channels\``,
    );
  const steps = channels.slice(1).map((c, k) => c - channels[k]);
  if (each > 1 && steps.some((step) => step !== 1))
    refuse('average-channels', 'needs channels that lie side by side', 'give `channels` one range');
  const place = new Map(stations.map((s, k) => [s, k]));
  const wanted = new Uint8Array(baselineCount(stations.length)).fill(work.pairs ? 0 : 1);
  for (const [x, y] of work.pairs ?? []) {
    const [i, j] = [place.get(x), place.get(y)];
    if (i !== undefined && j !== undefined) wanted[baselineIndex(Math.max(i, j), Math.min(i, j))] = 1;
  }
  const held = writtenProducts(header);
  const kept = held.filter(({ code }) => !work.products || work.products.includes(code));
  if (kept.length === 0)
    refuse(
      'products.visibilities.products',
      'names none that the file holds',
      `choose among ${held.map(({ label }) => label).join(', ')}`,
    );
  const isAlone = kept.length === 1 && kept[0].p1 === kept[0].p2 && header.polarisations === 2;
  const frequenciesHz = Float64Array.from({ length: channels.length / each }, (_, k) => {
    const some = channels.slice(k * each, (k + 1) * each);
    return some.reduce((sum, c) => sum + header.frequenciesHz[c], 0) / each;
  });
  const others: VisibilityHeader = { ...header };
  for (const dropped of ['rows', 'unusedAntennas', 'products'] as const)
    Reflect.deleteProperty(others, dropped);
  const { unusedAntennas } = header;
  const telescope = {
    ...header.telescope,
    stations: stations.map((s) => header.telescope.stations[s]),
    polarisations: isAlone ? (1 as const) : header.telescope.polarisations,
  };
  const spacingHz =
    header.frequenciesHz.length > 1 ? Math.abs(header.frequenciesHz[1] - header.frequenciesHz[0]) : 0;
  return {
    work,
    from: header,
    header: {
      ...others,
      ...(work.phaseCentre && { phaseCentre: work.phaseCentre }),
      telescope,
      frequenciesHz,
      channelWidthHz: each === 1 ? header.channelWidthHz : header.channelWidthHz + (each - 1) * spacingHz,
      polarisations: isAlone ? 1 : header.polarisations,
      ...(unusedAntennas && stations.length === all.length && { unusedAntennas }),
      ...(kept.length < 4 &&
        (header.polarisations === 2 || header.products) && { products: kept.map(({ code }) => code) }),
      rows: { most: wanted.reduce((sum, one) => sum + one, 0), times: 'different' },
    },
    channels,
    stations,
    each,
    wanted,
    products: kept.map(({ p1, p2, label }) =>
      isAlone ? { p1: 0, p2: 0, label, hand: p1 } : { p1, p2, label },
    ),
    averages: each > 1 || work.averageS !== undefined,
  };
}

interface Bin {
  readonly means: Float64Array;
  readonly weights: Float64Array;
  readonly number: number;
  /** Counts of valid and of flagged values. */
  readonly flagged: Float64Array;
  readonly flaggedWeights: Float64Array;
  readonly there: Uint8Array;
  durationS: number;
  /** Seconds from the first middle, weighted by length. */
  laterS: number;
  first: Instant | undefined;
}

function openBin({ header, products }: Plan, number: number): Bin {
  const baselines = baselineCount(header.telescope.stations.length);
  const cells = header.frequenciesHz.length * baselines * products.length;
  return {
    number,
    means: new Float64Array(2 * cells),
    weights: new Float64Array(cells),
    flagged: new Float64Array(2 * cells),
    flaggedWeights: new Float64Array(cells).fill(Number.NaN),
    there: new Uint8Array(baselines),
    durationS: 0,
    laterS: 0,
    first: undefined,
  };
}

/** Delay of each station towards the phase centre. */
function delaysS({ header }: Plan, middle: Instant): Float64Array {
  const { telescope, phaseCentre } = header;
  const { n } = skyFrame(telescope.site, middle).tangentAxes(phaseCentre);
  return Float64Array.from(
    telescope.stations,
    ({ eastM, northM, upM }) => dot(n, { x: eastM, y: northM, z: upM }) / SPEED_OF_LIGHT_M_PER_S,
  );
}

/** Every requested value: its index here, its index in the file, its pair and channel. */
function visit(
  plan: Plan,
  see: (at: number, from: number, pair: { i: number; j: number; b: number; channel: number }) => void,
): void {
  const { stations, products, header, wanted, each, channels, from } = plan;
  const { polarisations } = from;
  const baselines = baselineCount(stations.length);
  const fromBaselines = baselineCount(from.telescope.stations.length);
  for (let c = 0; c < header.frequenciesHz.length; c++)
    for (let i = 0; i < stations.length; i++)
      for (let j = 0; j <= i; j++) {
        const b = baselineIndex(i, j);
        if (wanted[b] === 0) continue;
        const fromB = baselineIndex(Math.max(stations[i], stations[j]), Math.min(stations[i], stations[j]));
        products.forEach((product, q) => {
          // Products are those of (j, i), as in files: for two stations V_ij[p2][p1] is the conjugate.
          const [p1, p2] = [product.hand ?? product.p1, product.hand ?? product.p2];
          const [pi, pj] = i === j ? [p1, p2] : [p2, p1];
          for (let k = 0; k < each; k++) {
            const channel = channels[c * each + k];
            const cell = ((channel * fromBaselines + fromB) * polarisations + pi) * polarisations + pj;
            see((c * baselines + b) * products.length + q, cell, { i, j, b, channel });
          }
        });
      }
}

function addTo(bin: Bin, plan: Plan, integration: Integration, middle: Instant): void {
  const { work, from } = plan;
  const cells = storedOf(integration);
  const delays = plan.averages ? delaysS(plan, middle) : undefined;
  bin.first ??= middle;
  bin.laterS += secondsBetween(bin.first, middle) * integration.durationS;
  bin.durationS += integration.durationS;
  visit(plan, (at, cell, { i, j, b, channel }) => {
    const fromB = Math.floor(cell / integration.polarisations ** 2) % baselineCount(integration.stations);
    if (integration.pairs?.[fromB] === 0) return;
    bin.there[b] = 1;
    const [re, im] = [cells.means[2 * cell], cells.means[2 * cell + 1]];
    let weight = cells.weights[cell];
    // NaN stays flagged.
    const isNumber = Number.isFinite(re + im);
    if (work.unflag === true && weight < 0 && isNumber) weight = -weight;
    if (plan.averages && !isNumber) return;
    const phase = delays ? -2 * Math.PI * from.frequenciesHz[channel] * (delays[i] - delays[j]) : 0;
    const [cos, sin] = delays ? [Math.cos(phase), Math.sin(phase)] : [1, 0];
    const size = Math.abs(weight);
    const into = weight > 0 ? bin.means : bin.flagged;
    const scale = plan.averages ? size : 1;
    into[2 * at] += scale * (re * cos - im * sin);
    into[2 * at + 1] += scale * (re * sin + im * cos);
    if (weight > 0) bin.weights[at] += weight;
    else bin.flaggedWeights[at] = (Number.isNaN(bin.flaggedWeights[at]) ? 0 : bin.flaggedWeights[at]) + size;
  });
}

function closeBin(bin: Bin, plan: Plan, single?: Integration): Integration {
  const { header, products, averages } = plan;
  const { first } = bin;
  if (!first) throw new Error('an average of nothing');
  const middle = addSeconds(first, bin.laterS / bin.durationS);
  const delays = averages ? delaysS(plan, middle) : undefined;
  const stopped = averages ? undefined : single?.passThrough?.stopped;
  const gathering = gather({
    channels: header.frequenciesHz.length,
    stations: header.telescope.stations.length,
    polarisations: header.polarisations,
    products,
    values: 'mean',
    stoppedAt: stopped?.phaseCentre,
  });
  const baselines = baselineCount(header.telescope.stations.length);
  for (let i = 0; i < header.telescope.stations.length; i++)
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      if (bin.there[b] === 0) continue;
      const fromB = baselineIndex(
        Math.max(plan.stations[i], plan.stations[j]),
        Math.min(plan.stations[i], plan.stations[j]),
      );
      const uvw = stopped?.uvwM.subarray(3 * fromB, 3 * fromB + 3);
      // Rows are (j, i), as in files, with the opposite uvw of (i, j).
      const sign = i === j ? 1 : -1;
      gathering.row(j, i, {
        uvwM: uvw ? [sign * uvw[0], sign * uvw[1], sign * uvw[2]] : [Number.NaN, Number.NaN, Number.NaN],
        integrationS: single?.passThrough?.integrationS?.[fromB],
      });
      for (let c = 0; c < header.frequenciesHz.length; c++) {
        const phase = delays ? 2 * Math.PI * header.frequenciesHz[c] * (delays[i] - delays[j]) : 0;
        const [cos, sin] = delays ? [Math.cos(phase), Math.sin(phase)] : [1, 0];
        products.forEach((product, q) => {
          const at = (c * baselines + b) * products.length + q;
          const good = bin.weights[at] > 0;
          const source = good ? bin.means : bin.flagged;
          const size = good ? bin.weights[at] : bin.flaggedWeights[at];
          // An average without data is 0, with no weight.
          const scale = Number.isNaN(size) || (averages && size === 0) ? 0 : averages ? 1 / size : 1;
          const re = source[2 * at] * scale;
          const im = source[2 * at + 1] * scale;
          const [turnedRe, turnedIm] = [re * cos - im * sin, re * sin + im * cos];
          // V_ij[p2][p1] becomes V_ji[p1][p2], its conjugate.
          gathering.add(
            c,
            product,
            turnedRe,
            sign * turnedIm,
            good ? size : -(Number.isNaN(size) ? 0 : size),
          );
        });
      }
    }
  const durationS = bin.durationS;
  return gathering.finish({ start: addSeconds(middle, -durationS / 2), durationS });
}
