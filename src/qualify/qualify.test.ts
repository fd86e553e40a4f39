import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openBackend } from '../backend/select.js';
import { all, atLeast, atMost, within, type Check } from './figure.js';
import {
  figureNames,
  missed,
  movedSince,
  qualify,
  readReport,
  reportHtml,
  reportJson,
  type Qualification,
} from './index.js';
import { traceOfInverse } from './figures/gains.js';

const resultOf = ({ result }: Check): string => result;

void describe('thresholds', () => {
  void it('pass on the threshold, and miss beyond it', () => {
    assert.equal(resultOf(atMost('x', 1, 1)), 'pass');
    assert.equal(resultOf(atMost('x', 1.001, 1)), 'fail');
    assert.equal(resultOf(atLeast('x', 53, 53)), 'pass');
    assert.equal(resultOf(atLeast('x', 52.9, 53)), 'fail');
    assert.equal(resultOf(within('x', 0.89, 0.9, 1.1)), 'fail');
    assert.equal(resultOf(all('x', 3, 4)), 'fail');
  });
  void it('never pass what was not measured', () => {
    for (const check of [atMost('x', NaN, 1), atLeast('x', NaN, 1), within('x', NaN, 0, 1), all('x', 0, 0)])
      assert.equal(check.result, 'fail', check.wanted);
  });
});

void it('inverts by hand-computed numbers', () => {
  // [[2, 1], [1, 3]]⁻¹ = [[3, −1], [−1, 2]] / 5
  const trace = traceOfInverse([Float64Array.of(2, 1), Float64Array.of(1, 3)]);
  assert.ok(Math.abs(trace - 1) < 1e-12, String(trace));
});

void describe('a qualification', () => {
  let backend: Backend;
  let made: Qualification;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'corella-test-'));
    backend = await openBackend('reference');
    made = await qualify({ backend, quick: true, version: '1.2.3', only: ['signature', 'loss', 'tone'] });
  });
  after(async () => {
    await backend.close();
    await rm(folder, { recursive: true });
  });

  void it('measures what was asked for, in the order of the report', () => {
    assert.deepEqual(
      made.figures.map(({ name }) => name),
      ['tone', 'signature', 'loss'],
    );
    assert.deepEqual(missed(made), []);
  });

  void it('has a name for every figure, none twice', () => {
    assert.equal(new Set(figureNames).size, figureNames.length);
    assert.ok(figureNames.every((name) => /^[a-z-]+$/.test(name)));
  });

  void it('refuses an unknown figure', async () => {
    await assert.rejects(
      qualify({ backend, quick: true, version: '1', only: ['tones'] }),
      /'tones' is not a figure; choose among tone, /,
    );
  });

  void it('makes a page that needs no other file, and reports what was missed', async () => {
    const page = await reportHtml(made);
    assert.match(page, /Passed: all \d+ thresholds/);
    assert.doesNotMatch(page, /(?:src|href)="(?!data:|#)/);
    const [first, ...rest] = made.figures;
    const broken = {
      ...made,
      figures: [{ ...first, checks: [atMost('a <tag>', 2, 1, 'dB')] }, ...rest],
    };
    assert.match(await reportHtml(broken), /Missed: 1 of .*a &lt;tag&gt;: 2 dB, wanted ≤ 1 dB/s);
  });

  void it('reports what changed since an earlier report, and refuses what is none', async () => {
    const path = join(folder, 'report.json');
    await writeFile(path, JSON.stringify(reportJson(made)));
    const earlier = await readReport(path);
    assert.deepEqual(movedSince(earlier, made), []);
    const [first, ...rest] = made.figures;
    const [check, ...others] = first.checks;
    const now = {
      ...made,
      figures: [
        { ...first, checks: [{ ...check, measured: 3, result: 'fail' as const }, ...others] },
        ...rest,
      ],
    };
    const [moved, ...more] = movedSince(earlier, now);
    assert.equal(more.length, 0);
    assert.deepEqual([moved.what, moved.now, moved.worse], [check.what, '3', true]);
    await writeFile(path, '{"report": "another"}');
    await assert.rejects(readReport(path), /is no report of ours: report is "another" where/);
    await assert.rejects(readReport(join(folder, 'none.json')), /cannot be read/);
  });
});
