/** Commands for the receiver, and commands that the running chain must refuse. */
import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { addSeconds, instant, type Instant } from '../core/instant.js';
import { Steering } from '../live/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { openCapture, openPage, type Page } from './index.js';
import type { JournalEntry } from './messages.js';

const folder = temporaryFolder('steer');
const TOKEN = 'a-token-of-our-own';
const given: { tick: bigint; time: Instant }[] = [];
let page: Page;

/** Prints tcpdump's messages, writes the given packets, and ends at a signal. */
const FAKE = `#!/bin/sh
echo "$@" > "$0.words"
while [ "$1" != -w ]; do shift; done
printf 12345678 > "$2"
trap 'echo "7 packets dropped by kernel" >&2; exit 0' INT
echo "tcpdump: listening on any" >&2
while :; do sleep 0.05; done
`;
const fake = join(folder, 'tcpdump');

before(async () => {
  await writeFile(fake, FAKE);
  await chmod(fake, 0o755);
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    stop: () => undefined,
    say: () => undefined,
    facts: { description: 'a test', backend: 'none', version: '0', isLive: true, folder },
    receiver: {
      setEpoch: (tick, time) => {
        given.push({ tick, time });
        return { at: instant(1_781_000_000), tick: 77n };
      },
      capture: openCapture({ port: 4015, group: '239.1.2.3', interface: 'eth1' }, folder, fake),
    },
  });
});
after(() => page.close());

const post = async (name: string, body: unknown): Promise<{ code: number; text: string }> => {
  const response = await fetch(`${page.url}api/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });
  return { code: response.status, text: await response.text() };
};
const journal = async (): Promise<readonly JournalEntry[]> =>
  (await (await fetch(`${page.url}api/v1/journal`)).json()) as readonly JournalEntry[];

describe('what is passed to the receiver', () => {
  it('the epoch, by a tick and its time; answered by the tick from which on it holds', async () => {
    const { code, text } = await post('epoch', { tick: '196000000', time: '2026-06-21T04:00:00.5Z' });
    assert.equal(code, 200, text);
    assert.deepEqual(given, [{ tick: 196_000_000n, time: { unixSeconds: 1_782_014_400, fraction: 0.5 } }]);
    assert.equal((JSON.parse(text) as { fromTick: string }).fromTick, '77');
    assert.match((await journal()).at(-1)?.what ?? '', /tick 196000000 of the senders was at 2026/);
    for (const body of [{ tick: -1, time: 'x' }, { tick: 1 }, { tick: '1e9', time: '2026-06-21T04:00:00Z' }])
      assert.equal((await post('epoch', body)).code, 400, JSON.stringify(body));
    assert.equal(given.length, 1);
  });
  it('to capture packets, by tcpdump, one capture at a time; its end stands in the journal', async () => {
    assert.equal((await post('capture', { seconds: 0 })).code, 400);
    assert.equal((await post('capture', { seconds: 4000 })).code, 400);
    const { code, text } = await post('capture', { seconds: 0.3 });
    assert.equal(code, 200, text);
    assert.match((await post('capture', { seconds: 1 })).text, /captured already/);
    assert.match(
      await readFile(`${fake}.words`, 'utf8'),
      /^-i eth1 -n -B \d+ -w \S+\.pcap udp and dst port 4015 and dst host 239\.1\.2\.3\n$/,
    );
    let last = '';
    while (!last.startsWith('captured')) {
      last = (await journal()).at(-1)?.what ?? '';
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.match(last, /capture-\S+Z\.pcap: 8 bytes, 7 packets dropped/);
  });
  it('and reports what is missing where there is no tcpdump, or it may not', async () => {
    const absent = openCapture({ port: 1 }, folder, join(folder, 'nothing'));
    await assert.rejects(
      absent(1, () => undefined),
      /is not installed.*setcap/s,
    );
    const denied = join(folder, 'denied');
    await writeFile(denied, '#!/bin/sh\necho "tcpdump: any: You may not" >&2\nexit 1\n');
    await chmod(denied, 0o755);
    await assert.rejects(
      openCapture({ port: 1 }, folder, denied)(1, () => undefined),
      /You may not/,
    );
  });
});

describe('what the running chain cannot', () => {
  it('be given delays while it runs: there is no such command', async () => {
    const { code } = await post('delays', {
      from: '2026-06-21T04:00:00Z',
      inputs: [{ input: 's0', delayS: 1e-9 }],
    });
    assert.equal(code, 404);
    const telescope: Telescope = {
      name: 'one',
      title: 'One',
      site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
      stations: [{ name: 's0', eastM: 0, northM: 0, upM: 0 }],
      polarisations: 1,
      band: { lowHz: 1, highHz: 2 },
      beamExponent: 0,
      recording: { centreFrequencyHz: 1.5, sampleRateHz: 1, channels: 1, bits: 8 },
    };
    page.steer({
      steering: new Steering({ flaggedInputs: new Uint8Array(1), integrationS: 1 }),
      telescope,
      hasFiles: false,
      loadGains: () => Promise.reject(new Error('none')),
    });
  });
  it('solve gains more often than once a second: the observation waits for each', async () => {
    for (const everyS of [0.001, 0, -1]) {
      const { code, text } = await post('gains', { do: 'solve', everyS });
      assert.equal(code, 400);
      assert.match(text, /gains\.everyS.*give 1 or more/);
    }
    assert.match((await post('gains', { do: 'solve', everyS: 1e9 })).text, /at most 86400/);
    // The request is valid; it is refused since no images are made.
    assert.match((await post('gains', { do: 'solve', everyS: 1 })).text, /no images are made/);
  });
});

describe('a change that was made over HTTP', () => {
  it('can be cancelled over HTTP until it takes effect, with the token alone', async () => {
    const start = instant(1_781_000_000);
    const telescope: Telescope = {
      name: 'two',
      title: 'Two',
      site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
      stations: ['s0', 's1'].map((name) => ({ name, eastM: 0, northM: 0, upM: 0 })),
      polarisations: 1,
      band: { lowHz: 1, highHz: 2 },
      beamExponent: 0,
      recording: { centreFrequencyHz: 1.5, sampleRateHz: 100, channels: 1, bits: 8 },
    };
    const steering = new Steering({ flaggedInputs: new Uint8Array(2), integrationS: 1 });
    // Integrations of a hundred spectra, one per second.
    const files = { cutAfter: (index: number) => 100 * (Math.floor(index / 100) + 1) };
    const source = { kind: 'voltages', sampleRateHz: 100 } as Parameters<Steering['follow']>[0];
    const { cuts } = steering.follow(
      source,
      { start, spectrumRateHz: 100 },
      { cuts: files, files },
      () => files,
    );
    page.steer({ steering, telescope, hasFiles: false, loadGains: () => Promise.reject(new Error('none')) });
    const flags = (): number[] => [...steering.flags.at(addSeconds(start, 1.5))];

    const made = await post('flags', { inputs: ['s1'], flag: true });
    assert.equal(made.code, 200, made.text);
    const { change } = JSON.parse(made.text) as { change: number };
    assert.deepEqual(flags(), [0, 1]);
    const anyone = await fetch(`${page.url}api/v1/cancel`, {
      method: 'POST',
      body: JSON.stringify({ change }),
    });
    assert.equal(anyone.status, 401);
    assert.deepEqual(flags(), [0, 1]);
    for (const body of [{ change: 0 }, { change: 'x' }, {}, { change, more: 1 }])
      assert.equal((await post('cancel', body)).code, 400, JSON.stringify(body));

    assert.equal((await post('cancel', { change })).code, 200);
    assert.deepEqual(flags(), [0, 0]);
    assert.equal((await journal()).at(-1)?.cancels, change);
    assert.match((await post('cancel', { change })).text, new RegExp(`there is no change ${change}`));

    const later = await post('flags', { inputs: ['s0'], flag: true });
    const { change: second } = JSON.parse(later.text) as { change: number };
    // The integration at which it takes effect has begun.
    cuts.cutAfter(120);
    const refused = await post('cancel', { change: second });
    assert.equal(refused.code, 400);
    assert.match(refused.text, new RegExp(`change ${second} took effect at .*make a change that undoes it`));
    assert.deepEqual(flags(), [1, 0]);
  });
});
