/**
 * Flags through the command line: interference found, reported and kept out of gains and images; weights of products;
 * bad values.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { baselineIndex, spectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createSigmfSpectra, openFile, readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { knownTelescope, randomGains, writeKnownSky, type Complex, type KnownSky } from './known-sky.js';

const STATIONS = 8;
const CHANNELS = 16;
const HIT = [5, 11];
const frequenciesHz = Array.from({ length: CHANNELS }, (_, c) => 150e6 + 1e5 * c);
const sources = [{ altDeg: 70, azDeg: 30, stokes: [100, 0, 0, 0] as const }];
const SPOT = ['--sources', 'spot@70:30:100'] as const;
const sky: KnownSky = {
  stations: STATIONS,
  radiusM: 15,
  frequenciesHz,
  sources,
  times: 6,
  noiseJy: 1,
  jones: randomGains(6, STATIONS, CHANNELS),
};
/** A nearby transmitter, 81 times as strong as the sky: its wave reaches each station by a different path. */
const transmitter = (i: number, j: number): Complex => {
  const turn = 2.399 * (i * i - j * j);
  return [8100 * Math.cos(turn), 8100 * Math.sin(turn)];
};

const folder = temporaryFolder('flags');
const path = (name: string): string => join(folder, name);
const corella = async (...words: string[]) => {
  const ran = await corellaHere(folder, ...words, '--quiet');
  assert.equal(ran.code, 0, ran.stderr);
  return ran.stdout;
};
const corellaJson = async (...words: string[]) =>
  JSON.parse(await corella(...words, '--json')) as Record<string, unknown>;
async function readAll(name: string): Promise<Integration[]> {
  const file = await openFile(path(name));
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return all;
}

describe('two channels of sixteen hit', () => {
  before(async () => {
    await writeKnownSky(path('clean.uvh5'), sky);
    await writeKnownSky(path('hit.uvh5'), {
      ...sky,
      added: (_t, c, [i, j]) => (HIT.includes(c) ? transmitter(i, j) : [0, 0]),
    });
    await corella('calibrate', 'clean.uvh5', ...SPOT, '-o', 'clean.json');
  });

  it('their gains are not written, and the others are those of clean data', async () => {
    await corella('calibrate', 'hit.uvh5', ...SPOT, '--odd', '0', '-o', 'wrong.json');
    const wrong = await readGainFile(path('wrong.json'));
    // Without flags, gains are nine times too large.
    const size = (gains: Float64Array, at: number): number => Math.hypot(gains[2 * at], gains[2 * at + 1]);
    assert.ok(size(wrong.gains, HIT[0] * 2 * STATIONS) > 5);

    const report = (await corellaJson(
      ...['calibrate', 'hit.uvh5', ...SPOT, '--odd', '0', '--flag-interference', '-o', 'gains.json'],
    )) as { flags: { interference: number; byChannel: number[]; byInput: number[]; byTime: object[] } };
    report.flags.byChannel.forEach((share, c) => {
      if (HIT.includes(c)) assert.equal(share, 1, `channel ${c}`);
      // Here the gains of every channel are random, which is rougher than any real band.
      else assert.ok(share < 0.01, `channel ${c}: ${share}`);
    });
    assert.equal(report.flags.byInput.length, 2 * STATIONS);
    assert.equal(report.flags.byTime.length, 6);
    const [found, clean] = [await readGainFile(path('gains.json')), await readGainFile(path('clean.json'))];
    for (let at = 0; at < CHANNELS * 2 * STATIONS; at++) {
      const isHit = HIT.includes(Math.floor(at / (2 * STATIONS)));
      assert.equal(found.solved[at], isHit ? 0 : 1);
      if (isHit) continue;
      const off = Math.hypot(
        found.gains[2 * at] - clean.gains[2 * at],
        found.gains[2 * at + 1] - clean.gains[2 * at + 1],
      );
      assert.ok(off < 0.01 * size(clean.gains, at), `place ${at}: ${off}`);
    }
  });

  it('the averaged image is not theirs: its flux is within 1 % of what it is without', async () => {
    const peak = async (...words: string[]): Promise<number> =>
      (await corellaJson('image', ...words, '--no-picture', '--overwrite')).peak as number;
    const truth = await peak('clean.uvh5', '--gains', 'clean.json', '-o', 'clean.fits');
    // 100 Jy between two pixels.
    assert.ok(truth > 90 && truth < 101, `${truth} Jy`);
    const owned = await peak('hit.uvh5', '--gains', 'clean.json', '-o', 'owned.fits');
    assert.ok(owned > 200, `${owned} Jy`);
    const flagged = await peak('hit.uvh5', '--gains', 'clean.json', '--flag-interference', '-o', 'good.fits');
    assert.ok(Math.abs(flagged / truth - 1) < 0.01, `${flagged} of ${truth} Jy`);
    const bySelf = await peak('hit.uvh5', '--gains', 'gains.json', '-o', 'self.fits');
    assert.ok(Math.abs(bySelf / truth - 1) < 0.01, `${bySelf} of ${truth} Jy`);
    const named = await peak(
      'hit.uvh5',
      '--gains',
      'clean.json',
      '--flag',
      'channels=5+11',
      '-o',
      'named.fits',
    );
    assert.ok(Math.abs(named / truth - 1) < 0.01, `${named} of ${truth} Jy`);
    const some = await peak('hit.uvh5', '--gains', 'clean.json', '--channels', '0-4,6-10', '-o', 'some.fits');
    assert.ok(Math.abs(some / truth - 1) < 0.01, `${some} of ${truth} Jy`);
  });

  it('flags are written to files, kept apart from what is missing, and read again', async () => {
    const said = await corella(
      ...['convert', 'hit.uvh5', 'flagged.uvfits', '--flag-interference', '--flags-out', 'flags.json'],
      ...['--flag', 's1&s4,s7:Y,times=2026-03-01T12:00:00Z..2026-03-01T12:00:02Z'],
    );
    assert.match(
      said,
      /flagged as requested: \d+\.\d % of the values\ninterference: \d+\.\d % of the values flagged/,
    );
    assert.match(said, /interference: channels 5 \(150\.5 MHz\) 100\.0 %, 11 \(151\.1 MHz\) 100\.0 %/);
    const [first, second] = await readAll('flagged.uvfits');
    const [raw] = await readAll('hit.uvh5');
    const baselines = (STATIONS * (STATIONS + 1)) / 2;
    const weight = (one: Integration, c: number, i: number, j: number, place: number): number =>
      one.passThrough?.weights[4 * (c * baselines + baselineIndex(i, j)) + place] ?? Number.NaN;
    assert.equal(weight(first, 0, 3, 2, 0), -1000, 'a time');
    assert.equal(weight(second, 0, 3, 2, 0), 1000);
    assert.equal(weight(second, HIT[0], 3, 2, 0), -1000, 'a channel');
    assert.equal(weight(second, 0, 4, 1, 0), -1000, 'a pair');
    // Y of station 7 is pi of its pairs: YX and YY; X is left.
    assert.deepEqual(
      [0, 1, 2, 3].map((place) => weight(second, 0, 7, 2, place)),
      [1000, 1000, -1000, -1000],
    );
    const at = 8 * (HIT[0] * baselines + baselineIndex(3, 2));
    const kept = first.passThrough?.means[at] ?? Number.NaN;
    assert.ok(Math.abs(kept / (raw.passThrough?.means[at] ?? 0) - 1) < 1e-4, 'values stay');

    await corella('convert', 'hit.uvh5', 'again.uvfits', '--flags', 'flags.json');
    const again = await readAll('again.uvfits');
    assert.deepEqual(again[1].passThrough?.weights, second.passThrough?.weights);
    assert.deepEqual(again[0].passThrough?.weights, first.passThrough?.weights);
    const inspected = (await corellaJson('inspect', 'again.uvfits', '--picture', 'flags.png')) as {
      read: { flagged: { fraction: number }; missing: { fraction: number } };
    };
    assert.ok(inspected.read.flagged.fraction > 0.25);
    assert.equal(inspected.read.flagged.fraction, inspected.read.missing.fraction, 'nothing is missing');
    assert.ok((await readFile(path('flags.png'))).length > 10_000);
    assert.match(await corella('inspect', 'again.uvfits'), /pair 0, 0 XX: flagged  flagged/);
  });

  it('a file of flags is refused where it states nothing, or is of other channels', async () => {
    const refused = async (text: string, says: RegExp): Promise<void> => {
      await writeFile(path('odd.json'), text);
      const ran = await corellaHere(folder, 'calibrate', 'hit.uvh5', '--flags', 'odd.json', '--overwrite');
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, says);
    };
    await refused('{"flags": [{}]}', /entry 0: says nothing of what to flag/);
    await refused('{"channels": 4, "flags": []}', /is of 4 channels where the data have 16/);
    await refused('{"flags": [{"channels": "20"}]}', /entry 0: '20' is outside channels 0 to 15/);
    await refused('{"flags": [{"products": ["RR"]}]}', /entry 0: 'RR' is no product of linear feeds/);
    await refused('{"flags": [{"stations": ["s1"]}]}', /stations/);
  });
});

describe('a burst', () => {
  before(async () => {
    // 500 Jy from the zenith for 2 s: the same in every channel and pair.
    await writeKnownSky(path('burst.uvh5'), {
      ...sky,
      times: 12,
      jones: () =>
        [
          [1, 0],
          [0, 0],
          [0, 0],
          [1, 0],
        ] as const,
      added: (t) => (t === 7 ? [500, 0] : [0, 0]),
    });
  });
  const takenAt = async (...words: string[]): Promise<readonly [number, string]> => {
    const said = await corella('convert', 'burst.uvh5', 'out.uvh5', '--overwrite', ...words);
    const all = await readAll('out.uvh5');
    return [all[7].passThrough?.weights.filter((weight) => weight < 0).length ?? 0, said];
  };
  it('that may be of the sky is reported where it is flagged', async () => {
    const [taken, said] = await takenAt('--flag-interference');
    assert.ok(taken > 1000);
    assert.match(
      said,
      /2026-03-01T12:00:14\.000Z to 2026-03-01T12:00:16\.000Z, 16 of 16 channels: flagged.*\[flags\.burst\]/,
    );
  });
  it('is left and reported with --keep-bursts', async () => {
    const [taken, said] = await takenAt('--flag-interference', '--keep-bursts');
    assert.equal(taken, 0);
    assert.match(said, /16 of 16 channels: kept/);
  });
});

describe('a part', () => {
  it('of times and channels is what calibrate and apply take', async () => {
    const report = await corellaJson(
      ...['calibrate', 'clean.uvh5', ...SPOT, '--channels', '150.25MHz..150.65MHz', '-o', 'part.json'],
      ...['--times', '2026-03-01T12:00:02Z..2026-03-01T12:00:06Z'],
    );
    assert.equal(report.integrations, 2);
    assert.deepEqual([...(await readGainFile(path('part.json'))).frequenciesHz], frequenciesHz.slice(3, 7));
    await corella(
      'apply',
      'clean.uvh5',
      'part.json',
      'part.uvh5',
      '--channels',
      '3-6',
      '--times',
      '..2026-03-01T12:00:04Z',
    );
    const all = await readAll('part.uvh5');
    assert.deepEqual([all.length, all[0].channels], [2, 4]);
    const ran = await corellaHere(
      folder,
      'calibrate',
      'clean.uvh5',
      '--times',
      '2027-01-01T00:00:00Z..',
      '--overwrite',
    );
    assert.match(ran.stderr, /--times: no integration of clean\.uvh5 is in that time/);
  });

  it('flagged where nothing is, or interference that is not there, gives a warning', async () => {
    const none = ['--flag', 'times=2020-01-01T00:00:00Z..2020-01-02T00:00:00Z'];
    const said = await corella('convert', 'clean.uvh5', 'none.uvh5', ...none, '--flag-interference', '1000');
    assert.match(said, /flagged as requested: none, .*\ninterference: none found/);
  });
});

describe('values that are no numbers', () => {
  it('are flags, counted and reported', async () => {
    await writeKnownSky(path('nan.uvfits'), {
      ...sky,
      added: (t, c, [i, j], [p, q]) =>
        t === 1 && c === 2 && i === 3 && j === 1 && p + q === 0 ? [Number.NaN, 0] : [0, 0],
    });
    assert.match(await corella('convert', 'nan.uvfits', 'nan.uvh5'), /\[flags\.not-numbers\]/);
    assert.equal(
      ((await corellaJson('inspect', 'nan.uvfits')) as { read: { notNumbers: number } }).read.notNumbers,
      1,
    );
    await corella('calibrate', 'nan.uvfits', ...SPOT, '-o', 'nan.json');
    const { solved } = await readGainFile(path('nan.json'));
    assert.ok(solved.every((one) => one === 1));
  });
});

describe('values that no receiver has', () => {
  it('are flagged, with a warning of every command', async () => {
    await writeKnownSky(path('damaged.uvfits'), {
      ...sky,
      added: (t, c, [i, j], [p, q]) =>
        t === 1 && c === 2 && i === 3 && j === 1 && p + q === 0 ? [1e30, 0] : [0, 0],
    });
    const warning = /1 value is too large to be real/;
    assert.match(await corella('inspect', 'damaged.uvfits', '--whole'), warning);
    const peakOf = async (name: string): Promise<number> => {
      const said = await corella('image', name, '-o', 'damaged.fits', '--overwrite');
      assert.equal(said.includes('too large to be real'), name === 'damaged.uvfits');
      return Number(/peak (\S+)/.exec(said)?.[1]);
    };
    const peak = await peakOf('clean.uvh5');
    assert.ok(Math.abs((await peakOf('damaged.uvfits')) / peak - 1) < 0.05, 'without that value');
    assert.match(await corella('convert', 'damaged.uvfits', 'damaged.uvh5'), warning);
    assert.doesNotMatch(await corella('inspect', 'clean.uvh5', '--whole'), warning);
  });
});

describe('correlate', () => {
  const SPECTRA = 140_000;
  const start = parseInstant('2026-03-01T12:00:00Z', 'test');
  before(async () => {
    // Three stations at full scale, 127 + 127i in every sample of two channels.
    const telescope = { ...knownTelescope({ ...sky, stations: 3 }), polarisations: 1 as const };
    const writer = await createSigmfSpectra(path('full.sigmf-meta'), {
      telescope,
      inputs: 3,
      polarisations: 1,
      type: 'ci8',
      channels: 2,
      spectrumRateHz: 1e5,
      frequenciesHz: Float64Array.of(150e6, 150.1e6),
      channelWidthHz: 1e5,
      centreFrequencyHz: 150.05e6,
      start,
      description: 'full scale',
      history: [],
    });
    const samples = SPECTRA / 4;
    for (let block = 0; block < 4; block++)
      await writer.append({
        samples,
        spectra: spectraCAT(new Int8Array(2 * 3 * samples * 2).fill(127), 'ci8', 2, 3, samples),
        gaps: [],
        start: addSeconds(start, 0.35 * block),
      });
    await writer.finish();
  });

  it('writes whole sums beyond 2³¹ and reads them back exactly', async () => {
    await corella(
      'correlate',
      'full.sigmf-meta',
      '--values',
      'sums',
      '--integration',
      '10s',
      '-o',
      'sums.uvh5',
    );
    const [one] = await readAll('sums.uvh5');
    // 140,000 · (127² + 127²) = 4,516,120,000, over 2³¹.
    assert.deepEqual([...one.visibilities.slice(0, 4)], [4_516_120_000, 0, 4_516_120_000, 0]);
    assert.deepEqual([...one.counts], new Array<number>(12).fill(SPECTRA));
  });

  it('takes a part of a recording, keeps some channels and flags some', async () => {
    const report = await corellaJson(
      ...[
        'correlate',
        'full.sigmf-meta',
        '-o',
        'part.uvfits',
        '--integration',
        '0.1s',
        '--keep-channels',
        '1',
      ],
      ...[
        '--times',
        '2026-03-01T12:00:00.2Z..2026-03-01T12:00:00.5Z',
        '--flag',
        's0&s2,times=2026-03-01T12:00:00.3Z..2026-03-01T12:00:00.4Z',
      ],
    );
    // One pair of six twice, and all six at the second time.
    assert.deepEqual(report.flags, { values: 18, asked: 8 });
    const all = await readAll('part.uvfits');
    assert.deepEqual([all.length, all[0].channels, all[0].start.fraction.toFixed(3)], [3, 1, '0.200']);
    // Pairs 00, 10, 11, 20, 21, 22: s0&s2 flagged everywhere, all at the second time.
    assert.deepEqual([...(all[0].passThrough?.weights ?? [])], [1e4, 1e4, 1e4, -1e4, 1e4, 1e4]);
    assert.deepEqual([...(all[1].passThrough?.weights ?? [])], new Array<number>(6).fill(-1e4));
  });
});
