/** The files of beams: a filterbank for each, one of the number of samples in each value, and a description. */
import { basename, join, parse } from 'node:path';
import { detections } from '../../beamform/index.js';
import { refuse } from '../../core/errors.js';
import { addSamples, formatInstant, type Instant } from '../../core/instant.js';
import {
  createFilterbank,
  openOutput,
  type FilterbankHeader,
  type FilterbankWriter,
} from '../../formats/index.js';
import type { BeamItem, BeamPowers, BeamQuality, BeamSet, BeamsProduct } from '../../compose/index.js';
import type { SpectrumGrid } from '../../stages/index.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../../sky/frame.js';
import { localCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import { measureLevels, requantise, type Levels } from './beams-levels.js';

export interface BeamFileSettings {
  readonly path: string;
  readonly product: BeamsProduct;
  readonly grid: SpectrumGrid;
  readonly polarisations: 1 | 2;
  readonly bits: 8 | 16 | 32;
  /** Channels of values, and frequencies, after averaging. */
  readonly channels: number;
  readonly averageChannels: number;
  readonly firstHz: number;
  readonly stepHz: number;
  readonly phaseLoss: number;
  /** By beam name, if there is a taper or nulls. */
  readonly qualityOf: (name: string) => BeamQuality | undefined;
  readonly recordingName: string;
}

/** For a description: the efficiency of a beam's weights, and the depth of its nulls. */
export const qualityWords = ({ qualityOf, product }: BeamFileSettings, name: string): object => {
  const quality = qualityOf(name);
  if (!quality) return {};
  const { efficiency, depth } = quality;
  return { efficiency, ...(product.nulls?.length !== 0 && { nullDepthDb: 10 * Math.log10(depth) }) };
};

export interface BeamOutput {
  readonly name: string;
  readonly path: string;
}

export interface BeamTotals {
  /** Of the whole product. */
  readonly values: number;
  /** Samples of inputs and channels: those added, and those that all inputs could have had. */
  readonly samples: { readonly added: number; readonly possible: number };
  /** Values clipped to the range of 8 or 16 bits. */
  readonly saturated: number;
  /** At the end of the data, too few for a value. */
  readonly spectraLeftOut: number;
}

/** Number of values to measure scales on, and its memory limit. */
const MEASURED_VALUES = 1024;
const MEASURED_BYTES = 2 ** 26;
/** Block length for writing values without data. */
const FILLED_AT_ONCE = 1024;

/** The path with a beam's number, if there were several at the start or this beam was added later. */
export const beamPathOf = (path: string, number: number, atStart: number): string => {
  if (number === 1 && atStart === 1) return path;
  const { dir, name, ext } = parse(path);
  const digits = String(atStart).length;
  return join(dir, `${name}-${String(number).padStart(digits, '0')}${ext}`);
};

/** The current beams that continue, by name; undefined for new ones. */
export function goingOn<Beam extends { readonly target: PhaseCentre }>(
  beams: readonly Beam[],
  targets: readonly PhaseCentre[],
): readonly (Beam | undefined)[] {
  const left = [...beams];
  return targets.map(({ name }) => {
    const at = left.findIndex(({ target }) => target.name === name);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
}

interface Rows {
  /** [t][if][c], as in a file. */
  readonly values: Float32Array;
  /** The number of samples in each value. */
  readonly counts: Float32Array;
}

/** The file of one beam. */
class BeamFile {
  readonly firstValue: number;
  levels: Levels | undefined;
  saturated = 0;
  written = 0;
  private waiting: Rows[] = [];

  constructor(
    readonly path: string,
    readonly target: PhaseCentre,
    readonly header: FilterbankHeader,
    private readonly writer: FilterbankWriter,
    { firstValue, enough }: { readonly firstValue: number; readonly enough: number },
  ) {
    this.firstValue = firstValue;
    this.enough = enough;
  }
  /** Number of values to measure its scale on. */
  private readonly enough: number;

  private get rowLength(): number {
    return this.header.planes * this.header.channels;
  }

  /** True if this measured its scale. */
  async put(rows: Rows): Promise<boolean> {
    if (this.header.bits === 32 || this.levels) {
      await this.write(rows);
      return false;
    }
    this.waiting.push(rows);
    const waiting = this.waiting.reduce((sum, { values }) => sum + values.length, 0) / this.rowLength;
    return waiting >= this.enough && this.measure();
  }

  /** Measures the scale of every channel from the waiting values, then writes them. */
  async measure(): Promise<boolean> {
    const { header, waiting } = this;
    if (header.bits === 32 || waiting.length === 0) return false;
    const [values, counts] = (['values', 'counts'] as const).map((one) =>
      joined(waiting.map((rows) => rows[one])),
    );
    this.levels = measureLevels(values, counts, this.rowLength, header.bits as 8 | 16);
    this.waiting = [];
    for (const rows of waiting) await this.write(rows);
    return true;
  }

  private async write({ values, counts }: Rows): Promise<void> {
    this.written += values.length / this.rowLength;
    if (!this.levels) return this.writer.append(values, { counts });
    const { stored, saturated } = requantise(values, counts, this.levels, this.header.bits as 8 | 16);
    this.saturated += saturated;
    await this.writer.append(stored, { levels: this.levels, counts });
  }

  async finish(): Promise<void> {
    await this.measure();
    await this.writer.finish();
  }

  abandon(): Promise<void> {
    return this.writer.abandon();
  }
}

/** Of all beams. */
interface AllRows {
  readonly beams: readonly Float32Array[];
  /** [t][plane][c] */
  readonly counts: Float32Array;
  readonly values: number;
}

export class BeamFiles {
  readonly countsPath: string;
  readonly descriptionPath: string;
  readonly planes: number;
  readonly countPlanes: 1 | 2;
  readonly channels: number;
  readonly bits: 8 | 16 | 32;
  /** In beam order. */
  private open: readonly BeamFile[] = [];
  /** All beams, including stopped ones. */
  private readonly all: BeamFile[] = [];
  private beams: BeamSet | undefined;
  private counts: FilterbankWriter | undefined;
  private description: Awaited<ReturnType<typeof openOutput>> | undefined;
  private history: readonly string[] = [];
  private firstValue = 0;
  private nextValue = -1;
  private written = 0;
  private added = 0;
  private possible = 0;
  private leftOut = 0;

  constructor(private readonly settings: BeamFileSettings) {
    const { path, product, bits, channels } = settings;
    const { dir, name } = parse(path);
    this.countsPath = join(dir, `${name}-samples.fil`);
    this.descriptionPath = `${path}.json`;
    this.planes = product.detection === 'none' ? 1 : detections[product.detection];
    this.countPlanes = product.detection === 'XX,YY' ? 2 : 1;
    this.channels = channels;
    this.bits = bits;
  }

  /** Outputs of the beams at the start and of later ones. */
  get made(): readonly BeamOutput[] {
    const { path, product } = this.settings;
    const { targets } = product;
    return this.all.length > 0
      ? this.all.map((one) => ({ name: one.target.name, path: one.path }))
      : targets.map(({ name }, b) => ({ name, path: beamPathOf(path, b + 1, targets.length) }));
  }

  get paths(): readonly string[] {
    return [...this.made.map((one) => one.path), this.countsPath, this.descriptionPath];
  }

  /** Paths of this many further beams. */
  further(beams: number): readonly string[] {
    const { path, product } = this.settings;
    const { made } = this;
    return Array.from({ length: beams }, (_, b) =>
      beamPathOf(path, made.length + 1 + b, product.targets.length),
    );
  }

  get totals(): BeamTotals {
    const { written: values, added, possible, leftOut } = this;
    const saturated = this.all.reduce((sum, one) => sum + one.saturated, 0);
    return { values, samples: { added, possible }, saturated, spectraLeftOut: leftOut };
  }

  async take(made: BeamItem, history: readonly string[]): Promise<void> {
    if (made.kind === 'rest') {
      this.leftOut = made.spectra;
      return;
    }
    if (made.kind !== 'powers') throw new Error('a filterbank was handed voltages');
    // Values without data are written when data follow: at the end of a stream none do.
    const values = receivedOf(made, this.countPlanes);
    if (values === 0) return;
    if (this.nextValue < 0) {
      this.history = history;
      [this.firstValue, this.nextValue] = [made.firstValue, made.firstValue];
      await this.begin(made.beams);
    } else if (made.beams !== this.beams) {
      await this.fill(made.beams.first / this.settings.product.spectraPerValue - this.nextValue);
      await this.begin(made.beams);
    }
    await this.fill(made.firstValue - this.nextValue);
    await this.put(this.rowsOf(made, values));
  }

  /** From the next value on: continuing beams keep their files, others end, and new ones get new files. */
  private async begin(beams: BeamSet): Promise<void> {
    this.beams = beams;
    const { targets } = beams;
    if (!this.counts) {
      const zenith = localCentre('zenith', { x: 0, y: 0, z: 1 });
      this.counts = await createFilterbank(this.countsPath, {
        ...this.headerOf(targets.at(0) ?? zenith, 1, Math.max(1, targets.length)),
        sourceName: 'samples in each value',
        bits: 32,
        planes: this.countPlanes,
      });
      this.description = await openOutput(this.descriptionPath);
    }
    const stay = goingOn(this.open, targets);
    for (const one of this.open) if (!stay.includes(one)) await one.finish();
    const bytes = 4 * this.channels * (this.planes * targets.length + this.countPlanes);
    const enough = Math.max(16, Math.min(MEASURED_VALUES, Math.floor(MEASURED_BYTES / bytes)));
    const { path, product } = this.settings;
    const open: BeamFile[] = [];
    for (const [n, target] of targets.entries()) {
      const number = this.all.length + 1;
      const header = this.headerOf(target, number, targets.length);
      const from = { firstValue: this.nextValue, enough };
      const place = beamPathOf(path, number, product.targets.length);
      const one = stay[n] ?? new BeamFile(place, target, header, await createFilterbank(place, header), from);
      if (!stay[n]) this.all.push(one);
      open.push(one);
    }
    this.open = open;
    if (this.bits === 32) await this.describe();
  }

  /** Writes this many values without data. */
  private async fill(values: number): Promise<void> {
    for (let left = values; left > 0; left -= FILLED_AT_ONCE) {
      const some = Math.min(left, FILLED_AT_ONCE);
      await this.put({
        beams: this.open.map(() => new Float32Array(some * this.planes * this.channels)),
        counts: new Float32Array(some * this.countPlanes * this.channels),
        values: some,
      });
    }
  }

  /** Averages channels and orders them by falling frequency: [b][d][v][c] to [t][if][c] of each beam. */
  private rowsOf({ powers, counts, values: made, beams }: BeamPowers, values: number): AllRows {
    const { averageChannels: each, stepHz } = this.settings;
    const { channels, planes, countPlanes } = this;
    const turned = (
      from: Float64Array,
      many: number,
      at: (plane: number) => number,
      factor: number,
    ): Float32Array => {
      const to = new Float32Array(values * many * channels);
      for (let plane = 0; plane < many; plane++)
        for (let v = 0; v < values; v++) {
          const row = (at(plane) * made + v) * channels * each;
          for (let c = 0; c < channels; c++) {
            let sum = 0;
            for (let n = 0; n < each; n++) sum += from[row + c * each + n];
            to[(v * many + plane) * channels + (stepHz > 0 ? channels - 1 - c : c)] = sum * factor;
          }
        }
      return to;
    };
    return {
      beams: beams.targets.map((_, b) => turned(powers, planes, (d) => b * planes + d, 1 / each)),
      counts: turned(counts, countPlanes, (plane) => plane, 1),
      values,
    };
  }

  private async put(rows: AllRows): Promise<void> {
    this.nextValue += rows.values;
    this.written += rows.values;
    for (const count of rows.counts) this.added += count;
    const { product, averageChannels, polarisations } = this.settings;
    this.possible +=
      rows.values *
      product.spectraPerValue *
      (product.telescope.stations.length * polarisations) *
      (this.channels * averageChannels);
    const counts = this.countsOfValues(rows);
    let isMeasured = false;
    for (const [b, values] of rows.beams.entries())
      isMeasured = (await this.open[b].put({ values, counts })) || isMeasured;
    await this.counts?.append(rows.counts);
    if (isMeasured) await this.describe();
  }

  /** [t][if][c] of counts, for each plane of values. */
  private countsOfValues({ counts, values }: AllRows): Float32Array {
    const { planes, countPlanes, channels } = this;
    if (planes === countPlanes) return counts;
    const all = new Float32Array(values * planes * channels);
    for (let t = 0; t < values; t++)
      for (let plane = 0; plane < planes; plane++)
        all.set(counts.subarray(t * channels, (t + 1) * channels), (t * planes + plane) * channels);
    return all;
  }

  private startOf(value: number): Instant {
    const { product, grid } = this.settings;
    return addSamples(grid.start, value * product.spectraPerValue, grid.spectrumRateHz);
  }

  /** For a beam that begins with the next value. */
  private headerOf(target: PhaseCentre, beam: number, beams: number): FilterbankHeader {
    const { product, grid, firstHz, stepHz, recordingName, bits, channels } = this.settings;
    const { telescope, spectraPerValue, sum } = product;
    const start = this.startOf(this.nextValue);
    const pointingAt = (moment: Instant) => {
      const frame = skyFrame(telescope.site, moment);
      const direction = target.directionEnu(frame);
      return {
        position: target.position(frame),
        azimuthDeg: azimuthDeg(direction),
        zenithAngleDeg: 90 - altitudeDeg(direction),
      };
    };
    const isFalling = stepHz < 0;
    return {
      sourceName: sum === 'incoherent' ? 'incoherent sum' : target.name,
      rawDataFile: recordingName,
      // Readers want the highest frequency first.
      firstChannelHz: isFalling ? firstHz : firstHz + (channels - 1) * stepHz,
      channelStepHz: -Math.abs(stepHz),
      channels,
      bits,
      start,
      planes: this.planes,
      valueS: spectraPerValue / grid.spectrumRateHz,
      ...pointingAt(start),
      pointingAt,
      telescope,
      beam,
      beams,
    };
  }
  /** Properties for which a filterbank header has no keywords. */
  private async describe(): Promise<void> {
    const { product, averageChannels, grid, phaseLoss } = this.settings;
    const { telescope, detection, sum, weights, spectraPerValue, nulls = [], taper } = product;
    const text = JSON.stringify(
      {
        product: 'beams',
        telescope: telescope.name,
        // All digits: a header's date is accurate to 0.7 µs.
        start: formatInstant(this.startOf(this.firstValue), 9),
        time: 'UTC at the telescope; a value begins there and lasts for valueS',
        valueS: spectraPerValue / grid.spectrumRateHz,
        averaged: { spectra: spectraPerValue, channels: averageChannels },
        sum,
        detection,
        weights: weights === 'ci8' ? 8 : 'float',
        phaseLoss,
        ...(nulls.length > 0 && { nulls: nulls.map(({ name }) => name) }),
        taper: taper && Array.from(taper),
        values:
          'mean over spectra and channels of |sum of calibrated stations|²; samples that are missing or flagged add nothing',
        stored:
          this.bits === 32
            ? 'floats'
            : 'halfToEven(value × scale + offset) of each plane and channel; 0: nothing received',
        samples: {
          file: basename(this.countsPath),
          holds: 'how many samples of inputs, spectra and channels are in each value',
        },
        beams: this.all.map(({ path, target, header, levels, firstValue, written }) => {
          const { position, azimuthDeg: az, zenithAngleDeg: za, beam } = header;
          const isWhole = firstValue === this.firstValue && this.open.some((one) => one.path === path);
          return {
            file: basename(path),
            name: target.name,
            beam,
            tracked: target.kind !== 'local',
            position,
            azimuthDeg: az,
            zenithAngleDeg: za,
            ...qualityWords(this.settings, target.name),
            // Added or stopped during the run.
            ...(!isWhole && { start: formatInstant(this.startOf(firstValue), 9), values: written }),
            ...(levels && { scale: Array.from(levels.scale), offset: Array.from(levels.offset) }),
          };
        }),
        totals: this.totals,
        history: this.history,
      },
      undefined,
      1,
    );
    const bytes = new TextEncoder().encode(`${text}\n`);
    await this.description?.resize(0);
    await this.description?.write(bytes);
    this.description?.worthKeeping();
  }

  async finish(): Promise<void> {
    if (this.nextValue < 0)
      refuse(
        this.settings.path,
        'no value was made: the data are shorter',
        'give longer data, or a shorter products.beams.every',
      );
    for (const one of this.open) await one.measure();
    await this.describe();
    for (const one of this.open) await one.finish();
    await this.counts?.finish();
    await this.description?.finish();
  }

  async keep(): Promise<string> {
    const { path } = this.settings;
    if (this.nextValue < 0) return `${path}: no value was finished, and nothing was written`;
    await this.finish();
    return `${path} is whole and holds the ${this.written} values that were finished`;
  }

  async abandon(): Promise<void> {
    for (const one of this.all) await one.abandon();
    await this.counts?.abandon();
    await this.description?.abandon();
  }
}

/** The number of values up to the last one with a sample. */
function receivedOf({ counts, values }: BeamPowers, planes: number): number {
  const row = counts.length / planes / values;
  const isEmpty = (v: number): boolean =>
    Array.from({ length: planes }, (_, plane) => (plane * values + v) * row).every((from) =>
      counts.subarray(from, from + row).every((count) => count === 0),
    );
  let received = values;
  while (received > 0 && isEmpty(received - 1)) received--;
  return received;
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
