/** What beams in files have in common, of powers and of voltages: a file each, one of counts, and a description. */
import { basename } from 'node:path';
import { refuse } from '../../core/errors.js';
import { addSamples, type Instant } from '../../core/instant.js';
import { openOutput, type FilterbankHeader, type FilterbankWriter } from '../../formats/index.js';
import type { BeamItem, BeamQuality, BeamSet, BeamsProduct } from '../../compose/index.js';
import type { SpectrumGrid } from '../../stages/index.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import { beamPath, besideBeams } from '../beam-paths.js';

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

interface BeamOutput {
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

/** Block length for writing values without data. */
const FILLED_AT_ONCE = 1024;

/** The current beams that continue, by name; undefined for new ones. */
function goingOn<Beam extends { readonly target: PhaseCentre }>(
  beams: readonly Beam[],
  targets: readonly PhaseCentre[],
): readonly (Beam | undefined)[] {
  const left = [...beams];
  return targets.map(({ name }) => {
    const at = left.findIndex(({ target }) => target.name === name);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
}

/** The file of one beam. Its first values wait until its scale is measured on them. */
export abstract class BeamFile<Rows extends { readonly values: { readonly length: number } }> {
  saturated = 0;
  written = 0;
  private waiting: Rows[] = [];

  constructor(
    readonly path: string,
    readonly target: PhaseCentre,
    private readonly output: Pick<FilterbankWriter, 'finish' | 'abandon'>,
    /** Numbers of a value, and how many values its scale is measured on. */
    protected readonly rowLength: number,
    private readonly enough: number,
  ) {}

  /** Whether there is a scale, or none is needed. */
  protected abstract get isScaled(): boolean;
  protected abstract scaleBy(waiting: readonly Rows[]): void;
  protected abstract store(rows: Rows): Promise<void>;

  /** True if this measured its scale. */
  async put(rows: Rows): Promise<boolean> {
    if (this.isScaled) {
      await this.write(rows);
      return false;
    }
    this.waiting.push(rows);
    const waiting = this.waiting.reduce((sum, { values }) => sum + values.length, 0) / this.rowLength;
    return waiting >= this.enough && this.measure();
  }

  /** Measures the scale from the waiting values, then writes them. */
  async measure(): Promise<boolean> {
    const { waiting } = this;
    if (waiting.length === 0) return false;
    this.scaleBy(waiting);
    this.waiting = [];
    for (const rows of waiting) await this.write(rows);
    return true;
  }

  private write(rows: Rows): Promise<void> {
    this.written += rows.values.length / this.rowLength;
    return this.store(rows);
  }

  async finish(): Promise<void> {
    await this.measure();
    await this.output.finish();
  }

  abandon(): Promise<void> {
    return this.output.abandon();
  }
}

interface Words {
  /** Of the refusal if there are no data. */
  readonly empty: readonly [what: string, fix: string];
  /** If the run ends early. */
  readonly nothing: string;
  readonly unit: string;
}

export abstract class BeamFiles<
  Rows extends { readonly values: { readonly length: number } },
  File extends BeamFile<Rows>,
> {
  /** In beam order. */
  protected open: readonly File[] = [];
  /** All beams, including stopped ones. */
  protected readonly all: File[] = [];
  protected counts: FilterbankWriter | undefined;
  /** Numbers of the first value and of the next one; the first is negative before any. */
  protected first = -1;
  protected next = 0;
  protected leftOut = 0;
  protected history: readonly string[] = [];
  protected readonly countsPath: string;
  protected readonly descriptionPath: string;
  private beams: BeamSet | undefined;
  private description: Awaited<ReturnType<typeof openOutput>> | undefined;
  private added = 0;
  private possible = 0;

  constructor(
    protected readonly settings: BeamFileSettings,
    private readonly words: Words,
  ) {
    const { counts, description } = besideBeams(settings.path);
    [this.countsPath, this.descriptionPath] = [counts, description];
  }

  abstract take(made: BeamItem, history: readonly string[]): Promise<void>;
  /** From the next value on. */
  protected abstract begin(targets: readonly PhaseCentre[]): Promise<void>;
  /** Writes this many values without data. */
  protected abstract putEmpty(values: number): Promise<void>;
  protected abstract facts(): object;

  /** Outputs of the beams at the start and of later ones. */
  get made(): readonly BeamOutput[] {
    const { targets } = this.settings.product;
    return this.all.length > 0
      ? this.all.map((one) => ({ name: one.target.name, path: one.path }))
      : targets.map(({ name }, b) => ({ name, path: this.pathOf(b + 1) }));
  }

  get paths(): readonly string[] {
    return [...this.made.map((one) => one.path), this.countsPath, this.descriptionPath];
  }

  /** Paths of this many further beams. */
  further(beams: number): readonly string[] {
    const { length } = this.made;
    return Array.from({ length: beams }, (_, b) => this.pathOf(length + 1 + b));
  }

  get totals(): BeamTotals {
    const { added, possible, leftOut } = this;
    const values = this.first < 0 ? 0 : this.next - this.first;
    const saturated = this.all.reduce((sum, one) => sum + one.saturated, 0);
    return { values, samples: { added, possible }, saturated, spectraLeftOut: leftOut };
  }

  private pathOf(number: number): string {
    const { path, product } = this.settings;
    return beamPath(path, number, product.targets.length);
  }

  /** Begins, or continues, up to a value of these beams; values that never came are written without data. */
  protected async reach(value: number, beams: BeamSet, history: readonly string[]): Promise<void> {
    if (this.first < 0) {
      this.history = history;
      [this.first, this.next] = [value, value];
      this.beams = beams;
      await this.begin(beams.targets);
    } else if (beams !== this.beams) {
      await this.fill(beams.first / this.settings.product.spectraPerValue - this.next);
      this.beams = beams;
      await this.begin(beams.targets);
    }
    await this.fill(value - this.next);
  }

  private async fill(values: number): Promise<void> {
    for (let left = values; left > 0; left -= FILLED_AT_ONCE)
      await this.putEmpty(Math.min(left, FILLED_AT_ONCE));
  }

  /** Continuing beams keep their files, others end, and new ones get new files. */
  protected async renew(
    targets: readonly PhaseCentre[],
    create: (path: string, target: PhaseCentre, number: number) => Promise<File>,
  ): Promise<void> {
    const stay = goingOn(this.open, targets);
    for (const one of this.open) if (!stay.includes(one)) await one.finish();
    const open: File[] = [];
    for (const [n, target] of targets.entries()) {
      const number = this.all.length + 1;
      const one = stay[n] ?? (await create(this.pathOf(number), target, number));
      if (!stay[n]) this.all.push(one);
      open.push(one);
    }
    this.open = open;
  }

  protected async openDescription(): Promise<void> {
    this.description ??= await openOutput(this.descriptionPath);
  }

  protected async put(
    rows: readonly Rows[],
    counts: Float32Array | Uint16Array,
    values: number,
  ): Promise<void> {
    const { product, channels, averageChannels, polarisations } = this.settings;
    this.next += values;
    for (const count of counts) this.added += count;
    this.possible +=
      values *
      product.spectraPerValue *
      (product.telescope.stations.length * polarisations) *
      (channels * averageChannels);
    let isMeasured = false;
    for (const [b, one] of this.open.entries()) isMeasured = (await one.put(rows[b])) || isMeasured;
    await this.counts?.append(counts);
    if (isMeasured) await this.describe();
  }

  protected startOf(value: number): Instant {
    const { product, grid } = this.settings;
    return addSamples(grid.start, value * product.spectraPerValue, grid.spectrumRateHz);
  }

  /** Readers want the highest frequency first. */
  protected fallingBand(): Pick<FilterbankHeader, 'firstChannelHz' | 'channelStepHz'> {
    const { firstHz, stepHz, channels } = this.settings;
    return {
      firstChannelHz: stepHz < 0 ? firstHz : firstHz + (channels - 1) * stepHz,
      channelStepHz: -Math.abs(stepHz),
    };
  }

  /** For a description: the file and its beam, the efficiency of its weights, and the depth of its nulls. */
  protected qualityOf(name: string): object {
    const { qualityOf, product } = this.settings;
    const quality = qualityOf(name);
    if (!quality) return {};
    const { efficiency, depth } = quality;
    return { efficiency, ...(product.nulls?.length !== 0 && { nullDepthDb: 10 * Math.log10(depth) }) };
  }

  protected samplesFacts(holds: string): object {
    return { file: basename(this.countsPath), holds };
  }

  /** Properties for which a header has no keywords. */
  protected async describe(): Promise<void> {
    const text = JSON.stringify(
      { ...this.facts(), totals: this.totals, history: this.history },
      undefined,
      1,
    );
    await this.description?.resize(0);
    await this.description?.write(new TextEncoder().encode(`${text}\n`));
    this.description?.worthKeeping();
  }

  async finish(): Promise<void> {
    if (this.first < 0) refuse(this.settings.path, ...this.words.empty);
    for (const one of this.open) await one.measure();
    await this.describe();
    for (const one of this.open) await one.finish();
    await this.counts?.finish();
    await this.description?.finish();
  }

  async keep(): Promise<string> {
    const { path } = this.settings;
    if (this.first < 0) return `${path}: ${this.words.nothing}, and nothing was written`;
    await this.finish();
    return `${path} is whole and holds the ${this.totals.values} ${this.words.unit} that were finished`;
  }

  async abandon(): Promise<void> {
    for (const one of this.all) await one.abandon();
    await this.counts?.abandon();
    await this.description?.abandon();
  }
}
