/** The files of beams: a filterbank for each, one of how many samples are in each value, and a description beside them. */
import { basename, join, parse } from 'node:path';
import { detections } from '../../beamform/index.js';
import { refuse } from '../../core/errors.js';
import { addSamples, formatInstant } from '../../core/instant.js';
import {
  createFilterbank,
  openOutput,
  type FilterbankHeader,
  type FilterbankWriter,
} from '../../formats/index.js';
import type { BeamItem, BeamPowers, BeamsProduct } from '../../compose/index.js';
import type { SpectrumGrid } from '../../stages/index.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../../sky/frame.js';
import { measureLevels, requantise, type Levels } from './beams-levels.js';

export interface BeamFileSettings {
  readonly path: string;
  readonly product: BeamsProduct;
  readonly grid: SpectrumGrid;
  readonly polarisations: 1 | 2;
  readonly bits: 8 | 16 | 32;
  /** Of values; frequencies after averaging. */
  readonly channels: number;
  readonly averageChannels: number;
  readonly firstHz: number;
  readonly stepHz: number;
  readonly phaseLoss: number;
  readonly recordingName: string;
}

export interface BeamTotals {
  /** In each file. */
  readonly values: number;
  /** Of inputs and channels, that were added, and that all inputs would have had. */
  readonly samples: { readonly added: number; readonly possible: number };
  /** Values of 8 or 16 bits that were cut to what these hold. */
  readonly saturated: number;
  /** At the end of the data, too few for a value. */
  readonly spectraLeftOut: number;
}

/** Values that scales are measured on, in memory of so many bytes. */
const MEASURED_VALUES = 1024;
const MEASURED_BYTES = 2 ** 26;
/** Of values that nothing was received for: written so many at a time. */
const FILLED_AT_ONCE = 1024;

/** The path with a beam's number, where there are several. */
export const beamPathsOf = (path: string, beams: number): readonly string[] => {
  if (beams === 1) return [path];
  const { dir, name, ext } = parse(path);
  const digits = String(beams).length;
  return Array.from({ length: beams }, (_, b) =>
    join(dir, `${name}-${String(b + 1).padStart(digits, '0')}${ext}`),
  );
};

interface Rows {
  /** Of each beam [t][if][c], as a file has them. */
  readonly beams: readonly Float32Array[];
  /** [t][plane][c] */
  readonly counts: Float32Array;
  readonly values: number;
}

export class BeamFiles {
  readonly beamPaths: readonly string[];
  readonly countsPath: string;
  readonly descriptionPath: string;
  readonly planes: number;
  readonly countPlanes: 1 | 2;
  readonly channels: number;
  readonly bits: 8 | 16 | 32;
  private writers: readonly FilterbankWriter[] = [];
  private counts: FilterbankWriter | undefined;
  private description: Awaited<ReturnType<typeof openOutput>> | undefined;
  private history: readonly string[] = [];
  private levels: readonly Levels[] = [];
  /** Values that wait for their scale. */
  private waiting: Rows[] = [];
  private firstValue = 0;
  private nextValue = -1;
  private written = 0;
  private added = 0;
  private possible = 0;
  private saturated = 0;
  private leftOut = 0;

  constructor(private readonly settings: BeamFileSettings) {
    const { path, product, bits, channels } = settings;
    const { dir, name, ext } = parse(path);
    this.beamPaths = beamPathsOf(path, product.targets.length);
    this.countsPath = join(dir, `${name}-samples${ext}`);
    this.descriptionPath = `${path}.json`;
    this.planes = product.detection === 'none' ? 1 : detections[product.detection];
    this.countPlanes = product.detection === 'XX,YY' ? 2 : 1;
    this.channels = channels;
    this.bits = bits;
  }

  get paths(): readonly string[] {
    return [...this.beamPaths, this.countsPath, this.descriptionPath];
  }

  get totals(): BeamTotals {
    const { written: values, added, possible, saturated, leftOut } = this;
    return { values, samples: { added, possible }, saturated, spectraLeftOut: leftOut };
  }

  async take(made: BeamItem, history: readonly string[]): Promise<void> {
    if (made.kind === 'rest') {
      this.leftOut = made.spectra;
      return;
    }
    if (made.kind !== 'powers') throw new Error('a filterbank was handed voltages');
    // What nothing was received for is written when something follows: at the end of a stream nothing does.
    const values = receivedOf(made, this.countPlanes);
    if (values === 0) return;
    if (this.nextValue < 0) {
      this.history = history;
      [this.firstValue, this.nextValue] = [made.firstValue, made.firstValue];
      await this.open();
    }
    await this.fill(made.firstValue - this.nextValue);
    await this.put(this.rowsOf(made, values));
  }

  private async open(): Promise<void> {
    const writers: FilterbankWriter[] = [];
    this.writers = writers;
    for (const [b, path] of this.beamPaths.entries())
      writers.push(await createFilterbank(path, this.headerOf(b)));
    this.counts = await createFilterbank(this.countsPath, {
      ...this.headerOf(0),
      ...{ sourceName: 'samples in each value', bits: 32, planes: this.countPlanes },
    });
    this.description = await openOutput(this.descriptionPath);
    if (this.bits === 32) await this.describe();
  }

  /** Nothing was received for so many values. */
  private async fill(values: number): Promise<void> {
    for (let left = values; left > 0; left -= FILLED_AT_ONCE) {
      const some = Math.min(left, FILLED_AT_ONCE);
      await this.put({
        beams: this.beamPaths.map(() => new Float32Array(some * this.planes * this.channels)),
        counts: new Float32Array(some * this.countPlanes * this.channels),
        values: some,
      });
    }
  }

  /** Channels averaged and in the order of falling frequencies: [b][d][v][c] to [t][if][c] of each beam. */
  private rowsOf({ powers, counts, values: made }: BeamPowers, values: number): Rows {
    const { averageChannels: each, stepHz, product } = this.settings;
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
      beams: product.targets.map((_, b) => turned(powers, planes, (d) => b * planes + d, 1 / each)),
      counts: turned(counts, countPlanes, (plane) => plane, 1),
      values,
    };
  }

  private async put(rows: Rows): Promise<void> {
    this.nextValue += rows.values;
    for (const count of rows.counts) this.added += count;
    const { product, averageChannels, polarisations } = this.settings;
    this.possible +=
      rows.values *
      product.spectraPerValue *
      (product.telescope.stations.length * polarisations) *
      (this.channels * averageChannels);
    if (this.bits === 32 || this.levels.length > 0) return this.write(rows);
    this.waiting.push(rows);
    const bytes = 4 * this.channels * (this.planes * this.beamPaths.length + this.countPlanes);
    const enough = Math.max(16, Math.min(MEASURED_VALUES, Math.floor(MEASURED_BYTES / bytes)));
    if (this.waiting.reduce((sum, { values }) => sum + values, 0) >= enough) await this.measure();
  }

  /** The scale of every channel, from what waits; which is then written. */
  private async measure(): Promise<void> {
    const { bits, waiting } = this;
    if (bits === 32 || waiting.length === 0) return;
    const counts = joined(waiting.map((one) => this.countsOfValues(one)));
    this.levels = this.beamPaths.map((_, b) =>
      measureLevels(joined(waiting.map(({ beams }) => beams[b])), counts, this.planes * this.channels, bits),
    );
    this.waiting = [];
    await this.describe();
    for (const rows of waiting) await this.write(rows);
  }

  /** [t][if][c] of counts, for each plane of values. */
  private countsOfValues({ counts, values }: Rows): Float32Array {
    const { planes, countPlanes, channels } = this;
    if (planes === countPlanes) return counts;
    const all = new Float32Array(values * planes * channels);
    for (let t = 0; t < values; t++)
      for (let plane = 0; plane < planes; plane++)
        all.set(counts.subarray(t * channels, (t + 1) * channels), (t * planes + plane) * channels);
    return all;
  }

  private async write(rows: Rows): Promise<void> {
    const { bits } = this;
    const counts = bits === 32 ? undefined : this.countsOfValues(rows);
    for (const [b, values] of rows.beams.entries()) {
      if (bits === 32 || !counts) {
        await this.writers[b].append(values);
        continue;
      }
      const { stored, saturated } = requantise(values, counts, this.levels[b], bits);
      this.saturated += saturated;
      await this.writers[b].append(stored);
    }
    await this.counts?.append(rows.counts);
    this.written += rows.values;
  }

  private headerOf(b: number): FilterbankHeader {
    const { product, grid, firstHz, stepHz, recordingName, bits, channels } = this.settings;
    const { targets, telescope, spectraPerValue, sum } = product;
    const start = addSamples(grid.start, this.firstValue * spectraPerValue, grid.spectrumRateHz);
    const frame = skyFrame(telescope.site, start);
    const direction = targets[b].directionEnu(frame);
    const isFalling = stepHz < 0;
    return {
      sourceName: sum === 'incoherent' ? 'incoherent sum' : targets[b].name,
      rawDataFile: recordingName,
      // Readers want the highest frequency first.
      firstChannelHz: isFalling ? firstHz : firstHz + (channels - 1) * stepHz,
      channelStepHz: -Math.abs(stepHz),
      ...{ channels, bits, start, planes: this.planes },
      valueS: spectraPerValue / grid.spectrumRateHz,
      position: targets[b].position(frame),
      azimuthDeg: azimuthDeg(direction),
      zenithAngleDeg: 90 - altitudeDeg(direction),
      ...{ beam: b + 1, beams: targets.length },
    };
  }

  /** What a filterbank's header has no keywords for. */
  private async describe(): Promise<void> {
    const { product, averageChannels, grid, phaseLoss } = this.settings;
    const { telescope, detection, sum, weights, spectraPerValue } = product;
    const text = JSON.stringify(
      {
        product: 'beams',
        telescope: telescope.name,
        // All digits: a header's date is right to 0.7 µs.
        start: formatInstant(this.headerOf(0).start, 9),
        time: 'UTC at the telescope; a value begins there and lasts for valueS',
        valueS: spectraPerValue / grid.spectrumRateHz,
        averaged: { spectra: spectraPerValue, channels: averageChannels },
        ...{ sum, detection, weights: weights === 'ci8' ? 8 : 'float', phaseLoss },
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
        beams: product.targets.map(({ name, kind }, b) => {
          const { position, azimuthDeg: az, zenithAngleDeg: za, beam } = this.headerOf(b);
          const level = this.levels.at(b);
          return {
            ...{ file: basename(this.beamPaths[b]), name, beam, tracked: kind !== 'local' },
            ...{ position, azimuthDeg: az, zenithAngleDeg: za },
            ...(level && { scale: Array.from(level.scale), offset: Array.from(level.offset) }),
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
    await this.measure();
    await this.describe();
    for (const writer of this.writers) await writer.finish();
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
    for (const writer of this.writers) await writer.abandon();
    await this.counts?.abandon();
    await this.description?.abandon();
  }
}

/** How many values there are up to the last that has a sample. */
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
