/** The alarm rules: faults from measured values. Pure. */
import { formatBytes, formatSeconds } from '../core/units.js';
import type { Fault } from './alarms.js';

export interface Measured {
  /** Whether data should arrive: from a telescope, not a file. */
  readonly isLive: boolean;
  /** Since the last data; undefined before the first. */
  readonly dataAgeS?: number;
  readonly senders: readonly {
    readonly name: string;
    readonly silentS: number;
    /** Over ten seconds. */
    readonly lostPercent: number;
    readonly status: string;
  }[];
  /** Increase within ten seconds. */
  readonly ringFull: number;
  readonly kernelDrops: number;
  readonly resyncs: number;
  /** Arrival time minus packet time; undefined if the data are not current. */
  readonly clockErrorS?: number;
  readonly load: readonly { readonly resource: string; readonly ratio: number; readonly forS: number }[];
  /** `leftOut`: images since the newest that were not made, as packets waited. */
  readonly image?: { readonly ageS: number; readonly everyS: number; readonly leftOut?: number };
  readonly file?: { readonly ageS: number; readonly everyS: number; readonly unwritten: number };
  readonly changedInputs: readonly { readonly name: string; readonly db: number }[];
  readonly inputs: number;
  readonly gains?: { readonly ageS: number; readonly everyS?: number; readonly unsolved: number };
  readonly disk?: { readonly freeBytes: number; readonly hours: number };
  readonly check?: { readonly differing: number; readonly failed: number };
}

const SILENT_S = 3;
const LOST_PERCENT = 1;
const [CLOCK_WARNS_S, CLOCK_ALARMS_S] = [0.5, 1];
const [LOAD, LOAD_S] = [0.95, 10];
/** Below the level of an alarm, enough to explain what is late. */
const BUSY = 0.85;
const IMAGE_S = 5;
/** A fault of many inputs is one alarm, with this many named. */
const NAMED = 4;

/** Possible causes of a fault, the most probable first. There are no cycles. */
const CAUSES: Readonly<Partial<Record<string, readonly string[]>>> = {
  ring_full: ['load:disk', 'load:chain', 'load:event loop'],
  'losing, ours': ['ring_full', 'kernel'],
  image: ['silent', 'ring_full', 'load:disk', 'load:chain'],
  file: ['silent', 'ring_full', 'load:disk', 'load:chain'],
  'file, unwritten': ['disk'],
  gains: ['silent', 'image'],
};

export function faultsOf(measured: Measured): Fault[] {
  const faults = [
    ...ofData(measured),
    ...ofClock(measured),
    ...ofLoad(measured),
    ...ofProducts(measured),
    ...ofInputs(measured),
  ];
  return faults.map(({ kind, ...fault }) => {
    const because = CAUSES[kind ?? fault.id]?.find((cause) => faults.some(({ id }) => id === cause));
    return because === undefined ? fault : { ...fault, because };
  });
}

interface Found extends Fault {
  /** If its possible causes differ from those of its id. */
  readonly kind?: 'losing, ours' | 'file, unwritten';
}

function ofData({ isLive, dataAgeS, senders, ringFull, kernelDrops, resyncs }: Measured): Found[] {
  const faults: Found[] = [];
  if (!isLive) return faults;
  const isAllSilent = dataAgeS !== undefined && dataAgeS > SILENT_S;
  if (isAllSilent)
    faults.push({
      id: 'silent',
      severity: 'alarm',
      what: `nothing came for ${formatSeconds(dataAgeS)}`,
      where: 'all senders',
      fix: 'look at the senders, the switch and the interface (corella devices --network)',
    });
  for (const { name, silentS, lostPercent, status } of senders) {
    if (silentS >= SILENT_S && !isAllSilent)
      faults.push({
        id: `silent:${name}`,
        severity: 'alarm',
        what: `silent for ${formatSeconds(silentS)}`,
        where: name,
        fix: 'look at this sender, its cable and its port of the switch',
      });
    else if (lostPercent >= LOST_PERCENT && silentS < SILENT_S)
      faults.push({
        id: `losing:${name}`,
        ...(status.startsWith('ours') && { kind: 'losing, ours' }),
        severity: lostPercent >= 10 ? 'alarm' : 'warning',
        what: `${lostPercent.toFixed(1)} % of its packets lost over 10 s`,
        where: name,
        fix: status,
      });
  }
  if (ringFull > 0)
    faults.push({
      id: 'ring_full',
      severity: 'alarm',
      what: `${ringFull} packets dropped since no block was free`,
      where: 'the chain',
      fix: 'it is too slow: longer integrations, fewer images, fewer channels or a faster backend',
    });
  if (kernelDrops > 0)
    faults.push({
      id: 'kernel',
      severity: 'alarm',
      what: `${kernelDrops} packets found the socket's buffer full`,
      where: 'this machine',
      fix: 'raise net.core.rmem_max, pin the receive thread (docs/operate.md)',
    });
  if (resyncs > 0)
    faults.push({
      id: 'resync',
      severity: 'warning',
      what: "the senders' clocks were reset: a new stream epoch began",
      where: 'the senders',
      fix: 'check that they were meant to restart; CHIPS and SPEAD need source.epoch again',
    });
  return faults;
}

function ofClock({ clockErrorS }: Measured): Found[] {
  if (clockErrorS === undefined || Math.abs(clockErrorS) <= CLOCK_WARNS_S) return [];
  return [
    {
      id: 'clock',
      severity: Math.abs(clockErrorS) > CLOCK_ALARMS_S ? 'alarm' : 'warning',
      what: `packets arrive ${formatSeconds(Math.abs(clockErrorS))} ${clockErrorS > 0 ? 'after' : 'before'} the time in them`,
      where: 'clocks',
      fix: "compare the senders' second and this machine's (chronyc tracking); positions on the sky follow the packets",
    },
  ];
}

const ofLoad = ({ load }: Measured): Found[] =>
  load
    .filter(({ ratio, forS }) => ratio > LOAD && forS >= LOAD_S)
    .map(({ resource, ratio }) => ({
      id: `load:${resource}`,
      severity: 'warning' as const,
      what: `${resource} at ${(100 * ratio).toFixed(0)} % for 10 s and longer`,
      where: 'this machine',
      fix:
        resource === 'disk'
          ? 'data will be lost soon: write to a faster disk, longer integrations or fewer channels'
          : 'data will be lost soon: fewer images, longer integrations, or a faster backend',
    }));

function ofProducts(measured: Measured): Found[] {
  const { isLive, image, file, disk, gains, inputs, check } = measured;
  const faults: Found[] = [];
  if (isLive && image && image.ageS > Math.max(IMAGE_S, 3 * image.everyS))
    faults.push({
      id: 'image',
      severity: 'warning',
      what: `the newest image is ${formatSeconds(image.ageS)} old`,
      where: 'images',
      fix:
        whyLate(measured) ??
        'data come and are processed: see whether every input is flagged or without gains',
    });
  if (isLive && file && (file.ageS > 3 * file.everyS || file.unwritten > 0))
    faults.push({
      id: 'file',
      ...(file.unwritten > 0 && { kind: 'file, unwritten' }),
      severity: 'alarm',
      what:
        file.unwritten > 0
          ? `${file.unwritten} integrations are in no file`
          : `nothing was written for ${formatSeconds(file.ageS)}`,
      where: 'files',
      fix:
        file.unwritten > 0
          ? 'make room, and see that the folder and its files are where they were: writing is tried again'
          : (whyLate(measured) ?? 'data come and are processed: see whether recording is on'),
    });
  if (disk && disk.hours < 1)
    faults.push({
      id: 'disk',
      severity: 'alarm',
      what: `${formatBytes(disk.freeBytes)} are free, ${formatSeconds(3600 * disk.hours)} of files`,
      where: 'the disk',
      fix: 'move old files away, or write longer integrations',
    });
  if (gains?.everyS !== undefined && gains.ageS > 3 * gains.everyS)
    faults.push({
      id: 'gains',
      severity: 'warning',
      what: `gains are ${formatSeconds(gains.ageS)} old, three times their interval`,
      where: 'calibration',
      fix: 'see whether a bright source is up; hold or load gains meanwhile',
    });
  if (gains && gains.unsolved > inputs / 10)
    faults.push({
      id: 'unsolved',
      severity: 'warning',
      what: `${gains.unsolved} of ${inputs} inputs have no gain`,
      where: 'calibration',
      fix: 'flag dead inputs, integrate longer before solving, or wait for a bright source',
    });
  if (check && check.differing > 0)
    faults.push({
      id: 'check',
      severity: 'alarm',
      what: `${check.differing} sums differ from the reference's`,
      where: 'the backend',
      fix: 'stop, and run with machine.backend: reference: this machine computes wrongly',
    });
  return faults;
}

/** Why products are late, by what is measured; undefined if nothing measured explains it. */
function whyLate({ dataAgeS, ringFull, kernelDrops, load, image }: Measured): string | undefined {
  const LESS = 'take fewer images, pixels or channels, or a faster backend';
  if (dataAgeS !== undefined && dataAgeS > SILENT_S) return 'no data come: look at the senders';
  const busy = load.filter(({ ratio }) => ratio > BUSY).map(({ resource, ratio }) => ({ resource, ratio }));
  const worst = busy.sort((x, y) => y.ratio - x.ratio).at(0);
  const isDisk = busy.some(({ resource }) => resource === 'disk');
  if (isDisk) return 'the disk is too slow: write to another, longer integrations or fewer channels';
  const leftOut = image?.leftOut ?? 0;
  if (leftOut > 0)
    return `this machine is too slow: ${leftOut} images were left out as packets waited; ${LESS}`;
  if (ringFull + kernelDrops > 0)
    return `this machine is too slow: ${ringFull + kernelDrops} packets were dropped within 10 s; ${LESS}`;
  return worst === undefined
    ? undefined
    : `this machine is too slow: the ${worst.resource} is busy ${(100 * worst.ratio).toFixed(0)} % of the time; ${LESS}`;
}

function ofInputs({ changedInputs }: Measured): Found[] {
  if (changedInputs.length === 0) return [];
  const named = changedInputs
    .slice(0, NAMED)
    .map(({ name, db }) => `${name} ${db > 0 ? '+' : '−'}${Math.abs(db).toFixed(1)} dB`);
  const more = changedInputs.length - named.length;
  return [
    {
      id: 'level',
      severity: 'warning',
      what: `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''} changed over the last hour`,
      where: changedInputs.length === 1 ? changedInputs[0].name : `${changedInputs.length} inputs`,
      fix: 'look at them under Antennas; flag what is broken',
    },
  ];
}
