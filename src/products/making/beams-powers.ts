/** Powers of beams: a filterbank for each, one of the number of samples in each value, and a description. */
import { basename } from 'node:path';
import { detections } from '../../beamform/index.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { halfToEven } from '../../core/round-up.js';
import { createFilterbank, type FilterbankHeader, type FilterbankWriter } from '../../formats/index.js';
import type { BeamItem, BeamPowers } from '../../compose/index.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../../sky/frame.js';
import { localCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import { BeamFile, BeamFiles, type BeamFileSettings } from './beams-files.js';

/** Number of values to measure scales on, and its memory limit. */
const MEASURED_VALUES = 1024;
const MEASURED_BYTES = 2 ** 26;

interface Rows {
  /** [t][if][c], as in a file. */
  readonly values: Float32Array;
  /** The number of samples in each value. */
  readonly counts: Float32Array;
}

/** Values of 8 or 16 bits have a scale and an offset for every channel. */
class PowerFile extends BeamFile<Rows> {
  levels: Levels | undefined;

  constructor(
    path: string,
    target: PhaseCentre,
    readonly header: FilterbankHeader,
    private readonly writer: FilterbankWriter,
    { firstValue, enough }: { readonly firstValue: number; readonly enough: number },
  ) {
    super(path, target, writer, header.planes * header.channels, enough);
    this.firstValue = firstValue;
  }
  readonly firstValue: number;

  protected get isScaled(): boolean {
    return this.header.bits === 32 || this.levels !== undefined;
  }

  protected scaleBy(waiting: readonly Rows[]): void {
    const [values, counts] = (['values', 'counts'] as const).map((one) =>
      joined(waiting.map((rows) => rows[one])),
    );
    this.levels = measureLevels(values, counts, this.rowLength, this.header.bits as 8 | 16);
  }

  protected async store({ values, counts }: Rows): Promise<void> {
    if (!this.levels) return this.writer.append(values, { counts });
    const { stored, saturated } = requantise(values, counts, this.levels, this.header.bits as 8 | 16);
    this.saturated += saturated;
    await this.writer.append(stored, { levels: this.levels, counts });
  }
}

export class PowerFiles extends BeamFiles<Rows, PowerFile> {
  private readonly planes: number;
  private readonly countPlanes: 1 | 2;

  constructor(settings: BeamFileSettings) {
    super(settings, {
      empty: [
        'no value was made: the data are shorter',
        'give longer data, or a shorter products.beams.every',
      ],
      nothing: 'no value was finished',
      unit: 'values',
    });
    const { detection } = settings.product;
    this.planes = detection === 'none' ? 1 : detections[detection];
    this.countPlanes = detection === 'XX,YY' ? 2 : 1;
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
    await this.reach(made.firstValue, made.beams, history);
    await this.putRows(made, values);
  }

  protected async begin(targets: readonly PhaseCentre[]): Promise<void> {
    const { channels, bits } = this.settings;
    if (!this.counts) {
      const zenith = localCentre('zenith', { x: 0, y: 0, z: 1 });
      this.counts = await createFilterbank(this.countsPath, {
        ...this.headerOf(targets.at(0) ?? zenith, 1, Math.max(1, targets.length)),
        sourceName: 'samples in each value',
        bits: 32,
        planes: this.countPlanes,
      });
      await this.openDescription();
    }
    const bytes = 4 * channels * (this.planes * targets.length + this.countPlanes);
    const enough = Math.max(16, Math.min(MEASURED_VALUES, Math.floor(MEASURED_BYTES / bytes)));
    await this.renew(targets, async (path, target, number) => {
      const header = this.headerOf(target, number, targets.length);
      const from = { firstValue: this.next, enough };
      return new PowerFile(path, target, header, await createFilterbank(path, header), from);
    });
    if (bits === 32) await this.describe();
  }

  protected putEmpty(values: number): Promise<void> {
    const { channels } = this.settings;
    const nothing = new Float32Array(values * this.planes * channels);
    return this.putAll(
      this.open.map(() => nothing),
      new Float32Array(values * this.countPlanes * channels),
      values,
    );
  }

  /** Averages channels and orders them by falling frequency: [b][d][v][c] to [t][if][c] of each beam. */
  private putRows({ powers, counts, values: made, beams }: BeamPowers, values: number): Promise<void> {
    const { channels, averageChannels: each, stepHz } = this.settings;
    const { planes, countPlanes } = this;
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
    return this.putAll(
      beams.targets.map((_, b) => turned(powers, planes, (d) => b * planes + d, 1 / each)),
      turned(counts, countPlanes, (plane) => plane, 1),
      values,
    );
  }

  /** counts : [t][plane][c] */
  private putAll(beams: readonly Float32Array[], counts: Float32Array, values: number): Promise<void> {
    const own = this.countsOfValues(counts, values);
    return this.put(
      beams.map((one) => ({ values: one, counts: own })),
      counts,
      values,
    );
  }

  /** [t][if][c] of counts, for each plane of values. */
  private countsOfValues(counts: Float32Array, values: number): Float32Array {
    const { planes, countPlanes } = this;
    const { channels } = this.settings;
    if (planes === countPlanes) return counts;
    const all = new Float32Array(values * planes * channels);
    for (let t = 0; t < values; t++)
      for (let plane = 0; plane < planes; plane++)
        all.set(counts.subarray(t * channels, (t + 1) * channels), (t * planes + plane) * channels);
    return all;
  }

  /** For a beam that begins with the next value. */
  private headerOf(target: PhaseCentre, beam: number, beams: number): FilterbankHeader {
    const { product, grid, recordingName, bits, channels } = this.settings;
    const { telescope, spectraPerValue, sum } = product;
    const start = this.startOf(this.next);
    const pointingAt = (moment: Instant) => {
      const frame = skyFrame(telescope.site, moment);
      const direction = target.directionEnu(frame);
      return {
        position: target.position(frame),
        azimuthDeg: azimuthDeg(direction),
        zenithAngleDeg: 90 - altitudeDeg(direction),
      };
    };
    return {
      sourceName: sum === 'incoherent' ? 'incoherent sum' : target.name,
      rawDataFile: recordingName,
      ...this.fallingBand(),
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

  protected facts(): object {
    const { product, averageChannels, grid, phaseLoss, bits } = this.settings;
    const { telescope, detection, sum, weights, spectraPerValue, nulls = [], taper } = product;
    return {
      product: 'beams',
      telescope: telescope.name,
      // All digits: a header's date is accurate to 0.7 µs.
      start: formatInstant(this.startOf(this.first), 9),
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
        bits === 32
          ? 'floats'
          : 'halfToEven(value × scale + offset) of each plane and channel; 0: nothing received',
      samples: this.samplesFacts('how many samples of inputs, spectra and channels are in each value'),
      beams: this.all.map(({ path, target, header, levels, firstValue, written }) => {
        const { position, azimuthDeg: az, zenithAngleDeg: za, beam } = header;
        const isWhole = firstValue === this.first && this.open.some((one) => one.path === path);
        return {
          file: basename(path),
          name: target.name,
          beam,
          tracked: target.kind !== 'local',
          position,
          azimuthDeg: az,
          zenithAngleDeg: za,
          ...this.qualityOf(target.name),
          // Added or stopped during the run.
          ...(!isWhole && { start: formatInstant(this.startOf(firstValue), 9), values: written }),
          ...(levels && { scale: Array.from(levels.scale), offset: Array.from(levels.offset) }),
        };
      }),
    };
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

interface Levels {
  /** [row]: stored = halfToEven(value·scale + offset), clipped to the range of the bits. */
  readonly scale: Float32Array;
  readonly offset: Float32Array;
}

/** Position of a channel's median: a quarter of the range, for pulses above; six standard deviations below it. */
const MEDIAN_AT = 1 / 4;
const DEVIATIONS_BELOW = 6;
/** For Gaussian noise, between the quartiles. */
const QUARTILES_PER_DEVIATION = 1.349;

/** values : [t][row], counts : [t][row], 0 where no data were received; those values are left out. */
function measureLevels(values: Float32Array, counts: Float32Array, rows: number, bits: 8 | 16): Levels {
  const scale = new Float32Array(rows);
  const offset = new Float32Array(rows);
  const median = 2 ** bits * MEDIAN_AT;
  const times = values.length / rows;
  const room = new Float32Array(times);
  for (let n = 0; n < rows; n++) {
    let received = 0;
    for (let t = 0; t < times; t++) if (counts[t * rows + n] > 0) room[received++] = values[t * rows + n];
    // A typed array sorts as numbers, ten times as fast as with a comparison function.
    const some = room.subarray(0, received).sort();
    const at = (share: number): number => some[Math.floor(share * (some.length - 1))] ?? 0;
    const deviation = (at(0.75) - at(0.25)) / QUARTILES_PER_DEVIATION;
    // A constant channel has no scale.
    scale[n] = deviation > 0 ? median / DEVIATIONS_BELOW / deviation : 0;
    offset[n] = median - at(0.5) * scale[n];
  }
  return { scale, offset };
}

/** 0 where no data were received; `saturated` counts values outside the range of the bits. */
function requantise(
  values: Float32Array,
  counts: Float32Array,
  { scale, offset }: Levels,
  bits: 8 | 16,
): { readonly stored: Uint8Array | Uint16Array; readonly saturated: number } {
  const stored = new (bits === 8 ? Uint8Array : Uint16Array)(values.length);
  const most = 2 ** bits - 1;
  let saturated = 0;
  for (let n = 0; n < values.length; n++) {
    if (counts[n] === 0) continue;
    const row = n % scale.length;
    const level = halfToEven(values[n] * scale[row] + offset[row]);
    if (level < 0 || level > most) saturated++;
    stored[n] = Math.min(most, Math.max(0, level));
  }
  return { stored, saturated };
}
