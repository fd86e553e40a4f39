/** Voltages of beams in VDIF: requantised by one scale for each beam, from the first spectra; a filterbank of counts beside. */
import { basename, join, parse } from 'node:path';
import { halfToEven } from '../../beamform/index.js';
import { refuse } from '../../core/errors.js';
import { addSamples, formatInstant } from '../../core/instant.js';
import {
  createFilterbank,
  createVdif,
  openOutput,
  samplesPerFrameOf,
  type FilterbankWriter,
  type VdifHeader,
  type VdifWriter,
} from '../../formats/index.js';
import type { BeamItem, BeamSamples } from '../../compose/index.js';
import { beamPathsOf, type BeamFileSettings, type BeamTotals } from './beams-files.js';

/** Spectra that scales are measured on. */
const MEASURED_SPECTRA = 1024;
/** A real or imaginary part has its rms at this share of what the bits hold on one side: six of them fit. */
const RMS_AT = 1 / 6;

export class VoltageFiles {
  readonly beamPaths: readonly string[];
  readonly paths: readonly string[];
  private readonly bits: 8 | 16;
  private readonly header: Omit<VdifHeader, 'start'>;
  private writers: readonly VdifWriter[] = [];
  private counts: FilterbankWriter | undefined;
  private description: Awaited<ReturnType<typeof openOutput>> | undefined;
  private history: readonly string[] = [];
  private waiting: BeamSamples[] = [];
  /** [b], float32. */
  private levels: Float32Array | undefined;
  private firstSpectrum = -1;
  private nextSpectrum = 0;
  private added = 0;
  private possible = 0;
  private saturated = 0;

  constructor(private readonly settings: BeamFileSettings) {
    const { path, product, channels, polarisations, grid, averageChannels, bits } = settings;
    if (bits === 32) refuse('products.beams.bits', 'VDIF of voltages has 8 or 16', 'give one of them');
    if (averageChannels !== 1 || product.spectraPerValue !== 1)
      refuse('products.beams.detection', 'voltages are not averaged', 'leave every and average-channels out');
    this.bits = bits;
    this.header = { channels, threads: polarisations, bits, sampleRateHz: grid.spectrumRateHz };
    samplesPerFrameOf(path, { ...this.header, start: grid.start });
    const { dir, name } = parse(path);
    this.beamPaths = beamPathsOf(path, product.targets.length);
    this.paths = [...this.beamPaths, join(dir, `${name}-samples.fil`), `${path}.json`];
  }

  get totals(): BeamTotals {
    const { added, possible, saturated } = this;
    const values = this.firstSpectrum < 0 ? 0 : this.nextSpectrum - this.firstSpectrum;
    return { values, samples: { added, possible }, saturated, spectraLeftOut: 0 };
  }

  async take(made: BeamItem, history: readonly string[]): Promise<void> {
    if (made.kind !== 'voltages') throw new Error('a file of voltages was handed powers');
    if (made.counts.every((count) => count === 0)) return;
    if (this.firstSpectrum < 0) {
      this.history = history;
      [this.firstSpectrum, this.nextSpectrum] = [made.index, made.index];
      await this.open();
    }
    if (this.levels) return this.write(made);
    this.waiting.push({ ...made, voltages: made.voltages.slice(), counts: made.counts.slice() });
    if (this.waiting.reduce((sum, { samples }) => sum + samples, 0) >= MEASURED_SPECTRA) await this.measure();
  }

  private async open(): Promise<void> {
    const { product, grid, firstHz, stepHz, recordingName } = this.settings;
    const start = addSamples(grid.start, this.firstSpectrum, grid.spectrumRateHz);
    const writers: VdifWriter[] = [];
    this.writers = writers;
    for (const path of this.beamPaths) writers.push(await createVdif(path, { ...this.header, start }));
    const { channels } = this.header;
    this.counts = await createFilterbank(this.paths[product.targets.length], {
      ...{ sourceName: 'samples in each value', rawDataFile: recordingName, channels, start },
      ...{ planes: this.header.threads, bits: 16, valueS: 1 / grid.spectrumRateHz },
      firstChannelHz: stepHz < 0 ? firstHz : firstHz + (channels - 1) * stepHz,
      channelStepHz: -Math.abs(stepHz),
    });
    this.description = await openOutput(this.paths[product.targets.length + 1]);
  }

  /** From what waits, as much of it as scales are measured on: the same however it was cut. */
  private async measure(): Promise<void> {
    if (this.levels || this.waiting.length === 0) return;
    const beams = this.beamPaths.length;
    const { channels, threads } = this.header;
    const [sums, counts] = [new Float64Array(beams), new Float64Array(beams)];
    let left = MEASURED_SPECTRA;
    for (const { samples, voltages, scales } of this.waiting) {
      const many = Math.min(left, samples);
      left -= many;
      for (let row = 0; row < channels * beams * threads; row++) {
        const b = Math.floor(row / threads) % beams;
        for (let n = 2 * row * samples; n < 2 * (row * samples + many); n++) {
          if (voltages[n] === 0) continue;
          sums[b] += (voltages[n] / scales[b]) ** 2;
          counts[b]++;
        }
      }
    }
    const level = 2 ** (this.bits - 1) * RMS_AT;
    this.levels = Float32Array.from(sums, (sum, b) => (sum > 0 ? level / Math.sqrt(sum / counts[b]) : 0));
    await this.describe();
    const { waiting } = this;
    this.waiting = [];
    for (const one of waiting) await this.write(one);
  }

  private async write({ index, samples, voltages, scales, counts }: BeamSamples): Promise<void> {
    const { channels, threads } = this.header;
    const beams = this.beamPaths.length;
    const lost = index - this.nextSpectrum;
    const whole = lost + samples;
    const most = 2 ** (this.bits - 1) - 1;
    const kind = this.bits === 8 ? Int8Array : Int16Array;
    for (const [b, writer] of this.writers.entries()) {
      const stored = new kind(2 * whole * threads * channels);
      // One float32 scale, of the sums as they are.
      const scale = Math.fround((this.levels?.[b] ?? 0) / scales[b]);
      for (let c = 0; c < channels; c++)
        for (let p = 0; p < threads; p++)
          for (let t = 0; t < samples; t++)
            for (let part = 0; part < 2; part++) {
              const sum = voltages[2 * (((c * beams + b) * threads + p) * samples + t) + part];
              const value = halfToEven(sum * scale);
              if (Math.abs(value) > most) this.saturated++;
              stored[2 * (((lost + t) * threads + p) * channels + c) + part] = Math.max(
                -most,
                Math.min(most, value),
              );
            }
      await writer.append(stored);
    }
    const { product, stepHz } = this.settings;
    const rows = new Uint16Array(whole * threads * channels);
    for (let p = 0; p < threads; p++)
      for (let t = 0; t < samples; t++)
        for (let c = 0; c < channels; c++) {
          const count = counts[(p * samples + t) * channels + c];
          this.added += count;
          rows[((lost + t) * threads + p) * channels + (stepHz > 0 ? channels - 1 - c : c)] = count;
        }
    await this.counts?.append(rows);
    this.possible += whole * channels * threads * product.telescope.stations.length;
    this.nextSpectrum = index + samples;
  }

  private async describe(): Promise<void> {
    const { product, grid, firstHz, stepHz, phaseLoss } = this.settings;
    const start = addSamples(grid.start, this.firstSpectrum, grid.spectrumRateHz);
    const text = JSON.stringify(
      {
        ...{ product: 'beams', telescope: product.telescope.name, start: formatInstant(start, 9) },
        time: 'UTC at the telescope; VDIF counts samples from whole seconds, and its first one is off by shiftS',
        shiftS: this.writers[0].shiftS,
        ...{ firstChannelHz: firstHz, channelStepHz: stepHz, channels: this.header.channels },
        ...{ threads: this.header.threads === 2 ? ['X', 'Y'] : ['X'], phaseLoss },
        weights: product.weights === 'ci8' ? 8 : 'float',
        values:
          'sum of calibrated stations × scale, halves to even; samples that are missing or flagged add nothing',
        samples: {
          file: basename(this.paths[product.targets.length]),
          holds: 'how many stations are in each value',
        },
        beams: product.targets.map(({ name }, b) => ({
          ...{ file: basename(this.beamPaths[b]), name, scale: this.levels?.[b] },
        })),
        ...{ totals: this.totals, history: this.history },
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
    await this.measure();
    await this.describe();
    for (const writer of this.writers) await writer.finish();
    await this.counts?.finish();
    await this.description?.finish();
  }

  async keep(): Promise<string> {
    if (this.firstSpectrum < 0) return `${this.settings.path}: nothing was received, and nothing was written`;
    await this.finish();
    return `${this.settings.path} is whole and holds the ${this.totals.values} spectra that were finished`;
  }

  async abandon(): Promise<void> {
    for (const writer of this.writers) await writer.abandon();
    await this.counts?.abandon();
    await this.description?.abandon();
  }
}
