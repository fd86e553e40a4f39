import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';
import { createLedger, handIn, openLedger, type Ledger } from './ledger.js';
import { checkJob, jobsOf, makePlan, type FarmPlan } from './plan.js';
import { decodeResult, encodeResult, sha256, type Result } from './result.js';

const plan = (product: unknown = {}, version = '1.2.3'): FarmPlan =>
  makePlan(version, {
    work: {
      command: 'correlate',
      recording: {
        ...{ path: '/data/x', open: {} },
        facts: {
          kind: 'voltages',
          type: 'ci8',
          inputs: 2,
          samples: 100,
          start: { unixSeconds: 0, fraction: 0 },
        },
      },
      ...{ align: 'first-sample', flaggedInputs: [], backend: 'auto' },
    },
    cut: { spectra: [0, 10, 20], channels: [0, 2, 4] },
    product,
  });

function result(job: string, attempt = 'first', body = Uint8Array.of(1, 2, 3), of = plan()): Result {
  return {
    head: {
      ...{
        protocol: of.protocol,
        version: of.version,
        plan: of.id,
        job,
        attempt,
        worker: 'w',
        backend: 'cpu',
      },
      ...{ seconds: 1, overheadS: 0.1, bytesRead: 5, account: { missingSamples: 0, saturated: 0 } },
      ...{ parts: [{ first: 0, end: 10, offsetBytes: 0, sizeBytes: 3 }], sha256: sha256(body) },
    },
    body,
  };
}

const withLedger = (work: (ledger: Ledger, folder: string) => Promise<void>): Promise<void> =>
  inTemporaryFolder('ledger', async (folder) =>
    work(await createLedger(join(folder, 'farm'), plan()), join(folder, 'farm')),
  );

describe('the ledger', () => {
  it('counts each job once, and drops what comes after with its reason', () =>
    withLedger(async (ledger, folder) => {
      assert.deepEqual(ledger.missing().map(({ id }) => id), ['t0-10.c0-2', 't0-10.c2-4', 't10-20.c0-2', 't10-20.c2-4']); // prettier-ignore
      const take = (one: Result) => ledger.take(encodeResult(one));
      assert.equal(await take(result('t0-10.c0-2')), 'merged');
      assert.equal(await take(result('t0-10.c0-2')), 'duplicate');
      assert.equal(await take(result('t0-10.c0-2', 'second')), 'late');
      assert.equal(await take(result('t0-10.c0-2', 'third', Uint8Array.of(1, 2, 4))), 'differs');
      assert.equal(await take(result('t0-99.c0-2')), 'foreign');
      assert.equal(await take(result('../../escape')), 'foreign');
      assert.equal(
        await take(result('t0-10.c2-4', 'x', undefined, { ...plan(), id: 'correlate-other' })),
        'foreign',
      );
      assert.equal(await take(result('t0-10.c2-4', 'x', undefined, plan({}, '9.9.9'))), 'damaged');
      const broken = encodeResult(result('t0-10.c2-4'));
      broken[broken.length - 1] ^= 1;
      assert.equal(await ledger.take(broken), 'damaged');
      assert.equal(await ledger.take(broken.subarray(0, 20)), 'damaged');
      const dropped = { duplicate: 1, late: 1, differs: 1, foreign: 3, damaged: 3 };
      assert.deepEqual(ledger.dropped, dropped);
      assert.deepEqual([...(await ledger.read('t0-10.c0-2')).body], [1, 2, 3]);
      // A collector that comes later finds all of it.
      const again = await openLedger(folder, '1.2.3');
      assert.deepEqual([[...again.done], again.dropped], [['t0-10.c0-2'], dropped]);
      assert.deepEqual(await readdir(join(folder, 'results')), ['t0-10.c0-2.result']);
    }));

  it('sees results that others put there, and not what they left half-written', () =>
    withLedger(async (ledger, folder) => {
      assert.equal(await handIn(folder, result('t0-10.c2-4')), true);
      assert.equal(await handIn(folder, result('t0-10.c2-4', 'second')), false);
      await writeFile(join(folder, 'results', 't10-20.c0-2.result.77.part'), 'half');
      await ledger.refresh();
      assert.deepEqual([...ledger.done], ['t0-10.c2-4']);
    }));

  it('sets jobs aside, and lets them be tried again', () =>
    withLedger(async (ledger, folder) => {
      const one = { job: 't0-10.c2-4', failures: [{ worker: 'w', error: 'no disk' }] };
      await ledger.putAside(one);
      assert.equal(ledger.missing().length, 3);
      assert.deepEqual([...(await openLedger(folder, '1.2.3')).setAside.values()], [one]);
      assert.equal(await ledger.forgive(), 1);
      assert.equal(ledger.missing().length, 4);
      // One that is done after all is no longer aside.
      await ledger.putAside(one);
      await ledger.take(encodeResult(result('t0-10.c2-4')));
      assert.equal((await openLedger(folder, '1.2.3')).setAside.size, 0);
    }));

  it('refuses the folder of other work and of another version', () =>
    withLedger(async (_, folder) => {
      await createLedger(folder, plan({ history: ['another line'] }));
      await createLedger(folder, plan());
      await assert.rejects(createLedger(folder, plan({ values: 'sums' })), /is the folder of other work/);
      await assert.rejects(openLedger(folder, '2.0.0'), /of corella 1\.2\.3 .* this is 2\.0\.0/);
    }));

  it('refuses a result that was damaged on the disk', () =>
    withLedger(async (ledger, folder) => {
      await ledger.take(encodeResult(result('t0-10.c0-2')));
      const path = join(folder, 'results', 't0-10.c0-2.result');
      const bytes = await readFile(path);
      bytes[bytes.length - 2] ^= 4;
      await writeFile(path, bytes);
      await assert.rejects(ledger.read('t0-10.c0-2'), /checksum.*submit the job again/);
    }));
});

describe('jobs', () => {
  it('are refused by another version, and where they were changed', () => {
    const [job] = jobsOf(plan());
    const json = JSON.parse(JSON.stringify(job)) as typeof job;
    assert.deepEqual(checkJob(json, '1.2.3', 'job'), job);
    assert.throws(() => checkJob(json, '1.2.4', 'job'), /is of corella 1\.2\.3 .* this is 1\.2\.4/);
    assert.throws(() => checkJob({ ...json, id: 't0-11.c0-2' }, '1.2.3', 'job'), /is called/);
    assert.throws(() => checkJob({ ...json, plan: '../x' }, '1.2.3', 'job'), /is no job/);
    assert.throws(() => checkJob({ ...json, shell: 'rm' }, '1.2.3', 'job'), /is no job/);
    assert.throws(() => checkJob('x', '1.2.3', 'job'), /is no job/);
  });

  it('have the same plan whoever submits them, and another where anything differs', () => {
    assert.equal(plan().id, plan({ anything: 1 }).id);
    assert.notEqual(plan().id, plan({}, '1.2.4').id);
    assert.match(plan().id, /^correlate-[0-9a-f]{16}$/);
  });
});

describe('a result', () => {
  it('comes back as it went', () => {
    const one = result('t0-10.c0-2');
    const back = decodeResult(encodeResult(one), 'x');
    assert.deepEqual(back.head, one.head);
    assert.deepEqual([...back.body], [...one.body]);
  });

  it('drops results whose parts are not those of their job, whatever their checksum says', () =>
    inTemporaryFolder('ledger', async (folder) => {
      const product = {
        ...{ kind: 'correlation', stations: 2, integrations: [{ first: 0, end: 15 }, { first: 15, end: 20 }] }, // prettier-ignore
        header: { polarisations: 1 },
      };
      const of = plan(product);
      const ledger = await createLedger(join(folder, 'farm'), of);
      // Two channels of three pairs: a complex sum and a count each.
      const body = new Uint8Array(2 * 3 * 3 * 8);
      const good = result('t10-20.c0-2', 'x', new Uint8Array(2 * body.length), of);
      const part = (first: number, end: number, offsetBytes = 0, sizeBytes = body.length) => ({
        ...{ first, end, offsetBytes, sizeBytes },
      });
      const take = (parts: Result['head']['parts']) =>
        ledger.take(encodeResult({ ...good, head: { ...good.head, parts } }));
      assert.equal(await take([part(10, 15), part(15, 20, body.length, body.length - 8)]), 'damaged');
      assert.equal(await take([part(10, 15)]), 'damaged');
      assert.equal(await take([part(10, 16), part(16, 20, body.length)]), 'damaged');
      assert.equal(await take([]), 'damaged');
      assert.equal(ledger.missing().length, 4);
      assert.equal(await take([part(10, 15), part(15, 20, body.length)]), 'merged');
    }));
});
