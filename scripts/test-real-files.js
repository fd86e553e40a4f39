// Every sample of the real recordings in CORELLA_TEST_DATA (and of those distributed with baseband) compared with
// baseband; every visibility, uvw, flag, weight, time, antenna, unit and keyword of the real visibilities compared with
// pyuvdata, both ways: pyuvdata reads our copies, and we read files of pyuvdata. One line per file: how much was
// compared and the largest difference. Missing software is reported: PYTHONPATH gives the location of baseband and
// pyuvdata.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { peers, record } from './clients/peers.js';

const root = new URL('..', import.meta.url).pathname;
const { openFile, sampleRateOf } = await import('../dist/formats/index.js');
const { formatInstant, parseInstant } = await import('../dist/core/instant.js');
const { highNibble, lowNibble } = await import('../dist/core/nibbles.js');

const data = process.env.CORELLA_TEST_DATA ?? '';
const python = peers.python;
const work = mkdtempSync(join(tmpdir(), 'corella-real-'));
process.once('exit', () => {
  rmSync(work, { recursive: true, force: true });
});
let failures = 0;

/**
 * @param {boolean} ok
 * @param {string} text
 */
function report(ok, text) {
  if (!ok) failures++;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${text}`);
}

const recordingAnswer = z.object({
  ...{ title: z.string(), said: z.string(), samples: z.number() },
  ...{
    largest: z.number().default(Infinity),
    start: z.number().default(Infinity),
    rate: z.number().default(Infinity),
  },
});
const visibilityAnswer = z
  .object({
    ...{ title: z.string(), said: z.string().optional(), refused: z.string().optional() },
    differ: z.array(z.string()).default([]),
    ...{ visibilities: z.number().default(0), flags: z.number().default(0) },
    ...{ antennas: z.number().default(0), keywords: z.number().default(0) },
  })
  .catchall(z.number());

/**
 * Sends jobs to a script and reads its answers by line.
 * @template Answer
 * @param {string} script
 * @param {readonly object[]} jobs
 * @param {z.ZodType<Answer>} schema
 * @returns {Answer[]}
 */
function ask(script, jobs, schema) {
  const ran = spawnSync(python, [join(root, 'scripts/clients', script)], {
    input: jobs.map((job) => JSON.stringify(job)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const lines = ran.stdout.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length !== jobs.length) {
    console.error(`${script} answered ${lines.length} of ${jobs.length}: ${ran.stderr.slice(-600)}`);
    process.exit(1);
  }
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

/**
 * @typedef {object} RecordingJob
 * @property {string} format ours
 * @property {string} kind baseband's
 * @property {string[]} paths
 * @property {import('../dist/formats/index.js').OpenFileOptions} [options] for us
 * @property {object} [open] for baseband
 * @property {[number, number]} [levels] factor and offset from baseband's numbers to ours
 * @property {string} [name]
 * @property {string | string[][]} [raw] baseband's files of samples
 * @property {number} [unreadS] time at the start that baseband does not read (PICOSECONDS)
 */

/** @returns {RecordingJob[]} */
function recordings() {
  const at = (/** @type {string} */ name) => join(data, name);
  // For 8 bits baseband uses (b − 127.5)/35.5, we b − 128; for 4 bits (b − 8)/2.95, we b − 8.
  const eight = /** @type {[number, number]} */ ([35.5, -0.5]);
  /** @type {RecordingJob[]} */
  const shared = [
    { format: 'dada', kind: 'dada', paths: [at('dada/sample.dada')] },
    { format: 'guppi', kind: 'guppi', paths: [at('guppi/sample_puppi.raw')] },
    {
      ...{ format: 'mark5b', kind: 'mark5b', paths: [at('mark5b/sample.m5b')] },
      options: { inputs: 8, near: parseInstant('2014-06-01'), sampleRateHz: 32e6 },
      open: { nchan: 8, bps: 2, ref_time: '2014-06-01', sample_rate: 32e6 },
    },
    { format: 'vdif', kind: 'vdif', paths: [at('vdif/sample.vdif')] },
    {
      ...{ format: 'vdif', kind: 'vdif', paths: [at('vdif/lsl-vdif-test.vdif')] },
      options: { sampleRateHz: 490_512_384 },
      open: { sample_rate: 490_512_384 },
    },
    {
      ...{ format: 'vdif', kind: 'vdif', paths: [at('vdif/sample_mwa.vdif')], levels: eight },
      options: { sampleRateHz: 1.28e6 },
      open: { sample_rate: 1.28e6 },
    },
    rawDump(at('gsb/sample_gsb_rawdump.timestamp')),
  ];
  return [...shared, ...peersOwn()].filter(({ paths }) => existsSync(paths[0]));
}

/**
 * @param {string} path
 * @returns {RecordingJob}
 */
function rawDump(path) {
  return {
    ...{ format: 'gsb', kind: 'gsb', paths: [path, path.replace('.timestamp', '.dat')] },
    options: { sampleRateHz: 8192 / 0.25165824 },
    open: { samples_per_frame: 8192 },
  };
}

/**
 * Recordings of real telescopes that are distributed with baseband.
 * @returns {RecordingJob[]}
 */
function peersOwn() {
  const folder = execFileSync(
    python,
    ['-c', 'import baseband.data, os; print(os.path.dirname(baseband.data.__file__))'],
    {
      encoding: 'utf8',
    },
  ).trim();
  const at = (/** @type {string} */ name) => join(folder, name);
  const phased = at('gsb/sample_gsb_phased.timestamp');
  const hand = (/** @type {string} */ letter) =>
    [1, 2].map((k) => phased.replace('.timestamp', `.Pol-${letter}${k}.dat`));
  return [
    {
      ...{
        format: 'vdif',
        kind: 'vdif',
        paths: [at('sample_vlbi.vdif')],
        name: 'sample_vlbi.vdif (threads that lie)',
      },
      options: { secondsOfThread: 1 },
      // baseband reads the same recording after a correction of its seconds.
      raw: at('sample.vdif'),
    },
    {
      ...{ format: 'vdif', kind: 'vdif', paths: [at('sample_bps1.vdif')] },
      options: { sampleRateHz: 8e6 },
      open: { sample_rate: 8e6 },
    },
    { format: 'dada', kind: 'dada', paths: [at('sample_meerkat.dada')] },
    { format: 'dada', kind: 'dada', paths: [at('sample_mkbf.dada')], unreadS: 107_083_414e-12 },
    {
      ...{ format: 'gsb', kind: 'gsb', paths: [phased] },
      options: { sampleRateHz: 8 / 0.25165824 },
      open: { samples_per_frame: 8 },
      raw: [hand('L'), hand('R')],
    },
  ];
}

/**
 * @param {RecordingJob} job
 * @param {number} k
 */
async function dumped(job, k) {
  const file = await openFile(job.paths[0], job.options ?? {});
  try {
    if (file.kind === 'visibilities') throw new Error('holds visibilities');
    const rows = file.inputs * (file.kind === 'spectra' ? file.channels : 1);
    for await (const block of file.blocks(file.samples)) {
      const elements = 'voltages' in block ? block.voltages : block.spectra;
      const isPacked = file.type === 'ci4';
      const parts = isPacked ? 2 : elements.length / rows / block.samples;
      const out = isPacked
        ? Float32Array.from({ length: 2 * elements.length }, (_, n) =>
            (n % 2 === 0 ? highNibble : lowNibble)(elements[n >> 1]),
          )
        : Float32Array.from(elements);
      const dump = join(work, `${k}.bin`);
      writeFileSync(dump, new Uint8Array(out.buffer));
      return {
        title: job.name ?? basename(job.paths[0]),
        kind: job.kind,
        open: job.open ?? {},
        paths:
          job.kind === 'gsb'
            ? [job.paths[0], ...(Array.isArray(job.raw) ? job.raw : job.paths.slice(1))]
            : [job.raw ?? job.paths[0]],
        dump,
        shape: [rows, block.samples, parts],
        rows: file.kind === 'spectra' ? 'channels' : 'inputs',
        start: formatInstant(file.start, 12).replace('Z', ''),
        rate: sampleRateOf(file),
        ...(job.levels && { levels: job.levels }),
        ...(job.unreadS !== undefined && { unread: job.unreadS }),
        ...(file.type === 'ci8' && file.kind === 'spectra' && { lowest: -127 }),
      };
    }
    throw new Error('holds no samples');
  } finally {
    await file.close();
  }
}

async function compareRecordings() {
  if (!peers.has('baseband')) {
    console.log('recordings passed over: baseband cannot be imported (set PYTHONPATH)');
    return;
  }
  const list = recordings();
  const jobs = [];
  const asked = [];
  for (const [k, job] of list.entries()) {
    try {
      jobs.push(await dumped(job, k));
      asked.push(job);
    } catch (error) {
      report(false, `${job.paths[0]}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const [k, found] of ask('recordings.py', jobs, recordingAnswer).entries()) {
    const ok = found.said === '' && found.largest < 1e-5 && found.start < 1e-9 && found.rate < 1e-12;
    report(
      ok,
      `${asked[k].format.padEnd(7)} ${found.title}: ${
        found.said ||
        `${found.samples} numbers, largest difference ${found.largest.toExponential(1)}; start within ${found.start.toExponential(1)} s`
      }`,
    );
    if (ok)
      record({
        format: asked[k].format,
        direction: 'read',
        peer: 'baseband',
        files: 1,
        numbers: found.samples,
      });
  }
}

/** @typedef {{ format: string, path: string, read?: object, allowed?: string[] }} VisibilityJob */

/** @returns {VisibilityJob[]} */
function visibilities() {
  const inFolder = (/** @type {string} */ name, /** @type {RegExp} */ wanted) =>
    existsSync(join(data, name)) ? readdirSync(join(data, name)).filter((one) => wanted.test(one)) : [];
  const plain = { run_check: false };
  return [
    ...inFolder('uvfits', /\.uvfits$/).map((name) => ({
      format: 'uvfits',
      path: join(data, 'uvfits', name),
      read: plain,
    })),
    // corr2uvfits states feeds at 0° and 90° for every array; pyuvdata takes X for north, we for unknown.
    ...inFolder('ska-low', /\.uvfits$/).map((name) => ({
      format: 'uvfits',
      path: join(data, 'ska-low', name),
      read: plain,
      allowed: ['orientation'],
    })),
    ...inFolder('uvh5', /\.uvh5$/).map((name) => ({
      format: 'uvh5',
      path: join(data, 'uvh5', name),
      read: plain,
    })),
    ...inFolder('mwa', /\.uvh5$/).map((name) => ({
      format: 'uvh5',
      path: join(data, 'mwa', name),
      read: plain,
    })),
    ...measurementSets(inFolder('ms', /\.ms\.tar\.gz$/)),
  ];
}

/**
 * @param {readonly string[]} archives
 * @returns {VisibilityJob[]}
 */
function measurementSets(archives) {
  if (!peers.has('casacore')) return [];
  return archives.flatMap((name) => {
    const into = mkdtempSync(join(work, 'ms-'));
    execFileSync('tar', ['xzf', join(data, 'ms', name), '-C', into]);
    const set = readdirSync(into).find((one) => one.endsWith('.ms'));
    return set === undefined ? [] : [{ format: 'ms', path: join(into, set), read: { run_check: false } }];
  });
}

/**
 * @param {string} from
 * @param {string} to
 * @param {readonly string[]} [options]
 */
function convert(from, to, options = []) {
  const ran = spawnSync(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'convert', from, to, '--quiet', '--overwrite', ...options],
    {
      encoding: 'utf8',
    },
  );
  return ran.status === 0 ? '' : ran.stderr.trim().split('\n').slice(-3).join(' ');
}

/** Limits of UVFITS in its single precision: uvw, and keywords of eight letters. */
const limits = {
  visibility: 2e-7,
  weights: 2e-7,
  uvw: 1e-3,
  times: 1e-4,
  durations: 1e-5,
  frequencies: 1e-2,
  widths: 1e-2,
  positions: 1e-3,
};

/**
 * @param {string} title
 * @param {z.infer<typeof visibilityAnswer>} found
 * @param {readonly string[]} allowed words of differences that the formats themselves cause
 */
function judged(title, found, allowed = []) {
  if (found.said !== undefined) {
    report(false, `${title}: ${found.said}`);
    return false;
  }
  const over = Object.entries(limits).filter(([name, most]) => (found[name] ?? 0) > most);
  const words = found.differ.filter((word) => !allowed.some((one) => word.startsWith(one)));
  const ok = over.length === 0 && words.length === 0 && found.flags === 0;
  const number = (/** @type {string} */ name) => (found[name] ?? Number.NaN).toExponential(1);
  const outsized = found.outsized > 0 ? ` (${found.outsized} too large to be real)` : '';
  report(
    ok,
    `${title}: ${found.visibilities} visibilities within ${number('visibility')} of the largest, ${found.flags} flags differ${outsized}, weights ${number('weights')}, ` +
      `uvw ${number('uvw')} m, times ${number('times')} s, ${found.antennas} antennas ${number('positions')} m, ${found.keywords} keywords` +
      (words.length === 0 ? '' : `; differ: ${words.join('; ')}`) +
      (over.length === 0 ? '' : `; over the limit: ${over.map(([name]) => name).join(', ')}`),
  );
  return ok;
}

function compareVisibilities() {
  if (!peers.has('pyuvdata')) {
    console.log('visibilities passed over: pyuvdata cannot be imported (set PYTHONPATH)');
    return;
  }
  for (const [k, { format, path, read = {}, allowed = [] }] of visibilities().entries()) {
    const name = basename(path);
    const copy = join(work, `${k}.uvh5`);
    const failed = convert(path, copy);
    if (failed !== '') {
      report(false, `${format} ${name}: ${failed}`);
      continue;
    }
    const [there] = ask('visibilities.py', [{ title: name, original: path, read, copy }], visibilityAnswer);
    if (there.refused !== undefined) {
      console.log(`      ${format} ${name} passed over: pyuvdata refuses it (${there.refused})`);
      continue;
    }
    if (judged(`${format.padEnd(6)} ${name} → ours (UVH5)`, there, allowed))
      record({ format, direction: 'read', peer: 'pyuvdata', files: 1, numbers: there.visibilities });
    if (format === 'uvfits') {
      const fits = join(work, `${k}.uvfits`);
      const refused = convert(path, fits);
      if (refused !== '') report(false, `uvfits ${name} → ours (UVFITS): ${refused}`);
      else {
        const [same] = ask(
          'visibilities.py',
          [{ title: name, original: path, read, copy: fits }],
          visibilityAnswer,
        );
        if (judged(`uvfits ${name} → ours (UVFITS)`, same, allowed))
          record({ format, direction: 'written', peer: 'pyuvdata', files: 1, numbers: same.visibilities });
      }
      rmSync(fits, { force: true });
    }
    // A file of pyuvdata, copied by us and read by pyuvdata again, is unchanged.
    for (const extension of ['uvh5', 'uvfits']) {
      const written = join(work, `${k}-theirs.${extension}`);
      const again = join(work, `${k}-again.uvh5`);
      const [made] = ask(
        'visibilities.py',
        [{ title: name, original: path, read, write: written }],
        visibilityAnswer,
      );
      if (made.said !== undefined) {
        console.log(`      ${name}: pyuvdata cannot write it as ${extension} (${made.said})`);
        continue;
      }
      const refused = convert(written, again);
      if (refused !== '') {
        report(false, `${format} ${name} → pyuvdata's ${extension}: ${refused}`);
        continue;
      }
      const [back] = ask(
        'visibilities.py',
        [{ title: name, original: written, read: { run_check: false }, copy: again }],
        visibilityAnswer,
      );
      // astropy 5.2 loses text of long cards at a quotation mark, which we read as pyuvdata intended.
      if (
        judged(`${extension.padEnd(6)} ${name} → pyuvdata's ${extension} → ours`, back, ['keywords: FINFO'])
      )
        record({
          format: extension,
          direction: 'read',
          peer: 'pyuvdata',
          files: 1,
          numbers: back.visibilities,
        });
      rmSync(written, { force: true });
      rmSync(again, { force: true });
    }
    rmSync(copy, { force: true });
  }
}

if (data === '') console.log('real files passed over: set CORELLA_TEST_DATA to their folder');
await compareRecordings();
if (data !== '') compareVisibilities();
console.log(failures === 0 ? 'every real file agrees' : `${failures} comparisons failed`);
process.exit(failures === 0 ? 0 : 1);
