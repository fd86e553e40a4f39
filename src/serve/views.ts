/** State of a run in the terms of the API and the page. */
import { addSeconds, formatInstant } from '../core/instant.js';
import type { ChainView, CheckView, PlanView, RecordingStatus, Status } from './messages.js';
import type { LiveState } from './live-state.js';
import type { Measured } from './rules.js';
import type { GainHistory } from './gain-history.js';

/** Besides the run's state: the connected clients and the steering. */
export interface Surroundings {
  readonly clients: number;
  readonly dropped: number;
  readonly gains: GainHistory;
  readonly check?: () => CheckView | undefined;
  readonly steerable: boolean;
}

const SILENT_S = 3;

/** Only written data count: two integrations, and a second for the disk. */
const freshS = (everyS: number): number => 2 * everyS + 1;

/**
 * The current integration interval: a change counts when it takes effect, and the previous length counts while its last
 * integration may still arrive.
 */
function integrationNowS({ begun, newest }: Pick<LiveState, 'begun' | 'newest'>): number {
  const { steering, integrationS = 1 } = begun?.shown ?? {};
  if (!steering || !newest) return integrationS;
  const nowS = steering.integration.at(newest);
  return Math.max(nowS, steering.integration.at(addSeconds(newest, -freshS(nowS))));
}

export function recordingOf(
  state: Pick<LiveState, 'begun' | 'newest'> & {
    readonly minutes: Pick<
      LiveState['minutes'],
      'written' | 'unwritten' | 'fileCount' | 'newestUnixS' | 'newestPath'
    >;
  },
): RecordingStatus {
  const { begun, minutes, newest } = state;
  const counts = { written: minutes.written, unwritten: minutes.unwritten, files: minutes.fileCount };
  if (!begun?.files) return { state: 'none', ...counts };
  const { steering } = begun.shown;
  const enoughS = freshS(integrationNowS(state));
  const ageS = minutes.newestUnixS === undefined ? undefined : Date.now() / 1000 - minutes.newestUnixS;
  // Recording that has just resumed has written nothing yet.
  const isWanted =
    !steering || !newest || [newest, addSeconds(newest, -enoughS)].every((at) => steering.recording.at(at));
  const isFresh = ageS !== undefined && ageS < enoughS;
  return {
    state: isFresh ? 'recording' : isWanted ? 'stalled' : 'stopped',
    file: minutes.newestPath,
    newestAgeS: ageS,
    ...counts,
  };
}

export function statusOf(state: LiveState, { clients, gains, steerable }: Surroundings): Status {
  const { facts, begun, current, newest, dataAgeS, totals, frame, imageAgeS } = state;
  const { shown } = begun ?? {};
  const flags = state.antennas?.flagged;
  const everyS = integrationNowS(state);
  const isSilent = dataAgeS !== undefined && dataAgeS > Math.max(SILENT_S, 2 * everyS);
  const { showing = '' } = facts;
  const kind = showing
    ? 'showing'
    : state.isStopping
      ? 'stopping'
      : dataAgeS === undefined
        ? 'waiting'
        : isSilent
          ? 'silent'
          : 'observing';
  const [worst] = state.alarms.all;
  const word = {
    stopping: 'Stopping: what has come is worked through',
    waiting: 'Waiting for data',
    silent: 'No data come',
    showing,
    observing: state.alarms.all.length === 0 ? 'All is well' : `${worst.where}: ${worst.what}`,
  }[kind];
  return {
    state: kind,
    word,
    telescope: shown?.telescope.name ?? '',
    title: shown?.telescope.title ?? 'Corella',
    from: facts.description,
    backend: facts.backend,
    version: facts.version,
    serverUnixS: Date.now() / 1000,
    startedUnixS: state.startedUnixS,
    ...(current && { session: current.number, sessionStart: formatInstant(current.start, 3) }),
    newestSample: newest && formatInstant(newest, 3),
    dataAgeS,
    isNow: state.isNow,
    ...(frame &&
      imageAgeS !== undefined && {
        image: { number: totals.images, ageS: imageAgeS, everyS: frame.head.everyS, unit: frame.head.unit },
      }),
    ...(totals.integrations > 0 && {
      integration: { number: totals.integrations, everyS, presentPercent: 100 * state.present },
    }),
    ...(state.beamLevels.hasRows && { beams: true as const }),
    recording: recordingOf(state),
    flaggedInputs: flags ? flags.reduce((sum, flag) => sum + flag, 0) : 0,
    gains: gains.brief(),
    alarms: { warnings: state.alarms.count('warning'), alarms: state.alarms.count('alarm') },
    clients,
    steerable,
  };
}

export function planOf({ begun, frame }: LiveState): PlanView | undefined {
  if (!begun) return undefined;
  const { shown, channelWidthHz } = begun;
  const { telescope, frequenciesHz, imaging, steering } = shown;
  const { name, title, site, stations, polarisations } = telescope;
  return {
    telescope: { name, title, latitudeDeg: site.latitudeDeg, longitudeDeg: site.longitudeDeg },
    inputs: stations.length * polarisations,
    stations: stations.length,
    polarisations,
    frequenciesHz: [...frequenciesHz],
    channelWidthHz,
    integrationS: steering?.integration.latest ?? shown.integrationS,
    ...(imaging && { imageS: imaging.everyS, method: imaging.by }),
    imaging: imaging?.chosen,
    ...(frame && { pixels: frame.head.shape[0] }),
  };
}

/** Rate of writing; undefined if nothing is written. */
function bytesPerS(state: LiveState): number | undefined {
  const { begun } = state;
  if (!begun?.files) return undefined;
  const { telescope, frequenciesHz } = begun.shown;
  const { stations, polarisations } = telescope;
  const pairs = (stations.length * (stations.length + 1)) / 2;
  return (pairs * frequenciesHz.length * polarisations ** 2 * 13) / integrationNowS(state);
}

const diskHours = (state: LiveState): number | undefined => {
  const [free, rate] = [state.load.diskFreeBytes, bytesPerS(state)];
  return free === undefined || rate === undefined ? undefined : free / rate / 3600;
};

export function chainOf(state: LiveState, around: Surroundings): ChainView {
  const { load, facts, latencies } = state;
  const { packets, ring } = facts;
  const hours = diskHours(state);
  const check = around.check?.();
  return {
    ...(packets &&
      ring && {
        ring: {
          blocks: ring.blocks,
          waiting: Math.max(0, Math.round(packets().blocks - state.takenSamples / ring.samplesPerBlock)),
        },
      }),
    latencies: latencies.view(),
    load: load.all.map(({ resource, ratio, word }) => ({ resource, ratio, word })),
    loopMs: load.loopMs,
    memoryBytes: process.memoryUsage.rss(),
    diskFreeBytes: load.diskFreeBytes,
    diskHours: hours,
    clients: around.clients,
    droppedMessages: around.dropped,
    check,
  };
}

/** For the alarm rules. */
export function measure(state: LiveState, around: Surroundings): Measured {
  const { facts, senders, dataAgeS, imageAgeS, frame, begun, minutes, load } = state;
  const view = senders?.view();
  const lost = senders?.lostWithin(10) ?? [];
  const hours = diskHours(state);
  const recording = recordingOf(state);
  const everyS = integrationNowS(state);
  const error = state.isNow ? senders?.clockErrorS?.mean : undefined;
  const gains = around.gains.forRules();
  const check = around.check?.();
  return {
    isLive: facts.isLive && !state.isStopping,
    dataAgeS,
    senders: (view?.senders ?? []).map(({ name, silentS, status }, n) => ({
      name,
      silentS,
      status,
      lostPercent: lost[n],
    })),
    ringFull: senders?.grownWithin(10, ({ outcomes }) => outcomes.ring_full) ?? 0,
    kernelDrops: senders?.grownWithin(10, ({ socket }) => socket?.kernelDrops ?? 0) ?? 0,
    resyncs: senders?.grownWithin(10, ({ resyncs }) => resyncs) ?? 0,
    clockErrorS: error,
    load: facts.showing ? [] : load.all.filter(({ resource }) => resource !== 'processor'),
    ...(frame &&
      imageAgeS !== undefined && {
        image: { ageS: imageAgeS, everyS: frame.head.everyS, leftOut: state.leftOutSinceImage },
      }),
    ...(begun?.files &&
      recording.state !== 'stopped' &&
      recording.newestAgeS !== undefined && {
        file: { ageS: recording.newestAgeS, everyS, unwritten: minutes.unwritten },
      }),
    changedInputs: state.antennas?.changed() ?? [],
    inputs: state.antennas?.levels.length ?? 0,
    gains,
    ...(load.diskFreeBytes !== undefined &&
      hours !== undefined && { disk: { freeBytes: load.diskFreeBytes, hours } }),
    check,
  };
}
