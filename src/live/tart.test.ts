/** A local server that replays snapshots like a TART's API. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { textOf } from '../messages/index.js';
import { checkObservation } from '../observation/index.js';
import type { LiveOutcome } from './run-settings.js';
import { runLive } from './run.js';
import { tartAddress } from './tart.js';

const WAVE_M = 299_792_458 / 1.57542e9;
const positions = Array.from({ length: 12 }, (_, s) => [
  0.9 * Math.cos(s * 1.7) * (0.3 + 0.06 * s),
  0.9 * Math.sin(s * 1.7) * (0.3 + 0.06 * s),
  0,
]);
const info = {
  name: 'Made TART',
  L0_frequency: 1571.328e6,
  baseband_frequency: 4.092e6,
  sampling_frequency: 16.368e6,
  bandwidth: 2.5e6,
  num_antenna: 12,
  operating_frequency: 1575.42e6,
  lat: -18.9,
  lon: 47.5,
  alt: 1200,
};
const gains = {
  gain: positions.map((_, s) => 1 + 0.05 * s),
  phase_offset: positions.map((_, s) => (2.1 * s) % 6),
};
/** One source, corrupted by the gains, so that calibrated data give one point. */
function pairs([l, m]: readonly [number, number]): object[] {
  return positions.flatMap((a, i) =>
    positions.slice(i + 1).map((b, k) => {
      const j = i + 1 + k;
      const geometry = (2 * Math.PI * ((a[0] - b[0]) * l + (a[1] - b[1]) * m)) / WAVE_M;
      const phase = geometry + gains.phase_offset[i] - gains.phase_offset[j];
      const size = 1 / (gains.gain[i] * gains.gain[j]);
      return { i, j, re: size * Math.cos(phase), im: size * Math.sin(phase) };
    }),
  );
}
const at = (second: number): string => `2026-06-21T00:00:${String(second).padStart(2, '0')}.500000+00:00`;

type Answers = Readonly<Partial<Record<string, (ask: number) => unknown>>>;

let polled: () => void = () => undefined;

/** Each path answers by the number of earlier requests; unlisted requests get no answer. */
async function serve(test: TestContext, answers: Answers): Promise<string> {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const before = asked.get(path) ?? 0;
    asked.set(path, before + 1);
    if (path.endsWith('/vis')) polled();
    const found = answers[path]?.(before);
    response.statusCode = found === undefined ? 404 : found === 'broken' ? 500 : 200;
    response.end(JSON.stringify(found ?? null));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `tart:http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nominalAnswers: Answers = {
  '/api/v1/info': () => ({ info }),
  '/api/v1/imaging/antenna_positions': () => positions,
  '/api/v1/calibration/gain': () => gains,
};
const vis = (seconds: readonly number[]): Answers => ({
  '/api/v1/imaging/vis': (ask) => ({
    timestamp: at(seconds[Math.min(ask, seconds.length - 1)]),
    data: pairs([0.4, -0.2]),
  }),
});

interface Account {
  readonly polls: number;
  readonly failedPolls: number;
  readonly repeated: number;
  readonly late: number;
  readonly gaps?: number;
  readonly missingIntegrations?: number;
  readonly shortestStepS?: number;
}
interface Outcome extends Account, Pick<LiveOutcome['summary'], 'integrations' | 'images' | 'files'> {}

/** Stopped after this many polls, so the outcome does not depend on a clock. */
async function run(
  stream: string,
  products: readonly object[],
  polls: number,
  more: Partial<Parameters<typeof runLive>[1]> = {},
): Promise<{ readonly outcome: Outcome; readonly notes: readonly string[] }> {
  const observation = checkObservation(
    { corella: 1, source: { stream }, products, machine: { backend: 'reference' } },
    'test',
  );
  const notes: string[] = [];
  const stop = new AbortController();
  let left = polls;
  polled = () => {
    if (--left === 0) stop.abort();
  };
  const { summary, stream: account } = await runLive(observation, {
    ...{ version: 'test', onEvent: () => undefined, onFile: () => undefined, stop: stop.signal },
    say: (line) => notes.push(textOf(line)),
    ...more,
  });
  return { outcome: { ...summary, ...(account?.facts as Account) }, notes };
}

/** Direction cosines of the brightest pixel of a file's first image, from its own header. */
function peakOf(path: string): readonly [number, number] {
  const bytes = readFileSync(path);
  const cards = bytes.toString('latin1', 0, 2880 * 8);
  const value = (key: string): number =>
    Number(new RegExp(`${key.padEnd(8)}= *([-+.\\dEe]+)`).exec(cards)?.[1] ?? NaN);
  const data = Math.ceil((/END {10}/.exec(cards)?.index ?? NaN) / 2880) * 2880;
  const [columns, rows, size] = [value('NAXIS1'), value('NAXIS2'), Math.abs(value('BITPIX')) / 8];
  let [best, at] = [-Infinity, 0];
  for (let k = 0; k < columns * rows; k++) {
    const one = size === 4 ? bytes.readFloatBE(data + 4 * k) : bytes.readDoubleBE(data + 8 * k);
    if (one > best) [best, at] = [one, k];
  }
  const cosine = (axis: 1 | 2, pixel: number): number =>
    ((pixel + 1 - value(`CRPIX${axis}`)) * value(`CDELT${axis}`) * Math.PI) / 180;
  return [cosine(1, at % columns), cosine(2, Math.floor(at / columns))];
}
const near = (found: readonly number[], wanted: readonly number[]): boolean =>
  found.every((one, k) => Math.abs(one - wanted[k]) < 0.05);

describe("a TART's API", () => {
  const images = (path: string): object => ({ images: path, every: 0.02, pixels: 64 });

  it('is polled into files and images: twice the same counts once, gaps are counted', async (test) => {
    const folder = temporaryFolder('tart-live');
    const stream = await serve(test, { ...nominalAnswers, ...vis([1, 1, 2, 3, 3, 6, 5, 7]) });
    const [fits, path] = [join(folder, 'sky.fits'), join(folder, 'tart.uvh5')];
    const { outcome, notes } = await run(
      stream,
      [{ visibilities: path, integration: 0.02 }, images(fits)],
      12,
    );
    // 1, 2, 3, 6 and 7 are new; 4 and 5 are missing, and 5 arrives too late.
    assert.equal(outcome.integrations, 5);
    assert.equal(outcome.late, 1);
    assert.equal(outcome.gaps, 1);
    assert.equal(outcome.missingIntegrations, 2);
    assert.equal(outcome.shortestStepS, 1);
    assert.equal(outcome.polls, 12);
    assert.equal(outcome.integrations + outcome.repeated + outcome.late, outcome.polls);
    assert.equal(outcome.images, 5);
    assert.match(notes.join(), /00:00:05\.500Z came after a later one/);
    const file = await openFile(path);
    try {
      assert.ok(file.kind === 'visibilities');
      assert.equal(file.integrationCount, 5);
      assert.equal(file.header.telescope.stations.length, 12);
      for await (const { visibilities, counts } of file.integrations()) {
        // Pair (1, 0), the simulated data have (0, 1): conjugates.
        const made = pairs([0.4, -0.2])[0] as { re: number; im: number };
        assert.ok(Math.abs(visibilities[2] / counts[1] - made.re) < 1e-6);
        assert.ok(Math.abs(visibilities[3] / counts[1] + made.im) < 1e-6);
      }
    } finally {
      await file.close();
    }
    assert.ok(near(peakOf(fits), [0.4, -0.2]), peakOf(fits).join());
  });

  it('is refused where it cannot be reached, is no TART, or has no gains', async (test) => {
    const folder = temporaryFolder('tart-refused');
    const products = [images(join(folder, 'sky.fits'))];
    await assert.rejects(
      run('tart:http://127.0.0.1:9', products, 1),
      /127\.0\.0\.1:9\/info: cannot be reached/,
    );
    const nothing = await serve(test, {});
    await assert.rejects(run(nothing, products, 1), /has no \/info and no \/api\/v1\/info/);
    const other = await serve(test, { '/info': () => ({ what: 'a kettle' }) });
    await assert.rejects(run(other, products, 1), /does not describe its telescope/);
    const bare = { ...nominalAnswers, '/api/v1/calibration/gain': undefined };
    const without = await serve(test, { ...bare, ...vis([1]) });
    await assert.rejects(run(without, products, 1), /has no gains: an image without them shows no sources/);
    const dead = await serve(test, {
      ...bare,
      ...vis([1]),
      '/api/v1/calibration/gain': () => ({ ...gains, gain: gains.gain.map(() => 0) }),
    });
    await assert.rejects(run(dead, products, 1), /has no gains/);
    const files = await run(without, [{ visibilities: join(folder, 'a.uvh5') }], 1);
    assert.equal(files.outcome.integrations, 1);
  });

  it('ends where antennas have moved, and keeps what was written', async (test) => {
    const folder = temporaryFolder('tart-moved');
    const path = join(folder, 'a.uvh5');
    const stream = await serve(test, {
      ...nominalAnswers,
      ...vis(Array.from({ length: 40 }, (_, k) => k)),
      '/api/v1/imaging/antenna_positions': (ask) =>
        ask === 0 ? positions : positions.map(([e, n, u], s) => [s === 3 ? e + 0.1 : e, n, u]),
    });
    await assert.rejects(
      run(stream, [{ visibilities: path, integration: 0.02 }], 40),
      /the antennas are not where they were/,
    );
    const file = await openFile(path);
    assert.equal(file.kind === 'visibilities' && file.integrationCount, 10);
    await file.close();
  });

  it('is polled on where it does not answer for a while', async (test) => {
    const folder = temporaryFolder('tart-silent');
    const stream = await serve(test, {
      ...nominalAnswers,
      '/api/v1/imaging/vis': (ask) =>
        ask === 1 || ask === 2 ? 'broken' : { timestamp: at(Math.min(ask, 9)), data: pairs([0, 0]) },
    });
    const { outcome, notes } = await run(
      stream,
      [{ visibilities: join(folder, 'a.uvh5'), integration: 0.02 }],
      15,
    );
    assert.equal(outcome.failedPolls, 2);
    assert.equal(outcome.missingIntegrations, 2);
    assert.match(notes.join(), /answers 500.*polled again until it answers/);
  });

  it('takes nothing that is for voltages', async () => {
    const observation = checkObservation(
      {
        corella: 1,
        source: { stream: 'tart:10.0.0.5:5000' },
        front: { channels: 64 },
        products: [{ images: 'sky.png' }],
      },
      'test',
    );
    assert.equal(tartAddress(observation), 'http://10.0.0.5:5000');
    const settings = { version: 'test', onEvent: (): void => undefined, onFile: (): void => undefined };
    await assert.rejects(
      runLive(observation, { ...settings, say: () => undefined }),
      /front: is not for a TART/,
    );
    for (const [products, what] of [
      [[{ beams: 'a.fil', towards: ['Sun'] }], /products\.beams: is not for a TART/],
      [[{ visibilities: 'a.uvh5', values: 'sums' }], /products\.visibilities\.values: is not/],
      [[{ images: 'a.png', method: 'direct' }], /products\.images\.method: is not/],
      [[{ images: 'a.png' }, { images: 'b.png' }], /two of a kind/],
    ] as const)
      await assert.rejects(run('tart:10.0.0.5:5000', products, 1), what);
  });

  it('hands integrations and images to a program, and to a page', async (test) => {
    const stream = await serve(test, { ...nominalAnswers, ...vis([1, 2, 3]) });
    const items: string[] = [];
    const shown: string[] = [];
    const products = [
      { visibilities: null, integration: 0.02 },
      { images: null, every: 0.02, pixels: 64 },
    ];
    await run(stream, products, 4, {
      onItem: ({ kind, product }) => {
        items.push(`${product}: ${kind}`);
        return Promise.resolve();
      },
      openPage: (input) => {
        shown.push(input.description);
        const page = {
          ...{ input, look: () => Promise.resolve(), file: () => undefined },
          watcher: {
            session: () => undefined,
            integration: () => void shown.push('integration'),
            image: () => void shown.push('image'),
          },
          gainsEvents: { solved: () => undefined, failed: () => undefined },
          begin: ({ shown: run }: { readonly shown: { readonly telescope: { readonly title: string } } }) =>
            void shown.push(`begin ${run.telescope.title}`),
          arrived: () => void shown.push('arrived'),
        };
        return Promise.resolve({ page, close: () => Promise.resolve(void shown.push('closed')) });
      },
    });
    assert.deepEqual(items, Array.from({ length: 3 }, () => ['0: visibilities', '1: images']).flat());
    const each = ['arrived', 'integration', 'image'];
    const [first, ...rest] = shown;
    assert.match(first, /^Made TART at http/);
    assert.deepEqual(rest, ['begin Made TART', ...each, ...each, ...each, 'closed']);
  });

  it('replays a public snapshot', async (test) => {
    const path = join(process.env.CORELLA_TEST_DATA ?? '', 'tart/data_2019_08_04_21_38_31_UTC.json');
    if (process.env.CORELLA_TEST_DATA === undefined || !existsSync(path)) {
      test.skip('CORELLA_TEST_DATA has no snapshot of a TART');
      return;
    }
    const found = JSON.parse(readFileSync(path, 'utf8')) as {
      info: unknown;
      ant_pos: unknown;
      gains: unknown;
      data: [[object]];
    };
    const stream = await serve(test, {
      '/info': () => found.info,
      '/imaging/antenna_positions': () => found.ant_pos,
      '/calibration/gain': () => found.gains,
      '/imaging/vis': () => found.data[0][0],
    });
    const fits = join(temporaryFolder('tart-replayed'), 'sky.fits');
    const { outcome } = await run(stream, [images(fits)], 5);
    assert.equal(outcome.integrations, 1);
    assert.equal(outcome.repeated, outcome.polls - 1);
    assert.equal(outcome.images, 1);
    assert.ok(existsSync(fits));
  });
});
