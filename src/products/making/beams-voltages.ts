/** Voltages of beams in VDIF: requantised by one scale per beam, from its first spectra; and a filterbank of counts. */
import { basename } from 'node:path';
import { halfToEven } from '../../core/round-up.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import {
  createFilterbank,
  createVdif,
  samplesPerFrameOf,
  type VdifHeader,
  type VdifWriter,
} from '../../formats/index.js';
import type { BeamItem, BeamSamples } from '../../compose/index.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import { BeamFile, BeamFiles, type BeamFileSettings } from './beams-files.js';

/** Spectra that scales are measured on. */
const MEASURED_SPECTRA = 1024;
/** The rms of a real or imaginary part is this fraction of the one-sided range of the bits: six of them fit. */
const RMS_AT = 1 / 6;

/** [t][p][c], complex, as in a file, and their divisor. */
interface Sums {
  readonly values: BeamSamples['voltages'];
  readonly scale: number;
}

class VoltageFile extends BeamFile<Sums> {
  /** The factor that sums are multiplied by. */
  level: number | undefined;

  constructor(
    path: string,
    target: PhaseCentre,
    /** Time of its first spectrum. */
    readonly start: Instant,
    private readonly writer: VdifWriter,
    private readonly header: Omit<VdifHeader, 'start'>,
  ) {
    super(path, target, writer, 2 * header.threads * header.channels, MEASURED_SPECTRA);
  }

  get shiftS(): number {
    return this.writer.shiftS;
  }

  protected get isScaled(): boolean {
    return this.level !== undefined;
  }

  /** From so many spectra, independent of the block cuts. */
  protected scaleBy(waiting: readonly Sums[]): void {
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
  }

  protected async store({ values, scale: of }: Sums): Promise<void> {
    const most = 2 ** (this.header.bits - 1) - 1;
    const stored = new (this.header.bits === 8 ? Int8Array : Int16Array)(values.length);
    // One float32 scale, for the unscaled sums.
    const scale = Math.fround((this.level ?? 0) / of);
    for (let n = 0; n < values.length; n++) {
      const value = halfToEven(values[n] * scale);
      if (Math.abs(value) > most) this.saturated++;
      stored[n] = Math.max(-most, Math.min(most, value));
    }
    await this.writer.append(stored);
  }
}

export class VoltageFiles extends BeamFiles<Sums, VoltageFile> {
  private readonly header: Omit<VdifHeader, 'start'>;

  constructor(settings: BeamFileSettings) {
    super(settings, {
      empty: ['no sample was received', 'give other data'],
      nothing: 'nothing was received',
      unit: 'spectra',
    });
    const { path, product, channels, polarisations, grid, averageChannels, bits } = settings;
    if (bits === 32) refuse('products.beams.bits', 'VDIF of voltages has 8 or 16', 'give one of them');
    if (averageChannels !== 1 || product.spectraPerValue !== 1)
      refuse('products.beams.detection', 'voltages are not averaged', 'leave every and average-channels out');
    this.header = { channels, threads: polarisations, bits, sampleRateHz: grid.spectrumRateHz };
    samplesPerFrameOf(path, { ...this.header, start: grid.start });
  }

  async take(made: BeamItem, history: readonly string[]): Promise<void> {
    if (made.kind !== 'voltages') throw new Error('a file of voltages was handed powers');
    if (made.counts.every((count) => count === 0)) return;
    await this.reach(made.index, made.beams, history);
    await this.putVoltages(made);
  }

  protected async begin(targets: readonly PhaseCentre[]): Promise<void> {
    const { header } = this;
    const start = this.startOf(this.next);
    await this.renew(
      targets,
      async (path, target) =>
        new VoltageFile(path, target, start, await createVdif(path, { ...header, start }), header),
    );
    this.counts ??= await createFilterbank(this.countsPath, {
      sourceName: 'samples in each value',
      rawDataFile: this.settings.recordingName,
      channels: header.channels,
      start,
      planes: header.threads,
      bits: 16,
      valueS: 1 / header.sampleRateHz,
      ...this.fallingBand(),
    });
    await this.openDescription();
  }

  protected putEmpty(spectra: number): Promise<void> {
    const { channels, threads } = this.header;
    return this.put(
      this.open.map(() => ({ values: new Int32Array(2 * spectra * threads * channels), scale: 1 })),
      new Uint16Array(spectra * threads * channels),
      spectra,
    );
  }

  private async putVoltages({ samples, voltages, scales, counts }: BeamSamples): Promise<void> {
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
        for (let c = 0; c < channels; c++)
          rows[(t * threads + p) * channels + (stepHz > 0 ? channels - 1 - c : c)] =
            counts[(p * samples + t) * channels + c];
    await this.put(sums, rows, samples);
  }

  protected facts(): object {
    const { product, firstHz, stepHz, phaseLoss } = this.settings;
    const start = this.startOf(this.first);
    return {
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
      samples: this.samplesFacts('how many stations are in each value'),
      beams: this.all.map(({ path, target, level, start: begun, shiftS, written }) => {
        const isWhole = secondsBetween(start, begun) === 0 && this.open.some((one) => one.path === path);
        return {
          file: basename(path),
          name: target.name,
          scale: level,
          ...this.qualityOf(target.name),
          // Added or stopped during the run.
          ...(!isWhole && { start: formatInstant(begun, 9), shiftS, values: written }),
        };
      }),
    };
  }
}
