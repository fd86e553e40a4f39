/** Products of a live run in process: two stream epochs of samples in memory. */
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gainsCA, spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { addSamples, addSeconds, parseInstant, type Instant } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, writeGainFiles } from '../formats/index.js';
import { textOf } from '../messages/index.js';
import { checkObservation, type ObservedItem } from '../observation/index.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { runLive } from './run.js';
import type { LiveOutcome, LiveRunSettings } from './run-settings.js';

const RATE_HZ = 1000;
const STATIONS = 4;
const frequenciesHz = Float64Array.of(60e6, 60.1e6);
const begin = parseInstant('2026-06-21T04:00:00Z');

/** Seconds of samples of value 1. */
const epochOf = (start: Instant, seconds: number): SpectraSource => ({
  kind: 'spectra',
  type: 'ci8',
  inputs: 2 * STATIONS,
  polarisations: 2,
  channels: 2,
  spectrumRateHz: RATE_HZ,
  frequenciesHz,
  channelWidthHz: 100e3,
  start,
  close: nothingToClose,
  // eslint-disable-next-line @typescript-eslint/require-await
  async *blocks(): AsyncGenerator<CanonicalSpectra> {
    for (let k = 0; k < seconds; k++) {
      const spectra = spectraCAT(
        new Int8Array(8 * STATIONS * RATE_HZ).fill(1),
        'ci8',
        2,
        2 * STATIONS,
        RATE_HZ,
      );
      yield { samples: RATE_HZ, spectra, gaps: [], start: addSamples(start, RATE_HZ * k, RATE_HZ) };
    }
  },
});

/** Two stream epochs of two seconds, an hour apart. */
async function run(
  asked: object,
  settings: Partial<LiveRunSettings> = {},
): Promise<{ readonly outcome: LiveOutcome; readonly notes: readonly string[] }> {
  const observation = checkObservation({
    ...{ corella: 1, source: { stream: '-' }, telescope: 'lwasv', stations: STATIONS },
    machine: { backend: 'reference' },
    page: { address: false },
    ...asked,
  });
  const telescope = selectStations(await loadTelescope('lwasv'), STATIONS);
  const notes: string[] = [];
  const outcome = await runLive(observation, {
    version: 'test',
    say: (line) => notes.push(textOf(line)),
    onEvent: () => undefined,
    onFile: () => undefined,
    openInput: () =>
      Promise.resolve({
        description: 'memory',
        telescope,
        isLive: false,
        sessions: () => [epochOf(begin, 2), epochOf(addSeconds(begin, 3600), 2)],
        stop: () => undefined,
        close: nothingToClose,
      }),
    ...settings,
  });
  return { outcome, notes };
}

async function integrationsIn(path: string): Promise<number> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  await file.close();
  return file.integrationCount;
}

describe('every product of a live run', () => {
  it('keeps the files of each stream epoch, the second of a kind too, where files are overwritten', async () => {
    const folder = temporaryFolder('live-products');
    const products = ['a', 'b'].map((name) => ({
      visibilities: join(folder, `${name}.uvh5`),
      integration: 1,
    }));
    const { outcome } = await run({ products, overwrite: true });
    const { files } = outcome.summary;
    assert.equal(new Set(files).size, 4, files.join());
    assert.deepEqual(await Promise.all(files.map(integrationsIn)), [2, 2, 2, 2]);
  });

  it('ends by itself where it fails, which is reported at once, and the others go on', async () => {
    const products = [
      { visibilities: null, integration: 1 },
      { images: null, every: 1, pixels: 64 },
    ];
    const items: string[] = [];
    let noted: readonly string[] = [];
    const notes: string[] = [];
    const { outcome } = await run(
      { products },
      {
        say: (line) => notes.push(textOf(line)),
        onItem: (item: ObservedItem) => {
          if (item.kind === 'images') return Promise.reject(new Error('no place for it'));
          items.push(item.kind);
          if (items.length === 2) noted = [...notes];
          return Promise.resolve();
        },
      },
    );
    assert.deepEqual(items, Array<string>(4).fill('visibilities'));
    assert.match(outcome.failures.join(), /images: no place for it/);
    assert.match(noted.join(), /images: no place for it/);
  });

  it('writes a cube image by image; a full disk is reported at once, and does not end the run', async (t) => {
    const path = join(temporaryFolder('live-products'), 'sky.fits');
    const probe = await open('/dev/null');
    const prototype = Object.getPrototypeOf(probe) as typeof probe;
    await probe.close();
    const { write } = prototype as unknown as Record<'write', (this: unknown, ...of: unknown[]) => unknown>;
    let writes = 0;
    // Header and plane of the first image, and nothing after that.
    t.mock.method(prototype, 'write', function (this: typeof probe, ...of: unknown[]) {
      if (++writes > 2) return Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
      return write.apply(this, of);
    });
    const products = [
      { images: path, every: 1, pixels: 64 },
      { visibilities: null, integration: 1 },
    ];
    let [items, noted] = [0, ''];
    const notes: string[] = [];
    const { outcome } = await run(
      { products },
      {
        say: (line) => notes.push(textOf(line)),
        onItem: () => {
          if (++items === 3) noted = notes.join();
          return Promise.resolve();
        },
      },
    );
    assert.equal(items, 4, 'the run goes on');
    assert.match(noted, /sky.fits: .* is full.* holds 1 image; trying again/);
    assert.deepEqual(outcome.failures, ['images: 3 of them are in no file']);
    assert.deepEqual([outcome.summary.files, outcome.summary.pictures], [[path], 1]);
  });

  it('is calibrated by the gains of a file, steered or not, whatever else is made', async () => {
    const path = join(temporaryFolder('live-products'), 'gains.json');
    const telescope = selectStations(await loadTelescope('lwasv'), STATIONS);
    const inputs = 2 * STATIONS;
    const two = Float64Array.from({ length: 4 * inputs }, (_, n) => (n % 2 === 0 ? 2 : 0));
    await writeGainFiles(
      path,
      {
        telescope: telescope.name,
        stations: telescope.stations.map(({ name }) => name),
        polarisations: 2,
        frequenciesHz,
        referenceStation: 0,
        time: begin,
        gains: gainsCA(two, 2, inputs),
        solved: new Uint8Array(2 * inputs).fill(1),
        ...{ solutions: [], sources: ['a'], history: [] },
      },
      { telescope, channelWidthHz: 100e3, durationS: 1 },
    );
    const powersBy = async (settings: Partial<LiveRunSettings>): Promise<number[]> => {
      const powers: number[] = [];
      const onItem = (item: ObservedItem): Promise<void> => {
        if (item.kind === 'beams' && item.beams.kind === 'powers') powers.push(...item.beams.powers);
        return Promise.resolve();
      };
      const beams = { beams: null, towards: ['zenith'], every: 1 };
      await run({ products: [beams], gains: { file: path } }, { ...settings, onItem });
      return powers;
    };
    const given = await powersBy({});
    assert.ok(given.length > 0);
    assert.deepEqual(await powersBy({ onSteering: () => undefined }), given);
  });
});
