/** Visibilities in a file: integration length, header, and writer. */
import { MOST_INTEGER_SAMPLES } from '../../correlate/index.js';
import { baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds } from '../../core/instant.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import {
  sampleRateOf,
  visibilityFormatFor,
  type VisibilityHeader,
  type VisibilityWriter,
} from '../../formats/index.js';
import {
  longestIntegrationS,
  coherenceOf,
  type Coherence,
  channelsNamed,
  RoundingWatch,
  measuredRange,
  type Rounded,
  integrationClock,
  refuseLeapSeconds,
  lowCentre,
  type FlagTally,
  passing,
  type VanVleckTally,
  phasedAt,
  queued,
  takeChannels,
  type SpectrumGrid,
} from '../../stages/index.js';
import { skyFrame } from '../../sky/frame.js';
import { parsePhaseCentre } from '../../sky/phase-centre.js';
import { endOfFront, type FrontSpectra } from '../../compose/index.js';
import { handingOver, type Making, type Observed, type PlannedProduct } from '../product.js';
import { openFilesByThread } from '../recorders/files-by-thread.js';
import { FilesByTime, stoppedAt, type LiveFiles } from '../recorders/files.js';
import type { Product } from '../registry.js';

export interface VisibilityFacts {
  /** Number written so far. */
  readonly integrations: number;
  readonly integration: PlannedIntegration;
  readonly header: VisibilityHeader;
  /** Counts of flags by channel, time and pair so far. */
  readonly flagged: Readonly<FlagTally>;
  /** Rounding statistics so far, if samples are rounded here. */
  readonly rounded?: Rounded;
  /** If the correction is requested. */
  readonly vanVleck?: Readonly<VanVleckTally>;
}

export interface PlannedIntegration {
  /** Length of each integration, unless there is a single one. */
  readonly chosenS?: number;
  readonly longestS: number;
  readonly coherence: Coherence;
  /** The longest integration for the array, if none was requested and the recording is longer. */
  readonly shortenedToS?: number;
  /** Length in whole spectra, if it differs from the request by more than 1 %. */
  readonly roundedToS?: number;
}

const WHERE = 'products.visibilities';
/** If something is tracked and no length is requested. */
const TRACKED_INTEGRATION_S = 10;
const NOTABLE_ROUNDING = 0.01;

export function planVisibilities(
  fields: Product<'visibilities'>,
  observed: Observed,
): PlannedProduct<VisibilityFacts> {
  const { recording, telescope, front, spectra } = observed;
  const values = fields.values ?? 'means';
  if (values === 'sums') refuseSums(observed, fields);
  if (fields['van-vleck'] === true && spectra.type === 'cf32')
    refuse(
      'products.visibilities.van-vleck',
      'these channels are floats, and were not rounded',
      'leave the correction out, or take 8 or 4 bits',
    );
  const integration = planIntegration(fields, observed);
  const { live } = observed;
  const clock =
    live?.clock ?? integrationClock({ integrationS: integration.chosenS, align: fields.align }, spectra.grid);
  const path = fields.visibilities ?? undefined;
  if (path !== undefined && !live) refuseLeapSeconds(path, clock, spectra.grid, endOfFront(front));
  const format =
    path === undefined
      ? undefined
      : visibilityFormatFor(path, live && { values, appears: 'first-integration' });
  const channels =
    fields.channels === undefined
      ? undefined
      : channelsNamed(fields.channels.join(','), spectra.frequenciesHz, 'products.visibilities.channels');
  // Live integrations that are only shown are shown whatever their band.
  const isShown = live !== undefined && path === undefined;
  const field = isShown ? undefined : 'products.visibilities.channels';
  const header = headerOf(fields, observed, { channels, field });
  const largestSum = largestSumOf(spectra, recording.samples, integration.longestS);
  const flagged: FlagTally = { rules: observed.rules.length, ruled: 0, values: 0 };
  const watch =
    spectra.type === 'cf32' || front.source.kind === 'spectra' ? undefined : new RoundingWatch(spectra.type);
  let tally: Readonly<VanVleckTally> | undefined;
  let written = 0;
  const isOne = integration.chosenS === undefined;
  const integrations = isOne
    ? 1
    : Math.ceil(recording.samples / sampleRateOf(recording) / integration.longestS);
  const { frequenciesHz } = header;
  return {
    name: 'visibilities',
    clock,
    paths: path === undefined ? [] : [path],
    warnings: lowCentre(`${WHERE}.phase-centre`, ownCentreOf(fields), telescope.site, {
      start: recording.start,
      durationS: recording.samples / sampleRateOf(recording),
    }),
    isCalibrated: false,
    parts: { cut: 'both' },
    sizeBytes:
      integrations *
      frequenciesHz.length *
      baselineCount(telescope.stations.length) *
      spectra.polarisations ** 2 *
      13,
    facts: () => ({
      integrations: written,
      integration,
      header,
      flagged,
      rounded: watch?.found(),
      vanVleck: tally,
    }),
    make: async (making) => {
      const history = [...making.history];
      const { listener } = making;
      const writer = live
        ? liveWriter(fields, observed, making, { ...header, history }, largestSum)
        : format && path !== undefined
          ? await format.createVisibilities(path, { ...header, history }, { values, largestSum })
          : handedIntegrations(making, () => ({ ...header, history }));
      const write = passing<Integration>(async (one) => {
        await listener?.integration?.(one);
        await writer?.append(listened && channels ? takeChannels(one, channels) : one);
        written++;
      });
      // A listener gets all channels: the file's are chosen after it.
      const listened = listener?.integration !== undefined;
      return {
        composed: {
          from: 'integrations',
          clock,
          values,
          vanVleck: fields['van-vleck'] === true ? { onPlan: (made) => (tally = made) } : undefined,
          look:
            watch &&
            ((one) => {
              watch.add(measuredRange(one));
              listener?.rounded?.(() => watch.found());
            }),
          flags: { rules: observed.rules, channels: listened ? undefined : channels, tally: flagged },
          // The disk must not delay a card.
          stage: live && making.backend.kind === 'cuda' ? queued(write, 2) : write,
        },
        finish: async () => writer?.finish(),
        keep: async () => {
          const count = (await writer?.keep()) ?? 0;
          return count === 0
            ? `${path ?? 'visibilities'}: no integration was finished, and nothing was written`
            : `${path ?? 'visibilities'} is whole and holds the ${count === 1 ? 'one integration that was' : `${count} integrations that were`} finished`;
        },
        abandon: async () => writer?.abandon(),
      };
    },
  };
}

/** Files by time, and with steering only while they are wanted; undefined where nothing receives integrations. */
function liveWriter(
  fields: Product<'visibilities'>,
  { telescope, centre: tracked, live }: Observed,
  making: Making,
  header: VisibilityHeader,
  largestSum: number,
): VisibilityWriter | undefined {
  const { backend, emit, recording } = making;
  const { visibilities: path } = fields;
  const centre = ownCentreOf(fields) ?? tracked;
  const steering = live?.steering;
  const writer =
    path === null
      ? emit &&
        handedIntegrations(making, ({ start }) => ({ ...header, ...stoppedAt(centre, telescope, start) }))
      : recording &&
        byTime(
          recording.opened((): LiveFiles => {
            const { overwrite, sky, onFile } = recording;
            const settings = {
              path,
              everyS: fields['file-every'],
              values: fields.values ?? 'means',
              largestSum,
              overwrite,
              centre,
              header,
              eop: sky.eop,
            };
            return backend.kind === 'cuda'
              ? openFilesByThread(settings, onFile)
              : new FilesByTime(settings, onFile);
          }),
        );
  if (!writer || !steering) return writer;
  let fileNumber = 0;
  return {
    ...writer,
    append: async (integration) => {
      const isWanted = steering.recording.at(integration.start);
      const wanted = steering.fileNumber.at(integration.start);
      if (!isWanted || wanted !== fileNumber) await writer.finish();
      fileNumber = wanted;
      if (isWanted) await writer.append(integration);
    },
  };
}

/** What is there stays, whatever ends. */
const byTime = (files: LiveFiles): VisibilityWriter => ({
  append: (integration) => files.append(integration),
  finish: () => files.close(),
  keep: async () => {
    await files.close();
    return files.written;
  },
  abandon: () => files.close(),
});

/** Integrations of a product without a path are passed to the program that asked for them. */
function handedIntegrations(
  making: Making,
  headerOfOne: (integration: Integration) => VisibilityHeader,
): VisibilityWriter {
  const emit = handingOver(making, 'visibilities');
  let handed = 0;
  return {
    append: async (integration) => {
      await emit({ kind: 'visibilities', integration, header: headerOfOne(integration) });
      handed++;
    },
    finish: () => Promise.resolve(),
    keep: () => Promise.resolve(handed),
    abandon: () => Promise.resolve(),
  };
}

function refuseSums(
  { spectra, delays, recording, equaliserIsLost }: Observed,
  fields: Product<'visibilities'>,
): void {
  const where = 'products.visibilities.values';
  if (delays?.towards !== undefined)
    refuse(
      where,
      'sums are whole numbers, and tracked data are unphased afterwards',
      'take means, or do not track',
    );
  if (spectra.type === 'cf32')
    refuse(where, 'sums are whole numbers, and these channels are floats', 'take means, or front.bits: 8');
  if (fields['van-vleck'] === true)
    refuse(where, 'sums are whole numbers as they were summed', 'take means, or leave van-vleck out');
  if (equaliserIsLost || (recording.kind === 'spectra' && recording.levels))
    refuse(
      where,
      'sums stay as they were summed, and the equaliser gains of inputs and channels could not be undone',
      'take means, or write the equaliser gains of voltages with front.equaliser-out',
    );
}

export function planIntegration(
  fields: Pick<Product<'visibilities'>, 'integration'>,
  observed: Observed,
): PlannedIntegration {
  const { recording, telescope, spectra, delays } = observed;
  const { spectrumRateHz } = spectra.grid;
  const coherence = coherenceOf(telescope, spectra.frequenciesHz, spectra.channelWidthHz);
  const lastsS = recording.samples / sampleRateOf(recording);
  const isTracked = delays?.towards !== undefined;
  // The tracked position stays; the fringes of its surroundings change, more slowly the nearer they are.
  const allowedS = Math.max(longestIntegrationS(coherence), isTracked ? TRACKED_INTEGRATION_S : 0);
  const asked = fields.integration;
  const shortened = asked === undefined && allowedS < lastsS;
  const chosenS = asked ?? (shortened ? allowedS : undefined);
  // Integrations are whole numbers of spectra.
  const wholeS =
    chosenS === undefined ? lastsS : Math.max(1, Math.round(chosenS * spectrumRateHz)) / spectrumRateHz;
  return {
    chosenS,
    coherence,
    longestS: Math.min(wholeS, lastsS),
    shortenedToS: shortened ? allowedS : undefined,
    roundedToS: asked !== undefined && Math.abs(wholeS / asked - 1) > NOTABLE_ROUNDING ? wholeS : undefined,
  };
}

type LargestSumSpectra = Pick<FrontSpectra, 'type'> & { readonly grid: Pick<SpectrumGrid, 'spectrumRateHz'> };

/** The largest possible real or imaginary part of a sum: every sample at full scale, x·conj(y) = 2·full². */
export function largestSumOf(
  { type, grid: { spectrumRateHz } }: LargestSumSpectra,
  samples: number,
  longestS: number,
  field = 'products.visibilities.integration',
): number {
  // Refused before days of work rather than by the correlator after them.
  if (type !== 'cf32' && Math.floor(longestS * spectrumRateHz) > MOST_INTEGER_SAMPLES)
    refuse(
      field,
      `${formatSeconds(longestS)} are more samples than whole sums can hold`,
      `give at most ${formatSeconds(Math.floor(MOST_INTEGER_SAMPLES / spectrumRateHz))}`,
    );
  const full = type === 'ci4' ? 7 : 127;
  return 2 * full ** 2 * Math.min(samples, Math.ceil(longestS * spectrumRateHz) + 1);
}

const ownCentreOf = ({ 'phase-centre': asked }: Pick<Product<'visibilities'>, 'phase-centre'>) =>
  asked === undefined ? undefined : parsePhaseCentre(asked, `${WHERE}.phase-centre`);

/** For data without an end, the position of the sky at their start. */
export function headerOf(
  fields: Pick<Product<'visibilities'>, 'phase-centre'>,
  { recording, telescope, spectra, centre: tracked }: Observed,
  { channels, field }: { readonly channels?: readonly number[]; readonly field: string | undefined },
): VisibilityHeader {
  const lastsS = recording.samples / sampleRateOf(recording);
  const middle = addSeconds(recording.start, Number.isFinite(lastsS) ? lastsS / 2 : 0);
  const centre = ownCentreOf(fields) ?? tracked;
  const zenith = { phaseCentre: skyFrame(telescope.site, middle).zenith, object: 'zenith' };
  const frequenciesHz = channels
    ? Float64Array.from(channels, (c) => spectra.frequenciesHz[c])
    : spectra.frequenciesHz;
  const below = frequenciesHz.find((frequencyHz) => !(frequencyHz > 0));
  if (below !== undefined && field !== undefined)
    refuse(
      'source.frequency',
      `the band reaches below zero, to ${formatHz(below)}, where there is no sky`,
      `give its middle where the recording is wrong, or choose channels with ${field}`,
    );
  return {
    telescope,
    polarisations: recording.polarisations,
    frequenciesHz,
    channelWidthHz: spectra.channelWidthHz,
    ...(centre ? phasedAt(centre, telescope.site, middle) : zenith),
    feedFrame: 'feeds',
    history: [],
  };
}
