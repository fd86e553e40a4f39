/**
 * Periodically passes part of the live data through the reference, and images it by both methods: measures whether this
 * machine still computes correctly.
 */
import type { Backend } from '../backend/backend.js';
import { openBackend } from '../backend/select.js';
import { elementsPerSpectra, spectraCAT, type SpectraType } from '../core/axes.js';
import type { Integration, SpectraBlock } from '../core/blocks.js';
import { Closers } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import { planCorrelation, prepareCorrelator } from '../correlate/index.js';
import { prepareDirectImager, prepareVisibilityImager } from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  planSky,
  withCentre,
  type ImageSettings,
  type SkyImage,
  type TimedSpectra,
} from '../stages/index.js';

interface CheckSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  /** Wall-clock time between checks. */
  readonly everyS: number;
  /** If images are made: both imaging methods are compared with these settings. */
  readonly image?: ImageSettings;
}

interface Checked {
  readonly time: Instant;
  readonly atMs: number;
  readonly samples: number;
  readonly products: number;
  readonly differing: number;
  /** Relative to the largest sum. */
  readonly largest: number;
  readonly exact: boolean;
  readonly methods?: {
    readonly visibilities: SkyImage;
    readonly direct: SkyImage;
    /** Relative to the brightest pixel. */
    readonly difference: number;
  };
}

/** One channel of the first spectra of a block. */
interface Piece {
  readonly spectra: ReturnType<typeof oneChannel>;
  readonly channel: number;
  readonly type: SpectraType;
  readonly inputs: number;
  readonly samples: number;
}

/** Products times spectra that the reference processes in some tens of milliseconds. */
const MOST_WORK = 2 ** 21;
/** Floats are summed in a different order. */
const FLOAT_TOLERANCE = 1e-5;

export class LiveCheck {
  private dueMs = 0;
  private reference: Backend | undefined;
  /** With the phase centre of the whole band's images. */
  private image: ImageSettings | undefined;
  private isBusy = false;
  private pending: Promise<void> = Promise.resolve();
  private fault: Error | undefined;
  latest: Checked | undefined;
  checked = 0;
  failed = 0;

  constructor(
    private readonly settings: CheckSettings,
    private readonly onChecked: (checked: Checked) => void = () => undefined,
  ) {}

  /** If a check is due, copies part of the block, which is checked while data continue. */
  readonly look = async ({ block, start }: TimedSpectra): Promise<void> => {
    if (this.fault) throw this.fault;
    if (this.isBusy || performance.now() < this.dueMs) return;
    this.isBusy = true;
    this.dueMs = performance.now() + 1000 * this.settings.everyS;
    const piece = await this.pieceOf(block);
    // Zeros are no test.
    if (piece.spectra.every((value) => value === 0)) {
      [this.isBusy, this.dueMs] = [false, 0];
      return;
    }
    this.pending = this.check(piece, start).then(
      (checked) => {
        this.isBusy = false;
        this.latest = checked;
        this.checked++;
        if (checked.differing > 0) this.failed++;
        this.onChecked(checked);
      },
      (error: unknown) => {
        this.fault = error as Error;
      },
    );
  };

  /** Resolves when the copied data have been checked. */
  async settled(): Promise<void> {
    await this.pending;
    if (this.fault) throw this.fault;
  }

  async close(): Promise<void> {
    await this.pending;
    await this.reference?.close();
  }

  private async pieceOf(block: SpectraBlock): Promise<Piece> {
    const { type, inputs, channels } = block.shape;
    const samples = Math.max(1, Math.min(block.samples, Math.floor(MOST_WORK / inputs ** 2)));
    const channel = Math.floor(channels / 2);
    const shape = { type, inputs, samples: block.samples };
    return {
      spectra: oneChannel(await block.read(), shape, channel, samples),
      channel,
      type,
      inputs,
      samples,
    };
  }

  private async check({ spectra, channel, ...shape }: Piece, time: Instant): Promise<Checked> {
    const { backend } = this.settings;
    this.reference ??= await openBackend('reference');
    const { type, samples } = shape;
    const closers = new Closers();
    try {
      const [ours, truth] = [
        await this.correlate(backend, spectra, shape, closers),
        await this.correlate(this.reference, spectra, shape, closers),
      ];
      const differences = compare(ours.integration, truth.integration, type);
      const methods = this.settings.image && (await this.methods(ours, time, channel, closers));
      return {
        time,
        atMs: performance.now(),
        samples,
        products: ours.integration.visibilities.length / 2,
        ...differences,
        exact: type !== 'cf32',
        methods,
      };
    } finally {
      await closers.close();
    }
  }

  private async correlate(
    backend: Backend,
    piece: Piece['spectra'],
    { type, inputs, samples }: Pick<Piece, 'type' | 'inputs' | 'samples'>,
    closers: Closers,
  ): Promise<{ readonly integration: Integration; readonly spectra: SpectraBlock }> {
    const { polarisations } = this.settings.telescope;
    const stations = inputs / polarisations;
    const plan = planCorrelation({ stations, polarisations, channels: 1, type });
    const correlator = closers.keep(await prepareCorrelator(plan, backend));
    const spectra = closers.keep(backend.allocateSpectra({ type, channels: 1, inputs, capacity: samples }));
    await spectra.write(piece, samples);
    await correlator.accumulate(spectra);
    const { visibilities, counts } = await correlator.finish();
    const integration: Integration = {
      start: { unixSeconds: 0, fraction: 0 },
      durationS: 1,
      channels: 1,
      stations,
      polarisations,
      visibilities,
      counts,
      flaggedInputs: plan.flaggedInputs,
    };
    return { integration, spectra };
  }

  /** Images the same spectra from visibilities and directly. */
  private async methods(
    { integration, spectra }: { readonly integration: Integration; readonly spectra: SpectraBlock },
    time: Instant,
    channel: number,
    closers: Closers,
  ): Promise<Checked['methods']> {
    const { backend, telescope, frequenciesHz } = this.settings;
    if (!this.settings.image) return undefined;
    const image = (this.image ??= withCentre(telescope, frequenciesHz, this.settings.image));
    const frame = skyFrame(telescope.site, time);
    const plan = planSky(telescope, frame, frequenciesHz.slice(channel, channel + 1), image);
    const byPairs = closers.keep(await prepareVisibilityImager(plan, backend));
    const directly = closers.keep(await prepareDirectImager(plan, backend));
    // Direct imaging includes autocorrelations.
    const first = (await byPairs.image([integration], { weight: 'natural', autos: 'include' })).image;
    await directly.accumulate(spectra);
    const second = (await directly.finish()).image;
    let [peak, most] = [0, 0];
    for (let at = 0; at < first.length; at++) {
      if (Math.abs(first[at]) > peak) peak = Math.abs(first[at]);
      if (Math.abs(first[at] - second[at]) > most) most = Math.abs(first[at] - second[at]);
    }
    const facts = { plan, frame, start: time, durationS: 0 };
    return {
      visibilities: { ...facts, image: first },
      direct: { ...facts, image: second },
      difference: most / peak,
    };
  }
}

/** One channel's first spectra out of [c][a][t]. */
function oneChannel(
  all: ReturnType<typeof spectraCAT>,
  {
    type,
    inputs,
    samples,
  }: { readonly type: SpectraType; readonly inputs: number; readonly samples: number },
  channel: number,
  wanted: number,
): ReturnType<typeof spectraCAT> {
  const each = elementsPerSpectra(type);
  const piece = all.slice(0, inputs * wanted * each);
  for (let a = 0; a < inputs; a++) {
    const from = (channel * inputs + a) * samples * each;
    piece.set(all.subarray(from, from + wanted * each), a * wanted * each);
  }
  return spectraCAT(piece, type, 1, inputs, wanted);
}

function compare(
  { visibilities: ours }: Integration,
  { visibilities: truth }: Integration,
  type: SpectraType,
): { readonly differing: number; readonly largest: number } {
  let [most, largest, differing] = [0, 0, 0];
  for (const value of truth) if (Math.abs(value) > most) most = Math.abs(value);
  const tolerance = type === 'cf32' ? FLOAT_TOLERANCE * most : 0;
  for (let k = 0; k < truth.length; k += 2) {
    const off = Math.max(Math.abs(ours[k] - truth[k]), Math.abs(ours[k + 1] - truth[k + 1]));
    if (!(off <= tolerance)) differing++;
    if (off > largest) largest = off;
  }
  return { differing, largest: most > 0 ? largest / most : largest };
}
