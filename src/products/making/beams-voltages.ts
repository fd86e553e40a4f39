/** Voltages of beams in VDIF: requantised by one scale per beam, from its first spectra; and a filterbank of counts. */
import { basename, join, parse } from 'node:path';
import { halfToEven } from '../../beamform/index.js';
import { refuse } from '../../core/errors.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import {
  createFilterbank,
  createVdif,
  openOutput,
  samplesPerFrameOf,
  type FilterbankWriter,
  type VdifHeader,
  type VdifWriter,
} from '../../formats/index.js';
import type { BeamItem, BeamSamples, BeamSet } from '../../compose/index.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import {
  beamPathOf,
  goingOn,
  qualityWords,
  type BeamFileSettings,
  type BeamOutput,
  type BeamTotals,
} from './beams-files.js';

/** Spectra that scales are measured on. */
const MEASURED_SPECTRA = 1024;
/** The rms of a real or imaginary part is this fraction of the one-sided range of the bits: six of them fit. */
const RMS_AT = 1 / 6;
/** Block length for writing missing spectra. */
const LOST_AT_ONCE = 1024;

/** The file of one beam. */
class VoltageFile {
  /** The factor that sums are multiplied by. */
  level: number | undefined;
  saturated = 0;
  written = 0;
  private waiting: Sums[] = [];

  constructor(
    readonly path: string,
    readonly target: PhaseCentre,
    /** Time of its first spectrum. */
    readonly start: Instant,
    private readonly writer: VdifWriter,
    private readonly header: Omit<VdifHeader, 'start'>,
  ) {}

  get shiftS(): number {
    return this.writer.shiftS;
  }

  private get rowLength(): number {
    return 2 * this.header.threads * this.header.channels;
  }

  async put(sums: Sums): Promise<boolean> {
    if (this.level !== undefined) {
      await this.write(sums);
      return false;
    }
    this.waiting.push(sums);
    const waiting = this.waiting.reduce((sum, { values }) => sum + values.length, 0) / this.rowLength;
    return waiting >= MEASURED_SPECTRA && this.measure();
  }

  /** From the waiting spectra, up to the number for scales: independent of the block cuts. */
  async measure(): Promise<boolean> {
    const { waiting } = this;
    if (this.level !== undefined || waiting.length === 0) return false;
    let [sum, count] = [0, 0];
    let left = MEASURED_SPECTRA * this.rowLength;
    for (const { values, scale } of waiting) {
      for (const value of values.subarray(0, Math.max(0, left))) {
        if (value === 0) continue;
        sum += (value / scale) ** 2;
        count++;
      }
      left -= values.length;
    }
    this.level = sum > 0 ? Math.fround((2 ** (this.header.bits - 1) * RMS_AT) / Math.sqrt(sum / count)) : 0;
    this.waiting = [];
    for (const one of waiting) await this.write(one);
    return true;
  }

  private async write({ values, scale: of }: Sums): Promise<void> {
    const most = 2 ** (this.header.bits - 1) - 1;
    const stored = new (this.header.bits === 8 ? Int8Array : Int16Array)(values.length);
    // One float32 scale, for the unscaled sums.
    const scale = Math.fround((this.level ?? 0) / of);
    for (let n = 0; n < values.length; n++) {
      const value = halfToEven(values[n] * scale);
      if (Math.abs(value) > most) this.saturated++;
      stored[n] = Math.max(-most, Math.min(most, value));
    }
    this.written += values.length / this.rowLength;
    await this.writer.append(stored);
  }

  async finish(): Promise<void> {
    await this.measure();
    await this.writer.finish();
  }

  abandon(): Promise<void> {
    return this.writer.abandon();
  }
}

/** [t][p][c], complex, as in a file, and their divisor. */
interface Sums {
  readonly values: BeamSamples['voltages'];
  readonly scale: number;
}

export class VoltageFiles {
  private readonly header: Omit<VdifHeader, 'start'>;
  private open: readonly VoltageFile[] = [];
  /** Including stopped ones. */
  private readonly all: VoltageFile[] = [];
  private beams: BeamSet | undefined;
  private counts: FilterbankWriter | undefined;
  private description: Awaited<ReturnType<typeof openOutput>> | undefined;
  private history: readonly string[] = [];
  private firstSpectrum = -1;
  private nextSpectrum = 0;
  private added = 0;
  private possible = 0;

  constructor(private readonly settings: BeamFileSettings) {
    const { path, product, channels, polarisations, grid, averageChannels, bits } = settings;
    if (bits === 32) refuse('products.beams.bits', 'VDIF of voltages has 8 or 16', 'give one of them');
    if (averageChannels !== 1 || product.spectraPerValue !== 1)
      refuse('products.beams.detection', 'voltages are not averaged', 'leave every and average-channels out');
    this.header = { channels, threads: polarisations, bits, sampleRateHz: grid.spectrumRateHz };
    samplesPerFrameOf(path, { ...this.header, start: grid.start });
  }

  private get countsPath(): string {
    const { dir, name } = parse(this.settings.path);
    return join(dir, `${name}-samples.fil`);
  }

  get made(): readonly BeamOutput[] {
    const { path, product } = this.settings;
    const { targets } = product;
    return this.all.length > 0
      ? this.all.map((one) => ({ name: one.target.name, path: one.path }))
      : targets.map(({ name }, b) => ({ name, path: beamPathOf(path, b + 1, targets.length) }));
  }

  get paths(): readonly string[] {
    return [...this.made.map((one) => one.path), this.countsPath, `${this.settings.path}.json`];
  }

  further(beams: number): readonly string[] {
    const { path, product } = this.settings;
    const { made } = this;
    return Array.from({ length: beams }, (_, b) =>
      beamPathOf(path, made.length + 1 + b, product.targets.length),
    );
  }

  get totals(): BeamTotals {
    const { added, possible } = this;
    const values = this.firstSpectrum < 0 ? 0 : this.nextSpectrum - this.firstSpectrum;
    const saturated = this.all.reduce((sum, one) => sum + one.saturated, 0);
    return { values, samples: { added, possible }, saturated, spectraLeftOut: 0 };
  }

  async take(made: BeamItem, history: readonly string[]): Promise<void> {
    if (made.kind !== 'voltages') throw new Error('a file of voltages was handed powers');
    if (made.counts.every((count) => count === 0)) return;
    if (this.firstSpectrum < 0) {
      this.history = history;
      [this.firstSpectrum, this.nextSpectrum] = [made.index, made.index];
      await this.begin(made.beams);
    } else if (made.beams !== this.beams) {
      await this.lose(made.beams.first - this.nextSpectrum);
      await this.begin(made.beams);
    }
    await this.lose(made.index - this.nextSpectrum);
    await this.write(made);
  }

  /** From the next spectrum on: continuing beams keep their files, others end, and new ones get new files. */
  private async begin(beams: BeamSet): Promise<void> {
    this.beams = beams;
    const { targets } = beams;
    const { path, product, firstHz, stepHz, recordingName } = this.settings;
    const { channels } = this.header;
    const start = this.startOf(this.nextSpectrum);
    const stay = goingOn(this.open, targets);
    for (const one of this.open) if (!stay.includes(one)) await one.finish();
    const open: VoltageFile[] = [];
    for (const [n, target] of targets.entries()) {
      const place = beamPathOf(path, this.all.length + 1, product.targets.length);
      const one =
        stay[n] ??
        new VoltageFile(
          ...([place, target, start] as const),
          ...([await createVdif(place, { ...this.header, start }), this.header] as const),
        );
      if (!stay[n]) this.all.push(one);
      open.push(one);
    }
    this.open = open;
    this.counts ??= await createFilterbank(this.countsPath, {
      sourceName: 'samples in each value',
      rawDataFile: recordingName,
      channels,
      start,
      planes: this.header.threads,
      bits: 16,
      valueS: 1 / this.header.sampleRateHz,
      firstChannelHz: stepHz < 0 ? firstHz : firstHz + (channels - 1) * stepHz,
      channelStepHz: -Math.abs(stepHz),
    });
    this.description ??= await openOutput(`${path}.json`);
  }

  private startOf(spectrum: number): Instant {
    const { grid } = this.settings;
    return addSamples(grid.start, spectrum, grid.spectrumRateHz);
  }

  /** Writes this many missing spectra. */
  private async lose(spectra: number): Promise<void> {
    const { channels, threads } = this.header;
    for (let left = spectra; left > 0; left -= LOST_AT_ONCE) {
      const some = Math.min(left, LOST_AT_ONCE);
      const sums = (): Sums => ({ values: new Int32Array(2 * some * threads * channels), scale: 1 });
      await this.put(
        this.open.map(() => sums()),
        new Uint16Array(some * threads * channels),
        some,
      );
    }
  }

  private async write({ samples, voltages, scales, counts }: BeamSamples): Promise<void> {
    const { channels, threads } = this.header;
    const { stepHz } = this.settings;
    const beams = this.open.length;
    const kind = voltages instanceof Int32Array ? Int32Array : Float32Array;
    const sums = this.open.map((_, b): Sums => {
      const values = new kind(2 * samples * threads * channels);
      for (let c = 0; c < channels; c++)
        for (let p = 0; p < threads; p++)
          for (let t = 0; t < samples; t++) {
            const from = 2 * (((c * beams + b) * threads + p) * samples + t);
            const to = 2 * ((t * threads + p) * channels + c);
            values[to] = voltages[from];
            values[to + 1] = voltages[from + 1];
          }
      return { values, scale: scales[b] };
    });
    const rows = new Uint16Array(samples * threads * channels);
    for (let p = 0; p < threads; p++)
      for (let t = 0; t < samples; t++)
        for (let c = 0; c < channels; c++) {
          const count = counts[(p * samples + t) * channels + c];
          this.added += count;
          rows[(t * threads + p) * channels + (stepHz > 0 ? channels - 1 - c : c)] = count;
        }
    await this.put(sums, rows, samples);
  }

  private async put(sums: readonly Sums[], counts: Uint16Array, spectra: number): Promise<void> {
    this.nextSpectrum += spectra;
    const { channels, threads } = this.header;
    this.possible += spectra * channels * threads * this.settings.product.telescope.stations.length;
    let isMeasured = false;
    for (const [b, one] of this.open.entries()) isMeasured = (await one.put(sums[b])) || isMeasured;
    await this.counts?.append(counts);
    if (isMeasured) await this.describe();
  }

  private async describe(): Promise<void> {
    const { product, firstHz, stepHz, phaseLoss } = this.settings;
    const start = this.startOf(this.firstSpectrum);
    const text = JSON.stringify(
      {
        product: 'beams',
        telescope: product.telescope.name,
        start: formatInstant(start, 9),
        time: 'UTC at the telescope; VDIF counts samples from whole seconds, and its first one is off by shiftS',
        shiftS: this.all.at(0)?.shiftS ?? 0,
        firstChannelHz: firstHz,
        channelStepHz: stepHz,
        channels: this.header.channels,
        threads: this.header.threads === 2 ? ['X', 'Y'] : ['X'],
        phaseLoss,
        weights: product.weights === 'ci8' ? 8 : 'float',
        nulls: product.nulls?.map(({ name }) => name),
        taper: product.taper && Array.from(product.taper),
        values:
          'sum of calibrated stations × scale, halves to even; samples that are missing or flagged add nothing',
        samples: {
          file: basename(this.countsPath),
          holds: 'how many stations are in each value',
        },
        beams: this.all.map(({ path, target, level, start: begun, shiftS, written }) => {
          const isWhole = secondsBetween(start, begun) === 0 && this.open.some((one) => one.path === path);
          return {
            file: basename(path),
            name: target.name,
            scale: level,
            ...qualityWords(this.settings, target.name),
            // Added or stopped during the run.
            ...(!isWhole && { start: formatInstant(begun, 9), shiftS, values: written }),
          };
        }),
        totals: this.totals,
        history: this.history,
      },
      undefined,
      1,
    );
    await this.description?.resize(0);
    await this.description?.write(new TextEncoder().encode(`${text}\n`));
    this.description?.worthKeeping();
  }

  async finish(): Promise<void> {
    if (this.firstSpectrum < 0) refuse(this.settings.path, 'no sample was received', 'give other data');
    for (const one of this.open) await one.measure();
    await this.describe();
    for (const one of this.open) await one.finish();
    await this.counts?.finish();
    await this.description?.finish();
  }

  async keep(): Promise<string> {
    if (this.firstSpectrum < 0) return `${this.settings.path}: nothing was received, and nothing was written`;
    await this.finish();
    return `${this.settings.path} is whole and holds the ${this.totals.values} spectra that were finished`;
  }

  async abandon(): Promise<void> {
    for (const one of this.all) await one.abandon();
    await this.counts?.abandon();
    await this.description?.abandon();
  }
}
