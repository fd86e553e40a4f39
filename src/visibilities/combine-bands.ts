/**
 * Combines visibilities of the same time from several parts of the band, each correlated on another machine. If a part
 * has no integration, its channels have zero counts, which is reported.
 */
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import { elsewhere } from '../telescope/same-place.js';
import type { VisibilityFile, VisibilityHeader } from '../formats/index.js';
import { BandStream, isAlike, overlap, TOLERANCE } from './band-stream.js';
import { joinChannels } from '../stages/index.js';

/** A time range in which a part's channels have zero counts. */
interface Absence {
  readonly path: string;
  readonly from: Instant;
  readonly integrations: number;
  readonly durationS: number;
  /** Data of the part that were left out there, since its integrations begin or end at other times. */
  readonly leftOutS: number;
}

interface CombinedBands {
  readonly header: VisibilityHeader;
  integrations(): AsyncGenerator<Integration>;
  /** Complete when all integrations have been read. */
  readonly absent: readonly Absence[];
  /** Number of times at which parts had different inputs flagged: each flag applies to the channels of its part. */
  differentFlags(): number;
}

export function combineBands(files: readonly VisibilityFile[], history: readonly string[]): CombinedBands {
  const sorted = [...files].sort((x, y) => x.header.frequenciesHz[0] - y.header.frequenciesHz[0]);
  const header = headerOf(sorted, history);
  const absent: Absence[] = [];
  const flags = { different: 0 };
  const widths = sorted.map((file) => file.header.frequenciesHz.length);
  return {
    header,
    absent,
    differentFlags: () => flags.different,
    integrations: async function* () {
      const parts = sorted.map((file) => new BandStream(file));
      for (const part of parts) await part.take();
      for (;;) {
        const begun = parts.flatMap(({ next: one, path }) => (one ? { one, path } : []));
        if (begun.length === 0) return;
        const earliest = begun.reduce((x, y) => (secondsBetween(y.one.start, x.one.start) > 0 ? y : x));
        // At the start or end of a run each machine cuts its integration at a different place: the longest one counts.
        const longest = begun
          .filter(({ one }) => overlap(one, earliest.one))
          .reduce((x, y) => (y.one.durationS > x.one.durationS ? y : x));
        const like = longest.one;
        const held = parts.map(({ next }) => (next && isAlike(next, like) ? next : undefined));
        const leftOutS: number[] = [];
        for (const [k, part] of parts.entries())
          leftOutS.push(held[k] ? 0 : await part.leaveOut([longest, earliest]));
        held.forEach((one, k) => {
          if (!one) note(absent, parts[k].path, like, leftOutS[k]);
        });
        const isUnlike = (one: Integration | undefined): boolean =>
          one?.flaggedInputs.some((flag, a) => flag !== like.flaggedInputs[a]) === true;
        if (held.some(isUnlike)) flags.different++;
        yield joinChannels(
          widths.map((channels, k) => ({ channels, one: held[k] })),
          like,
        );
        for (const [k, part] of parts.entries()) if (held[k]) await part.take();
      }
    },
  };
}

/** Consecutive absences of one part are joined. */
function note(absent: Absence[], path: string, { start, durationS }: Integration, leftOutS: number): void {
  const last = absent.findLastIndex((one) => one.path === path);
  const before = last >= 0 ? absent[last] : undefined;
  const since = before ? secondsBetween(before.from, start) - before.durationS : Infinity;
  if (before && Math.abs(since) < TOLERANCE * durationS)
    absent[last] = {
      ...before,
      integrations: before.integrations + 1,
      durationS: before.durationS + durationS,
      leftOutS: before.leftOutS + leftOutS,
    };
  else absent.push({ path, from: start, integrations: 1, durationS, leftOutS });
}

/** Refuses parts from different telescopes, or that overlap. */
function headerOf(parts: readonly VisibilityFile[], history: readonly string[]): VisibilityHeader {
  const [first] = parts;
  const { header } = first;
  let reachedHz = -Infinity;
  for (const { path, header: one } of parts) {
    const unlike = (what: string): never =>
      refuse(path, `${what} as ${first.path}`, 'combine parts of one observation');
    const names = (of: VisibilityHeader): string => of.telescope.stations.map(({ name }) => name).join();
    if (names(one) !== names(header)) unlike('has not the same stations');
    const moved = elsewhere(header.telescope, one.telescope);
    if (moved !== undefined) refuse(path, `${moved} ${first.path}`, 'combine parts of one observation');
    if ((one.xOrientation ?? 'east') !== (header.xOrientation ?? 'east'))
      unlike('has X pointing not the same way');
    if (one.polarisations !== header.polarisations) unlike('has not as many polarisations');
    if (Math.abs(one.channelWidthHz - header.channelWidthHz) > 1e-6 * header.channelWidthHz)
      unlike('has not as wide channels');
    if (one.feeds !== header.feeds || one.units !== header.units)
      unlike('is not in the same units and feeds');
    if (one.frequenciesHz[0] < reachedHz)
      refuse(path, 'holds channels that another holds too', 'give each part of the band once');
    reachedHz = one.frequenciesHz[one.frequenciesHz.length - 1] + 0.5 * one.channelWidthHz;
  }
  const others = { ...header };
  for (const dropped of ['rows', 'products'] as const) Reflect.deleteProperty(others, dropped);
  return {
    ...others,
    frequenciesHz: Float64Array.from(parts.flatMap((one) => Array.from(one.header.frequenciesHz))),
    history: [...header.history, ...history],
  };
}
