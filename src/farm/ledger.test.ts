import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';
import { createLedger, handIn, openLedger, type Ledger } from './ledger.js';
import { isAlike } from './checks.js';
import { checkJob, jobsOf, makePlan, type FarmPlan } from './job.js';
import { checksumOf, decodeResult, encodeResult, SUMS, type Result } from './result.js';

const plan = (out = 'x.uvh5', version = '1.2.3', changed: Partial<FarmPlan> = {}): FarmPlan =>
  makePlan(version, {
    observation: { corella: 1, source: { recording: '/data/x' }, products: [{ visibilities: out }] },
    outputs: [out],
    work: {
      observation: {
        corella: 1,
        source: { recording: '/data/x' },
        products: [{ visibilities: 'part.uvh5' }],
      },
      recording: {
        facts: {
          kind: 'voltages',
          type: 'ci8',
          inputs: 1,
          samples: 100,
          start: { unixSeconds: 0, fraction: 0 },
        },
        files: [],
        remote: [],
      },
      attached: {},
      backend: 'auto',
    },
    cut: { spectra: [0, 10, 20], channels: [0, 2, 4] },
    plannedFor: [[], []],
    shape: {
      stations: 1,
      polarisations: 1,
      inputs: 1,
      channels: 4,
      type: 'ci8',
      pieces: [],
      sums: [{ first: 0, end: 10 }, { first: 10, end: 20 }], // prettier-ignore
    },
    ...changed,
  });

/** Two channels of one pair: a complex sum and a count each. */
const sums = (...first: number[]): Uint8Array => new Uint8Array(48).map((_, n) => first[n] ?? n);

function result(
  job: string,
  {
    attempt = 'first',
    worker = 'w',
    body = sums(),
    of = plan(),
    parts = partsOf(job),
  }: Partial<{
    attempt: string;
    worker: string;
    body: Uint8Array;
    of: FarmPlan;
    parts: Result['head']['parts'];
  }> = {},
): Result {
  const head = {
    protocol: of.protocol,
    version: of.version,
    plan: of.id,
    job,
    attempt,
    worker,
    backend: 'cpu',
    machine: 'm',
    bytesRead: 5,
    account: { missingSamples: 0, saturated: 0 },
    parts,
  };
  return { head: { ...head, seconds: 1, overheadS: 0.1, sha256: checksumOf(head, body) }, body };
}

const partsOf = (job: string): Result['head']['parts'] => {
  const [, first, end] = /^t(\d+)-(\d+)/.exec(job) ?? ['', '0', '10'];
  return [{ product: SUMS, first: Number(first), end: Number(end), offsetBytes: 0, sizeBytes: 48 }];
};

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
      assert.equal(await take(result('t0-10.c0-2', { attempt: 'second' })), 'late');
      assert.equal(await take(result('t0-10.c0-2', { attempt: 'third', body: sums(9) })), 'differs');
      assert.equal(await take(result('t0-99.c0-2')), 'foreign');
      assert.equal(await take(result('../../escape')), 'foreign');
      assert.equal(await take(result('t0-10.c2-4', { of: { ...plan(), id: 'run-other' } })), 'foreign');
      assert.equal(await take(result('t0-10.c2-4', { of: plan('x.uvh5', '9.9.9') })), 'damaged');
      const broken = encodeResult(result('t0-10.c2-4'));
      broken[broken.length - 1] ^= 1;
      assert.equal(await ledger.take(broken), 'damaged');
      assert.equal(await ledger.take(broken.subarray(0, 20)), 'damaged');
      const dropped = { duplicate: 1, late: 1, differs: 1, foreign: 3, damaged: 3 };
      assert.deepEqual(ledger.dropped, dropped);
      assert.deepEqual([...(await ledger.read('t0-10.c0-2')).body], [...sums()]);
      // A collector that starts later finds everything.
      const again = await openLedger(folder, '1.2.3');
      assert.deepEqual([[...again.done], again.dropped], [['t0-10.c0-2'], dropped]);
      assert.deepEqual(await readdir(join(folder, 'results')), ['t0-10.c0-2.result']);
    }));

  it('sees results that others put there, and not what they left half-written', () =>
    withLedger(async (ledger, folder) => {
      assert.equal(await handIn(folder, result('t0-10.c2-4')), true);
      assert.equal(await handIn(folder, result('t0-10.c2-4', { attempt: 'second' })), false);
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
      // A job that was done after all is no longer set aside.
      await ledger.putAside(one);
      await ledger.take(encodeResult(result('t0-10.c2-4')));
      assert.equal((await openLedger(folder, '1.2.3')).setAside.size, 0);
    }));

  it('refuses the folder of other work and of another version', () =>
    withLedger(async (_, folder) => {
      await createLedger(folder, plan());
      await assert.rejects(createLedger(folder, plan('y.uvh5')), /is the folder of other work/);
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
    assert.equal(plan().id, plan('y.uvh5').id);
    assert.notEqual(plan().id, plan('x.uvh5', '1.2.4').id);
    assert.match(plan().id, /^run-[0-9a-f]{16}$/);
  });
});

describe('a result', () => {
  it('comes back as it went', () => {
    const one = result('t0-10.c0-2');
    const back = decodeResult(encodeResult(one), 'x');
    assert.deepEqual(back.head, one.head);
    assert.deepEqual([...back.body], [...one.body]);
  });

  it('has a checksum of its job, its plan and its parts, too', () => {
    const one = result('t0-10.c0-2');
    const [part] = one.head.parts;
    for (const changed of [
      { job: 't10-20.c0-2' },
      { plan: 'run-other' },
      { parts: [{ ...part, first: 1 }] },
      { account: { missingSamples: 1, saturated: 0 } },
    ])
      assert.throws(
        () => decodeResult(encodeResult({ ...one, head: { ...one.head, ...changed } }), 'x'),
        /checksum/,
        JSON.stringify(changed),
      );
  });

  it('drops sums that are not finite, from the queue and from the folder', () =>
    withLedger(async (ledger, folder) => {
      for (const value of [NaN, Infinity]) {
        const body = sums();
        new DataView(body.buffer).setFloat64(16, value, true);
        const bad = result('t0-10.c0-2', { body });
        assert.equal(await ledger.take(encodeResult(bad)), 'damaged');
        assert.equal(ledger.done.size, 0);
        await handIn(folder, result('t10-20.c0-2', { body }));
        await assert.rejects(ledger.read('t10-20.c0-2'), /has numbers that are not finite/);
      }
    }));

  it('drops results whose parts are not those of their job, whatever their checksum states', () =>
    inTemporaryFolder('ledger', async (folder) => {
      const shape = { ...plan().shape, stations: 2, sums: [{ first: 0, end: 15 }, { first: 15, end: 20 }] }; // prettier-ignore
      const of = plan('x.uvh5', '1.2.3', { shape });
      const ledger = await createLedger(join(folder, 'farm'), of);
      // Two channels of three pairs: a complex sum and a count each.
      const size = 2 * 3 * 3 * 8;
      const part = (first: number, end: number, offsetBytes = 0, sizeBytes = size, product = SUMS) => ({
        product,
        first,
        end,
        offsetBytes,
        sizeBytes,
      });
      const take = (parts: Result['head']['parts']) =>
        ledger.take(encodeResult(result('t10-20.c0-2', { body: new Uint8Array(2 * size), of, parts })));
      assert.equal(await take([part(10, 15), part(15, 20, size, size - 8)]), 'damaged');
      assert.equal(await take([part(10, 15)]), 'damaged');
      assert.equal(await take([part(10, 16), part(16, 20, size)]), 'damaged');
      assert.equal(await take([part(10, 15), part(15, 20, 0)]), 'damaged');
      assert.equal(await take([part(10, 15), part(15, 20, size), part(10, 20, 2 * size, 0, 0)]), 'damaged');
      assert.equal(await take([]), 'damaged');
      assert.equal(ledger.missing().length, 4);
      assert.equal(await take([part(10, 15), part(15, 20, size)]), 'merged');
    }));
});

describe('jobs that two workers do', () => {
  const of = plan('x.uvh5', '1.2.3', { verify: 2 });
  const withChecks = (work: (ledger: Ledger, folder: string) => Promise<void>): Promise<void> =>
    inTemporaryFolder('ledger', async (folder) => {
      await work(await createLedger(join(folder, 'farm'), of), join(folder, 'farm'));
    });
  const take = (ledger: Ledger, worker: string, job: string, body = sums()) =>
    ledger.take(encodeResult(result(job, { of, worker, attempt: `${worker} ${job}`, body })));

  it('count when two of different workers agree, and name one that always answers wrong', () =>
    withChecks(async (ledger, folder) => {
      const [first, plain, second] = ledger.jobs.map(({ id }) => id);
      assert.equal(ledger.waiting().filter(({ id }) => id === first).length, 2);
      assert.equal(ledger.waiting().filter(({ id }) => id === plain).length, 1);
      assert.equal(await take(ledger, 'bad', first, sums(99)), 'waiting');
      assert.equal(await take(ledger, 'bad', first, sums(99)), 'duplicate');
      assert.deepEqual(ledger.waiting().find(({ id }) => id === first)?.verified?.not, ['bad']);
      assert.equal(await take(ledger, 'a', first), 'waiting');
      // A restarted collector still has the answers.
      const again = await openLedger(folder, '1.2.3');
      assert.deepEqual(again.waiting().find(({ id }) => id === first)?.verified?.not, ['bad', 'a']);
      assert.equal(await take(again, 'b', first), 'merged');
      assert.deepEqual([...(await again.read(first)).body], [...sums()]);
      assert.equal(await take(again, 'b', second), 'waiting');
      assert.equal(await take(again, 'bad', second, sums(98)), 'waiting');
      assert.equal(await take(again, 'a', second), 'merged');
      assert.equal(await take(again, 'a', plain), 'merged');
      assert.deepEqual([...(await openLedger(folder, '1.2.3')).wrongWorkers], [['bad', 2]]);
      assert.equal(again.dropped.differs, 2);
    }));

  it('of one worker alone count unchecked, and of two that differ are set aside', () =>
    withChecks(async (ledger) => {
      const [first, , second] = ledger.jobs.map(({ id }) => id);
      await take(ledger, 'a', first);
      await take(ledger, 'a', second);
      await take(ledger, 'b', second, sums(7));
      const { unchecked, undecided } = await ledger.settle();
      assert.deepEqual(unchecked, [first]);
      assert.deepEqual([...ledger.unchecked], [first]);
      assert.match(undecided[0].failures[0].error, /^a and b made different results/);
      assert.deepEqual([...ledger.setAside.keys()], [second]);
    }));

  it('are compared bit for bit, and images of machines that compute differently to a part of the peak', () => {
    const shape = { ...of.shape, sums: [], pieces: [{ product: 0, kind: 'images' as const, images: [] }] };
    const image = {
      start: { unixSeconds: 0, fraction: 0 },
      durationS: 1,
      moment: { unixSeconds: 0, fraction: 0 },
    };
    const parts = [{ product: 0, first: 0, end: 10, offsetBytes: 0, sizeBytes: 32, image }];
    const imageOf = (machine: string, ...pixels: number[]): Result => {
      const one = result('t0-10.c0-2', { of, parts, body: new Uint8Array(Float64Array.from(pixels).buffer) });
      return { ...one, head: { ...one.head, machine } };
    };
    const one = imageOf('x', 1, 2, 3, 4);
    assert.ok(isAlike(shape, one, imageOf('x', 1, 2, 3, 4)));
    assert.ok(!isAlike(shape, one, imageOf('x', 1, 2, 3, 4 + 1e-9)));
    assert.ok(isAlike(shape, one, imageOf('y', 1, 2, 3, 4 + 3e-5)));
    assert.ok(!isAlike(shape, one, imageOf('y', 1, 2, 3, 4 + 5e-5)));
    assert.ok(!isAlike(shape, one, imageOf('y', 1, 2, 3, NaN)));
  });
});
