/**
 * Visibilities of one time and of several parts of the band, as one: what machines that each correlated their channels
 * wrote. Where a part has no integration, its channels count nothing there, and that is told.
 */
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { secondsBetween, type Instant } from '../../core/instant.js';
import type { VisibilityFile, VisibilityHeader } from '../../formats/index.js';
import { joinChannels } from './join-channels.js';

/** A stretch of time that a part lacks. */
export interface Absence {
  readonly path: string;
  readonly from: Instant;
  readonly integrations: number;
  readonly durationS: number;
}

export interface CombinedBands {
  readonly header: VisibilityHeader;
  integrations(): AsyncGenerator<Integration>;
  /** Complete when all integrations have been read. */
  readonly absent: readonly Absence[];
  /** Times at which parts had left out different inputs: what any left out is left out of all. */
  differentFlags(): number;
}

/** Integrations that begin closer together than this part of one belong together. */
const TOLERANCE = 0.01;

export function combineBands(files: readonly VisibilityFile[], history: readonly string[]): CombinedBands {
  const parts = [...files].sort((x, y) => x.header.frequenciesHz[0] - y.header.frequenciesHz[0]);
  const header = headerOf(parts, history);
  const absent: Absence[] = [];
  const flags = { different: 0 };
  const widths = parts.map((file) => file.header.frequenciesHz.length);
  return {
    ...{ header, absent, differentFlags: () => flags.different },
    integrations: async function* () {
      const streams = parts.map((file) => file.integrations('own')[Symbol.asyncIterator]());
      const next = await Promise.all(
        streams.map(async (stream) => (await stream.next()).value as Integration | undefined),
      );
      for (;;) {
        const begun = next.filter((one) => one !== undefined);
        if (begun.length === 0) return;
        const earliest = begun.reduce((x, y) => (secondsBetween(y.start, x.start) > 0 ? y : x));
        const isNow = (one: Integration | undefined): one is Integration =>
          one !== undefined &&
          Math.abs(secondsBetween(earliest.start, one.start)) <
            TOLERANCE * Math.min(one.durationS, earliest.durationS);
        // Where a night ends machines stop in the middle of an integration, each somewhere else: the longest counts.
        const like = begun.filter(isNow).reduce((x, y) => (y.durationS > x.durationS ? y : x));
        const held = next.map((one) =>
          isNow(one) && Math.abs(one.durationS - like.durationS) < TOLERANCE * like.durationS
            ? one
            : undefined,
        );
        held.forEach((one, k) => {
          if (!one) note(absent, parts[k].path, like);
        });
        const isUnlike = (one: Integration | undefined): boolean =>
          one?.flaggedInputs.some((flag, a) => flag !== like.flaggedInputs[a]) === true;
        if (held.some(isUnlike)) flags.different++;
        yield joinChannels(
          widths.map((channels, k) => ({ channels, ...(held[k] && { one: held[k] }) })),
          like,
        );
        const over = next.map(isNow);
        for (const [k, stream] of streams.entries())
          if (over[k]) next[k] = (await stream.next()).value as Integration | undefined;
      }
    },
  };
}

/** One after the other of one part are one absence. */
function note(absent: Absence[], path: string, { start, durationS }: Integration): void {
  const last = absent.findLastIndex((one) => one.path === path);
  const before = last >= 0 ? absent[last] : undefined;
  const since = before ? secondsBetween(before.from, start) - before.durationS : Infinity;
  if (before && Math.abs(since) < TOLERANCE * durationS)
    absent[last] = {
      ...before,
      integrations: before.integrations + 1,
      durationS: before.durationS + durationS,
    };
  else absent.push({ path, from: start, integrations: 1, durationS });
}

/** Refuses parts that are not of one telescope, or that overlap. */
function headerOf(parts: readonly VisibilityFile[], history: readonly string[]): VisibilityHeader {
  const [first] = parts;
  const { header } = first;
  let reachedHz = -Infinity;
  for (const { path, header: one } of parts) {
    const unlike = (what: string): never =>
      refuse(path, `${what} as ${first.path}`, 'combine parts of one observation');
    const names = (of: VisibilityHeader): string => of.telescope.stations.map(({ name }) => name).join();
    if (names(one) !== names(header)) unlike('has not the same stations');
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
