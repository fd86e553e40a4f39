/** GET: everything on the page, for programs. */
import { readFile } from 'node:fs/promises';
import { imageCPML } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { instant } from '../core/instant.js';
import { encodeFitsImage } from '../formats/index.js';
import { methodLine } from '../live/index.js';
import { centreAt } from '../stages/index.js';
import { skyFrame } from '../sky/frame.js';
import type { ReImager } from './reimage/reimager.js';
import { pixelAt, type Frame } from './image-history.js';
import type { Answer, Get } from './http.js';
import type { Journal } from './journal.js';
import type { LiveState } from './live-state.js';
import { chainOf, planOf, statusOf, type Surroundings } from './views.js';
import { encodeMessage } from './wire.js';

interface Readable {
  readonly state: LiveState;
  readonly reImager: ReImager;
  readonly journal: Journal;
  readonly around: () => Surroundings;
}

const json = (value: unknown): Answer => (value === undefined ? undefined : { json: value });

export function readsOf({ state, reImager, journal, around }: Readable): Readonly<Record<string, Get>> {
  return {
    status: () => json(statusOf(state, around())),
    plan: () => json(planOf(state)),
    sources: () => json(state.sendersView()),
    antennas: () => json(state.antennas?.rows(state.begun?.shown.steering?.latestGains)),
    gains: () => json(around().gains.view()),
    chain: () => json(chainOf(state, around())),
    observation: () => json(state.minutes.view()),
    alarms: () => json(state.alarms.all),
    journal: () => json(journal.entries),
    images: () =>
      json(
        state.imageHistory.all.map(({ unixS, head: { time, peak, file } }) => ({ unixS, time, peak, file })),
      ),
    'images/at': (query) => frameAt(state, query),
    'images/again': async (query) =>
      framed(await reImager.make(numberIn(query, 'unixS'), query.get('weight') ?? 'natural')),
    'images/latest.png': () => latestPng(state),
    'images/latest.fits': () => latestFits(state),
    place: (query) => place(state, query),
  };
}

function numberIn(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  const value = text === null || text === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : refuse(name, `'${text ?? ''}' is no number`, `add ?${name}=…`);
}

/** The image nearest to a time, in seconds since 1970, of a file where one is named, in the socket's format. */
function frameAt({ imageHistory }: LiveState, query: URLSearchParams): Answer {
  const nearest = imageHistory.at(numberIn(query, 'unixS'), query.get('file') ?? undefined);
  return nearest && framed(nearest);
}

const framed = ({ head, plane }: Frame): Answer => ({
  type: 'application/octet-stream',
  bytes: encodeMessage(head, plane),
});

async function latestPng({ begun, frame }: LiveState): Promise<Answer> {
  if (begun?.picture === undefined || !frame) return undefined;
  const bytes = await readFile(begun.picture).catch(() => undefined);
  return bytes && { type: 'image/png', bytes };
}

/** Stokes I of the newest image, with its coordinates. */
async function latestFits({ begun, frame, facts }: LiveState): Promise<Answer> {
  if (!begun || !frame) return undefined;
  const { head, plane, unixS } = frame;
  const { telescope, frequenciesHz } = begun.shown;
  const [pixels] = head.shape;
  const middle = instant(Math.floor(unixS), unixS % 1);
  const start = instant(Math.floor(unixS - head.durationS / 2), (unixS - head.durationS / 2) % 1);
  const { n: [x, y, z] = [0, 0, 1] } = head.axes ?? {};
  const centre = centreAt(skyFrame(telescope.site, middle), { x, y, z });
  const parts: Uint8Array[] = [];
  await encodeFitsImage(
    {
      path: 'latest.fits',
      write: (bytes) => {
        parts.push(bytes.slice());
        return Promise.resolve();
      },
    },
    {
      image: imageCPML(Float64Array.from(plane), 1, 1, pixels),
      pixels,
      pixelSize: head.pixelSize,
      polarisations: 1,
      ...(telescope.polarisations === 2 && { stokes: 'I' as const }),
      frequenciesHz: Float64Array.of((frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2),
      channelWidthHz: begun.channelWidthHz * frequenciesHz.length,
      centre: centre.position,
      start,
      durationS: head.durationS,
      telescope: telescope.name,
      object: centre.name,
      unit: head.unit,
      history: [
        `corella ${facts.version}, live, from ${facts.description}`,
        ...(begun.shown.imaging?.chosen ? [methodLine(begun.shown.imaging.chosen)] : []),
      ],
    },
  );
  return { type: 'image/fits', bytes: Buffer.concat(parts) };
}

/** Timeout for a position's spectrum: it comes with the next image. */
const SPECTRUM_MS = 3000;

/**
 * The brightness at a position in the latest image, or in that of a time and a file; the current spectrum, and the light
 * curve over the run, or of the file.
 */
async function place(state: LiveState, query: URLSearchParams): Promise<Answer> {
  const [l, m] = [numberIn(query, 'l'), numberIn(query, 'm')];
  if (Math.hypot(l, m) > 1.1) refuse('place', `l = ${l}, m = ${m} is not on the sky`, 'keep l² + m² ≤ 1');
  const { begun, frame, facts, imageHistory } = state;
  if (!frame) return undefined;
  const file = query.get('file') ?? frame.head.file;
  const shown = query.has('unixS')
    ? imageHistory.at(numberIn(query, 'unixS'), file)
    : file === frame.head.file
      ? frame
      : imageHistory.all.findLast(({ head }) => head.file === file);
  if (!shown) return undefined;
  const value = pixelAt(shown, l, m);
  const spectrum =
    facts.showing || state.spectra
      ? state.spectra?.file === file
        ? (state.spectra?.at(l, m) ?? [])
        : []
      : await Promise.race([
          state.spectrum(l, m),
          new Promise<(number | null)[]>((resolve) => setTimeout(resolve, SPECTRUM_MS, []).unref()),
        ]);
  return json({
    l,
    m,
    unit: shown.head.unit,
    value: Number.isFinite(value) ? value : null,
    frequenciesHz: [...(begun?.shown.frequenciesHz ?? [])],
    spectrum,
    curve: imageHistory.curve(l, m, file),
  });
}
