/** Several visibility files as one: integrations in time order, with the same channels and antennas. */
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { elsewhere } from '../../telescope/same-place.js';
import type { VisibilityFile, VisibilityHeader } from '../format.js';
import { noFaults } from '../io/gather.js';

interface Placed {
  readonly file: VisibilityFile;
  readonly start: Instant;
  readonly end: Instant;
}

export async function joinVisibilities(files: readonly VisibilityFile[]): Promise<VisibilityFile> {
  const [first] = files;
  for (const other of files.slice(1)) refuseUnlike(first, other);
  const placed = await Promise.all(files.map(spanOf));
  placed.sort((x, y) => -secondsBetween(x.start, y.start));
  for (const [k, { file, start }] of placed.entries()) {
    const before = k > 0 ? placed[k - 1] : undefined;
    if (before && secondsBetween(before.end, start) < -1e-3)
      refuse(
        file.path,
        `begins at ${formatInstant(start)}, before ${before.file.path} ends at ${formatInstant(before.end)}`,
        'files of the same time are not joined: give those that follow each other',
      );
  }
  const header = headerOf(placed.map(({ file }) => file.header));
  const assumed = [...new Set(files.flatMap((file) => file.assumed ?? []))];
  const faults = noFaults();
  return {
    kind: 'visibilities',
    path: files.map(({ path }) => path).join(','),
    format: first.format,
    telescope: first.telescope,
    header,
    integrationCount: files.reduce((sum, file) => sum + file.integrationCount, 0),
    ...(assumed.length > 0 && { assumed }),
    details: {
      files: placed.map(({ file, start, end }) => ({
        path: file.path,
        startUtc: formatInstant(start, 6),
        endUtc: formatInstant(end, 6),
        integrations: file.integrationCount,
      })),
      gapsS: placed.slice(1).map(({ start }, k) => secondsBetween(placed[k].end, start)),
      first: first.details,
    },
    faults,
    integrations: async function* (memory): AsyncGenerator<Integration> {
      Object.assign(faults, noFaults());
      for (const { file } of placed) {
        yield* file.integrations(memory);
        faults.notNumbers += file.faults?.notNumbers ?? 0;
        faults.outsized += file.faults?.outsized ?? 0;
      }
    },
    close: async () => {
      for (const file of files) await file.close();
    },
  };
}

function headerOf(headers: readonly VisibilityHeader[]): VisibilityHeader {
  const [first] = headers;
  const { rows, ...others } = first;
  const all = headers.map((one) => one.rows);
  const isAlike = all.every((one) => one?.most === rows?.most && one?.times !== 'different');
  const most = Math.max(...all.map((one) => one?.most ?? 0));
  return isAlike ? first : { ...others, rows: { most, times: 'different' } };
}

async function spanOf(file: VisibilityFile): Promise<Placed> {
  let start: Instant | undefined;
  let end: Instant | undefined;
  for await (const one of file.integrations('reused')) {
    start ??= one.start;
    end = addSeconds(one.start, one.durationS);
  }
  if (!start || !end) return refuse(file.path, 'holds no integration', 'leave it out');
  return { file, start, end };
}

function refuseUnlike(first: VisibilityFile, other: VisibilityFile): void {
  const odd = (what: string): never =>
    refuse(other.path, `has ${what} other than ${first.path}`, 'join files of one arrangement');
  const [one, two] = [first.header, other.header];
  if (one.polarisations !== two.polarisations || (one.feeds ?? 'linear') !== (two.feeds ?? 'linear'))
    odd('polarisations');
  if (one.units !== two.units) odd(`units (${two.units ?? 'unspecified'})`);
  if (
    one.frequenciesHz.length !== two.frequenciesHz.length ||
    one.frequenciesHz.some((hz, c) => Math.abs(hz - two.frequenciesHz[c]) > 1e-3 * one.channelWidthHz)
  )
    odd('channels');
  if ((one.xOrientation ?? 'east') !== (two.xOrientation ?? 'east')) odd('an orientation of X');
  const names = ({ telescope }: VisibilityHeader): string =>
    telescope.stations.map(({ name }) => name).join();
  if (names(one) !== names(two)) odd('antennas');
  const moved = elsewhere(one.telescope, two.telescope);
  if (moved !== undefined) refuse(other.path, `${moved} ${first.path}`, 'join files of one arrangement');
}
