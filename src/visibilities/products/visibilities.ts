/** Visibilities from visibilities: a part, calibrated, averaged, phased to another centre, in another format. */
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import {
  storedProducts,
  visibilityFormatFor,
  type VisibilityFile,
  type VisibilityHeader,
} from '../../formats/index.js';
import {
  applyGains,
  channelsNamed,
  channelsWithoutGains,
  crossHandsKnown,
  fitsData,
  matchGains,
  pairNamed,
  phasedAt,
  stationNamed,
  writtenAsFar,
  lowCentre,
} from '../../stages/index.js';
import { handingOver, type Product } from '../../products/index.js';
import { parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import {
  chosen,
  refuseNoTimes,
  timesOf,
  type FromVisibilities,
  type PlannedFromVisibilities,
} from '../from-visibilities.js';
import { reworkVisibilities, type Rework } from '../rework.js';

/** Visibilities that were written. */
export interface WrittenVisibilities {
  readonly integrations: number;
  readonly seconds: number;
  /** If gains were applied. */
  readonly calibrated?: AppliedGains;
}

export interface AppliedGains {
  /** Relative gains leave data in counts. */
  readonly unit: 'Jy' | 'counts';
  readonly values: number;
  /** Of all values: without a gain, or of cross hands of unknown phase. */
  readonly flagged: number;
  readonly withoutGain: number;
  /** Largest number of channels without gains. */
  readonly channelsWithout: number;
  readonly channels: number;
  /** For two polarisations: cross hands of unknown phase are flagged. */
  readonly crossHands?: 'known' | 'unknown';
  /** Whether the gains are matrices. */
  readonly hasLeakage: boolean;
  /** From the first of the data to the last. */
  readonly span?: { readonly start: Instant; readonly durationS: number };
}

const WHERE = 'products.visibilities';

export async function planVisibilities(
  product: Product<'visibilities'>,
  from: FromVisibilities,
): Promise<PlannedFromVisibilities<WrittenVisibilities>> {
  const { opened, gains, telescope } = from;
  const path = product.visibilities ?? undefined;
  const format = path === undefined ? undefined : visibilityFormatFor(path);
  const place = product['phase-centre'];
  const centre = place === undefined ? undefined : parsePhaseCentre(place, `${WHERE}.phase-centre`);
  const middle = centre && (await middleOf(opened, centre));
  const moved = centre && middle && phasedAt(centre, opened.telescope.site, middle);
  const selection: Rework = {
    ...timesOf(from.observation),
    ...(product.channels && {
      channels: channelsNamed(product.channels.join(','), opened.header.frequenciesHz, `${WHERE}.channels`),
    }),
  };
  const rest = restOf(product, opened);
  const isReworked = Object.keys(rest).length > 0;
  const work: Rework = { ...rest, ...(isReworked && moved && { phaseCentre: moved.phaseCentre }) };
  const selected = reworked(from.file, selection);
  const applied = product.calibrated === true && gains ? new Applied(from, gains) : undefined;
  // Values are calibrated before averaging.
  const part = applied
    ? reworked(applied.of(selected), work)
    : reworked(from.file, { ...selection, ...work });
  const source = chosen(part, from.observation.source.integration);
  const { units, frequenciesHz } = selected.header;
  return {
    name: 'visibilities',
    paths: path === undefined ? [] : [path],
    warnings: [
      ...(applied && gains
        ? fitsData(gains.file, gains.path, { telescope, frequenciesHz, ...(units && { units }) })
        : []),
      ...(middle
        ? lowCentre(`${WHERE}.phase-centre`, centre, opened.telescope.site, { start: middle, durationS: 0 })
        : []),
    ],
    make: async (making) => {
      const { history, stage } = making;
      const shown = stage(applied ? 'apply' : 'convert');
      const header = {
        ...(centre ? withoutDrift(source.header) : source.header),
        history: [...history],
        ...moved,
      };
      const all = async (
        append: (integration: Integration) => Promise<void>,
        stop?: AbortSignal,
      ): Promise<number> => {
        let done = 0;
        for await (const integration of source.integrations('reused')) {
          stop?.throwIfAborted();
          await append(integration);
          shown.update({ done: ++done, of: source.integrationCount, unit: 'integrations' });
        }
        if (done === 0 && ('from' in selection || 'to' in selection)) refuseNoTimes(from);
        return done;
      };
      const integrations =
        format && path !== undefined
          ? await writtenAsFar(
              { path, unit: 'integration' },
              () => format.createVisibilities(path, header),
              all,
            )
          : await all((integration) =>
              handingOver(making, 'visibilities')({ kind: 'visibilities', integration, header }),
            );
      return { integrations, calibrated: applied?.facts(), seconds: shown.done() };
    },
  };
}

const reworked = (file: VisibilityFile, work: Rework): VisibilityFile =>
  Object.keys(work).length === 0 ? file : reworkVisibilities(file, work);

/** The processing after calibration. */
function restOf(product: Product<'visibilities'>, { header }: VisibilityFile): Rework {
  const { stations } = header.telescope;
  const { antennas, baselines, products } = product;
  const [averageS, averageChannels] = [product['average-time'], product['average-channels']];
  return {
    ...(antennas && {
      stations: antennas
        .map((name) => stationNamed(name, stations, `${WHERE}.antennas`))
        .sort((x, y) => x - y),
    }),
    ...(baselines && { pairs: baselines.map((pair) => pairNamed(pair, stations, `${WHERE}.baselines`)) }),
    ...(products && { products: products.map(codeNamed) }),
    ...(averageS !== undefined && { averageS }),
    ...(averageChannels !== undefined && { averageChannels }),
  };
}

function codeNamed(label: string): number {
  const found = Object.entries(storedProducts).find(([, product]) => product?.label === label.toUpperCase());
  return found
    ? Number(found[0])
    : refuse(`${WHERE}.products`, `'${label}' is no product`, 'write XX, YY, XY, YX or RR, LL, RL, LR');
}

/** Midway between the start of the first integration and the end of the last; for fixed positions any time will do. */
async function middleOf(file: VisibilityFile, { kind }: PhaseCentre): Promise<Instant> {
  let first: Instant | undefined;
  let end: Instant | undefined;
  for await (const { start, durationS } of file.integrations('reused')) {
    first ??= start;
    end = addSeconds(start, durationS);
    if (kind === 'fixed') break;
  }
  if (!first || !end) return refuse(file.path, 'holds no integration', 'check the file');
  return addSeconds(first, secondsBetween(first, end) / 2);
}

/** Once fringes are stopped they no longer run. */
function withoutDrift(header: VisibilityHeader): VisibilityHeader {
  const { fringes, ...others } = header;
  return fringes === undefined ? header : others;
}

const noCounts = () => ({
  values: 0,
  flagged: 0,
  withoutGain: 0,
  channelsWithout: 0,
  isKnown: true,
  start: undefined as Instant | undefined,
  durationS: 0,
});

/** A file divided by its gains, with an account of values without gains; for the latest reading. */
class Applied {
  private counts = noCounts();
  private header: VisibilityHeader | undefined;

  constructor(
    private readonly from: FromVisibilities,
    private readonly gains: NonNullable<FromVisibilities['gains']>,
  ) {}

  of(file: VisibilityFile): VisibilityFile {
    this.header = file.header;
    return {
      ...file,
      header: this.unit === 'Jy' ? { ...file.header, units: 'Jy' } : file.header,
      integrations: () => this.integrations(file),
    };
  }

  private async *integrations(file: VisibilityFile): AsyncGenerator<Integration> {
    const { telescope, observation } = this.from;
    const { path, file: gains } = this.gains;
    const { frequenciesHz } = file.header;
    this.counts = noCounts();
    for await (const integration of file.integrations('reused')) {
      const middle = addSeconds(integration.start, integration.durationS / 2);
      const calibrated = matchGains(gains, path, telescope, frequenciesHz, middle);
      if (observation.gains?.['cross-hand'] === 'known') calibrated.crossHands.fill(1);
      const without = channelsWithoutGains(calibrated, frequenciesHz.length).length;
      const applied = applyGains(integration, calibrated);
      const { counts } = this;
      counts.start ??= integration.start;
      counts.durationS = secondsBetween(counts.start, integration.start) + integration.durationS;
      counts.isKnown &&= crossHandsKnown(calibrated);
      counts.channelsWithout = Math.max(counts.channelsWithout, without);
      counts.flagged += applied.flagged;
      counts.withoutGain += applied.withoutGain;
      counts.values += applied.values;
      yield applied.integration;
    }
  }

  private get unit(): 'Jy' | 'counts' {
    return this.gains.file.fluxScale === 'relative' ? 'counts' : 'Jy';
  }

  facts(): AppliedGains {
    const { isKnown, start, durationS, ...counts } = this.counts;
    const { polarisations = 1, frequenciesHz } = this.header ?? {};
    return {
      ...counts,
      unit: this.unit,
      channels: frequenciesHz?.length ?? 0,
      ...(polarisations === 2 && { crossHands: isKnown ? 'known' : 'unknown' }),
      hasLeakage: this.gains.file.leakage !== undefined,
      ...(start && { span: { start, durationS } }),
    };
  }
}
